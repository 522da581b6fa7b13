/** Plain examples of what the API shows, for tests: complete, valid, and dull. */

import type { ApprovalView } from "../../src/domain/approval-view.ts";
import type { DeadLetterView, QueueDetail } from "../../src/domain/queue-shapes.ts";
import type { EventView } from "../../src/domain/record-view.ts";
import type { TaskInput, TaskView } from "../../src/domain/view.ts";
import type { AgentView } from "../../src/http/doors.ts";

export const at = "2026-01-02T03:04:05.000Z";

export function taskOf(id: string, input: TaskInput, created_by: string): TaskView {
  return {
    id,
    trace_id: `trace-${id}`,
    title: input.title,
    status: "active",
    waiting_on: null,
    phase: "discovery",
    repo: input.repo,
    labels: input.labels,
    branch: null,
    created_by,
    created_at: at,
    updated_at: at,
    ended_at: null,
    error_code: null,
    reason: null,
    description: input.description,
    base_commit: null,
    commit: null,
    plan: null,
    items: [],
    attempts: [],
    phases: [],
    unknown_effects: [],
    pending_approvals: [],
  };
}

export function itemOf(id: string): TaskView["items"][number] {
  const counts = { attempts_used: 1, max_attempts: 3 };
  return { id, item_id: id, title: id, runner: "steps", state: "done", outcome: "done", depends_on: [], ...counts };
}
export function attemptOf(id: string, work_item_id: string, number: number): TaskView["attempts"][number] {
  return {
    id,
    work_item_id,
    number,
    state: "done",
    agent: "crew-1",
    baseline: "0".repeat(40),
    error_code: null,
    detail: null,
    started_at: at,
    ended_at: at,
    patch: { files: [], bytes: 1 },
    verifications: [],
  };
}

/** What a card has that nobody decided and that waits for ever. */
export const openCard: Pick<ApprovalView, "expires_at" | "winner" | "needs"> = {
  expires_at: null,
  winner: null,
  needs: { approvers: 1, proof: "token", not_by: null, revisions_left: 3 },
};
/** A decision as it is stored. */
export function madeBy(
  by: string,
  decision: ApprovalView["decisions"][number]["decision"],
  more: Partial<ApprovalView["decisions"][number]> = {},
): ApprovalView["decisions"][number] {
  return { decision, by, comment: null, at, proof: "token", content_hash: null, said: null, ...more };
}
export function approvalOf(id: string): ApprovalView {
  return {
    id,
    kind: "plan",
    task_id: "task-1",
    agent_id: "proxy",
    tool_name: null,
    arguments: null,
    requested_at: at,
    status: "pending",
    resolved_at: null,
    card: {
      kind: "plan",
      title: "A plan",
      why: "a plan needs a person",
      repo: "https://git.example/a/b",
      base_commit: null,
      publishes: null,
      plan_hash: null,
      environment: null,
      items: [],
      tool: null,
      facts: [],
      budget: null,
      taint: "owner",
      policy_hash: "0".repeat(64),
      requested_by: "proxy",
    },
    content_hash: "a".repeat(64),
    rule: "plan",
    decisions: [],
    ...openCard,
  };
}

export function agentOf(name: string): AgentView {
  const role = name === "planner" ? "planner" : "proxy";
  return { name, role, state: "active", activity: "ready", word: "Ready", current: null, last_seen: at };
}
export function queueOf(name: string): QueueDetail {
  const outbox = name === "executor_queue" ? null : { waiting: 0, dead: 0 };
  const counts = { queued: 0, leased: 0, dead: 0, oldest_at: null };
  return { name, ...counts, state: "open", by: null, at: null, reason: null, outbox, leases: [] };
}
export function letterOf(message_id: string, change: Partial<DeadLetterView> = {}): DeadLetterView {
  const what = { message_id, message_kind: "agent_message", reason: "there is no agent zoe", deliveries: 5, at };
  const way = { died_in: "inbox" as const, sender: "proxy", recipient: "zoe", task_id: null, card: null };
  return { ...what, ...way, ...change };
}
export function eventOf(seq: number, type: string, task_id: string | null = null): EventView {
  const rest = { scope_id: "s".repeat(16), trace_id: null, at, actor: "runtime", surfaces: [], detail: null };
  return { seq, type, task_id, ...rest };
}
