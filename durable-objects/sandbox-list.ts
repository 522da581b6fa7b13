/** Which sandboxes in containers a deployment has: rows, for an object to keep. [CON-6] */
import { limits } from "../src/limits.ts";
import type { Sql } from "./sql.ts";

export const sandboxListSchema: readonly string[] = [
  "CREATE TABLE sandboxes (id TEXT PRIMARY KEY, scope_id TEXT NOT NULL, owner TEXT NOT NULL);",
];

export interface ListedSandbox {
  readonly id: string;
  readonly scope_id: string;
  readonly owner: string;
}

export class SandboxList {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** False when there are too many; one that is listed stays. */
  keep({ id, scope_id, owner }: ListedSandbox): boolean {
    const known = this.#sql.one("SELECT 1 AS found FROM sandboxes WHERE id = ?", id) !== null;
    if (!known && this.all().length >= limits.container_sandboxes) return false;
    this.#sql.run("INSERT OR REPLACE INTO sandboxes (id, scope_id, owner) VALUES (?, ?, ?)", id, scope_id, owner);
    return true;
  }
  forget(id: string): void {
    this.#sql.run("DELETE FROM sandboxes WHERE id = ?", id);
  }
  all(): ListedSandbox[] {
    return this.#sql.all<ListedSandbox>("SELECT id, scope_id, owner FROM sandboxes ORDER BY id");
  }
}
