/**
 * The object's own audit chain, appended in the transaction each event records, and shipped to D1 after.
 * D1 away means a backlog here, never a stop. Rows stay here too: they are what D1 is checked against. [AUD-*]
 */
import { type AuditEvent, appendText, type ChainHead } from "../src/domain/audit.ts";
import { byteLength } from "../src/domain/canonical.ts";
import { type AuditView, auditView } from "../src/domain/record-view.ts";
import { sha256Hex } from "./sha256.ts";
import type { Sql, SqlValue } from "./sql.ts";

export const auditSchema: readonly string[] = [
  `CREATE TABLE audit_chain (seq INTEGER PRIMARY KEY, object TEXT NOT NULL, hash TEXT NOT NULL, body TEXT NOT NULL);
   CREATE TABLE audit_shipped (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL);
   INSERT INTO audit_shipped (one, seq) VALUES (1, 0);`,
];

/** Where a chain ends, and how much of it D1 has said it holds. */
export interface ChainEnd extends ChainHead {
  readonly shipped: number;
}

const columns = "INSERT INTO audit_chain (seq, object, hash, body) VALUES";
const insertOne = `${columns} (?1, ?2, ?3, ?4)`;
/** Fails, and writes nothing, unless the chain ends with the hash ?5. */
const insertNext = `${columns} (?1, CASE (SELECT hash FROM audit_chain ORDER BY seq DESC LIMIT 1) WHEN ?5 THEN ?2 END, ?3, ?4)`;
/** As many as a statement's 100 bound values hold. */
const rowsAtOnce = 25;
const insertMany = `${columns} ${Array(rowsAtOnce).fill("(?, ?, ?, ?)").join(", ")}`;

export class AuditLog {
  readonly #sql: Sql;
  /**
   * The end this object wrote last, so as not to ask for it. It may be no end any more, when its transaction was undone
   * or another wrote: a link is only written behind it if its hash, and so all before it, is still what ends the chain.
   */
  #last: ChainHead | null = null;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Throws when the event names another object than the chain's own: one object, one chain. */
  append(event: Omit<AuditEvent, "created_at">, now: number): AuditView {
    const created_at = new Date(now).toISOString();
    return (this.#next(this.#last, event, created_at) ?? this.#plainly(event, created_at)).link;
  }
  /** The same links as one by one, in few statements. */
  appendAll(events: readonly Omit<AuditEvent, "created_at">[], now: number): void {
    if (events.length < 2) {
      for (const event of events) this.append(event, now);
      return;
    }
    const created_at = new Date(now).toISOString();
    let head = this.head();
    const rows = events.map((event) => {
      const next = linked(head, event, created_at);
      head = next.link;
      return next;
    });
    for (let at = 0; at < rows.length; ) {
      const many = rows.length - at >= rowsAtOnce;
      const taken = rows.slice(at, at + (many ? rowsAtOnce : 1));
      this.#sql.run(many ? insertMany : insertOne, ...taken.flatMap(valuesOf));
      at += taken.length;
    }
    this.#last = head;
  }
  /** Null when `last` is not known to be the chain's end: nothing was written then. */
  #next(last: ChainHead | null, event: Omit<AuditEvent, "created_at">, created_at: string): Written | null {
    if (last === null || last.object !== event.object) return null;
    const next = linked(last, event, created_at);
    try {
      this.#sql.run(insertNext, ...valuesOf(next), last.hash);
    } catch (thrown) {
      if (!String(thrown).includes("NOT NULL constraint failed")) throw thrown;
      return null;
    }
    this.#last = headOf(next.link);
    return next;
  }
  #plainly(event: Omit<AuditEvent, "created_at">, created_at: string): Written {
    const next = linked(this.head(), event, created_at);
    this.#sql.run(insertOne, ...valuesOf(next));
    this.#last = headOf(next.link);
    return next;
  }

  head(): ChainHead | null {
    return this.#sql.one<ChainHead>("SELECT object, seq, hash FROM audit_chain ORDER BY seq DESC LIMIT 1");
  }
  after(seq: number, limit: number): AuditView[] {
    return this.#sql
      .all<{ body: string }>("SELECT body FROM audit_chain WHERE seq > ? ORDER BY seq LIMIT ?", seq, limit)
      .map(read);
  }
  /**
   * Oldest links not yet confirmed by D1, as many as fit one queue message; always at least one when there is one. It
   * ends before a link that can no longer be read: D1 must not get those behind it, as if nothing were amiss.
   */
  unshipped(limit: number, max_bytes = 64 * 1024): AuditView[] {
    const sql = `SELECT body FROM audit_chain WHERE seq > (SELECT seq FROM audit_shipped) ORDER BY seq LIMIT ?`;
    const links: AuditView[] = [];
    let bytes = 0;
    for (const row of this.#sql.all<{ body: string }>(sql, limit)) {
      bytes += byteLength(row.body);
      const link = readable(row.body);
      if (link === null || (links.length > 0 && bytes > max_bytes)) break;
      links.push(link);
    }
    return links;
  }
  /** D1 has everything up to and including this seq. An older confirmation coming late changes nothing. */
  shipped(up_to_seq: number): void {
    const sql =
      "UPDATE audit_shipped SET seq = min(?1, (SELECT coalesce(max(seq), 0) FROM audit_chain)) WHERE seq < ?1";
    this.#sql.run(sql, up_to_seq);
  }
  backlog(): number {
    const end = this.end();
    return end === null ? 0 : end.seq - end.shipped;
  }
  end(): ChainEnd | null {
    const sql =
      "SELECT object, seq, hash, (SELECT seq FROM audit_shipped) AS shipped FROM audit_chain ORDER BY seq DESC LIMIT 1";
    return this.#sql.one<ChainEnd>(sql);
  }
}

interface Written {
  readonly link: AuditView;
  readonly body: string;
}
function linked(head: ChainHead | null, event: Omit<AuditEvent, "created_at">, created_at: string): Written {
  if (head !== null && head.object !== event.object)
    throw new Error(`audit: this chain is ${head.object}'s, not ${event.object}'s`);
  return appendText(head, { ...event, created_at }, sha256Hex);
}
function valuesOf({ link, body }: Written): SqlValue[] {
  return [link.seq, link.object, link.hash, body];
}
function headOf({ object, seq, hash }: ChainHead): ChainHead {
  return { object, seq, hash };
}

function read(row: { body: string }): AuditView {
  return auditView.parse(JSON.parse(row.body));
}
function readable(body: string): AuditView | null {
  try {
    return auditView.safeParse(JSON.parse(body)).data ?? null;
  } catch {
    return null;
  }
}
