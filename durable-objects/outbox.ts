/**
 * Messages this object has promised to send: committed with the change that caused them, sent again until
 * their addressee confirms, refused by it, or given up after seven days. Nothing else forgets one. [OUT-*]
 */
import { byteLength, canonicalJson } from "../src/domain/canonical.ts";
import { envelope, type Message } from "../src/domain/message.ts";
import { limits } from "../src/limits.ts";
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
}
export interface DeadMessage {
  readonly message: Message;
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
];

interface StoredMessage {
  readonly body: string;
  readonly object: string;
  readonly queue: string;
  readonly sends: number;
  readonly created_at: number;
  readonly reason: string | null;
}

export class Outbox {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * The same message again changes nothing. Throws, so that the caller's transaction is undone, when its id
   * is taken by other bytes or when it is too big to travel: both are bugs of ours.
   */
  put(message: Message, now: number, to: Address = addressOf(message)): void {
    const body = canonicalJson(message);
    const { message_id, message_kind } = message;
    const known = this.#sql.one<{ body: string }>("SELECT body FROM outbox WHERE message_id = ?", message_id);
    if (known?.body === body) return;
    if (known !== null) throw new Error(`outbox: ${message_id} was already put with other content`);
    const bytes = byteLength(body);
    if (bytes > limits.message_inline_bytes)
      throw new RangeError(
        `outbox: ${message_kind} ${message_id} has ${bytes} bytes: its body belongs in the artifacts`,
      );
    this.#sql.run(
      `INSERT INTO outbox (message_id, message_kind, object, queue, body, created_at, sends, next_at)
         VALUES (?, ?, ?, ?, ?, ?, 0, ?)`,
      ...[message_id, message_kind, to.object, to.queue, body, now, now],
    );
  }

  /** What to send now, oldest first. Call `sent` with what was handed over, in a transaction of its own. */
  due(now: number, limit: number = limits.outbox_batch): OutboxRow[] {
    const sql = `SELECT * FROM outbox WHERE died_at IS NULL AND next_at <= ? ORDER BY seq LIMIT ?`;
    return this.#sql.all<StoredMessage>(sql, now, limit).map((stored) => {
      const { sends, created_at } = stored;
      return { ...read(stored), sends, created_at };
    });
  }
  /** Each waits for its confirmation: 5 s, doubling to 5 min, and then it is due again. */
  sent(ids: readonly string[], now: number): void {
    for (const id of ids) {
      const row = this.#sql.one<{ sends: number }>("SELECT sends FROM outbox WHERE message_id = ?", id);
      if (row === null) continue;
      const wait = Math.min(limits.outbox_first_retry_ms * 2 ** Math.min(row.sends, 30), limits.outbox_max_retry_ms);
      this.#sql.run("UPDATE outbox SET sends = sends + 1, next_at = ? WHERE message_id = ?", now + wait, id);
    }
  }
  /** The addressee has them: the promise is kept. Unknown ids were confirmed before. */
  confirm(ids: readonly string[]): void {
    for (const id of ids) this.#sql.run("DELETE FROM outbox WHERE message_id = ?", id);
  }
  /** The addressee can never take it. Null when the row is gone or dead already, so that one refusal makes one card. */
  refused(id: string, reason: string, now: number): DeadMessage | null {
    const sql = "UPDATE outbox SET died_at = ?, reason = ? WHERE message_id = ? AND died_at IS NULL RETURNING *";
    return this.#sql.all<StoredMessage>(sql, now, reason, id).map(toDead)[0] ?? null;
  }
  /** Gives up on what nobody confirmed for seven days and returns it, once, at most a batch at a time. */
  dead(now: number): DeadMessage[] {
    const sql = `UPDATE outbox SET died_at = ?1, reason = 'not confirmed within seven days' WHERE seq IN
      (SELECT seq FROM outbox WHERE died_at IS NULL AND created_at <= ?2 ORDER BY seq LIMIT ?3) RETURNING *`;
    return this.#sql.all<StoredMessage>(sql, now, now - limits.outbox_dead_after_ms, limits.outbox_batch).map(toDead);
  }
  /** At the object's start: what was sent and not confirmed may have been lost with whatever ended it. */
  resendAll(now: number): void {
    this.#sql.run("UPDATE outbox SET next_at = ? WHERE died_at IS NULL AND next_at > ?", now, now);
  }
  /** A dead message is promised anew. False when there is no such dead message. */
  revive(id: string, now: number): boolean {
    const sql = `UPDATE outbox SET died_at = NULL, reason = NULL, sends = 0, created_at = ?1, next_at = ?1
      WHERE message_id = ?2 AND died_at IS NOT NULL RETURNING seq`;
    return this.#sql.all(sql, now, id).length > 0;
  }

  deadLetters(limit: number = limits.page_max): DeadLetter[] {
    const sql = `SELECT message_id, message_kind, coalesce(reason, '') AS reason, sends AS deliveries, died_at FROM outbox
      WHERE died_at IS NOT NULL ORDER BY died_at DESC, seq DESC LIMIT ?`;
    return this.#sql
      .all<Omit<DeadLetter, "at"> & { died_at: number }>(sql, limit)
      .map(({ died_at, ...letter }) => ({ ...letter, at: new Date(died_at).toISOString() }));
  }
  /** When a row is to be sent again or given up next. */
  nextDueAt(): number | null {
    const sql = "SELECT min(next_at) AS send, min(created_at) AS oldest FROM outbox WHERE died_at IS NULL";
    const { send, oldest } = this.#sql.one<{ send: number | null; oldest: number | null }>(sql) ?? {
      send: null,
      oldest: null,
    };
    return send === null || oldest === null ? null : Math.min(send, oldest + limits.outbox_dead_after_ms);
  }
  /** How many wait for their confirmation. */
  waiting(): number {
    return this.#sql.one<{ n: number }>("SELECT count(*) AS n FROM outbox WHERE died_at IS NULL")?.n ?? 0;
  }
}

function read(stored: StoredMessage): Pick<OutboxRow, "message" | "to"> {
  return { message: envelope.parse(JSON.parse(stored.body)), to: { object: stored.object, queue: stored.queue } };
}
function toDead(stored: StoredMessage): DeadMessage {
  return { ...read(stored), reason: stored.reason ?? "" };
}
