/**
 * What a running attempt may call: each call resolved by the policy of now, on record before it runs and after it
 * ended. What a person allowed runs once, in the workspace they saw, or is resolved anew. [ENT-*] [ASK-*]
 */
import type { AttemptRef, Authorization, OpenCall, ToolCall } from "../../src/agents/bus.ts";
import type { CallOutcome } from "../../src/agents/ports.ts";
import { askRules, whyNotAsk } from "../../src/domain/asks.ts";
import { whyNoForm } from "../../src/domain/call-form.ts";
import type { Resolution } from "../../src/domain/policy.ts";
import { checkStatement, readJws } from "../../src/domain/token.ts";
import { limits } from "../../src/limits.ts";
import { hashOfCall, type Wish } from "./ask-log.ts";
import type { CallRow } from "./call-rows.ts";
import { standing } from "./entries.ts";
import { afterStep, callRuns, remark, resolveCall, stoppedByGate } from "./gates.ts";
import { endLife } from "./lives.ts";
import { findOut, settleCall } from "./open-calls.ts";
import type { AttemptRow, TaskRow } from "./rows.ts";
import { callSubject, checkItem, spendToken, unverified, type VerifiedTokens } from "./tokens.ts";
import { tooLate } from "./too-late.ts";
import type { Tx } from "./tx.ts";

/** Resolves one tool call and records the answer. The same call asked again is answered the same. */
export function authorize(tx: Tx, ref: AttemptRef, call: ToolCall, verified: VerifiedTokens): Authorization {
  const stands = standing(tx, ref);
  if (!stands.ok) {
    const entry = tooLate(tx, ref, `authorize ${call.call_id}`, stands.entry);
    return entry.answer === "stale" ? entry : { ...entry, scope: "attempt" };
  }
  const { task, item, attempt } = stands;
  const id = `${attempt.id}/${call.call_id}`;
  const known = tx.rows.calls.get(id);
  if (known !== null && (known.tool !== call.tool || known.arguments !== call.arguments))
    return refusedFor("attempt", "this call was asked before with other arguments");
  if (known !== null && ["settled", "refused", "void", "asking", "unknown"].includes(known.state))
    return refusedFor("attempt", `this call is ${known.state}`);
  const unformed = whyNoForm(call);
  if (unformed !== null) return noForm(tx, task, attempt, call, unformed);
  const refused = checkItem(tx, "tool_call", task, item, verified);
  if (refused !== null) return refusedFor("attempt", refused);
  if (known?.state === "intent") return goesOn(tx, task, known, resolveCall(tx, task, item, attempt, call), verified);
  if (attempt.after_step?.action === "block") return refusedFor("attempt", stoppedByGate);
  const resolved = resolveCall(tx, task, item, attempt, call);
  if (known === null) remark(tx, task, "on_tool_call", resolved.notes);
  // Nobody's yes lifts what is denied today, however long ago it was given.
  const spent =
    known?.state === "allowed" && resolved.decision !== "deny" ? spendAllowed(tx, task, known, call, verified) : null;
  if (spent?.ran === true) return callRuns(tx, task, item, attempt, call);
  const wish = { id: `${id}/${attempt.entry}`, task_id: task.id, call_hash: hashOfCall(call) };
  const resolution = resolved.decision === "ask" ? mayAsk(tx, wish, resolved) : resolved;
  const state = resolution.decision === "run" ? "intent" : resolution.decision === "ask" ? "waiting" : "refused";
  const void_reason = spent?.why ?? `${resolution.rule} denies it now`;
  if (known?.grant) endLife(tx, known.grant.approval_id, "void");
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
    grant: known?.grant ? { ...known.grant, life: "void", void_reason } : null,
    outcome: null,
    left_at: null,
    answered: null,
  };
  tx.rows.calls.put(row);
  const details = { attempt_id: attempt.id, call_id: call.call_id, tool: call.tool, rule: resolution.rule };
  if (resolution.decision === "run") {
    tx.audit("effect", task, { decision: "intent", reason: resolution.reason, details });
    return callRuns(tx, task, item, attempt, call);
  }
  tx.audit("gate_block", task, {
    actor: "gate_runner",
    decision: resolution.decision,
    reason: resolution.reason,
    details,
  });
  if (resolution.decision === "ask") return { answer: "wait" };
  const error_code = resolution.rule === askRules.denied_again ? "approval_denied" : "gate_blocked";
  return { ...refusedFor("call", `${resolution.rule}: ${resolution.reason}`), error_code };
}

