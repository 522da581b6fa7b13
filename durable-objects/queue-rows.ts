/** The queue's table, and the way between its columns and the row `domain/queue.ts` speaks of. */
import { envelope, type Message } from "../src/domain/message.ts";
import type { QueueRow, RowHead } from "../src/domain/queue.ts";
import type { StandingState } from "../src/domain/queue-standing.ts";
import type { Sql } from "./sql.ts";

/** The counts of each queue, right whatever changes a row. */
const counting = `CREATE TRIGGER queue_rows_in AFTER INSERT ON queue_rows BEGIN
     INSERT INTO queue_counts VALUES (new.queue, new.state = 'queued', new.ready, new.state = 'leased', new.state = 'dead')
       ON CONFLICT (queue) DO UPDATE SET queued = queued + excluded.queued, ready = ready + excluded.ready,
         leased = leased + excluded.leased, dead = dead + excluded.dead; END;
   CREATE TRIGGER queue_rows_moved AFTER UPDATE OF state, ready ON queue_rows BEGIN
     UPDATE queue_counts SET queued = queued + (new.state = 'queued') - (old.state = 'queued'),
       ready = ready + new.ready - old.ready, leased = leased + (new.state = 'leased') - (old.state = 'leased'),
       dead = dead + (new.state = 'dead') - (old.state = 'dead') WHERE queue = new.queue; END;
   CREATE TRIGGER queue_rows_out AFTER DELETE ON queue_rows BEGIN
     UPDATE queue_counts SET queued = queued - (old.state = 'queued'), ready = ready - old.ready,
       leased = leased - (old.state = 'leased'), dead = dead - (old.state = 'dead') WHERE queue = old.queue; END;`;
