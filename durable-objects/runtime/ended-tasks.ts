/**
 * What only a task's work needed is forgotten a while after its end: its planner's questions, its uses of tools that only
 * read, where it is shown on GitHub, and what an approval in advance that is over gave it. The task itself, its plans,
 * attempts, decisions and the audit stay. [ROW-6] [ROW-7]
 */
import { limits } from "../../src/limits.ts";
import type { Sql } from "../sql.ts";
import type { Tx } from "./tx.ts";

/** After the rows: the end of a task stands in its document, and is in order there. */
export const endedSchema: readonly string[] = [
  `CREATE INDEX tasks_ended ON tasks (json_extract(doc, '$.ended_at'), id) WHERE json_extract(doc, '$.ended_at') IS NOT NULL;
   CREATE TABLE forgotten (one INTEGER PRIMARY KEY CHECK (one = 1), ended_at TEXT NOT NULL, id TEXT NOT NULL);`,
];

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
    const before = new Date(tx.now - limits.ended_kept_ms).toISOString();
    const batch = this.#after(before);
    for (const { id } of batch) {
      tx.rows.research.forget(id);
      tx.rows.uses.forget(id);
      tx.stores.github.forgetThread(id);
      tx.stores.standing.forgetUses(id);
    }
    const last = batch.at(-1);
    if (last !== undefined)
      this.#sql.run("INSERT OR REPLACE INTO forgotten (one, ended_at, id) VALUES (1, ?, ?)", last.ended_at, last.id);
  }
  #after(before: string): Ended[] {
    const at = "json_extract(doc, '$.ended_at')";
    const last = this.#sql.one<Ended & object>("SELECT ended_at, id FROM forgotten");
    return this.#sql.all(
      `SELECT id, ${at} AS ended_at FROM tasks WHERE ${at} IS NOT NULL AND (${at}, id) > (?, ?) AND ${at} < ?
         ORDER BY ${at}, id LIMIT ?`,
      ...[last?.ended_at ?? "", last?.id ?? "", before, limits.ended_forgotten],
    );
  }
}
