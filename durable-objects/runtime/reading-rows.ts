/** The rows of reading without an attempt: each question of a planner, each use of a tool that only reads or speaks. [ROW-*] */
import { z } from "zod";

export const researchRow = z.strictObject({
  /** The question's own id. */
  id: z.string(),
  task_id: z.string(),
  message_id: z.string(),
  plan_run_id: z.string(),
  state: z.enum(["open", "answered", "timed_out", "cancelled"]),
  /** Who works on it; null while it waits in the queue. */
  agent: z.string().nullable(),
  lease: z.strictObject({ lease_id: z.string(), epoch: z.number().int() }).nullable(),
  due_at: z.number(),
  at: z.string(),
});
export type ResearchRow = z.infer<typeof researchRow>;

export const useRow = z.strictObject({
  /** The run and the call, or the interim word. */
  id: z.string(),
  task_id: z.string(),
  agent: z.string(),
  tool: z.string(),
  state: z.enum(["run", "refused", "said", "stopped"]),
  rule: z.string(),
  at: z.string(),
});
export type UseRow = z.infer<typeof useRow>;
