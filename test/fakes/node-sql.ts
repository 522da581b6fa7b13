/** The stores' SQL over node:sqlite, stricter than the real one: a transaction inside a transaction, or an async one, throws. */
import { DatabaseSync } from "node:sqlite";
import type { Sql, SqlValue } from "../../durable-objects/sql.ts";

export interface NodeSql extends Sql {
  close(): void;
}

/** `max_pages`: the disk is full once the database has grown to so many pages of 4 KB. */
export function nodeSql(path = ":memory:", { max_pages }: { max_pages?: number } = {}): NodeSql {
  const db = new DatabaseSync(path);
  if (max_pages !== undefined) db.exec(`PRAGMA max_page_count = ${max_pages}`);
  const statements = new Map<string, ReturnType<DatabaseSync["prepare"]>>();
  const prepared = (query: string) => {
    const known = statements.get(query) ?? db.prepare(query);
    statements.set(query, known);
    return known;
  };
  let open = false;
  return {
    // Rows are what the caller's own schema says, as in a Durable Object.
    all: <T extends object>(query: string, ...params: readonly SqlValue[]) =>
      prepared(query)
        .all(...params)
        .map((row) => ({ ...row })) as T[],
    one: <T extends object>(query: string, ...params: readonly SqlValue[]) => {
      const row = prepared(query).get(...params);
      return row === undefined ? null : ({ ...row } as T); // as above
    },
    run(query, ...params) {
      if (params.length === 0) db.exec(query);
      else prepared(query).run(...params);
    },
    transaction<T>(fn: () => T): T {
      if (open) throw new Error("a transaction inside a transaction");
      open = true;
      db.exec("BEGIN IMMEDIATE");
      try {
        const result = fn();
        if (result instanceof Promise) throw new Error("an async transaction");
        db.exec("COMMIT");
        return result;
      } catch (thrown) {
        // SQLite itself has rolled back what met a full disk.
        if (db.isTransaction) db.exec("ROLLBACK");
        throw thrown;
      } finally {
        open = false;
      }
    },
    close: () => db.close(),
  };
}
