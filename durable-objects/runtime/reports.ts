/** What agents say of themselves, each within one transaction: that a lease is kept, what they printed, how they stand. [RTO-*] */
import type { AgentReport } from "../agent/self.ts";
import type { OutputNote } from "../remote.ts";
import type { Directory } from "./directory.ts";
import { tooLate } from "./too-late.ts";
import type { Tx } from "./tx.ts";

/** False when the lease is no longer this agent's. */
export function keepLease(
  tx: Tx,
  agent: string,
  lease: { lease_id: string; epoch: number },
  attempt_id: string | null,
): boolean {
  const held = tx.stores.queue.leaseById(lease.lease_id, tx.now)?.holder === agent;
  const beaten = held ? tx.stores.queue.heartbeat(lease, tx.now) : null;
  const attempt = attempt_id === null ? null : tx.rows.attempts.get(attempt_id);
  if (beaten?.ok !== true) {
    if (attempt_id !== null) tooLate(tx, { ...lease, agent, attempt_id }, "heartbeat", { reason: "the lease is gone" });
    return false;
  }
  tx.facts(beaten.value);
  if (attempt?.state === "running") tx.rows.attempts.put({ ...attempt, beat_at: tx.now, asked_at: null });
  return true;
}

/** A piece of an attempt's output for the feed; the log itself is the agent's. */
export function noteOutput(tx: Tx, said: OutputNote): void {
  const task = said.task_id === null ? null : tx.rows.tasks.get(said.task_id);
  const { attempt_id, stage, offset, text } = said;
  tx.event("agent_output", task, { actor: said.agent, attempt_id, stage, offset, text });
}

/** A report that is older than one heard before says nothing. */
export function hearReport(tx: Tx, directory: Directory, report: AgentReport): void {
  const heard = directory.report(report, tx.now);
  if (heard === null) return;
  const { name } = report;
  const who = { actor: name, agent: name };
  for (const move of heard.moves) {
    tx.event("state_changed", null, { ...who, from: move.from, to: move.to, detail: move.reason });
    if (move.to === "active") tx.event("agent_spawned", null, who);
    if (move.to === "stopped") tx.event("agent_stopped", null, who);
    if (move.to === "failed") tx.event("agent_failed", null, { ...who, detail: move.reason });
  }
  if (heard.before.activity === heard.after.activity) return;
  if (heard.after.activity === "working")
    tx.event("agent_working", null, { ...who, work_item_id: heard.after.current });
  else if (heard.before.activity === "working") tx.event("agent_idle", null, who);
}
