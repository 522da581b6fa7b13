/** The audit and the live feed as they are shown and stored. Times are ISO 8601 in UTC. */
import { z } from "zod";
import { surfaces } from "./message.ts";

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
  "rung",
  "recovery",
  "budget_used_up",
  "gate_block",
  "gate_note",
  "webhook_changed",
  "webhook_test",
  "hook_changed",
  "github_changed",
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
