/**
 * Messages this object has promised to send: committed with the change that caused them, sent again until
 * their addressee confirms, refused by it, or given up after seven days in which nobody heard of it. Nothing else
 * forgets one. The bodies of big ones lie in the blobs while they travel; which to delete is kept here too. [OUT-*]
 */
import { byteLength, canonicalJson } from "../src/domain/canonical.ts";
import type { Message } from "../src/domain/message.ts";
import { limits } from "../src/limits.ts";
import { unreadable } from "./queue-lease.ts";
import { readMessage } from "./queue-rows.ts";
import type { DeadLetter } from "./queue-view.ts";
import type { Sql } from "./sql.ts";

export interface Address {
  /** `<scope>/<agent>` */
  readonly object: string;
  readonly queue: string;
}
export interface OutboxRow {
  readonly message: Message;
  readonly to: Address;
  readonly sends: number;
  readonly created_at: number;
  /** The message as canonical JSON: what travels by reference is exactly this. */
  readonly body: string;
  readonly bytes: number;
}
export interface DeadMessage {
  readonly message_id: string;
  /** Null when the stored body can no longer be read. */
  readonly message: Message | null;
  readonly to: Address;
  readonly reason: string;
}

/** Where a message's recipient lives: the shared queues are the runtime's, every other name has an inbox of its own. */
export function addressOf(message: Pick<Message, "scope_id" | "recipient">): Address {
  const shared = message.recipient === "runtime_queue" || message.recipient === "executor_queue";
  const agent = shared ? "runtime" : message.recipient;
  return { object: `${message.scope_id}/${agent}`, queue: shared ? message.recipient : "inbox" };
}

export const outboxSchema: readonly string[] = [
  `CREATE TABLE outbox (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT NOT NULL UNIQUE, message_kind TEXT NOT NULL, object TEXT NOT NULL,
     queue TEXT NOT NULL, body TEXT NOT NULL, created_at INTEGER NOT NULL, sends INTEGER NOT NULL, next_at INTEGER NOT NULL,
     died_at INTEGER, reason TEXT);
   CREATE INDEX outbox_due ON outbox (next_at) WHERE died_at IS NULL;
   CREATE INDEX outbox_age ON outbox (created_at) WHERE died_at IS NULL;`,
  // `heard_at`: when the addressee last said that it is there and cannot take the message yet. `blob_key`: where the
  // body of a big one was put; `outbox_blobs` are those nobody needs any more.
  `ALTER TABLE outbox ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE outbox ADD COLUMN heard_at INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE outbox ADD COLUMN blob_key TEXT;
   UPDATE outbox SET bytes = length(CAST(body AS BLOB)), heard_at = created_at;
   DROP INDEX outbox_age;
   CREATE INDEX outbox_heard ON outbox (heard_at) WHERE died_at IS NULL;
   CREATE TABLE outbox_blobs (key TEXT PRIMARY KEY, tries INTEGER NOT NULL, next_at INTEGER NOT NULL);
   CREATE INDEX outbox_blobs_due ON outbox_blobs (next_at);`,
];

interface StoredMessage {
  readonly message_id: string;
  readonly body: string;
  readonly bytes: number;
  readonly object: string;
  readonly queue: string;
  readonly sends: number;
  readonly created_at: number;
  readonly reason: string | null;
  readonly blob_key: string | null;
}