const moved = `seq, queue, message_id, message_kind, trace_id, scope_id, sender, body_hash, state, ready, priority, max_deliveries,
  deliveries, epoch, enqueued_at, available_at, lease_id, holder, leased_at, expires_at, heartbeats, reason, died_at, body`;

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
  // `ready`: queued and not backing off, so that leasing never walks over rows that wait. Each index holds only the
  // rows its question is about. The counts are kept by triggers: whatever changes a row, they are right.
  `ALTER TABLE queue_rows ADD COLUMN ready INTEGER NOT NULL DEFAULT 0;
   UPDATE queue_rows SET ready = 1 WHERE state = 'queued' AND available_at <= enqueued_at;
   UPDATE queue_rows SET died_at = 0 WHERE state = 'dead' AND died_at IS NULL;
   DROP INDEX queue_rows_next;
   DROP INDEX queue_rows_expiry;
   DROP INDEX queue_rows_available;
   CREATE INDEX queue_rows_ready ON queue_rows (queue, priority DESC, seq) WHERE ready = 1;
   CREATE INDEX queue_rows_waiting ON queue_rows (queue, available_at) WHERE state = 'queued' AND ready = 0;
   CREATE INDEX queue_rows_held ON queue_rows (queue, holder, seq) WHERE state = 'leased';
   CREATE INDEX queue_rows_expires ON queue_rows (expires_at) WHERE state = 'leased';
   CREATE INDEX queue_rows_dead ON queue_rows (queue, died_at, seq) WHERE state = 'dead';
   CREATE INDEX queue_rows_age ON queue_rows (queue, enqueued_at) WHERE died_at IS NULL;
   CREATE TABLE queue_standing (
     queue TEXT PRIMARY KEY, state TEXT NOT NULL CHECK (state IN ('open', 'paused', 'draining', 'drained')),
     "by" TEXT NOT NULL, reason TEXT, at INTEGER NOT NULL);
   CREATE TABLE queue_counts (
     queue TEXT PRIMARY KEY, queued INTEGER NOT NULL, ready INTEGER NOT NULL, leased INTEGER NOT NULL,
     dead INTEGER NOT NULL) WITHOUT ROWID;
   INSERT INTO queue_counts SELECT queue, sum(state = 'queued'), sum(ready), sum(state = 'leased'), sum(state = 'dead')
     FROM queue_rows GROUP BY queue;
   ${counting}`,
  // The body stands last, so that what is asked of a row is read without it, and each row pays for fewer indexes: none for
  // a lease it does not have, one for the leases that are. A number may come again once its row is gone; those that stand
  // keep their order. Marks are forgotten in the order they were made, which is that of their rows.
  `CREATE TABLE queue_rows_new (
     seq INTEGER PRIMARY KEY, queue TEXT NOT NULL, message_id TEXT NOT NULL, message_kind TEXT NOT NULL,
     trace_id TEXT NOT NULL, scope_id TEXT NOT NULL, sender TEXT NOT NULL, body_hash TEXT NOT NULL,
     state TEXT NOT NULL CHECK (state IN ('queued', 'leased', 'dead')), ready INTEGER NOT NULL, priority INTEGER NOT NULL,
     max_deliveries INTEGER NOT NULL, deliveries INTEGER NOT NULL, epoch INTEGER NOT NULL,
     enqueued_at INTEGER NOT NULL, available_at INTEGER NOT NULL,
     lease_id TEXT, holder TEXT, leased_at INTEGER, expires_at INTEGER, heartbeats INTEGER,
     reason TEXT, died_at INTEGER, body TEXT NOT NULL, UNIQUE (queue, message_id));
   INSERT INTO queue_rows_new (${moved}) SELECT ${moved} FROM queue_rows ORDER BY seq;
   DROP TABLE queue_rows;
   ALTER TABLE queue_rows_new RENAME TO queue_rows;
   CREATE UNIQUE INDEX queue_rows_lease ON queue_rows (lease_id) WHERE lease_id IS NOT NULL;
   CREATE INDEX queue_rows_ready ON queue_rows (queue, priority DESC, seq) WHERE ready = 1;
   CREATE INDEX queue_rows_waiting ON queue_rows (queue, available_at) WHERE state = 'queued' AND ready = 0;
   CREATE INDEX queue_rows_leased ON queue_rows (expires_at, queue, holder) WHERE state = 'leased';
   CREATE INDEX queue_rows_dead ON queue_rows (queue, died_at, seq) WHERE state = 'dead';
   CREATE INDEX queue_rows_age ON queue_rows (queue, enqueued_at) WHERE died_at IS NULL;
   ${counting}
   DROP INDEX queue_processed_at;`,
  // Each page a commit changes is written to the disk again, so a row stands in as few indexes as its questions need:
  // one for all leases (they are few, and walked for their time), none for the age (rows stand in the order they came).
  `DROP INDEX queue_rows_lease;
   DROP INDEX queue_rows_leased;
   DROP INDEX queue_rows_age;
   CREATE INDEX queue_rows_leased ON queue_rows (lease_id, expires_at, queue, holder) WHERE state = 'leased';`,
];

/** All of a row but its body, and how its queue stands. */
export const heads = `seq, queue, message_id, message_kind, trace_id, scope_id, sender, body_hash, state, priority,
  max_deliveries, deliveries, epoch, enqueued_at, available_at, lease_id, holder, leased_at, expires_at, heartbeats, reason,
  died_at, (SELECT state FROM queue_standing WHERE queue_standing.queue = queue_rows.queue) AS standing`;
export const columns = `${heads}, body`;

export interface StoredHead extends RowHead {
  readonly seq: number;
  readonly queue: string;
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
  /** Null for a queue that nobody ever touched: it is open. */
  readonly standing: StandingState | null;
}
export interface StoredRow extends StoredHead {
  readonly body: string;
}

const into = `INSERT INTO queue_rows (queue, message_id, message_kind, trace_id, scope_id, sender, body, body_hash, state, ready,
  priority, max_deliveries, deliveries, epoch, enqueued_at, available_at)`;
