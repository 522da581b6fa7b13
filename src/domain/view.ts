/**
 * What the product shows of itself: the shapes the API answers with, the page and the CLI read,
 * and the scope's objects build. Times are ISO 8601 in UTC; sizes are bytes; durations milliseconds.
 */
import { z } from "zod";
import { rungStates, rungs } from "./attempt.ts";
import { checkView, patchFile, verdicts } from "./evidence.ts";
import { errorCode } from "./message.ts";
import { nameProblem } from "./person-name.ts";
import { recovery } from "./stuck.ts";
import { unknownEffect } from "./unknown.ts";

export const callerRoles = ["viewer", "submitter", "approver", "admin"] as const;
export const callerRole = z.enum(callerRoles);
export type CallerRole = z.infer<typeof callerRole>;

/** Who is asking, as the scope's runtime object said after it checked their secret. */
export interface Caller {
  readonly scope_id: string;
  /** Stable name of the person or program: shown, audited, and bound into statements. */
  readonly subject: string;
  readonly role: CallerRole;
  /** `github`: GitHub said who it is, and that they may write to the repository. */
  readonly via: "token" | "session" | "github";
  /** Id of the token or session row, so that what it opened can be closed when it is revoked. */
  readonly credential_id: string;
}

export const taskStatuses = ["active", "waiting", "done", "denied", "failed", "cancelled"] as const;
export const phases = [
  "discovery",
  "context_gathering",
  "spec_creation",
  "planning",
  "coding",
  "qa",
  "fixing",
  "merging",
  "complete",
  "error",
] as const;
export const approvalKinds = ["plan", "tool_call", "gate", "budget", "escalation", "dead_letter"] as const;
export const approvalStatuses = ["pending", "approved", "denied", "expired", "superseded"] as const;
export const attemptStates = [
  "due",
  "running",
  "suspended",
  "executed",
  "verifying",
  "merging",
  "done",
  "failed",
  "crashed",
  "cancelled",
] as const;
export const itemStates = ["slung", "hooked", "done"] as const;

export const repoRef = z.strictObject({
  url: z.string().min(1).max(2048),
  ref: z.string().min(1).max(255).default("HEAD"),
});
export const budget = z.strictObject({
  tokens: z.number().int().nonnegative().optional(),
  usd: z.number().nonnegative().optional(),
  minutes: z.number().positive().optional(),
});

/** The same as somebody may state it, with a plan's bounds. Without it a task has 500,000 tokens and 5 dollars before its plan. */
export const budgetInput = budget.extend({
  tokens: z.number().int().nonnegative().max(1_000_000_000).optional(),
  usd: z.number().nonnegative().max(1_000_000).optional(),
  minutes: z.number().positive().max(10_080).optional(),
});

/** What a person adds on a budget card. Minutes are a plan's: an attempt that has used them up is over. */
export const addedInput = budgetInput.omit({ minutes: true });

/** Who asked for a task outside of the scope, where that can be read, and what of their words nobody sees there. */
export const askedElsewhere = z.strictObject({
  by: z.string(),
  where: z.string().nullable(),
  hidden: z.array(z.string()),
});

/** Body of POST /api/tasks. */
export const taskInput = z.strictObject({
  title: z.string().trim().min(1).max(200),
  description: z.string().max(20_000).default(""),
  repo: repoRef,
  /** A plan document (markdown with YAML front matter). Without it a planner model must be configured. */
  plan: z.string().optional(),
  labels: z.array(z.string().min(1).max(60)).max(20).default([]),
  budget: budgetInput.optional(),
});
export type TaskInput = z.infer<typeof taskInput>;

