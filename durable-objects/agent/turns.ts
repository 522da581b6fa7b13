/**
 * The conversations of runs: only ever added to, in the commit of the step that was said, and gone with the run. What was
 * read is kept, as a row never changes: a step reads only what the one before added. [RUN-20]
 */
import { type Turn, turn } from "../../src/agents/models.ts";
import type { Sql } from "../sql.ts";

export const turnsSchema: readonly string[] = [
  "CREATE TABLE turns (run_id TEXT NOT NULL, ix INTEGER NOT NULL, doc TEXT NOT NULL, PRIMARY KEY (run_id, ix));",
];

export class Turns {
  readonly #sql: Sql;
  /** By run, as read. Never what is only written: that may yet be rolled back. */
  readonly #read = new Map<string, readonly Turn[]>();
  constructor(sql: Sql) {
    this.#sql = sql;
  }
  /** Oldest first. */
  of(run_id: string): readonly Turn[] {
    const known = this.#read.get(run_id) ?? [];
    const rows = this.#sql.all<{ doc: string }>(
      "SELECT doc FROM turns WHERE run_id = ? AND ix >= ? ORDER BY ix",
      run_id,
      known.length,
    );
    if (rows.length === 0) return known;
    const all = [...known, ...rows.map(({ doc }) => turn.parse(JSON.parse(doc)))];
    this.#read.set(run_id, all);
    return all;
  }
  add(run_id: string, said: readonly Turn[]): void {
    if (said.length === 0) return;
    const last = this.#sql.one<{ ix: number | null }>("SELECT max(ix) AS ix FROM turns WHERE run_id = ?", run_id)?.ix;
    const from = (last ?? -1) + 1;
    for (const [at, one] of said.entries())
      this.#sql.run("INSERT INTO turns (run_id, ix, doc) VALUES (?, ?, ?)", run_id, from + at, JSON.stringify(one));
  }
  remove(run_id: string): void {
    this.#read.delete(run_id);
    this.#sql.run("DELETE FROM turns WHERE run_id = ?", run_id);
  }
}
