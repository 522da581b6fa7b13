/** What runs leave for other runs of the same agent: the first of a key stands, in the order they came. [RUN-22] */
import type { Note } from "../../src/agents/step.ts";
import { limits } from "../../src/limits.ts";
import type { Sql } from "../sql.ts";

export const notesSchema: readonly string[] = [
  `CREATE TABLE notes (seq INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, key TEXT NOT NULL,
     doc TEXT NOT NULL, at INTEGER NOT NULL, UNIQUE (run_id, key));`,
];

export class Notes {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }
  /** Oldest first. */
  of(run_id: string): Note[] {
    return this.#sql
      .all<{ key: string; doc: string }>("SELECT key, doc FROM notes WHERE run_id = ? ORDER BY seq", run_id)
      .map(({ key, doc }) => ({ key, body: JSON.parse(doc) }));
  }
  count(run_id: string): number {
    return this.#sql.one<{ n: number }>("SELECT count(*) AS n FROM notes WHERE run_id = ?", run_id)?.n ?? 0;
  }
  /** False when it changes nothing: the key is taken, or as many are kept as may be. */
  add(run_id: string, { key, body }: Note, now: number): boolean {
    const known = this.#sql.one("SELECT 1 AS n FROM notes WHERE run_id = ? AND key = ?", run_id, key) !== null;
    if (known || this.count(run_id) >= limits.run_notes) return false;
    const doc = JSON.stringify(body ?? null);
    this.#sql.run("INSERT INTO notes (run_id, key, doc, at) VALUES (?, ?, ?, ?)", run_id, key, doc, now);
    return true;
  }
  remove(run_id: string): void {
    this.#sql.run("DELETE FROM notes WHERE run_id = ?", run_id);
  }
}
