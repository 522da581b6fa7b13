/** A queue as people and the runtime look at it: counts and dead letters, nothing that changes it. */
import type { z } from "zod";
import type { deadLetterView, queueView } from "../src/domain/view.ts";
import type { Sql } from "./sql.ts";

export type QueueView = z.infer<typeof queueView>;
export type DeadLetter = z.infer<typeof deadLetterView>;
export interface Depth {
  readonly queued: number;
  /** Of the queued: not backing off. */
  readonly eligible: number;
  readonly leased: number;
  readonly dead: number;
}

export function depthOf(sql: Sql, queue: string, now: number): Depth {
  const counted = sql.one<Depth>(
    `SELECT count(*) FILTER (WHERE state = 'queued') AS queued,
       count(*) FILTER (WHERE state = 'queued' AND available_at <= ?) AS eligible,
       count(*) FILTER (WHERE state = 'leased') AS leased,
       count(*) FILTER (WHERE state = 'dead') AS dead FROM queue_rows WHERE queue = ?`,
    ...[now, queue],
  );
  return counted ?? { queued: 0, eligible: 0, leased: 0, dead: 0 };
}

export function viewOf(sql: Sql, queue: string): QueueView {
  const { queued, leased, dead } = depthOf(sql, queue, 0);
  const oldest = sql.one<{ at: number | null }>(
    "SELECT min(enqueued_at) AS at FROM queue_rows WHERE queue = ? AND state IN ('queued', 'leased')",
    queue,
  );
  const at = oldest?.at ?? null;
  return { name: queue, queued, leased, dead, oldest_at: at === null ? null : new Date(at).toISOString() };
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