/** One new row, ready at once: its twelve values in the columns' order. */
export const insertRow = `${into} VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', 1, ?, ?, 0, 1, ?, ?)`;
const given = (index: number) => `json_extract(value, '$[${index}]')`;
/** Many: the queue, then a list of all the rest but the time, then the time. */
export const insertRows = `${into} SELECT ?1, ${[0, 1, 2, 3, 4, 5, 6].map(given).join(", ")}, 'queued', 1, ${given(7)}, ${given(8)},
  0, 1, ?3, ?3 FROM json_each(?2) ORDER BY key`;

/** A row that is ready to be leased: what it is not, it need not be asked for. */
export interface ReadyRow extends RowHead {
  readonly seq: number;
  readonly queue: string;
  readonly priority: number;
  readonly max_deliveries: number;
  readonly deliveries: number;
  readonly epoch: number;
  readonly enqueued_at: number;
  readonly available_at: number;
  readonly body: string;
}
export const readyColumns = `seq, queue, message_id, message_kind, trace_id, scope_id, sender, priority, max_deliveries,
  deliveries, epoch, enqueued_at, available_at, body`;

/** Ready once is ready for good: a clock that went back a little does not take it away. */
export function leasable(stored: ReadyRow, now: number): QueueRow {
  const { queue, seq, priority, max_deliveries, deliveries, epoch, enqueued_at } = stored;
  const { message_id, trace_id, scope_id, message_kind, sender } = stored;
  return {
    ...{ queue, seq, state: "queued", priority, max_deliveries, deliveries, epoch, enqueued_at },
    available_at: Math.min(stored.available_at, now),
    head: { message_id, trace_id, scope_id, message_kind, sender },
    ...{ lease: null, reason: null, died_at: null },
  };
}

export function readRow(stored: StoredHead): QueueRow {
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

/**
 * Writes what a step may change; `from` is the state before it. An acked row is gone: its processed mark is what
 * stays. Columns that do not change are not named, so that their indexes are left alone.
 */
export function writeRow(sql: Sql, row: QueueRow, from: StoredHead["state"], now: number): void {
  const { seq, state, deliveries, epoch, available_at, reason, died_at, lease } = row;
  if (state === "acked") {
    sql.run("DELETE FROM queue_rows WHERE seq = ?", seq);
    return;
  }
  if (state === "leased" && from === "queued") {
    const given = [lease?.lease_id ?? null, lease?.holder ?? null, lease?.leased_at ?? null, lease?.expires_at ?? null];
    sql.run(leaseRow, deliveries, available_at, ...given, seq);
    return;
  }
  if (state === "leased" && from === "leased") {
    const sqlText = "UPDATE queue_rows SET expires_at = ?, heartbeats = ? WHERE seq = ?";
    sql.run(sqlText, lease?.expires_at ?? null, lease?.heartbeats ?? null, seq);
    return;
  }
  const ready = state === "queued" && available_at <= now ? 1 : 0;
  const held = [lease?.lease_id ?? null, lease?.holder ?? null, lease?.leased_at ?? null, lease?.expires_at ?? null];
  const life = [state, ready, deliveries, epoch, available_at, reason, ...held, lease?.heartbeats ?? null];
  if (state === "dead" || from === "dead") sql.run(moveDead, ...life, died_at, seq);
  else sql.run(moveRow, ...life, seq);
}
const leaseRow = `UPDATE queue_rows SET state = 'leased', ready = 0, deliveries = ?, available_at = ?, reason = NULL, lease_id = ?,
  holder = ?, leased_at = ?, expires_at = ?, heartbeats = 0 WHERE seq = ?`;
const sets = `state = ?, ready = ?, deliveries = ?, epoch = ?, available_at = ?, reason = ?, lease_id = ?, holder = ?,
  leased_at = ?, expires_at = ?, heartbeats = ?`;
const moveRow = `UPDATE queue_rows SET ${sets} WHERE seq = ?`;
const moveDead = `UPDATE queue_rows SET ${sets}, died_at = ? WHERE seq = ?`;

/** Null for a body that can no longer be read. */
export function readMessage(body: string): Message | null {
  try {
    return envelope.safeParse(JSON.parse(body)).data ?? null;
  } catch {
    return null;
  }
}
