/** As much of D1 as `adapters/records.ts` uses, over node:sqlite: prepare, bind, all, raw, run, and batch as one transaction. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

export interface NodeD1 {
  readonly db: D1Database;
  /** While true every statement throws, as D1 does when it is away. */
  down: boolean;
}

/** With the migrations of the given folder applied, in order of their names. */
export function nodeD1(migrations: string): NodeD1 {
  const sqlite = new DatabaseSync(":memory:");
  for (const file of readdirSync(migrations).sort())
    if (file.endsWith(".sql")) sqlite.exec(readFileSync(join(migrations, file), "utf8"));
  const statement = (query: string, params: readonly SQLInputValue[]) => {
    const run = () => {
      if (fake.down) throw new Error("D1_ERROR: away");
      return sqlite.prepare(query).all(...params);
    };
    return {
      bind: (...next: SQLInputValue[]) => statement(query, next),
      all: async () => ({ success: true, results: run(), meta: {} }),
      run: async () => ({ success: true, results: run(), meta: {} }),
      raw: async () => run().map((row) => Object.values(row)),
      runNow: run,
    };
  };
  const d1 = {
    prepare: (query: string) => statement(query, []),
    batch: async (statements: readonly ReturnType<typeof statement>[]) => {
      sqlite.exec("BEGIN");
      try {
        const results = statements.map((one) => ({ success: true, results: one.runNow(), meta: {} }));
        sqlite.exec("COMMIT");
        return results;
      } catch (thrown) {
        sqlite.exec("ROLLBACK");
        throw thrown;
      }
    },
  };
  // Only the members used are here; anything else fails loudly as "not a function".
  const fake: NodeD1 = { db: d1 as unknown as D1Database, down: false };
  return fake;
}
