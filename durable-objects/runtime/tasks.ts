/** A task from its door to its end: created, spoken to, cancelled; and what the proxy says of it. [TASK-R*] */

import { planRequest } from "../../src/agents/planner.ts";
import { byteLength, canonicalJson } from "../../src/domain/canonical.ts";
import type { GatePass } from "../../src/domain/gate-card.ts";
import { derivedId } from "../../src/domain/ids.ts";
import {
  build,
  check,
  type JsonValue,
  joinTaint,
  type Message,
  surfacesOf,
  type Taint,
} from "../../src/domain/message.ts";
import { words } from "../../src/domain/payloads.ts";
import type { GateOutcome } from "../../src/domain/policy-gates.ts";
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import { taintOfRole } from "../../src/domain/taint.ts";
import { isFinal } from "../../src/domain/task.ts";
import type { Caller, TaskInput } from "../../src/domain/view.ts";
import { limits } from "../../src/limits.ts";
import { acceptPlan } from "./arrivals.ts";
import { courier } from "./directory.ts";
import { gateResponse, gateWords, hold, refuseWords, remark, stoppedByGate } from "./gates.ts";
import { cancelResearch, hearResearch } from "./research.ts";
import type { ApprovalRow, TaskRow } from "./rows.ts";
import { hasRead, takenIn } from "./taints.ts";
import type { Tx } from "./tx.ts";

/** Where a task's words came from, when it was not somebody at the scope's own door. */
export interface TaskOrigin extends Partial<Pick<TaskRow, "asked" | "follows" | "labels_by_role">> {
  /** Joins what the caller's role says. */
  readonly taint?: Taint;
  readonly sources?: readonly { readonly taint: Taint; readonly source: string }[];
}

/** The trace of a task follows from its id. */
export function traceOf(task_id: string): string {
  return derivedId(task_id, "trace", 0);
}