export const verificationView = z.strictObject({
  verdict: z.enum(verdicts),
  detail: z.string(),
  checks: z.array(checkView),
  parent: z.string().nullable(),
  commit: z.string().nullable(),
});
export const attemptView = z.strictObject({
  id: z.string(),
  work_item_id: z.string(),
  number: z.number().int(),
  state: z.enum(attemptStates),
  agent: z.string().nullable(),
  baseline: z.string(),
  error_code: errorCode.nullable(),
  detail: z.string().nullable(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  patch: z.strictObject({ files: z.array(patchFile), bytes: z.number().int() }).nullable(),
  verifications: z.array(verificationView),
  /** What its loop did about being stuck, in order; absent when it did nothing. */
  recoveries: z.array(recovery).exactOptional(),
});
export const itemView = z.strictObject({
  id: z.string(),
  item_id: z.string(),
  title: z.string(),
  runner: z.string(),
  state: z.enum(itemStates),
  outcome: z.enum(["open", "done", "failed", "blocked"]),
  depends_on: z.array(z.string()),
  attempts_used: z.number().int(),
  max_attempts: z.number().int(),
});
/** Tokens and money of a task's model calls. `usd` is null while nobody knows the price of one of them. */
export const spentView = z.strictObject({
  calls: z.number().int(),
  input_tokens: z.number().int(),
  output_tokens: z.number().int(),
  usd: z.number().nullable(),
  unknown_price: z.boolean(),
  /** A part of it was counted from the texts, or is the most that a lost call may have cost. */
  estimated: z.boolean(),
  remaining_tokens: z.number(),
  remaining_usd: z.number().nullable(),
});
/** A rung of an item's ladder: taken after what, why, and how it ended if somebody was asked. */
export const rungView = z.strictObject({
  work_item_id: z.string(),
  attempt_number: z.number().int(),
  from: z.enum(rungs),
  to: z.enum(rungs),
  why: z.string(),
  skipped: z.array(z.string()),
  state: z.enum(rungStates),
  at: z.string(),
  detail: z.string().nullable(),
});
/** Questions of the task's planner, by what became of them. */
export const researchCounts = z.strictObject({
  open: z.number().int(),
  answered: z.number().int(),
  timed_out: z.number().int(),
  cancelled: z.number().int(),
});
/** One call of a model: who made it, with which version of which prompt, and what it cost. */
export const thoughtView = z.strictObject({
  id: z.string(),
  role: z.enum(["proxy", "planner", "executor"]),
  agent: z.string(),
  attempt_id: z.string().nullable(),
  /** `attempt`, or what the planner's part paid for. */
  why: z.string(),
  prompt: z.string(),
  model: z.string().nullable(),
  state: z.enum(["open", "charged", "estimated"]),
  input_tokens: z.number().int().nullable(),
  output_tokens: z.number().int().nullable(),
  cached_tokens: z.number().int().nullable(),
  estimated: z.boolean(),
  /** Null: not charged yet, or the price is unknown. */
  usd: z.number().nullable(),
  failure: z.string().nullable(),
  at: z.string(),
  ended_at: z.string().nullable(),
});
export type ThoughtView = z.infer<typeof thoughtView>;
export const phaseView = z.strictObject({
  phase: z.enum(phases),
  outcome: z.enum(["open", "completed", "failed"]),
  started_at: z.string(),
  duration_ms: z.number().nullable(),
  tokens: z.number().int(),
});
export const planView = z.strictObject({
  id: z.string(),
  version: z.number().int(),
  status: z.enum(["in_review", "approved", "denied", "superseded"]),
  title: z.string(),
  goal: z.string(),
  plan_hash: z.string(),
  markdown: z.string(),
});

export const taskSummary = z.strictObject({
  id: z.string(),
  trace_id: z.string(),
  title: z.string(),
  status: z.enum(taskStatuses),
  /** The kind of decision the task waits for, while its status is `waiting`. */
  waiting_on: z.enum(approvalKinds).nullable(),
  phase: z.enum(phases),
  repo: repoRef,
  labels: z.array(z.string()),
  branch: z.string().nullable(),
  created_by: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  ended_at: z.string().nullable(),
  error_code: errorCode.nullable(),
  reason: z.string().nullable(),
  /** What was done, or was to be done, without anybody knowing how it ended. */
  unknown_effects: z.array(unknownEffect),
});
export type TaskSummary = z.infer<typeof taskSummary>;
/** A gate's remark: which gate, at which of its points, what it found. */
export const gateNote = z.strictObject({ gate: z.string(), trigger: z.string(), reason: z.string(), at: z.string() });
export type GateNoteView = z.infer<typeof gateNote>;
export const taskView = taskSummary.extend({
  description: z.string(),
  /** What whoever asked gave it to spend; null when they stated none. Answers of before it was shown have none. */
  budget: budget.nullable().exactOptional(),
  base_commit: z.string().nullable(),
  /** Commit the published branch points to. */
  commit: z.string().nullable(),
  plan: planView.nullable(),
  items: z.array(itemView),
  attempts: z.array(attemptView),
  phases: z.array(phaseView),
  pending_approvals: z.array(z.string()),
  /** What gates remarked on it without holding anything up; absent when they did not. */
  gate_notes: z.array(gateNote).exactOptional(),
  /** Answers that were kept from before these were counted have none. */
  spent: spentView.exactOptional(),
  rungs: z.array(rungView).exactOptional(),
  /** Absent when nothing was asked. */
  research: researchCounts.exactOptional(),
});
export type TaskView = z.infer<typeof taskView>;

export const agentView = z.strictObject({
  name: z.string(),
  role: z.enum(["proxy", "planner", "executor", "verifier", "courier"]),
  state: z.enum(["idle", "spawning", "active", "paused", "stopping", "stopped", "failed"]),
  activity: z.enum(["ready", "claiming", "planning_work", "working", "idle"]).nullable(),
  /** The team's word for state and activity together. */
  word: z.string(),
  current: z.string().nullable(),
  last_seen: z.string().nullable(),
});
export const repoView = z.strictObject({
  url: z.string(),
  default_ref: z.string(),
  added_by: z.string(),
  added_at: z.string(),
});
export const tokenView = z.strictObject({
  id: z.string(),
  name: z.string(),
  role: callerRole,
  created_at: z.string(),
  revoked_at: z.string().nullable(),
});
const personName = z
  .string()
  .trim()
  .min(1)
  .max(60)
  .superRefine((name, context) => {
    const message = nameProblem(name);
    if (message !== null) context.addIssue({ code: "custom", message });
  });
export const tokenInput = z.strictObject({ name: personName, role: callerRole });

export function page<T extends z.ZodType>(item: T) {
  return z.strictObject({ items: z.array(item), next_cursor: z.string().nullable() });
}
export interface Page<T> {
  readonly items: T[];
  readonly next_cursor: string | null;
}
