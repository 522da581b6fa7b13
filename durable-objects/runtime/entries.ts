/**
 * What a running attempt may do: claim, begin, call a tool, settle. Every entry checks the lease, the attempt and
 * the token as they are stored now. [ENT-*]
 */
import type { AttemptRef, Authorization, Entry, OpenCall, ToolCall } from "../../src/agents/bus.ts";
import type { CallOutcome } from "../../src/agents/ports.ts";
import type { JsonValue, Message } from "../../src/domain/message.ts";
import { resolve } from "../../src/domain/policy.ts";
import { isFinal } from "../../src/domain/task.ts";
import { checkStatement, readJws } from "../../src/domain/token.ts";
import { limits } from "../../src/limits.ts";
import type { Lease } from "../durable-queue.ts";
import type { CallRow } from "./call-rows.ts";
import { endAttempt } from "./ladder.ts";
import { findOut, settleCall } from "./open-calls.ts";
import { keepLease } from "./reports.ts";
import type { AttemptRow, ItemRow, TaskRow } from "./rows.ts";
import { callSubject, checkItem, type VerifiedTokens } from "./tokens.ts";
import { tooLate } from "./too-late.ts";
import type { Tx } from "./tx.ts";

/**
 * Leases the next attempt that is still wanted. Requests nobody wants any more are dropped here; one whose
 * earlier holder fell silent ends its attempt as crashed, and a fresh attempt is queued in its place.
 */
export function claim(tx: Tx, agent: string, lease_id: () => string): Lease | null {
  for (let tried = 0; tried < 50; tried++) {
    const { lease, facts } = tx.stores.queue.lease(
      "executor_queue",
      { holder: agent, lease_id: lease_id(), lease_ms: limits.lease_ms },
      tx.now,
    );
    tx.facts(facts);
    if (lease === null) return null;
    const attempt = attemptOf(tx, lease);
    if (attempt?.state === "due") return lease;
    const repeated =
      attempt?.state === "running" && attempt.lease?.lease_id === lease.lease_id && attempt.lease.epoch === lease.epoch;
    if (repeated) {
      // Whoever asks again still works on it: its answer may be long on its way.
      if (attempt.beat_at + limits.agent_heartbeat_ms <= tx.now) keepLease(tx, agent, lease, attempt.id);
      return lease;
    }
    const acked = tx.stores.queue.ack(lease, tx.now);
    if (acked.ok) tx.facts(acked.value);
    const task = attempt === null ? null : tx.rows.tasks.get(attempt.task_id);
    if (attempt?.state === "running" && task !== null) {
      if (attempt.agent !== null) tx.kill(task.id, attempt.agent, attempt.id);
      endAttempt(tx, task, attempt, { end: { kind: "crashed" }, detail: "its agent fell silent" });
    }
  }
  return null;
}
/** A request that died in the queue because nobody ever began it: its attempt was lost, and another takes its place. */
export function neverBegun(tx: Tx, message: Message): void {
  const attempt = attemptOf(tx, { message });
  const task = attempt === null ? null : tx.rows.tasks.get(attempt.task_id);
  if (attempt === null || task === null || (attempt.state !== "due" && attempt.state !== "running")) return;
  endAttempt(tx, task, attempt, { end: { kind: "crashed" }, detail: "no agent ever began it" });
}
function attemptOf(tx: Tx, lease: Pick<Lease, "message">): AttemptRow | null {
  const id = lease.message.payload.attempt_id;
  const attempt = typeof id === "string" ? tx.rows.attempts.get(id) : null;
  return attempt?.message_id === lease.message.message_id ? attempt : null;
}

type Standing =
  | { readonly ok: true; readonly task: TaskRow; readonly item: ItemRow; readonly attempt: AttemptRow }
  | { readonly ok: false; readonly entry: Exclude<Entry, { answer: "go" }> };

