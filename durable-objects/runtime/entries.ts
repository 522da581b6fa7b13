/**
 * How an attempt is entered: claimed and begun. Every entry checks the lease, the attempt and the token as they are
 * stored now; what it calls then stands in `calls.ts`. [ENT-*]
 */
import type { AttemptRef, Entry } from "../../src/agents/bus.ts";
import type { Message } from "../../src/domain/message.ts";
import { researchQueue } from "../../src/domain/research-crew.ts";
import { isFinal } from "../../src/domain/task.ts";
import { tokenExpired } from "../../src/domain/token.ts";
import { limits } from "../../src/limits.ts";
import type { Lease } from "../durable-queue.ts";
import { endAttempt } from "./ladder.ts";
import { renew } from "./renewal.ts";
import { keepLease } from "./reports.ts";
import { beginResearch, wantedResearch } from "./research.ts";
import type { AttemptRow, ItemRow, TaskRow } from "./rows.ts";
import { checkItem, type VerifiedTokens } from "./tokens.ts";
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
/** The next question of a planner that somebody still waits for: researchers have a queue of their own. */
export function claimResearch(tx: Tx, agent: string, lease_id: () => string): Lease | null {
  for (let tried = 0; tried < 50; tried++) {
    const request = { holder: agent, lease_id: lease_id(), lease_ms: limits.lease_ms };
    const { lease, facts } = tx.stores.queue.lease(researchQueue, request, tx.now);
    tx.facts(facts);
    if (lease === null) return null;
    if (wantedResearch(tx, lease.message)) {
      beginResearch(tx, lease, agent);
      return lease;
    }
    const acked = tx.stores.queue.ack(lease, tx.now);
    if (acked.ok) tx.facts(acked.value);
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
export function standing(tx: Tx, ref: AttemptRef): Standing {
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
  const plan = refused === tokenExpired ? tx.rows.plans.get(item.plan_id) : null;
  if (plan !== null) {
    renew(tx, task, plan);
    return { answer: "stale", reason: tokenExpired };
  }
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
