/**
 * Gates of the policy at the points where the runtime meets words and results. Each is asked in the transaction that
 * takes the thing: what blocks is on record, what asks is held behind a card, a remark is kept on the task. Agents are
 * only told that a gate stopped them, never which. [GATE-*]
 */
import type { ToolCall } from "../../src/agents/bus.ts";
import type { CallOutcome } from "../../src/agents/ports.ts";
import type { Decision } from "../../src/domain/approval-view.ts";
import { changedBy, type GatePass, heldCard, wordsOf } from "../../src/domain/gate-card.ts";
import { joinTaint, type Message, type Taint } from "../../src/domain/message.ts";
import { type Resolution, resolve } from "../../src/domain/policy.ts";
import { touchOf } from "../../src/domain/policy-call.ts";
import { evaluateGates, type GateNote, type GateOutcome, type GateTrigger } from "../../src/domain/policy-gates.ts";
import { refuse } from "../../src/domain/refusal.ts";
import { taintOfRole } from "../../src/domain/taint.ts";
import { isFinal } from "../../src/domain/task.ts";
import { underPreset } from "../../src/domain/under-preset.ts";
import type { Caller } from "../../src/domain/view.ts";
import { limits } from "../../src/limits.ts";
import { contextOf, privacyOf } from "./call-context.ts";
import type { CallRow } from "./call-rows.ts";
import type { HeldRow } from "./held-rows.ts";
import { ask } from "./plans.ts";
import type { ApprovalRow, AttemptRow, ItemRow, TaskRow } from "./rows.ts";
import { readByRunning } from "./taints.ts";
import type { Tx } from "./tx.ts";

/** All that an agent, and whoever reads what an agent says, is told. */
export const stoppedByGate = "a gate of the policy stopped it";

export function gateWords(
  tx: Tx,
  trigger: GateTrigger,
  text: string,
  taint: Taint,
  files: readonly string[] = [],
): GateOutcome {
  return evaluateGates(tx.scope.policy.gates, trigger, { text, taint, call: null, files });
}

/** Remarks hold nothing up: an event, and a note on the task. */
export function remark(tx: Tx, task: TaskRow, trigger: GateTrigger, notes: readonly GateNote[]): TaskRow {
  if (notes.length === 0) return task;
  const stored = tx.rows.tasks.get(task.id) ?? task;
  const made = notes.map(({ gate, reason }) => ({ gate, trigger, reason, at: tx.at }));
  const gate_notes = [...stored.gate_notes, ...made].slice(-limits.gate_notes);
  tx.rows.tasks.put({ ...stored, gate_notes });
  for (const { gate, reason } of made) tx.event("gate_note", task, { detail: `${gate}: ${reason}`, gate, trigger });
  return { ...task, gate_notes };
}

function recordStop(
  tx: Tx,
  about: { id: string; trace_id: string },
  trigger: GateTrigger,
  outcome: GateOutcome,
  details: Readonly<Record<string, unknown>>,
): void {
  const { action, gate, reason } = outcome;
  tx.audit("gate_block", about, {
    actor: "gate_runner",
    decision: action,
    reason,
    details: { trigger, gate, ...details },
  });
}
/** A block is shown in Review: whoever decides there sees what no card asks. */
function showBlock(tx: Tx, task: TaskRow, trigger: GateTrigger, outcome: GateOutcome): void {
  const { gate, reason } = outcome;
  tx.event("gate_block", task, { surfaces: ["review", "activity"], detail: `${gate}: ${reason}`, gate, trigger });
}

/** Refuses a person's words: nothing is kept of them but the record. */
export function refuseWords(tx: Tx, about: { id: string; trace_id: string }, caller: Caller, outcome: GateOutcome) {
  recordStop(tx, about, "every_user_message", outcome, { by: caller.subject });
  const { gate, reason } = outcome;
  return refuse("denied_by_policy", `The gate "${gate}" of this scope's policy does not let this through: ${reason}.`, {
    gate,
  });
}

/** Keeps the message behind a card. The same message held again is the same card. */
export function hold(tx: Tx, task: TaskRow, trigger: GateTrigger, outcome: GateOutcome, held: GatePass): void {
  const { message, carries_task } = held;
  const gate = outcome.gate ?? "";
  const card = heldCard(task, held, { gate, reason: outcome.reason, policy_hash: tx.scope.policy_hash });
  const row = ask(tx, task, { cause: `${message.message_id}/gate`, card, rule: `gate:${gate}` });
  if (row.status !== "pending" || tx.rows.held.get(row.id) !== null) return;
  recordStop(tx, task, trigger, outcome, { approval_id: row.id, message_id: message.message_id });
  const kept: HeldRow = { id: row.id, task_id: task.id, trigger, gate, message, carries_task, read: held.read };
  tx.rows.held.put(kept);
  tx.touch(tx.rows.tasks.get(task.id) ?? task);
}

/** What an agent said, met by the gates: remarks are kept, a stop is on record; what follows is the caller's. */
export function gateResponse(tx: Tx, task: TaskRow, message: Message): GateOutcome {
  const trigger = "every_agent_response";
  const outcome = gateWords(tx, trigger, wordsOf(message), message.taint, changedBy(message));
  remark(tx, task, trigger, outcome.notes);
  // Of a task that is over nobody is asked any more.
  if (outcome.action === "pass" || (outcome.action === "ask" && !isFinal(task.status))) return outcome;
  recordStop(tx, task, trigger, outcome, { message_id: message.message_id, message_kind: message.message_kind });
  showBlock(tx, task, trigger, outcome);
  return outcome;
}