/** Whether the caller is still the one who runs this attempt. */
function standing(tx: Tx, ref: AttemptRef): Standing {
  const stale = (reason: string): Standing => ({ ok: false, entry: { answer: "stale", reason } });
  const attempt = tx.rows.attempts.get(ref.attempt_id);
  const task = attempt === null ? null : tx.rows.tasks.get(attempt.task_id);
  const item = attempt === null ? null : tx.rows.items.get(attempt.work_item_id);
  if (attempt === null || task === null || item === null) return stale("no such attempt");
  const lease = tx.stores.queue.leaseById(ref.lease_id, tx.now);
  if (
    lease === null ||
    lease.epoch !== ref.epoch ||
    lease.holder !== ref.agent ||
    lease.message.message_id !== attempt.message_id
  )
    return stale("the lease is no longer yours");
  if (attempt.entry !== ref.entry || (attempt.state !== "due" && attempt.state !== "running"))
    return stale(`the attempt is ${attempt.state}`);
  if (isFinal(task.status)) return stale(`the task is ${task.status}`);
  return { ok: true, task, item, attempt };
}

export function begin(tx: Tx, ref: AttemptRef, verified: VerifiedTokens): Entry {
  const stands = standing(tx, ref);
  if (!stands.ok) return tooLate(tx, ref, "begin", stands.entry);
  const { task, item, attempt } = stands;
  const refused = checkItem(tx, attempt.entry === 0 ? "attempt_start" : "resume", task, item, verified);
  const running: AttemptRow = {
    ...attempt,
    state: "running",
    agent: ref.agent,
    lease: { lease_id: ref.lease_id, epoch: ref.epoch },
    beat_at: tx.now,
    asked_at: null,
    started_at: attempt.started_at ?? (refused === null ? tx.at : null),
  };
  tx.rows.attempts.put(running);
  if (refused !== null) {
    tx.touch(task);
    return { answer: "refused", error_code: "gate_blocked", reason: refused };
  }
  if (attempt.state === "running" && attempt.started_at !== null) return { answer: "go" };
  const now = tx.rows.items.get(item.id) ?? item;
  tx.rows.items.put({ ...now, state: "hooked" });
  const about = { work_item_id: item.id, attempt_id: attempt.id, attempt_number: attempt.number, agent: ref.agent };
  tx.audit("transition", task, {
    decision: attempt.entry === 0 ? "attempt_started" : "attempt_resumed",
    details: about,
  });
  tx.event("task_execution_start", task, { actor: ref.agent, detail: item.spec.title, ...about });
  const touched = tx.touch(task);
  tx.status(touched, "running", { detail: item.spec.title, attempt: running });
  return { answer: "go" };
}

/** Resolves one tool call and records the answer. The same call asked again is answered the same. */
export function authorize(tx: Tx, ref: AttemptRef, call: ToolCall, verified: VerifiedTokens): Authorization {
  const stands = standing(tx, ref);
  if (!stands.ok) return tooLate(tx, ref, `authorize ${call.call_id}`, stands.entry);
  const { task, item, attempt } = stands;
  const id = `${attempt.id}/${call.call_id}`;
  const known = tx.rows.calls.get(id);
  if (known !== null && (known.tool !== call.tool || known.arguments !== call.arguments))
    return { answer: "refused", error_code: "gate_blocked", reason: "this call was asked before with other arguments" };
  if (known !== null && ["settled", "refused", "void", "asking", "unknown"].includes(known.state))
    return { answer: "refused", error_code: "gate_blocked", reason: `this call is ${known.state}` };
  const refused = checkItem(tx, "tool_call", task, item, verified);
  if (refused !== null) return { answer: "refused", error_code: "gate_blocked", reason: refused };
  if (known?.state === "allowed") return spendAllowed(tx, task, known, call, verified);
  if (known?.state === "intent") return { answer: "run" };
  const resolution = resolve(
    tx.scope.policy,
    { tool: call.tool, args: argumentsOf(call) },
    {
      role: "crew",
      taint: task.taint,
      holds_secret: item.spec.allow.secrets.length > 0,
      token: { allow: item.spec.allow, steps: item.spec.steps },
    },
  );
  const state = resolution.decision === "run" ? "intent" : resolution.decision === "ask" ? "waiting" : "refused";
  const row: CallRow = {
    id,
    task_id: task.id,
    attempt_id: attempt.id,
    call_id: call.call_id,
    tool: call.tool,
    arguments: call.arguments,
    state,
    rule: resolution.rule,
    reason: resolution.reason,
    kind: "tool_call",
    tree: null,
    grant: null,
    outcome: null,
    left_at: null,
    answered: null,
  };
  tx.rows.calls.put(row);
  const details = { attempt_id: attempt.id, call_id: call.call_id, tool: call.tool, rule: resolution.rule };
  if (resolution.decision === "run") {
    tx.audit("effect", task, { decision: "intent", reason: resolution.reason, details });
    return { answer: "run" };
  }
  tx.audit("gate_block", task, {
    actor: "gate_runner",
    decision: resolution.decision,
    reason: resolution.reason,
    details,
  });
  if (resolution.decision === "ask") return { answer: "wait" };
  return { answer: "refused", error_code: "gate_blocked", reason: `${resolution.rule}: ${resolution.reason}` };
}

