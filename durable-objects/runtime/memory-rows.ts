/**
 * Where a scope's memories stand: a row each, and their words in an index of SQLite's FTS5. Bounded; what is forgotten
 * leaves the index as if it had never been there. [MEM-*]
 */
import { z } from "zod";
import { type MemoryKind, type MemoryView, matchOf, memoryView } from "../../src/domain/memory.ts";
import { type Taint, taints } from "../../src/domain/message.ts";
import { limits } from "../../src/limits.ts";
import type { Sql } from "../sql.ts";

export const memorySchema: readonly string[] = [
  // `secure-delete`: words of a deleted text do not wait in the index for a merge that may never come.
  `CREATE TABLE memory (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, task_id TEXT, taint TEXT NOT NULL,
     at TEXT NOT NULL, forgotten INTEGER NOT NULL DEFAULT 0);
   CREATE INDEX memory_kind ON memory (kind, seq);
   CREATE VIRTUAL TABLE memory_text USING fts5(title, text, tokenize = 'porter unicode61 remove_diacritics 2');
   INSERT INTO memory_text (memory_text, rank) VALUES ('secure-delete', 1);`,
];

export type MemoryRow = Omit<MemoryView, "excerpt" | "forgotten">;
const stored = memoryView.extend({ forgotten: z.number().transform((mark) => mark !== 0) });
const columns = "m.id, m.kind, m.task_id, m.taint, m.at, m.forgotten";

export class MemoryRows {
  readonly #sql: Sql;
  readonly #most: number;
  constructor(sql: Sql, most: number = limits.memory_entries) {
    this.#sql = sql;
    this.#most = most;
  }

  has(id: string): boolean {
    return this.#sql.one("SELECT 1 FROM memory WHERE id = ?", id) !== null;
  }
  get(id: string): MemoryView | null {
    const [row] = this.#read(
      this.#sql.all(
        `SELECT ${columns}, coalesce(t.title, '') AS title, coalesce(t.text, '') AS text, coalesce(substr(t.text, 1, ${beginning}), '') AS excerpt
         FROM memory m LEFT JOIN memory_text t ON t.rowid = m.seq WHERE m.id = ?`,
        id,
      ),
    );
    return row ?? null;
  }
  /** Says how many older ones made room for it. */
  add(row: MemoryRow): number {
    this.#sql.run(
      "INSERT INTO memory (id, kind, task_id, taint, at) VALUES (?, ?, ?, ?, ?)",
      ...[row.id, row.kind, row.task_id, row.taint, row.at],
    );
    this.#sql.run(
      "INSERT INTO memory_text (rowid, title, text) SELECT seq, ?, ? FROM memory WHERE id = ?",
      ...[row.title, row.text, row.id],
    );
    return this.#makeRoom();
  }
  /** Its words go, in the index too; that there was one stays. */
  forget(id: string): void {
    this.#sql.run("DELETE FROM memory_text WHERE rowid = (SELECT seq FROM memory WHERE id = ?)", id);
    this.#sql.run("UPDATE memory SET forgotten = 1 WHERE id = ?", id);
  }

  /** Best first; without words newest first. */
  search(asked: {
    readonly query: string;
    readonly kind: MemoryKind | null;
    readonly limit: number;
    readonly offset: number;
    /** What is less trusted is not looked at: it takes no other's place. */
    readonly most_tainted?: Taint | null;
  }): MemoryView[] {
    const { query, kind, limit, offset, most_tainted = null } = asked;
    const readable = JSON.stringify(most_tainted === null ? taints : taints.slice(0, taints.indexOf(most_tainted) + 1));
    const match = matchOf(query);
    if (match === null) return query.trim() === "" ? this.#newest(kind, limit, offset) : [];
    return this.#read(
      this.#sql.all(
        `SELECT ${columns}, title, text, snippet(memory_text, 1, '', '', ' ... ', ${limits.memory_excerpt_words}) AS excerpt
         FROM memory_text JOIN memory m ON m.seq = memory_text.rowid
         WHERE memory_text MATCH ?1 AND (?2 IS NULL OR m.kind = ?2) AND m.taint IN (SELECT value FROM json_each(?5))
         ORDER BY bm25(memory_text, ${titleWeight}, 1.0), m.seq DESC LIMIT ?3 OFFSET ?4`,
        ...[match, kind, limit, offset, readable],
      ),
    );
  }
  #newest(kind: MemoryKind | null, limit: number, offset: number): MemoryView[] {
    return this.#read(
      this.#sql.all(
        `SELECT ${columns}, t.title, t.text, substr(t.text, 1, ${beginning}) AS excerpt
         FROM memory m JOIN memory_text t ON t.rowid = m.seq
         WHERE ?1 IS NULL OR m.kind = ?1 ORDER BY m.seq DESC LIMIT ?2 OFFSET ?3`,
        ...[kind, limit, offset],
      ),
    );
  }
  #read(rows: object[]): MemoryView[] {
    return rows.map((row) => stored.parse(row));
  }

  /** What is forgotten goes first, then the oldest insights, then the oldest of all. */
  #makeRoom(): number {
    const { count } = this.#sql.one<{ count: number }>("SELECT count(*) AS count FROM memory") ?? { count: 0 };
    if (count <= this.#most) return 0;
    const gone = this.#sql.all<{ seq: number }>(
      "SELECT seq FROM memory ORDER BY forgotten DESC, kind IN ('plan', 'decision'), seq LIMIT ?",
      count - this.#most,
    );
    for (const { seq } of gone) {
      this.#sql.run("DELETE FROM memory_text WHERE rowid = ?", seq);
      this.#sql.run("DELETE FROM memory WHERE seq = ?", seq);
    }
    return gone.length;
  }
}
/** Characters of a text shown where no word was searched for. */
const beginning = 300;
/** A word in a title counts as so many in the text. */
const titleWeight = "4.0";
