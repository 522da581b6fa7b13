/**
 * What SQLite itself needs for enqueue, lease and ack: three statements, a commit each. Once with the least
 * there can be, once with the queue's own columns, indexes, counts and processed marks.
 */
import { queueSchema } from "../../../durable-objects/queue-rows.ts";

export const minimalSchema = `CREATE TABLE IF NOT EXISTS raw_jobs (id INTEGER PRIMARY KEY, message_id TEXT NOT NULL UNIQUE, body TEXT NOT NULL,
    lease TEXT, expires_at INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX IF NOT EXISTS raw_jobs_next ON raw_jobs (expires_at, id)`;

export const minimal = {
  enqueue: "INSERT INTO raw_jobs (message_id, body) VALUES (?, ?)",
  lease: `UPDATE raw_jobs SET lease = ?, expires_at = ? WHERE id = (SELECT id FROM raw_jobs WHERE expires_at = 0
    ORDER BY id LIMIT 1) RETURNING id, body`,
  ack: "DELETE FROM raw_jobs WHERE id = ? AND lease = ?",
} as const;

export const sameColumnsSchema = queueSchema;

/** `ack` takes two statements in its transaction, as the queue's own: the row goes, the mark stays. */
export const sameColumns = {
  enqueue: `INSERT INTO queue_rows (queue, message_id, message_kind, trace_id, scope_id, sender, body, body_hash, state, priority,
      max_deliveries, deliveries, epoch, enqueued_at, available_at, ready)
    VALUES ('inbox', ?, 'user_message', 'trace-0-long', 'scopescopescope1', 'user', ?, ?, 'queued', 0, 5, 0, 1, ?, ?, 1)`,
  lease: `UPDATE queue_rows SET state = 'leased', deliveries = deliveries + 1, lease_id = ?, holder = 'proxy', leased_at = ?,
      expires_at = ?, heartbeats = 0, ready = 0 WHERE seq = (SELECT seq FROM queue_rows WHERE queue = 'inbox' AND ready = 1
      AND available_at <= ? ORDER BY priority DESC, seq LIMIT 1) RETURNING seq, message_id, body_hash, body`,
  ack: "DELETE FROM queue_rows WHERE seq = ?",
  mark: "INSERT OR IGNORE INTO queue_processed (queue, message_id, body_hash, at) VALUES ('inbox', ?, ?, ?)",
} as const;
