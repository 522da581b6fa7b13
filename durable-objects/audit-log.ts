/**
 * The object's own audit chain, appended in the transaction each event records, and shipped to D1 after.
 * D1 away means a backlog here, never a stop. Rows stay here too: they are what D1 is checked against. [AUD-*]
 */
import { type AuditEvent, append, type ChainHead } from "../src/domain/audit.ts";
import { byteLength, canonicalJson } from "../src/domain/canonical.ts";
import { type AuditView, auditView } from "../src/domain/view.ts";
import type { Sql } from "./sql.ts";

export const auditSchema: readonly string[] = [
  `CREATE TABLE audit_chain (seq INTEGER PRIMARY KEY, object TEXT NOT NULL, hash TEXT NOT NULL, body TEXT NOT NULL);
   CREATE TABLE audit_shipped (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL);
   INSERT INTO audit_shipped (one, seq) VALUES (1, 0);`,
];

export class AuditLog {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Throws when the event names another object than the chain's own: one object, one chain. */
  append(event: Omit<AuditEvent, "created_at">, now: number): AuditView {
    const head = this.head();
    if (head !== null && head.object !== event.object)
      throw new Error(`audit: this chain is ${head.object}'s, not ${event.object}'s`);
    const link = append(head, { ...event, created_at: new Date(now).toISOString() });
    const body = canonicalJson(link);
    this.#sql.run(
      "INSERT INTO audit_chain (seq, object, hash, body) VALUES (?, ?, ?, ?)",
      link.seq,
      link.object,
      link.hash,
      body,
    );
    return link;
  }

  head(): ChainHead | null {
    return this.#sql.one<ChainHead>("SELECT object, seq, hash FROM audit_chain ORDER BY seq DESC LIMIT 1");
  }
  after(seq: number, limit: number): AuditView[] {
    return this.#sql
      .all<{ body: string }>("SELECT body FROM audit_chain WHERE seq > ? ORDER BY seq LIMIT ?", seq, limit)
      .map(read);
  }
  /** Oldest links not yet confirmed by D1, as many as fit one queue message; always at least one when there is one. */
  unshipped(limit: number, max_bytes = 64 * 1024): AuditView[] {
    let bytes = 0;
    const sql = `SELECT body FROM audit_chain WHERE seq > (SELECT seq FROM audit_shipped) ORDER BY seq LIMIT ?`;
    const rows = this.#sql.all<{ body: string }>(sql, limit);
    return rows
      .filter(({ body }, at) => {
        bytes += byteLength(body);
        return at === 0 || bytes <= max_bytes;
      })
      .map(read);
  }
  /** D1 has everything up to and including this seq. An older confirmation coming late changes nothing. */
  shipped(up_to_seq: number): void {
    const sql =
      "UPDATE audit_shipped SET seq = min(?1, (SELECT coalesce(max(seq), 0) FROM audit_chain)) WHERE seq < ?1";
    this.#sql.run(sql, up_to_seq);
  }
  backlog(): number {
    const sql = "SELECT count(*) AS n FROM audit_chain WHERE seq > (SELECT seq FROM audit_shipped)";
    return this.#sql.one<{ n: number }>(sql)?.n ?? 0;
  }
}

function read(row: { body: string }): AuditView {
  return auditView.parse(JSON.parse(row.body));
}