/**
 * A call has ended, for the first time: what a gate says of it stays on the attempt, which meets it at its next call.
 * `said` is the head and the tail of what it printed; of a call whose end nobody saw there is none.
 */
export function afterStep(tx: Tx, attempt: AttemptRow, call: CallRow, outcome: CallOutcome, said: string): void {
  const settled = call.state === "intent" && tx.rows.calls.get(call.id)?.state === "settled";
  const task = tx.rows.tasks.get(attempt.task_id);
  const item = tx.rows.items.get(attempt.work_item_id);
  if (!settled || task === null || item === null) return;
  const trigger = "after_step";
  const ended = outcome.state === "exited" ? `exit code ${outcome.exit_code}` : outcome.state;
  const args = JSON.parse(call.arguments);
  const touch = touchOf({ tool: call.tool, args });
  const gated = evaluateGates(tx.scope.policy.gates, trigger, {
    text: `${call.tool} ${call.arguments}\n${ended}\n${said.slice(0, limits.said_characters)}`,
    taint: task.taint,
    call: { touch, context: contextOf(task, item, privacyOf(tx, task)), args },
  });
  remark(tx, task, trigger, gated.notes);
  const { action, gate, reason } = gated;
  if (action === "pass") return;
  recordStop(tx, task, trigger, gated, { attempt_id: attempt.id, call_id: call.call_id, tool: call.tool });
  if (action === "block") showBlock(tx, task, trigger, gated);
  const current = tx.rows.attempts.get(attempt.id) ?? attempt;
  if (current.after_step?.action !== "block")
    tx.rows.attempts.put({ ...current, after_step: { action, gate: gate ?? "", reason, call_id: call.call_id } });
}

/** A call's own resolution under its item's preset, with what a gate said after the step before it: then it asks, unless it is denied anyway. */
export function resolveCall(
  tx: Tx,
  task: TaskRow,
  item: ItemRow,
  attempt: AttemptRow,
  call: { tool: string; arguments: string },
): Resolution {
  const asked = { tool: call.tool, args: JSON.parse(call.arguments) };
  const resolved = resolve(tx.scope.policy, asked, contextOf(task, item, privacyOf(tx, task)));
  const own = underPreset(item.spec.preset ?? "DEFAULT", call.tool, resolved, tx.scope);
  const before = attempt.after_step;
  if (before === null || own.decision === "deny") return own;
  const reason = `after ${before.call_id}: ${before.reason}${own.decision === "ask" ? `; and ${own.reason}` : ""}`;
  return { ...own, decision: "ask", rule: `gate:${before.gate}`, reason };
}

/** A call begins to run: what it may bring back is read, and what a gate said after the step before it is met. */
export function callRuns(tx: Tx, task: TaskRow, item: ItemRow, attempt: AttemptRow, call: ToolCall): { answer: "run" } {
  readByRunning(tx, task, item, attempt, call);
  if (attempt.after_step !== null) tx.rows.attempts.put({ ...attempt, after_step: null });
  return { answer: "run" };
}

/**
 * A comment that agents will read is a person's message. What blocks it refuses the whole decision. Changes asked for
 * can wait behind a card; a comment to a yes cannot, so there what asks refuses too: the yes goes through without it.
 */
export function commentRefused(tx: Tx, caller: Caller, card: ApprovalRow, task: TaskRow, decision: Decision) {
  const changes = decision.decision === "request_changes";
  const comment = decision.comment ?? "";
  if (comment === "" || !(changes || (decision.decision === "approve" && card.kind === "escalation"))) return null;
  const taint = joinTaint(task.taint, taintOfRole(caller.role));
  const gated = gateWords(tx, "every_user_message", comment, taint);
  return gated.action === "block" || (gated.action === "ask" && !changes) ? refuseWords(tx, task, caller, gated) : null;
}

/** What gates say of an attempt's answer, and of the step before it: whether it is stopped, and what a person is asked. */
export interface ResultGated {
  readonly blocked: boolean;
  readonly asks: readonly { readonly gate: string; readonly reason: string }[];
}
export function gateResult(tx: Tx, task: TaskRow, attempt: AttemptRow, message: Message): ResultGated {
  const said = gateResponse(tx, task, message);
  const changed = gateChanges(tx, task, attempt, message);
  const before = attempt.after_step;
  const asks = [
    ...(before?.action === "ask" ? [{ gate: before.gate, reason: `after ${before.call_id}: ${before.reason}` }] : []),
    ...[said, changed].flatMap(({ action, gate, reason }) => (action === "ask" ? [{ gate: gate ?? "", reason }] : [])),
  ];
  return { blocked: [said, changed, before].some((one) => one?.action === "block"), asks };
}
/** What all the steps together changed, whatever each of them seemed to touch: the files of the patch. */
function gateChanges(tx: Tx, task: TaskRow, attempt: AttemptRow, message: Message): GateOutcome {
  const trigger = "after_step";
  const gates = tx.scope.policy.gates.filter((one) => one.check === "path_matches");
  const subject = { text: "", taint: message.taint, call: null, files: changedBy(message) };
  const outcome = evaluateGates(gates, trigger, subject);
  remark(tx, task, trigger, outcome.notes);
  // What it asks is on record with the card of the result.
  if (outcome.action !== "block") return outcome;
  recordStop(tx, task, trigger, outcome, { attempt_id: attempt.id, message_id: message.message_id });
  showBlock(tx, task, trigger, outcome);
  return outcome;
}
