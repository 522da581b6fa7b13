/**
 * Every token whose nonce was consumed: once, for one subject of one approval, and kept for good as evidence. What
 * is signed but never consumed here stands for nothing. [TOK-40] [TOK-41] [TOK-42]
 */
import type { Sql } from "../sql.ts";

/** Tokens attached before this table was made are taken over with the rows that hold them; their nonces are inside. */
export const tokensSchema: readonly string[] = [
  `CREATE TABLE tokens (seq INTEGER PRIMARY KEY AUTOINCREMENT, nonce TEXT UNIQUE, approval_id TEXT NOT NULL, subject TEXT NOT NULL,
     jws TEXT NOT NULL, consumed_at INTEGER NOT NULL, spent_at INTEGER);
   CREATE INDEX tokens_subject ON tokens (approval_id, subject);
   INSERT INTO tokens (approval_id, subject, jws, consumed_at, spent_at)
     SELECT json_extract(doc, '$.grant.approval_id'), id, json_extract(doc, '$.grant.jws'), 0, NULL
     FROM items WHERE json_extract(doc, '$.grant.jws') IS NOT NULL;
   INSERT INTO tokens (approval_id, subject, jws, consumed_at, spent_at)
     SELECT json_extract(doc, '$.grant.approval_id'), id, json_extract(doc, '$.grant.jws'), 0,
       CASE json_extract(doc, '$.grant.life') WHEN 'executed' THEN 0 END
     FROM calls WHERE json_extract(doc, '$.grant.jws') IS NOT NULL;`,
];

/** A token and the one place it was consumed for. `subject` is the key of the row: an item, a call, an attempt. */
export interface Consumed {
  readonly approval_id: string;
  readonly subject: string;
  readonly jws: string;
}
export interface StoredToken extends Consumed {
  readonly consumed_at: number;
  /** When what runs once ran under it. */
  readonly spent_at: number | null;
}

export class Tokens {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }
  /** False when the nonce was consumed before, whatever for. */
  consume(nonce: string, { approval_id, subject, jws }: Consumed, now: number): boolean {
    return (
      this.#sql.all(
        `INSERT INTO tokens (nonce, approval_id, subject, jws, consumed_at) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (nonce) DO NOTHING RETURNING seq`,
        ...[nonce, approval_id, subject, jws, now],
      ).length === 1
    );
  }
  /** Whether exactly this token was consumed for exactly this. */
  has(token: Consumed): boolean {
    return this.#sql.one(`SELECT seq FROM tokens ${these}`, ...keyOf(token)) !== null;
  }
  /** For what runs once. False when it was never consumed for this, or was spent before. */
  spend(token: Consumed, now: number): boolean {
    const spent = this.#sql.all(
      `UPDATE tokens SET spent_at = ?4 ${these} AND spent_at IS NULL RETURNING seq`,
      ...[...keyOf(token), now],
    );
    return spent.length === 1;
  }
  ofApproval(approval_id: string): StoredToken[] {
    return this.#sql.all<StoredToken>(
      "SELECT approval_id, subject, jws, consumed_at, spent_at FROM tokens WHERE approval_id = ? ORDER BY seq",
      approval_id,
    );
  }
}
const these = "WHERE approval_id = ?1 AND subject = ?2 AND jws = ?3";
function keyOf({ approval_id, subject, jws }: Consumed): [string, string, string] {
  return [approval_id, subject, jws];
}
