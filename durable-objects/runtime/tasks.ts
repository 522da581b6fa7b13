/** A task from its door to its end: created, spoken to, cancelled; and what the proxy says of it. [TASK-R*] */

import { planRequest } from "../../src/agents/planner.ts";
import { byteLength, canonicalJson } from "../../src/domain/canonical.ts";
import { derivedId } from "../../src/domain/ids.ts";
import { build, check, type JsonValue, type Message, surfacesOf } from "../../src/domain/message.ts";
import { words } from "../../src/domain/payloads.ts";
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import { isFinal } from "../../src/domain/task.ts";
import type { Caller, TaskInput } from "../../src/domain/view.ts";
import { limits } from "../../src/limits.ts";
import { acceptPlan } from "./plans.ts";
import type { TaskRow } from "./rows.ts";
import type { Tx } from "./tx.ts";

export function createTask(tx: Tx, caller: Caller, input: TaskInput, id: string): Result<TaskRow> {
  const plan = input.plan ?? "";
  // Escaped as JSON, a plan of nothing but control characters would be six times as long as it is.
  const tooLong = byteLength(plan) > limits.plan_bytes || byteLength(canonicalJson(plan)) > limits.plan_json_bytes;
  if (tooLong)
    return refuse(
      "body_too_large",
      `A plan may have at most ${limits.plan_bytes / 1024} KB. Shorten it or split the task.`,
    );
  const task: TaskRow = {
    id,
    trace_id: derivedId(id, "trace", 0),
    title: input.title,
    description: input.description,
    repo: input.repo.url,
    ref: input.repo.ref,
    labels: input.labels,
    budget: input.budget ?? null,
    taint: caller.role === "admin" || caller.role === "approver" ? "owner" : "member",
    status: "active",
    waiting_on: null,
    phase: null,
    routed: false,
    version: 0,
    words_version: 0,
    base_commit: null,
    tip: null,
    branch: `countersign/${id}`,
    publishing: null,
    published: null,
    created_by: caller.subject,
    created_at: tx.at,
    updated_at: tx.at,
    ended_at: null,
    error_code: null,
    reason: null,
  };
  tx.rows.tasks.put(task);
  tx.audit("transition", task, {
    actor: "user",
    decision: "task_created",
    details: { task_id: id, by: caller.subject, repo: task.repo },
  });
  tx.event("task_created", task, { actor: caller.subject, surfaces: ["stream", "activity"], detail: task.title });
  const touched = tx.touch(task);
  userMessage(tx, touched, { cause: id, text: input.description || input.title, plan: input.plan ?? null, more: {} });
  return ok(touched);
}

export function userMessage(
  tx: Tx,
  task: TaskRow,
  said: { cause: string; text: string; plan: string | null; more: Record<string, JsonValue> },
): Message {
  const repo = planRequest.parse({ repo: task.repo, ref: task.ref });
  const message = build({
    message_id: derivedId(said.cause, "user_message", 0),
    trace_id: task.trace_id,
    scope_id: tx.scope.scope_id,
    message_kind: "user_message",
    sender: "user",
    recipient: "proxy",
    content: said.text,
    taint: task.taint,
    task_id: task.id,
    plan_markdown: said.plan,
    payload: { repo: repo.repo, ref: repo.ref, ...said.more },
    created_at: tx.at,
  });
  tx.send(message);
  return message;
}

export function cancelTask(tx: Tx, caller: Caller, task: TaskRow, reason: string): Result<TaskRow> {
  if (isFinal(task.status))
    return refuse("not_in_this_state", `This task is already ${task.status}.`, { status: task.status });
  tx.audit("approval", task, { actor: "user", decision: "cancel", reason, details: { by: caller.subject } });
  return ok(tx.finish(task, "cancelled", { reason, actor: caller.subject }));
}

/** A message passes on its way to its addressee: the event, and the card if one is due. Once per message. */
export function observe(tx: Tx, message: Message): void {
  if (check(message) !== null || tx.stores.queue.hasProcessed("bus", message.message_id)) return;
  tx.stores.queue.markProcessed("bus", message, tx.now);
  const task = message.task_id === null ? null : tx.rows.tasks.get(message.task_id);
  const about = { id: task?.id ?? "", trace_id: message.trace_id };
  const { message_kind, sender, recipient } = message;
  // The proxy's words become an event when the runtime takes them; a person's are one already.
  if (message_kind !== "agent_message" && message_kind !== "user_message")
    tx.event("message", task ?? about, {
      actor: sender,
      surfaces: surfacesOf(message),
      detail: message.content.slice(0, 500),
      message_kind,
      recipient,
    });
  if (task === null) return;
  if (message_kind === "plan_request" && !task.routed && !isFinal(task.status)) tx.touch({ ...task, routed: true });
  if (message_kind === "plan_result") acceptPlan(tx, task, message);
}

/** The proxy's words, for the Stream; older than what was said already, they are dropped. */
export function acceptWords(tx: Tx, message: Message): void {
  const task = message.task_id === null ? null : tx.rows.tasks.get(message.task_id);
  const said = words.safeParse(message.payload);
  if (task === null || !said.success) return;
  const { version, ends_task } = said.data;
  if (version !== null && version < task.words_version) return;
  const heard = version === null ? task : tx.rows.tasks.put({ ...task, words_version: version });
  tx.event("message", task, {
    actor: message.sender,
    surfaces: ["stream"],
    detail: message.content,
    message_kind: message.message_kind,
  });
  if (ends_task && !isFinal(heard.status))
    tx.finish(heard, "failed", { reason: message.content, error_code: "tool_failure" });
}
