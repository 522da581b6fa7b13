/** The queue's table, and the way between its columns and the row `domain/queue.ts` speaks of. */
import type { QueueRow, RowHead } from "../src/domain/queue.ts";
import type { Sql } from "./sql.ts";

export const queueSchema: readonly string[] = [
  `CREATE TABLE queue_rows (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, message_id TEXT NOT NULL, message_kind TEXT NOT NULL,
     trace_id TEXT NOT NULL, scope_id TEXT NOT NULL, sender TEXT NOT NULL, body TEXT NOT NULL, body_hash TEXT NOT NULL,
     state TEXT NOT NULL CHECK (state IN ('queued', 'leased', 'dead')), priority INTEGER NOT NULL,
     max_deliveries INTEGER NOT NULL, deliveries INTEGER NOT NULL, epoch INTEGER NOT NULL,
     enqueued_at INTEGER NOT NULL, available_at INTEGER NOT NULL,
     lease_id TEXT UNIQUE, holder TEXT, leased_at INTEGER, expires_at INTEGER, heartbeats INTEGER,
     reason TEXT, died_at INTEGER, UNIQUE (queue, message_id));
   CREATE INDEX queue_rows_next ON queue_rows (queue, state, priority DESC, seq);
   CREATE INDEX queue_rows_expiry ON queue_rows (state, expires_at);
   CREATE INDEX queue_rows_available ON queue_rows (state, available_at);
   CREATE TABLE queue_processed (
     queue TEXT NOT NULL, message_id TEXT NOT NULL, body_hash TEXT NOT NULL, at INTEGER NOT NULL, UNIQUE (queue, message_id));
   CREATE INDEX queue_processed_at ON queue_processed (at);`,
];

export const columns = `seq, queue, message_id, message_kind, trace_id, scope_id, sender, body, body_hash, state, priority,
  max_deliveries, deliveries, epoch, enqueued_at, available_at, lease_id, holder, leased_at, expires_at, heartbeats, reason, died_at`;

export interface StoredRow extends RowHead {
  readonly seq: number;
  readonly queue: string;
  readonly body: string;
  readonly body_hash: string;
  readonly state: "queued" | "leased" | "dead";
  readonly priority: number;
  readonly max_deliveries: number;
  readonly deliveries: number;
  readonly epoch: number;
  readonly enqueued_at: number;
  readonly available_at: number;
  readonly lease_id: string | null;
  readonly holder: string | null;
  readonly leased_at: number | null;
  readonly expires_at: number | null;
  readonly heartbeats: number | null;
  readonly reason: string | null;
  readonly died_at: number | null;
}

export function readRow(stored: StoredRow): QueueRow {
  const { queue, seq, state, priority, max_deliveries, deliveries, epoch, enqueued_at, available_at, reason, died_at } =
    stored;
  const { message_id, trace_id, scope_id, message_kind, sender } = stored;
  const { lease_id, holder, leased_at, expires_at, heartbeats } = stored;
  const leased = lease_id !== null && holder !== null && leased_at !== null && expires_at !== null;
  return {
    ...{ queue, seq, state, priority, max_deliveries, deliveries, epoch, enqueued_at, available_at, reason, died_at },
    head: { message_id, trace_id, scope_id, message_kind, sender },
    lease: leased ? { lease_id, holder, epoch, leased_at, expires_at, heartbeats: heartbeats ?? 0 } : null,
  };
}

/** Writes what a step may change. An acked row is gone: its processed mark is what stays. */
export function writeRow(sql: Sql, row: QueueRow): void {
  if (row.state === "acked") {
    sql.run("DELETE FROM queue_rows WHERE seq = ?", row.seq);
    return;
  }
  const { state, deliveries, epoch, available_at, reason, died_at, lease } = row;
  const held = [lease?.lease_id ?? null, lease?.holder ?? null, lease?.leased_at ?? null, lease?.expires_at ?? null];
  sql.run(
    `UPDATE queue_rows SET state = ?, deliveries = ?, epoch = ?, available_at = ?, reason = ?, died_at = ?,
       lease_id = ?, holder = ?, leased_at = ?, expires_at = ?, heartbeats = ? WHERE seq = ?`,
    ...[state, deliveries, epoch, available_at, reason, died_at],
    ...[...held, lease?.heartbeats ?? null, row.seq],
  );
}