export class Outbox {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * The same message again changes nothing. Throws, so that the caller's transaction is undone, when its id
   * is taken by other bytes or when it is too big for a message: both are bugs of ours.
   */
  put(message: Message, now: number, to: Address = addressOf(message)): void {
    const body = canonicalJson(message);
    const { message_id, message_kind } = message;
    const known = this.#sql.one<{ body: string }>("SELECT body FROM outbox WHERE message_id = ?", message_id);
    if (known?.body === body) return;
    if (known !== null) throw new Error(`outbox: ${message_id} was already put with other content`);
    const bytes = byteLength(body);
    if (bytes > limits.message_bytes)
      throw new RangeError(`outbox: ${message_kind} ${message_id} has ${bytes} bytes: a message has at most 1 MiB`);
    this.#sql.run(
      `INSERT INTO outbox (message_id, message_kind, object, queue, body, bytes, created_at, heard_at, sends, next_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`,
      ...[message_id, message_kind, to.object, to.queue, body, bytes, now, now, now],
    );
  }

  /**
   * What to send now, oldest first. Call `sent` with what was handed over, in a transaction of its own. A row that
   * can no longer be read is no longer offered, so that it does not stand before the rest: `dead` gives it up next.
   */
  due(now: number, limit: number = limits.outbox_batch): OutboxRow[] {
    // A few of the big ones at a time: they fill the memory, and must not stand before the small ones.
    const sql = `SELECT * FROM outbox WHERE died_at IS NULL AND next_at <= ?1 AND (bytes <= ${limits.message_inline_bytes} OR seq IN
      (SELECT seq FROM outbox WHERE died_at IS NULL AND next_at <= ?1 AND bytes > ${limits.message_inline_bytes}
         ORDER BY seq LIMIT ${limits.spill_batch})) ORDER BY seq LIMIT ?2`;
    return this.#sql.all<StoredMessage>(sql, now, limit).flatMap((stored) => {
      const message = readMessage(stored.body);
      if (message === null) {
        const giveUp = `UPDATE outbox SET heard_at = 0, next_at = ? + ${limits.outbox_dead_after_ms}, reason = ? WHERE message_id = ?`;
        this.#sql.run(giveUp, now, unreadable, stored.message_id);
        return [];
      }
      const { object, queue, sends, created_at, body, bytes } = stored;
      return [{ message, to: { object, queue }, sends, created_at, body, bytes }];
    });
  }
  /**
   * Each waits for its confirmation: 5 s, doubling to 5 min, and then it is due again. `random` in [0, 1) spreads
   * the waits by a quarter, so that what was sent together does not come again together.
   */
  sent(ids: readonly string[], now: number, random: () => number = () => 0.5): void {
    const waits = ids.map((id) => [id, 1 + limits.backoff_jitter * (2 * random() - 1)]);
    const doubled = `min(${limits.outbox_first_retry_ms} << min(sends, 20), ${limits.outbox_max_retry_ms})`;
    this.#sql.run(
      `UPDATE outbox SET sends = sends + 1, next_at = ?1 + CAST(round(${doubled} * json_extract(given.value, '$[1]')) AS INTEGER)
         FROM json_each(?2) AS given WHERE message_id = json_extract(given.value, '$[0]')`,
      ...[now, JSON.stringify(waits)],
    );
  }
  /** The addressee is there and takes nothing new for now: asked again in half a minute, and the seven days begin anew. */
  putOff(ids: readonly string[], now: number): void {
    const sql = `UPDATE outbox SET heard_at = ?1, next_at = ?1 + ${limits.outbox_put_off_ms}
      WHERE died_at IS NULL AND message_id IN (SELECT value FROM json_each(?2))`;
    this.#sql.run(sql, now, JSON.stringify(ids));
  }
  /** The addressee has them: the promise is kept. Unknown ids were confirmed before. */
  confirm(ids: readonly string[], now = 0): void {
    const sql = `DELETE FROM outbox WHERE message_id IN (SELECT value FROM json_each(?)) RETURNING blob_key`;
    for (const { blob_key } of this.#sql.all<{ blob_key: string | null }>(sql, JSON.stringify(ids)))
      if (blob_key !== null) this.#leave(blob_key, now);
  }
  /** The addressee can never take it. Null when the row is gone or dead already, so that one refusal makes one card. */
  refused(id: string, reason: string, now: number): DeadMessage | null {
    const sql = "UPDATE outbox SET died_at = ?, reason = ? WHERE message_id = ? AND died_at IS NULL RETURNING *";
    return this.#buried(this.#sql.all<StoredMessage>(sql, now, reason, id), now)[0] ?? null;
  }
  /** Gives up on what cannot be read, or nobody confirmed or put off for seven days; returns it once, a batch at a time. */
  dead(now: number): DeadMessage[] {
    const sql = `UPDATE outbox SET died_at = ?1, reason = coalesce(reason, 'not confirmed within seven days') WHERE seq IN
      (SELECT seq FROM outbox WHERE died_at IS NULL AND heard_at <= ?2 ORDER BY heard_at, seq LIMIT ?3) RETURNING *`;
    const asked = [now, now - limits.outbox_dead_after_ms, limits.outbox_batch] as const;
    return this.#buried(this.#sql.all<StoredMessage>(sql, ...asked), now);
  }
  #buried(rows: readonly StoredMessage[], now: number): DeadMessage[] {
    return rows.map(({ message_id, body, object, queue, reason, blob_key }) => {
      if (blob_key !== null) this.#leave(blob_key, now);
      return { message_id, message: readMessage(body), to: { object, queue }, reason: reason ?? "" };
    });
  }
  /** At the object's start: what was sent and not confirmed may have been lost with whatever ended it. */
  resendAll(now: number): void {
    this.#sql.run("UPDATE outbox SET next_at = ? WHERE died_at IS NULL AND next_at > ?", now, now);
  }
  /** A dead message is promised anew. False when there is no such dead message. */
  revive(id: string, now: number): boolean {
    const sql = `UPDATE outbox SET died_at = NULL, reason = NULL, sends = 0, created_at = ?1, heard_at = ?1,
      next_at = ?1, blob_key = NULL WHERE message_id = ?2 AND died_at IS NOT NULL RETURNING seq`;
    return this.#sql.all(sql, now, id).length > 0;
  }

  deadLetters(limit: number = limits.page_max): DeadLetter[] {
    const sql = `SELECT message_id, message_kind, coalesce(reason, '') AS reason, sends AS deliveries, died_at FROM outbox
      WHERE died_at IS NOT NULL ORDER BY died_at DESC, seq DESC LIMIT ?`;
    return this.#sql
      .all<Omit<DeadLetter, "at"> & { died_at: number }>(sql, limit)
      .map(({ died_at, ...letter }) => ({ ...letter, at: new Date(died_at).toISOString() }));
  }
  /** A body is about to be put under this key: its blob is known before it exists, so that none is left behind. False when its row went meanwhile. */
  spilling(id: string, key: string): boolean {
    const sql = "UPDATE outbox SET blob_key = ? WHERE message_id = ? AND died_at IS NULL RETURNING seq";
    if (this.#sql.all(sql, key, id).length === 0) return false;
    this.#sql.run("DELETE FROM outbox_blobs WHERE key = ?", key);
    return true;
  }
  /** The body was put. When its row went in the meantime, nobody needs it. */
  spilled(id: string, key: string, now: number): void {
    const row = this.#sql.one("SELECT 1 AS found FROM outbox WHERE message_id = ? AND blob_key = ?", id, key);
    if (row === null) this.#leave(key, now);
  }
  /** Not at once: a copy of the message may still be on its way to it. */
  #leave(key: string, now: number): void {
    const sql = "INSERT OR REPLACE INTO outbox_blobs (key, tries, next_at) VALUES (?, 0, ?)";
    this.#sql.run(sql, key, now + limits.blob_grace_ms);
  }
  /** Keys of bodies to delete now, and each is asked for again later until `blobGone` says that it went. */
  blobsToDelete(now: number): string[] {
    const sql = `UPDATE outbox_blobs SET tries = tries + 1,
      next_at = ?1 + min(${limits.outbox_first_retry_ms} << min(tries, 20), ${limits.outbox_max_retry_ms})
      WHERE key IN (SELECT key FROM outbox_blobs WHERE next_at <= ?1 ORDER BY next_at LIMIT ${limits.spill_batch}) RETURNING key`;
    return this.#sql.all<{ key: string }>(sql, now).map(({ key }) => key);
  }
  blobsGone(keys: readonly string[]): void {
    this.#sql.run("DELETE FROM outbox_blobs WHERE key IN (SELECT value FROM json_each(?))", JSON.stringify(keys));
  }

  /** When a row is to be sent again or given up next, or a body deleted. */
  nextDueAt(): number | null {
    const sql = `SELECT min(at) AS at FROM (SELECT min(next_at) AS at FROM outbox WHERE died_at IS NULL
      UNION ALL SELECT min(heard_at) + ${limits.outbox_dead_after_ms} FROM outbox WHERE died_at IS NULL
      UNION ALL SELECT min(next_at) FROM outbox_blobs)`;
    return this.#sql.one<{ at: number | null }>(sql)?.at ?? null;
  }
  /** How many wait for their confirmation. */
  waiting(): number {
    return this.#sql.one<{ n: number }>("SELECT count(*) AS n FROM outbox WHERE died_at IS NULL")?.n ?? 0;
  }
}