/** What a gate blocks is refused and nothing of it is kept; what it asks about waits with the task. */
export function createTask(
  tx: Tx,
  caller: Caller,
  input: TaskInput,
  id: string,
  origin: TaskOrigin = {},
): Result<TaskRow> {
  const plan = input.plan ?? "";
  // Escaped as JSON, a plan of nothing but control characters would be six times as long as it is.
  const tooLong = byteLength(plan) > limits.plan_bytes || byteLength(canonicalJson(plan)) > limits.plan_json_bytes;
  if (tooLong)
    return refuse(
      "body_too_large",
      `A plan may have at most ${limits.plan_bytes / 1024} KB. Shorten it or split the task.`,
    );
  if (plan === "" && input.budget?.tokens === 0)
    return refuse("bad_request", "A wish needs tokens to be thought about: give it some in budget.tokens, or a plan.");
  const trace_id = traceOf(id);
  const taint = joinTaint(taintOfRole(caller.role), origin.taint ?? "owner");
  const { asked = null, follows = null, labels_by_role = caller.role, sources = [] } = origin;
  // All of it is one text: what stands half in the title and half below it is read whole.
  const words = [input.title, input.description, ...input.labels, plan].filter((part) => part !== "").join("\n");
  const gated = gateWords(tx, "every_user_message", words, taint);
  // A title is half of what was said: it often names what the text below it only explains.
  const told = input.description.trim() === "" ? input.title : `${input.title}\n\n${input.description}`;
  if (gated.action === "block") return refuseWords(tx, { id, trace_id }, caller, gated);
  const task: TaskRow = {
    id,
    trace_id,
    title: input.title,
    description: input.description,
    repo: input.repo.url,
    ref: input.repo.ref,
    labels: input.labels,
    labels_by_role,
    asked,
    follows,
    budget: input.budget ?? null,
    taint,
    taint_sources: sources.map((one) => ({ ...one, at: tx.at })),
    gate_notes: [],
    status: "active",
    waiting_on: null,
    phase: null,
    routed: false,
    version: 0,
    words_version: 0,
    base_commit: null,
    tip: null,
    branch: follows ?? `countersign/${id}`,
    replans: 0,
    decomposes: 0,
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
  const message = userMessage(tx, touched, {
    ...{ cause: id, text: told, plan: input.plan ?? null, more: {} },
    taint: task.taint,
  });
  const read = { taint: task.taint, source: `task text by ${caller.subject}` };
  const pass = { message, by: caller.subject, what: whatWaits(task), read, carries_task: true };
  takeUser(tx, touched, gated, pass);
  return ok(tx.rows.tasks.get(id) ?? touched);
}

/** The message of a task does not hold its labels: who decides sees them here, beside its name. */
function whatWaits(task: TaskRow): string {
  const labels = task.labels.length === 0 ? "" : ` (labels: ${task.labels.join(", ")})`;
  return `the words of "${task.title}"${labels}`;
}

/** More that a person says about a task that goes on. */
export function followUp(
  tx: Tx,
  caller: Caller,
  task: TaskRow,
  said: { cause: string; text: string },
): Result<{ message_id: string }> {
  const taint = taintOfRole(caller.role);
  const gated = gateWords(tx, "every_user_message", said.text, joinTaint(task.taint, taint));
  if (gated.action === "block") return refuseWords(tx, task, caller, gated);
  const message = userMessage(tx, task, { ...said, plan: null, more: { follow_up: true }, taint });
  const read = { taint, source: `message by ${caller.subject}` };
  takeUser(tx, task, gated, { message, by: caller.subject, what: "a message", read, carries_task: false });
  return ok({ message_id: message.message_id });
}

/** A person's words about a plan in review, for whoever writes the next version. */
export function askForChanges(
  tx: Tx,
  task: TaskRow,
  caller: Caller,
  asked: { card: ApprovalRow; comment: string | null },
): void {
  const { card, comment } = asked;
  const previous = card.plan_id === null ? null : tx.rows.plans.get(card.plan_id);
  const message = userMessage(tx, task, {
    cause: card.id,
    text: `Change the plan: ${comment}`,
    plan: null,
    more: { revise: true, previous_plan: card.plan_id ?? "", previous_markdown: previous?.markdown ?? "" },
    taint: taintOfRole(caller.role),
  });
  const read = { taint: taintOfRole(caller.role), source: `changes asked for by ${caller.subject}` };
  const gated = gateWords(tx, "every_user_message", message.content, message.taint);
  takeUser(tx, task, gated, { message, by: caller.subject, what: "a comment", read, carries_task: true });
  tx.touch(tx.rows.tasks.get(task.id) ?? task);
}

/** Words that no gate blocks: they go on, or wait behind a card. Only words that go on have been read. */
function takeUser(tx: Tx, task: TaskRow, gated: GateOutcome, pass: GatePass): void {
  const noted = remark(tx, task, "every_user_message", gated.notes);
  if (gated.action === "ask") return hold(tx, noted, "every_user_message", gated, pass);
  const knowing = hasRead(tx, noted, pass.read);
  sendUser(tx, knowing, { ...pass.message, taint: knowing.taint }, pass.by);
}
/** On its way to the proxy. What somebody says while the task goes on is seen in Stream; the rest is seen with the task. */
export function sendUser(tx: Tx, task: TaskRow, message: Message, by: string): void {
  if (message.payload.follow_up === true)
    tx.event("message", task, { actor: by, surfaces: ["stream"], detail: message.content });
  tx.send(message);
}

function userMessage(
  tx: Tx,
  task: TaskRow,
  said: { cause: string; text: string; plan: string | null; more: Record<string, JsonValue>; taint: Taint },
): Message {
  const repo = planRequest.parse({ repo: task.repo, ref: task.ref });
  return build({
    message_id: derivedId(said.cause, "user_message", 0),
    trace_id: task.trace_id,
    scope_id: tx.scope.scope_id,
    message_kind: "user_message",
    sender: "user",
    recipient: "proxy",
    content: said.text,
    taint: joinTaint(task.taint, said.taint),
    task_id: task.id,
    plan_markdown: said.plan,
    payload: { repo: repo.repo, ref: repo.ref, ...(task.budget === null ? {} : { budget: task.budget }), ...said.more },
    created_at: tx.at,
  });
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
  // What the courier is told and tells is seen in what comes of it; its orders for webhooks would make webhooks of their own.
  const shown = sender !== courier && recipient !== courier;
  if (shown && message_kind !== "agent_message" && message_kind !== "user_message")
    tx.event("message", task ?? about, {
      actor: sender,
      surfaces: surfacesOf(message),
      detail: message.content.slice(0, 500),
      message_kind,
      recipient,
    });
  if (task === null) return;
  if (message_kind === "plan_request" && !task.routed && !isFinal(task.status)) tx.touch({ ...task, routed: true });
  if (message_kind === "research_result") hearResearch(tx, takenIn(tx, message));
  if (message_kind === "plan_result") {
    cancelResearch(tx, task.id, "the planner has ended");
    hearPlan(tx, takenIn(tx, message));
  }
}

function hearPlan(tx: Tx, message: Message): void {
  const task = message.task_id === null ? null : tx.rows.tasks.get(message.task_id);
  if (task === null || isFinal(task.status)) return;
  const gated = gateResponse(tx, task, message);
  if (gated.action === "pass") return acceptPlan(tx, tx.rows.tasks.get(task.id) ?? task, message);
  if (gated.action === "ask")
    return hold(tx, task, "every_agent_response", gated, agentPass(message, "the planner's answer", true));
  endStopped(tx, task, `The gate "${gated.gate}" stopped the plan: ${gated.reason}.`);
}
function agentPass(message: Message, what: string, carries_task: boolean): GatePass {
  const read = { taint: message.taint, source: `${message.message_kind} from ${message.sender}` };
  return { message, by: message.sender, what, read, carries_task };
}
/** The task ends; agents, and what they say of it, are not told which gate it was. */
function endStopped(tx: Tx, task: TaskRow, reason: string): void {
  const ended = tx.finish(task, "failed", { reason, error_code: "gate_blocked" });
  tx.status(ended, "failed", { detail: stoppedByGate, attempt: null, error_code: "gate_blocked" });
}

/** The proxy's words, as far as no gate stops them. */
export function acceptWords(tx: Tx, message: Message): void {
  const task = message.task_id === null ? null : tx.rows.tasks.get(message.task_id);
  const said = words.safeParse(message.payload);
  if (task === null || !said.success) return;
  const gated = gateResponse(tx, task, message);
  const ends = said.data.ends_task && !isFinal(task.status);
  if (gated.action === "pass") return sayWords(tx, message);
  if (gated.action === "ask" && !isFinal(task.status))
    return hold(tx, task, "every_agent_response", gated, agentPass(message, "what the proxy says", ends));
  if (ends) endStopped(tx, task, `The gate "${gated.gate}" stopped what the proxy said: ${gated.reason}.`);
}

/** For the Stream; older than what was said already, they are dropped. */
export function sayWords(tx: Tx, message: Message): void {
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
  if (!ends_task || isFinal(heard.status)) return;
  // What a plan is under way for is not answered by words.
  const answered = said.data.ended_as === "done" && tx.rows.plans.ofTask(task.id).length === 0;
  if (answered) tx.finish(heard, "done", { reason: message.content, actor: message.sender });
  else tx.finish(heard, "failed", { reason: message.content, error_code: "tool_failure" });
}
