/**
 * What the product shows of itself: the shapes the API answers with, the page and the CLI read,
 * and the scope's objects build. Times are ISO 8601 in UTC; sizes are bytes; durations milliseconds.
 */
import { z } from "zod";
import { checkView, patchFile, verdicts } from "./evidence.ts";
import { errorCode, surfaces, taint } from "./message.ts";
import { proofs } from "./proofs.ts";
import { standingNote } from "./standing-shape.ts";
import { taintSource } from "./taint.ts";
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
  readonly via: "token" | "session";
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

/** Body of POST /api/tasks. */
export const taskInput = z.strictObject({
  title: z.string().trim().min(1).max(200),
  description: z.string().max(20_000).default(""),
  repo: repoRef,
  /** A plan document (markdown with YAML front matter). Without it a planner model must be configured. */
  plan: z.string().optional(),
  labels: z.array(z.string().min(1).max(60)).max(20).default([]),
  budget: budget.optional(),
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
});
export type TaskView = z.infer<typeof taskView>;

export const grantView = z.strictObject({
  tools: z.array(z.string()),
  paths: z.array(z.string()),
  commands: z.array(z.string()),
  hosts: z.array(z.string()),
  secrets: z.array(z.string()),
});
/** One work item as the card shows it: what approving lets it do, and what is checked afterwards. */
export const cardItem = z.strictObject({
  id: z.string(),
  item_hash: z.string(),
  title: z.string(),
  runner: z.string(),
  depends_on: z.array(z.string()),
  grants: grantView,
  protect: z.array(z.string()),
  verify: z.array(z.array(z.string())),
  steps: z.array(z.string()),
  max_attempts: z.number().int(),
});
/** What a person is shown and what their decision binds. `content_hash` is SHA-256 of its RFC 8785 form. */
export const cardView = z.strictObject({
  kind: z.enum(approvalKinds),
  title: z.string(),
  /** Why this needs a person, in a sentence. */
  why: z.string(),
  repo: z.string(),
  base_commit: z.string().nullable(),
  publishes: z.string().nullable(),
  plan_hash: z.string().nullable(),
  environment: z
    .strictObject({ setup: z.array(z.array(z.string())), hosts: z.array(z.string()), cache: z.array(z.string()) })
    .nullable(),
  items: z.array(cardItem),
  tool: z.strictObject({ name: z.string(), arguments: z.string(), workspace_tree: z.string() }).nullable(),
  /** Files that broke a bound, last errors, choices: lines a person reads before they decide. */
  facts: z.array(z.string()),
  budget: z
    .strictObject({ tokens: z.number().nullable(), usd: z.number().nullable(), minutes: z.number().nullable() })
    .nullable(),
  taint,
  /** Where the taint came from, as far as it is kept. Cards of before it was kept have none. */
  taint_sources: z.array(taintSource).exactOptional(),
  policy_hash: z.string(),
  requested_by: z.string(),
});
export type Card = z.infer<typeof cardView>;
export const decisionView = z.strictObject({
  decision: z.enum(["approve", "deny", "request_changes"]),
  by: z.string(),
  comment: z.string().nullable(),
  at: z.string(),
  proof: z.enum(proofs).default("token"),
  /** Of the card that was seen; null for a no that named none. */
  content_hash: z.string().nullable().default(null),
  /** SHA-256 over all of this decision: what the tokens of an approval carry of each approver. */
  said: z.string().nullable().default(null),
});
/** What ended a card: the one that came first. */
export const winnerView = z.strictObject({
  by: z.string(),
  what: z.enum(["approve", "deny", "request_changes", "cancel", "supersede", "expire"]),
  at: z.string(),
  reason: z.string().nullable(),
});
/** What the policy in force demands of whoever says yes. */
export const needsView = z.strictObject({
  /** How many different people must approve. */
  approvers: z.number().int(),
  proof: z.enum(proofs),
  /** Who asked for the task, when they may not approve it. */
  not_by: z.string().nullable(),
  /** How often changes of a plan may still be asked for. */
  revisions_left: z.number().int(),
});
export const approvalView = z.strictObject({
  id: z.string(),
  kind: z.enum(approvalKinds),
  task_id: z.string(),
  agent_id: z.string(),
  tool_name: z.string().nullable(),
  arguments: z.string().nullable(),
  requested_at: z.string(),
  status: z.enum(approvalStatuses),
  resolved_at: z.string().nullable(),
  card: cardView,
  content_hash: z.string(),
  /** The rule that asked. */
  rule: z.string(),
  /** Approvals that wait for another one stand here too. */
  decisions: z.array(decisionView),
  /** When it ends by itself if nobody decides; null when it waits for ever. */
  expires_at: z.string().nullable().default(null),
  winner: winnerView.nullable().default(null),
  needs: needsView.default({ approvers: 1, proof: "token", not_by: null, revisions_left: 3 }),
  /** Of a plan: standing approvals that nearly spoke for it, and why they did not; absent when none was looked at. */
  standing_notes: z.array(standingNote).exactOptional(),
});
export type ApprovalView = z.infer<typeof approvalView>;

