/** One object's stored data over node:sqlite, made for many small calls: nothing is copied, every statement is kept. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Sql, SqlValue } from "../../../durable-objects/sql.ts";

export class Data implements Sql {
  readonly #db = new DatabaseSync(":memory:");
  readonly #statements = new Map<string, StatementSync>();
  #open = false;

  #prepared(query: string): StatementSync {
    const known = this.#statements.get(query);
    if (known !== undefined) return known;
    const made = this.#db.prepare(query);
    this.#statements.set(query, made);
    return made;
  }
  // Rows are what the caller's own schema says, as in a Durable Object.
  all<T extends object>(query: string, ...params: readonly SqlValue[]): T[] {
    return this.#prepared(query).all(...params) as T[];
  }
  one<T extends object>(query: string, ...params: readonly SqlValue[]): T | null {
    return (this.#prepared(query).get(...params) as T | undefined) ?? null; // as above
  }
  run(query: string, ...params: readonly SqlValue[]): void {
    if (params.length === 0) this.#db.exec(query);
    else this.#prepared(query).run(...params);
  }
  transaction<T>(fn: () => T): T {
    if (this.#open) throw new Error("a transaction inside a transaction");
    this.#open = true;
    this.#prepared("BEGIN").run();
    try {
      const made = fn();
      if (made instanceof Promise) throw new Error("an async transaction");
      this.#prepared("COMMIT").run();
      return made;
    } catch (thrown) {
      this.#prepared("ROLLBACK").run();
      throw thrown;
    } finally {
      this.#open = false;
    }
  }
  /** Rows ever changed: for what must change none. */
  changes(): number {
    return this.one<{ n: number }>("SELECT total_changes() AS n")?.n ?? 0;
  }
  close(): void {
    this.#db.close();
  }
}