/** A call alone may be given up and another tried; what stands against the attempt ends it. */
function refusedFor(scope: "call" | "attempt", reason: string): Extract<Authorization, { answer: "refused" }> {
  return { answer: "refused", error_code: "gate_blocked", reason, scope };
}

/** Nothing is kept of it but the record: its bytes may be of any size. */
function noForm(tx: Tx, task: TaskRow, attempt: AttemptRow, call: ToolCall, reason: string): Authorization {
  const short = (text: string) => text.slice(0, limits.call_name_chars);
  const rule = "arguments";
  const details = { attempt_id: attempt.id, call_id: short(call.call_id), tool: short(call.tool), rule };
  tx.audit("gate_block", task, { actor: "gate_runner", decision: "deny", reason, details });
  return refusedFor("call", `${rule}: ${reason}`);
}

/**
 * On record and not settled, it goes on: the sandbox starts at most one process for it. Not so when its row is not what
 * was signed or granted, or when it is denied today; a gate that asks only now comes too late for it.
 */
function goesOn(tx: Tx, task: TaskRow, known: CallRow, now: Resolution, verified: VerifiedTokens): Authorization {
  // Its process may run already, so that only the end of the attempt finds out what became of it.
  const refused = (reason: string) => refusedFor("attempt", reason);
  if (now.decision === "deny") return refused(`${now.rule}: ${now.reason}`);
  if (known.grant !== null && known.grant.life !== "void") {
    const why = reasonNotSigned(tx, task, known, known.tree ?? "", verified);
    return why === null ? { answer: "run" } : refused(why);
  }
  const stands = now.decision === "run" || now.rule.startsWith("gate:");
  return stands ? { answer: "run" } : refused(`${now.rule}: ${now.reason}`);
}

/** A call that asks may do so only so often, and not right after a no. Asked again while it waits, it asks once. */
function mayAsk(tx: Tx, wish: Wish, resolved: Resolution): Resolution {
  const { asks } = tx.stores;
  if (asks.has(wish.id)) return resolved;
  const refused = whyNotAsk(asks.standing(wish, tx.now), tx.scope.policy.approvals, tx.now);
  if (refused !== null) return { ...resolved, decision: "deny", ...refused };
  asks.note(wish, tx.now);
  return resolved;
}

/** A person allowed exactly this call in exactly this workspace: it runs once, or not at all. */
function spendAllowed(
  tx: Tx,
  task: TaskRow,
  known: CallRow,
  call: ToolCall,
  verified: VerifiedTokens,
): { readonly ran: boolean; readonly why: string | null } {
  const why = reasonNotCall(tx, task, known, call, verified);
  const details = {
    attempt_id: known.attempt_id,
    call_id: known.call_id,
    tool: known.tool,
    approval_id: known.grant?.approval_id ?? null,
  };
  tx.audit("check", task, {
    actor: "approval_engine",
    decision: why === null ? "valid" : "void",
    reason: why,
    details,
  });
  if (why !== null || known.grant === null) return { ran: false, why };
  tx.rows.calls.put({ ...known, state: "intent", grant: { ...known.grant, life: "executed" } });
  endLife(tx, known.grant.approval_id, "execute");
  tx.audit("effect", task, { decision: "intent", reason: "a person allowed this call", details });
  return { ran: true, why: null };
}

function reasonNotCall(tx: Tx, task: TaskRow, known: CallRow, call: ToolCall, verified: VerifiedTokens): string | null {
  const reason = reasonNotSigned(tx, task, known, call.tree ?? "", verified);
  if (reason !== null || known.grant === null) return reason;
  return spendToken(tx, { approval_id: known.grant.approval_id, subject: known.id, jws: known.grant.jws });
}
function reasonNotSigned(tx: Tx, task: TaskRow, known: CallRow, tree: string, verified: VerifiedTokens): string | null {
  const { grant } = known;
  if (grant === null) return "nobody has approved this call";
  const read = readJws(grant.jws);
  if (read === null || !verified.has(grant.jws)) return unverified(grant.jws);
  const expected = { scope: tx.scope.scope_id, task: task.id, subject: callSubject(known, tree) };
  return checkStatement(read.statement, expected, tx.now);
}

/** How a call ended, by the holder that runs its attempt; anybody else's word changes nothing. */
export function settle(tx: Tx, ref: AttemptRef, call_id: string, outcome: CallOutcome, said = ""): void {
  const call = tx.rows.calls.get(`${ref.attempt_id}/${call_id}`);
  if (call === null) return;
  const attempt = tx.rows.attempts.get(ref.attempt_id);
  if (attempt !== null && runs(attempt, ref)) {
    settleCall(tx, call, outcome);
    return afterStep(tx, attempt, call, outcome, said);
  }
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
