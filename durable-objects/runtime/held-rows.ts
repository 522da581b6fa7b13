/** Messages that a gate holds until a person has decided its card; kept under the card's id. [ROW-*] [GATE-*] */
import { z } from "zod";
import { envelope, taint } from "../../src/domain/message.ts";
import { gateTriggers } from "../../src/domain/policy-gates.ts";

export const heldRow = z.strictObject({
  id: z.string(),
  task_id: z.string(),
  trigger: z.enum(gateTriggers),
  gate: z.string(),
  message: envelope,
  /** Nothing of the task goes on without it: dropped, the task ends. */
  carries_task: z.boolean(),
  /** What its task has read once it passes. */
  read: z.strictObject({ taint, source: z.string() }),
});
export type HeldRow = z.infer<typeof heldRow>;

/** An `after_step` gate's word about an attempt that still runs: kept until its next call, or its result, has met it. */
export const stepGate = z.strictObject({
  action: z.enum(["ask", "block"]),
  gate: z.string(),
  reason: z.string(),
  call_id: z.string(),
});
export type StepGate = z.infer<typeof stepGate>;
