/** A queue as people and the runtime look at it: counts, leases and dead letters, nothing that changes it. */
import type { z } from "zod";
import type { queueCounts, storedLetter } from "../src/domain/queue-shapes.ts";
import { limits } from "../src/limits.ts";
import type { Sql } from "./sql.ts";

export type QueueView = z.infer<typeof queueCounts>;
export type DeadLetter = z.infer<typeof storedLetter>;
export interface Depth {
  readonly queued: number;
  /** Of the queued: not backing off. None while the queue is paused. Of rows whose back-off has just ended, a batch is counted. */
  readonly eligible: number;
  readonly leased: number;
  readonly dead: number;
}
/** Who holds what. Times are ISO 8601. */
export interface HeldLease {
  readonly message_id: string;
  readonly message_kind: string;
  readonly holder: string;
  readonly leased_at: string;
  readonly expires_at: string;
  readonly deliveries: number;
  readonly heartbeats: number;
}

/** Costs the same whatever the depth: the counts are kept by the table's own triggers. */
export function depthOf(sql: Sql, queue: string, now: number): Depth {
  const counted = sql.one<Depth>(
    `SELECT queued, leased, dead, CASE WHEN EXISTS (SELECT 1 FROM queue_standing WHERE queue = ?1 AND state = 'paused') THEN 0
       ELSE ready + (SELECT count(*) FROM (SELECT 1 FROM queue_rows WHERE queue = ?1 AND state = 'queued' AND ready = 0
         AND available_at <= ?2 LIMIT ${limits.queue_batch})) END AS eligible FROM queue_counts WHERE queue = ?1`,
    ...[queue, now],
  );
  return counted ?? { queued: 0, eligible: 0, leased: 0, dead: 0 };
}

export function viewOf(sql: Sql, queue: string): QueueView {
  const { queued, leased, dead } = depthOf(sql, queue, 0);
  // Rows stand in the order they came. `+` keeps the search on them and off the index of ids.
  const oldest = sql.one<{ at: number }>(
    "SELECT enqueued_at AS at FROM queue_rows WHERE +queue = ? AND died_at IS NULL ORDER BY seq LIMIT 1",
    queue,
  );
  const at = oldest?.at ?? null;
  return { name: queue, queued, leased, dead, oldest_at: at === null ? null : new Date(at).toISOString() };
}

export function leasesOf(sql: Sql, queue: string, limit: number): HeldLease[] {
  return sql
    .all<Omit<HeldLease, "leased_at" | "expires_at"> & { leased_at: number; expires_at: number }>(
      `SELECT message_id, message_kind, holder, leased_at, expires_at, deliveries, heartbeats FROM queue_rows
         WHERE queue = ? AND state = 'leased' ORDER BY holder, seq LIMIT ?`,
      ...[queue, limit],
    )
    .map((lease) => ({
      ...lease,
      leased_at: new Date(lease.leased_at).toISOString(),
      expires_at: new Date(lease.expires_at).toISOString(),
    }));
}

export function deadLettersOf(sql: Sql, queue: string, limit: number): DeadLetter[] {
  return sql
    .all<Omit<DeadLetter, "at"> & { died_at: number | null }>(
      `SELECT message_id, message_kind, coalesce(reason, '') AS reason, deliveries, died_at FROM queue_rows
         WHERE queue = ? AND state = 'dead' ORDER BY died_at DESC, seq DESC LIMIT ?`,
      ...[queue, limit],
    )
    .map(({ died_at, ...letter }) => ({ ...letter, at: new Date(died_at ?? 0).toISOString() }));
}
