/** The hooks of a scope, and which requests each has taken: an id that was taken once is answered, never carried out, again. [HOOK-*] */
import { z } from "zod";
import { hookInput } from "../../src/domain/hooks.ts";
import { limits } from "../../src/limits.ts";
import type { Sql } from "../sql.ts";

export const hooksSchema: readonly string[] = [
  `CREATE TABLE hooks (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE, doc TEXT NOT NULL);
   CREATE TABLE hook_claims (hook_id TEXT NOT NULL, message_id TEXT NOT NULL, task_id TEXT NOT NULL, at INTEGER NOT NULL,
     PRIMARY KEY (hook_id, message_id)) WITHOUT ROWID;
   CREATE INDEX hook_claims_at ON hook_claims (at);
   CREATE INDEX hook_claims_of ON hook_claims (hook_id, at);`,
];

export const hookRow = hookInput.extend({
  id: z.string(),
  secret_version: z.number().int(),
  old_secret_until: z.number().nullable(),
  created_by: z.string(),
  created_at: z.string(),
});
export type HookRow = z.infer<typeof hookRow>;

export class HookRows {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }
  get(id: string): HookRow | null {
    return this.#read(this.#sql.all("SELECT doc FROM hooks WHERE id = ?", id))[0] ?? null;
  }
  named(name: string): HookRow | null {
    return this.#read(this.#sql.all("SELECT doc FROM hooks WHERE name = ?", name))[0] ?? null;
  }
  all(): HookRow[] {
    return this.#read(this.#sql.all("SELECT doc FROM hooks ORDER BY seq"));
  }
  put(row: HookRow): HookRow {
    this.#sql.run(
      "INSERT INTO hooks (id, name, doc) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET doc = excluded.doc",
      ...[row.id, row.name, JSON.stringify(row)],
    );
    return row;
  }
  remove(id: string): void {
    this.#sql.run("DELETE FROM hook_claims WHERE hook_id = ?", id);
    this.#sql.run("DELETE FROM hooks WHERE id = ?", id);
  }

  /** The task of a request that was taken before. */
  taken(hook_id: string, message_id: string): string | null {
    const sql = "SELECT task_id FROM hook_claims WHERE hook_id = ? AND message_id = ?";
    return this.#sql.one<{ task_id: string }>(sql, hook_id, message_id)?.task_id ?? null;
  }
  /** In the transaction that makes the task. What was claimed long ago is forgotten, a batch at a time. */
  claim(claimed: { hook_id: string; message_id: string; task_id: string }, now: number): void {
    const { hook_id, message_id, task_id } = claimed;
    this.#sql.run(
      "INSERT INTO hook_claims (hook_id, message_id, task_id, at) VALUES (?, ?, ?, ?)",
      ...[hook_id, message_id, task_id, now],
    );
    this.#sql.run(
      "DELETE FROM hook_claims WHERE (hook_id, message_id) IN (SELECT hook_id, message_id FROM hook_claims WHERE at < ? ORDER BY at LIMIT ?)",
      ...[now - limits.hook_claims_kept_ms, limits.hook_claims_pruned],
    );
  }
  /** How many it took since then, and when the oldest of them was. */
  since(hook_id: string, from: number): { count: number; oldest: number | null } {
    const sql = "SELECT count(*) AS count, min(at) AS oldest FROM hook_claims WHERE hook_id = ? AND at > ?";
    return this.#sql.one<{ count: number; oldest: number | null }>(sql, hook_id, from) ?? { count: 0, oldest: null };
  }
  #read(rows: { doc: string }[]): HookRow[] {
    return rows.map(({ doc }) => hookRow.parse(JSON.parse(doc)));
  }
}
