/**
 * What only a task's work needed is forgotten a while after its end: its planner's questions, its uses of tools that only
 * read, and what an approval in advance that is over gave it; far later where it is shown on GitHub, whose pull requests
 * stay open for long. The task itself, its plans, attempts, decisions and the audit stay. [ROW-6] [ROW-7] [ROW-8]
 */
import { limits } from "../../src/limits.ts";
import type { Sql } from "../sql.ts";
import type { Tx } from "./tx.ts";

/** After the rows: the end of a task stands in its document, and is in order there. */
export const endedSchema: readonly string[] = [
  `CREATE INDEX tasks_ended ON tasks (json_extract(doc, '$.ended_at'), id) WHERE json_extract(doc, '$.ended_at') IS NOT NULL;
   CREATE TABLE forgotten (one INTEGER PRIMARY KEY CHECK (one = 1), ended_at TEXT NOT NULL, id TEXT NOT NULL);`,
  `CREATE TABLE forgotten_threads (one INTEGER PRIMARY KEY CHECK (one = 1), ended_at TEXT NOT NULL, id TEXT NOT NULL);`,
];
type Place = "forgotten" | "forgotten_threads";

interface Ended {
  readonly id: string;
  readonly ended_at: string;
}

export class EndedTasks {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }
  /** A batch of those that ended until then and are not forgotten yet, in the order of their ends. */
  forget(tx: Tx): void {
    this.#each("forgotten", tx.now - limits.ended_kept_ms, (id) => {
      tx.rows.research.forget(id);
      tx.rows.uses.forget(id);
      tx.stores.standing.forgetUses(id);
    });
    this.#each("forgotten_threads", tx.now - limits.ended_thread_kept_ms, (id) => tx.stores.github.forgetThread(id));
  }
  /** `place`: how far it has come, a place of its own for each age. */
  #each(place: Place, before_ms: number, forget: (id: string) => void): void {
    const batch = this.#after(place, new Date(before_ms).toISOString());
    for (const { id } of batch) forget(id);
    const last = batch.at(-1);
    if (last !== undefined)
      this.#sql.run(`INSERT OR REPLACE INTO ${place} (one, ended_at, id) VALUES (1, ?, ?)`, last.ended_at, last.id);
  }
  #after(place: Place, before: string): Ended[] {
    const at = "json_extract(doc, '$.ended_at')";
    const last = this.#sql.one<Ended & object>(`SELECT ended_at, id FROM ${place}`);
    return this.#sql.all(
      `SELECT id, ${at} AS ended_at FROM tasks WHERE ${at} IS NOT NULL AND (${at}, id) > (?, ?) AND ${at} < ?
         ORDER BY ${at}, id LIMIT ?`,
      ...[last?.ended_at ?? "", last?.id ?? "", before, limits.ended_forgotten],
    );
  }
}
