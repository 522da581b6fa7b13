/**
 * Calls that were left open: on record as an intent when their attempt ended, and never settled. Their sandbox is asked
 * once more by whoever is about to destroy it. What nobody can say is kept as unknown, and a person is told. [EFF-4] [EFF-5]
 */
import type { OpenCall } from "../../src/agents/bus.ts";
import type { CallOutcome } from "../../src/agents/ports.ts";
import { type EffectEvent, type EffectState, repeats, stepEffect } from "../../src/domain/effect.ts";
import type { UnknownEffect } from "../../src/domain/unknown.ts";
import { visible, visibleLine } from "../../src/domain/visible.ts";
import type { CallRow } from "./call-rows.ts";
import type { AttemptRow, ScopeRows } from "./rows.ts";
import type { Tx } from "./tx.ts";

const effectOf: Partial<Record<CallRow["state"], EffectState>> = {
  intent: "intent",
  settled: "known",
  asking: "asking",
  unknown: "unknown",
};
const rowOf: Record<EffectState, CallRow["state"]> = {
  intent: "intent",
  known: "settled",
  asking: "asking",
  unknown: "unknown",
};
const answersMax = 300;
const argumentsMax = 2_000;
const lineMax = 200;

/** Null when it cannot follow: what is known, or unknown for good, stays so. */
function moved(call: CallRow, event: EffectEvent, more: Partial<CallRow>): CallRow | null {
  const before = effectOf[call.state];
  const after = before === undefined ? null : stepEffect(before, event);
  return after === null ? null : { ...call, ...more, state: rowOf[after] };
}

/** Within the transaction that ends the attempt. */
export function leaveOpen(tx: Tx, attempt: AttemptRow): void {
  const left: string[] = [];
  for (const call of tx.rows.calls.ofTask(attempt.task_id)) {
    if (call.attempt_id !== attempt.id) continue;
    const open = moved(call, "abandon", { left_at: tx.at });
    if (open === null) continue;
    tx.rows.calls.put(open);
    record(tx, open, "open", "its attempt ended before its outcome was on record");
    left.push(call.call_id);
  }
  if (left.length > 0 && attempt.agent !== null) tx.kill(attempt.task_id, attempt.agent, attempt.id, left);
}

/** The call's own holder says how it ended. Settling it once more changes nothing. */
export function settleCall(tx: Tx, call: CallRow, outcome: CallOutcome): void {
  if (outcome.state === "running") return;
  if (outcome.state === "unknown") return giveUp(tx, call, "the sandbox does not know the call");
  const known = moved(call, "outcome", { outcome: outcome.state });
  if (known === null) return;
  tx.rows.calls.put(known);
  record(tx, known, "outcome", outcome.state, { exit_code: outcome.state === "exited" ? outcome.exit_code : null });
}

/** What a sandbox answered about a call that was left open. */
export function findOut(tx: Tx, { attempt_id, call_id }: OpenCall, outcome: CallOutcome): void {
  const call = tx.rows.calls.get(`${attempt_id}/${call_id}`);
  if (call === null || outcome.state === "running") return;
  if (outcome.state === "unknown") return giveUp(tx, call, "the sandbox is gone, or does not know the call");
  const found = moved(call, "found", { outcome: outcome.state, answered: outcome.state });
  if (found === null) return;
  tx.rows.calls.put(found);
  const exit_code = outcome.state === "exited" ? outcome.exit_code : null;
  record(tx, found, "outcome", outcome.state, { exit_code, looked_up: true });
}

/** Nobody can say: for good. */
export function giveUp(tx: Tx, call: CallRow, answered: string): void {
  const lost = moved(call, "lost", { left_at: call.left_at ?? tx.at, answered: answered.slice(0, answersMax) });
  if (lost !== null) tell(tx, tx.rows.calls.put(lost));
}
/** A push of which nobody knows whether it was made. */
export function pushUnknown(tx: Tx, call: Pick<CallRow, "task_id" | "attempt_id" | "arguments">, said: string): void {
  const row: CallRow = {
    ...call,
    id: `${call.attempt_id}/publish`,
    call_id: "publish",
    kind: "publish",
    tool: "publish",
    state: "unknown",
    rule: "publish",
    reason: "the plan's approval grants it",
    tree: null,
    grant: null,
    outcome: null,
    left_at: tx.at,
    answered: said.slice(0, answersMax),
  };
  tell(tx, tx.rows.calls.put(row));
}

function tell(tx: Tx, call: CallRow): void {
  const task = tx.rows.tasks.get(call.task_id);
  const asked = { arguments: shown(call), answered: call.answered };
  record(tx, call, "unknown", "what became of it is not known, and it is not done again", asked);
  const { attempt_id, call_id, tool } = call;
  const work_item_id = tx.rows.attempts.get(attempt_id)?.work_item_id ?? null;
  tx.event("effect_unknown", task, {
    surfaces: ["review", "activity"],
    detail: inWords(call),
    kind: call.kind,
    ...{ attempt_id, work_item_id, call_id, tool },
    ...asked,
  });
}
function record(tx: Tx, call: CallRow, decision: string, reason: string, more: Record<string, unknown> = {}): void {
  const task = tx.rows.tasks.get(call.task_id);
  const { attempt_id, call_id, tool } = call;
  if (task !== null) tx.audit("effect", task, { decision, reason, details: { attempt_id, call_id, tool, ...more } });
}

/** In one line, for a card's facts and the feed. */
export function inWords(call: CallRow): string {
  const text = visibleLine(call.arguments);
  const asked = `${call.tool} ${text.length > lineMax ? `${text.slice(0, lineMax).toWellFormed()} ...` : text}`;
  const said = call.state === "asking" ? "its sandbox is still to be asked" : (call.answered ?? "nobody can say");
  return `What became of ${asked} is not known: ${said}. It is not run again.`;
}
function shown(call: CallRow): string {
  return visible(call.arguments).slice(0, argumentsMax).toWellFormed();
}

/** Calls of a work item that nobody can vouch for. */
export function openOfItem(rows: ScopeRows, task_id: string, work_item_id: string): CallRow[] {
  const own = rows.attempts.ofTask(task_id).flatMap((row) => (row.work_item_id === work_item_id ? [row.id] : []));
  return rows.calls.ofTask(task_id).filter((call) => isOpen(call) && own.includes(call.attempt_id));
}
export function unknownEffects(rows: ScopeRows): Map<string, UnknownEffect[]> {
  const open = [...rows.calls.withStatus("asking"), ...rows.calls.withStatus("unknown")];
  return new Map(
    [...Map.groupBy(open, (call) => call.task_id)].map(([task_id, calls]) => [
      task_id,
      calls.map((call) => unknownEffectOf(rows, call)),
    ]),
  );
}
function isOpen(call: CallRow): boolean {
  return call.state === "asking" || call.state === "unknown";
}
function unknownEffectOf(rows: ScopeRows, call: CallRow): UnknownEffect {
  const { kind, attempt_id, call_id, tool, answered } = call;
  return {
    ...{ kind, attempt_id, call_id, tool, answered },
    work_item_id: rows.attempts.get(attempt_id)?.work_item_id ?? null,
    arguments: shown(call),
    state: call.state === "asking" ? "asking" : "unknown",
    repeats: repeats[kind],
    at: call.left_at ?? "",
  };
}
