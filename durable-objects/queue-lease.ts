/** One row taken, moved and written: what single calls and batches of a queue share. */
import {
  joinFacts,
  type Moved,
  noFacts,
  type QueueFacts,
  type QueueRow,
  type QueueStep,
  step,
} from "../src/domain/queue.ts";
import { limits } from "../src/limits.ts";
import type { Lease } from "./durable-queue.ts";
import {
  leasable,
  type ReadyRow,
  readMessage,
  readRow,
  readyColumns,
  type StoredHead,
  writeRow,
} from "./queue-rows.ts";
import { moveStanding, noteEnd } from "./queue-standing.ts";
import type { Sql } from "./sql.ts";

export const unreadable = "the stored message cannot be read";

/** Null when the body cannot be read, or nobody holds the row. */
export function leaseOf(row: QueueRow, body: string): Lease | null {
  const message = readMessage(body);
  if (message === null || row.lease === null) return null;
  const { lease_id, epoch, holder, expires_at } = row.lease;
  return { queue: row.queue, message, lease_id, epoch, holder, expires_at, deliveries: row.deliveries };
}

const notPaused =
  "NOT EXISTS (SELECT 1 FROM queue_standing WHERE queue_standing.queue = ?1 AND queue_standing.state = 'paused')";
const isDue = `EXISTS (SELECT 1 FROM queue_rows AS other WHERE other.queue = ?1 AND other.state = 'queued' AND other.ready = 0
  AND other.available_at <= ?2)`;

const promoteDue = `UPDATE queue_rows SET ready = 1 WHERE seq IN (SELECT seq FROM queue_rows WHERE queue = ?1 AND state = 'queued' AND ready = 0
  AND available_at <= ?2 AND ${notPaused} ORDER BY available_at LIMIT ${limits.queue_batch}) RETURNING seq`;

/** Makes rows ready whose back-off has ended, unless the queue is paused: a batch at a time, the longest due first. Says how many. */
export function promote(sql: Sql, queue: string, now: number): number {
  return sql.all(promoteDue, queue, now).length;
}

const readyFirst = `SELECT ${readyColumns}, ${isDue} AS due FROM queue_rows WHERE queue = ?1 AND ready = 1 AND ${notPaused}
  ORDER BY priority DESC, seq LIMIT 1`;

/** The row to lease next: of the highest priority, then first in. What waits is never walked over. */
export function nextReady(sql: Sql, queue: string, now: number): ReadyRow | null {
  const first = sql.one<ReadyRow & { due: number }>(readyFirst, queue, now);
  if (first !== null && first.due === 0) return first;
  return promote(sql, queue, now) === 0 ? first : sql.one<ReadyRow>(readyFirst, queue, now);
}

/** For events the query already chose the rows for: a refusal here is a bug of ours. */
export function must(sql: Sql, stored: StoredHead, asked: QueueStep, now: number): Moved {
  const moved = step(readRow(stored), asked, now);
  if (!moved.ok) throw new Error(`queue row ${stored.message_id}: ${moved.refusal.detail}`);
  return commit(sql, stored, moved.value, now);
}

export const mark = "INSERT OR IGNORE INTO queue_processed (queue, message_id, body_hash, at) VALUES (?, ?, ?, ?)";

/** Writes the row, the mark of one that is acked, and what its end or return means for the queue's standing. */
export function commit(sql: Sql, stored: StoredHead, moved: Moved, now: number): Moved {
  const { queue, message_id, body_hash, scope_id } = stored;
  const { row } = moved;
  if (row.state === "acked") sql.run(mark, queue, message_id, body_hash, now);
  writeRow(sql, row, stored.state, now);
  const ended = row.state === "acked" || row.state === "dead";
  if (ended && stored.standing === "draining")
    return { row, facts: joinFacts(moved.facts, noteEnd(sql, queue, scope_id, now)) };
  if (stored.state === "dead" && stored.standing === "drained") {
    const order = { scope_id, by: "runtime", reason: "a dead letter was put back" };
    return { row, facts: joinFacts(moved.facts, moveStanding(sql, queue, "refill", order, now).facts) };
  }
  return moved;
}

/** A ready row, moved by the lease that `asked` is. */
export function leased(stored: ReadyRow, asked: QueueStep & { event: "lease" }, now: number): Moved {
  const moved = step(leasable(stored, now), asked, now);
  if (!moved.ok) throw new Error(`queue row ${stored.message_id}: ${moved.refusal.detail}`);
  return moved.value;
}

/** A row just leased whose body cannot be read dies at once, with its reason. */
export function bury(sql: Sql, row: QueueRow, now: number): QueueFacts {
  if (row.lease === null) return noFacts;
  const lost = step(row, { event: "bury", lease: row.lease, reason: unreadable }, now);
  if (!lost.ok) return noFacts;
  writeRow(sql, lost.value.row, "leased", now);
  return joinFacts(lost.value.facts, noteEnd(sql, row.queue, row.head.scope_id, now));
}
