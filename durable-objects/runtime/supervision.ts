/**
 * Agents that run an attempt are heard of every few seconds. One that is not is asked; one that does not answer either
 * loses its attempt, long before its lease would end, and a fresh one takes its place. [RCV-7]
 */
import { limits } from "../../src/limits.ts";
import { endAttempt } from "./ladder.ts";
import type { AttemptRow, ScopeRows } from "./rows.ts";
import type { Tx } from "./tx.ts";

const silence_ms = limits.agent_heartbeat_ms * limits.missed_heartbeats;

/** Ends what was asked about in vain; returns the agents to ask now. */
export function superviseRunning(tx: Tx): string[] {
  const ask: string[] = [];
  for (const attempt of tx.rows.attempts.withStatus("running")) {
    const { agent, lease } = attempt;
    const task = tx.rows.tasks.get(attempt.task_id);
    if (agent === null || lease === null || task === null || dueAt(attempt) > tx.now) continue;
    if (attempt.asked_at === null) {
      tx.rows.attempts.put({ ...attempt, asked_at: tx.now });
      ask.push(agent);
      continue;
    }
    const acked = tx.stores.queue.ack(lease, tx.now);
    if (acked.ok) tx.facts(acked.value);
    tx.kill(task.id, agent, attempt.id);
    endAttempt(tx, task, attempt, { end: { kind: "crashed" }, detail: "its agent fell silent" });
  }
  return ask;
}
function dueAt({ beat_at, asked_at }: AttemptRow): number {
  return (asked_at ?? beat_at) + silence_ms;
}
export function nextSilence(rows: ScopeRows): number | null {
  const due = rows.attempts
    .withStatus("running")
    .flatMap((attempt) => (attempt.lease === null ? [] : [dueAt(attempt)]));
  return due.length === 0 ? null : Math.min(...due);
}
