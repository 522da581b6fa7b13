/**
 * The part of a policy that says who decides and for how long: two approvers, one's own tasks, the proof a decision
 * needs, when a card that nobody answers expires, and how often agents may ask. What is absent keeps the default. [APP-*]
 */
import { z } from "zod";
import { approvalKinds } from "./view.ts";

const kind = z.enum(approvalKinds);
const toolName = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/);
const demandable = z.enum(["token", "session"]);
const maxExpiry_s = 365 * 24 * 3600;

export const approvalRules = z.strictObject({
  /** Seconds after which a card of that kind that nobody decided is `expired`. Absent: it waits for ever. */
  expires_after_s: z.partialRecord(kind, z.int().min(60).max(maxExpiry_s)).default({}),
  /** Kinds that two different people must approve. One deny decides. */
  two_approvers: z.array(kind).default([]),
  /** Whether who asked for a task may approve what it asks. */
  own_task: z.enum(["allow", "forbid"]).default("allow"),
  /** The weakest proof taken for a yes, by kind and by the tool that asks. The stronger of the two counts. */
  proof: z
    .strictObject({
      kinds: z.partialRecord(kind, demandable).default({}),
      tools: z.partialRecord(toolName, demandable).default({}),
    })
    .prefault({}),
  /** How many calls may ask a person, a task and a minute. Absent: the defaults of this deployment. */
  asks_per_task: z.int().min(1).max(10_000).optional(),
  asks_per_minute: z.int().min(1).max(10_000).optional(),
});
export type ApprovalRules = z.infer<typeof approvalRules>;
