/** What time, a restart or a person does to many rows of a queue at once, always a bounded number. */
import type { Message } from "../src/domain/message.ts";
import { joinFacts, type LeaseRef, type QueueFacts } from "../src/domain/queue.ts";
import { limits } from "../src/limits.ts";
import { must } from "./queue-lease.ts";
import { columns, heads, readMessage, type StoredHead, type StoredRow } from "./queue-rows.ts";
import type { Sql } from "./sql.ts";

export interface Expired {
  readonly queue: string;
  readonly message: Message | null;
  readonly lease: LeaseRef & { readonly holder: string };
  readonly state: "queued" | "dead";
}
const batch = limits.queue_batch;

export function requeueOwn(sql: Sql, queue: string, now: number, counted: (message_id: string) => boolean): QueueFacts {
  const query = `SELECT ${heads} FROM queue_rows WHERE queue = ? AND state = 'leased' ORDER BY seq`;
  const rows = sql.all<StoredHead>(query, queue);
  return joinFacts(
    ...rows.map((row) => must(sql, row, { event: "requeue", counted: counted(row.message_id) }, now).facts),
  );
}

export function expire(sql: Sql, now: number): { readonly expired: readonly Expired[]; readonly facts: QueueFacts } {
  sql.run(
    `DELETE FROM queue_processed WHERE at < ? AND rowid IN
       (SELECT rowid FROM queue_processed ORDER BY rowid LIMIT ${limits.processed_forgotten_per_tick})`,
    now - limits.processed_retention_ms,
  );
  const rows = sql.all<StoredRow>(
    `SELECT ${columns} FROM queue_rows WHERE state = 'leased' AND expires_at <= ? ORDER BY expires_at, seq LIMIT ${batch}`,
    now,
  );
  const moves = rows.map((stored) => ({ stored, moved: must(sql, stored, { event: "expire" }, now) }));
  const expired = moves.map(({ stored, moved }) => ({
    queue: stored.queue,
    message: readMessage(stored.body),
    lease: { lease_id: stored.lease_id ?? "", epoch: stored.epoch, holder: stored.holder ?? "" },
    state: moved.row.state === "dead" ? ("dead" as const) : ("queued" as const),
  }));
  return { expired, facts: joinFacts(...moves.map(({ moved }) => moved.facts)) };
}

export function requeueDead(
  sql: Sql,
  queue: string,
  message_id: string | null,
  now: number,
): { readonly requeued: number; readonly facts: QueueFacts } {
  const which = message_id === null ? "" : "AND message_id = ?";
  const rows = sql.all<StoredHead>(
    `SELECT ${heads} FROM queue_rows WHERE queue = ? AND state = 'dead' ${which} ORDER BY died_at, seq LIMIT ${batch}`,
    ...(message_id === null ? [queue] : [queue, message_id]),
  );
  const facts = rows.map((row) => must(sql, row, { event: "revive" }, now).facts);
  return { requeued: rows.length, facts: joinFacts(...facts) };
}
