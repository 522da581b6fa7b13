/** One answer per (subject, route, key) for 24 hours, stored in the transaction that created what it tells of. [IDEM-*] */
import { limits } from "../src/limits.ts";
import { maxRowBytes, type Sql } from "./sql.ts";

export const idempotencySchema: readonly string[] = [
  `CREATE TABLE idempotency (
     route TEXT NOT NULL, key TEXT NOT NULL, body_hash TEXT NOT NULL, status INTEGER NOT NULL, response TEXT NOT NULL,
     at INTEGER NOT NULL, PRIMARY KEY (route, key));
   CREATE INDEX idempotency_at ON idempotency (at);`,
  // What was kept before belongs to whom its answer says; an answer that names nobody is nobody's.
  `CREATE TABLE idempotency_of (
     subject TEXT NOT NULL, route TEXT NOT NULL, key TEXT NOT NULL, body_hash TEXT NOT NULL, status INTEGER NOT NULL,
     response TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (subject, route, key));
   INSERT INTO idempotency_of
     SELECT coalesce(json_extract(response, '$.created_by'), json_extract(response, '$.made_by'), ''),
       route, key, body_hash, status, response, at FROM idempotency;
   DROP TABLE idempotency;
   CREATE INDEX idempotency_of_at ON idempotency_of (at);`,
];

export interface IdempotencyKey {
  /** Who asks: a key is theirs alone, and nobody else is answered with what it made. */
  readonly subject: string;
  readonly route: string;
  readonly key: string;
  /** SHA-256 of the canonical request body. */
  readonly body_hash: string;
}
/** `mismatch`: the key was used for another body. `body` is what was stored, unparsed: the route knows its shape. */
export type Found =
  | { readonly found: "none" }
  | { readonly found: "replay"; readonly status: number; readonly body: unknown }
  | { readonly found: "mismatch" };

export class IdempotencyStore {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Ask again inside the transaction that creates: what was true before an await may not be. */
  find({ subject, route, key, body_hash }: IdempotencyKey, now: number): Found {
    const row = this.#sql.one<{ body_hash: string; status: number; response: string }>(
      "SELECT body_hash, status, response FROM idempotency_of WHERE subject = ? AND route = ? AND key = ? AND at > ?",
      ...[subject, route, key, now - limits.idempotency_ttl_ms],
    );
    if (row === null) return { found: "none" };
    if (row.body_hash !== body_hash) return { found: "mismatch" };
    return { found: "replay", status: row.status, body: JSON.parse(row.response) };
  }

  /** Throws when the key has a live answer: `find` was not asked in this transaction. */
  store({ subject, route, key, body_hash }: IdempotencyKey, status: number, response: unknown, now: number): void {
    this.#sql.run("DELETE FROM idempotency_of WHERE at <= ?", now - limits.idempotency_ttl_ms);
    const text = JSON.stringify(response ?? null);
    if (text.length > maxRowBytes) throw new RangeError("idempotency: the answer is too big to keep");
    this.#sql.run(
      "INSERT INTO idempotency_of (subject, route, key, body_hash, status, response, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
      ...[subject, route, key, body_hash, status, text, now],
    );
  }
}