export const approveInput = z.strictObject({
  content_hash: z.string(),
  comment: z.string().max(10_000).optional(),
  amount: budget.optional(),
});
/** `content_hash` is optional here: saying no never needs proof of what was seen, but a wrong hash is still refused. */
export const denyInput = z.strictObject({
  reason: z.string().trim().min(1).max(10_000),
  stop: z.boolean().default(false),
  content_hash: z.string().optional(),
});
export const changesInput = z.strictObject({
  reason: z.string().trim().min(1).max(10_000),
  comments: z.array(z.string().max(10_000)).max(100).default([]),
  content_hash: z.string().optional(),
});
/** A person's decision as the runtime object takes it. */
export type Decision =
  | {
      readonly decision: "approve";
      readonly content_hash: string;
      readonly comment: string | null;
      /** What a budget card adds; absent for every other kind. */
      readonly amount?: z.infer<typeof budget> | null;
    }
  | {
      readonly decision: "deny";
      readonly content_hash: string | null;
      readonly comment: string;
      readonly stop: boolean;
    }
  | { readonly decision: "request_changes"; readonly content_hash: string | null; readonly comment: string };

export const agentView = z.strictObject({
  name: z.string(),
  role: z.enum(["proxy", "planner", "executor", "verifier"]),
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
export const tokenInput = z.strictObject({ name: z.string().trim().min(1).max(60), role: callerRole });

export const auditTypes = [
  "enqueue",
  "dequeue",
  "approval",
  "verify",
  "check",
  "gate_block",
  "transition",
  "effect",
  "merge",
  "auth",
  "policy_change",
] as const;
export const auditActors = [
  "user",
  "proxy",
  "planner",
  "executor",
  "runtime",
  "approval_engine",
  "gate_runner",
  "verification_runner",
] as const;
/** One link of one object's chain. `hash` covers every other field and `prev_hash`. */
export const auditView = z.strictObject({
  object: z.string(),
  seq: z.number().int(),
  prev_hash: z.string(),
  hash: z.string(),
  event_type: z.enum(auditTypes),
  trace_id: z.string(),
  message_id: z.string().nullable(),
  scope_id: z.string(),
  actor: z.enum(auditActors),
  decision: z.string().nullable(),
  reason: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
  created_at: z.string(),
});
export type AuditView = z.infer<typeof auditView>;

export const eventTypes = [
  "task_created",
  "phase_start",
  "phase_complete",
  "task_complete",
  "task_failed",
  "task_denied",
  "task_cancelled",
  "work_item_unblocked",
  "agent_spawned",
  "agent_working",
  "agent_idle",
  "agent_stopped",
  "agent_failed",
  "state_changed",
  "approval_requested",
  "approval_recorded",
  "approval_resolved",
  "approval_noted",
  "standing_changed",
  "tool_approval_pending",
  "task_execution_start",
  "task_execution_complete",
  "task_execution_failed",
  "task_execution_timeout",
  "agent_output",
  "plan_ready",
  "verification_result",
  "merge_result",
  "message",
  "dead_letter",
  "queue_changed",
  "policy_changed",
  "effect_unknown",
  "gate_block",
  "gate_note",
] as const;
/**
 * One event of the scope's live feed, in order of `seq`. `type` is one of `eventTypes`, where
 * `phase_start` and `phase_complete` carry the phase behind a colon (`phase_start:coding`).
 * The rest of the keys belong to the type: `detail` is a sentence to show when there is one;
 * `agent_output` has `attempt_id`, `offset`, `text`, `stage`.
 */
export const eventView = z.looseObject({
  seq: z.number().int(),
  type: z.string(),
  scope_id: z.string(),
  task_id: z.string().nullable(),
  trace_id: z.string().nullable(),
  at: z.string(),
  actor: z.string(),
  surfaces: z.array(z.enum(surfaces)),
  detail: z.string().nullable(),
});
export type EventView = z.infer<typeof eventView>;

export function page<T extends z.ZodType>(item: T) {
  return z.strictObject({ items: z.array(item), next_cursor: z.string().nullable() });
}
export interface Page<T> {
  readonly items: T[];
  readonly next_cursor: string | null;
}