/** A person allowed exactly this call in exactly this workspace: it runs once, or not at all. */
function spendAllowed(tx: Tx, task: TaskRow, known: CallRow, call: ToolCall, verified: VerifiedTokens): Authorization {
  const read = known.grant === null || !verified.has(known.grant.jws) ? null : readJws(known.grant.jws);
  const reason =
    read === null
      ? "the approval's signature does not verify"
      : checkStatement(
          read.statement,
          { scope: tx.scope.scope_id, task: task.id, subject: callSubject(known, call.tree ?? "") },
          tx.now,
        );
  const details = {
    attempt_id: known.attempt_id,
    call_id: known.call_id,
    tool: known.tool,
    approval_id: known.grant?.approval_id ?? null,
  };
  tx.audit("check", task, { actor: "approval_engine", decision: reason === null ? "valid" : "void", reason, details });
  if (reason === null && known.grant !== null) {
    tx.rows.calls.put({ ...known, state: "intent", grant: { ...known.grant, life: "executed" } });
    tx.audit("effect", task, { decision: "intent", reason: "a person allowed this call", details });
    return { answer: "run" };
  }
  tx.rows.calls.put({ ...known, state: "waiting", grant: null, tree: null });
  return { answer: "wait" };
}

function argumentsOf(call: ToolCall): JsonValue {
  return JSON.parse(call.arguments);
}

/** How a call ended, by the holder that runs its attempt; anybody else's word changes nothing. */
export function settle(tx: Tx, ref: AttemptRef, call_id: string, outcome: CallOutcome): void {
  const call = tx.rows.calls.get(`${ref.attempt_id}/${call_id}`);
  if (call === null) return;
  const attempt = tx.rows.attempts.get(ref.attempt_id);
  if (attempt !== null && runs(attempt, ref)) return settleCall(tx, call, outcome);
  tooLate(tx, ref, `settle ${call_id}`, { reason: "the attempt has gone on without it" });
}
/** The same, from the sandbox itself: of a call whose attempt is over it is taken from any agent of the scope. */
export function lookedUp(tx: Tx, ref: AttemptRef | null, about: OpenCall, outcome: CallOutcome): void {
  const call = tx.rows.calls.get(`${about.attempt_id}/${about.call_id}`);
  if (call?.state === "asking") findOut(tx, about, outcome);
  else if (call?.state === "intent" && ref?.attempt_id === about.attempt_id) settle(tx, ref, about.call_id, outcome);
}
function runs(attempt: AttemptRow, ref: AttemptRef): boolean {
  const { state, agent, entry, lease } = attempt;
  const same = lease?.lease_id === ref.lease_id && lease.epoch === ref.epoch;
  return state === "running" && agent === ref.agent && entry === ref.entry && same;
}
