/** The runs an agent object has open: each a row that names its message, its lease and its state. [RUN-*] */
import { z } from "zod";
import { envelope } from "../../src/domain/message.ts";
import type { Sql } from "../sql.ts";

export const run = z.strictObject({
  id: z.string(),
  message: envelope,
  lease: z.strictObject({ lease_id: z.string(), epoch: z.number().int() }),
  /** Whose log the run's output goes to: the attempt, or the verification. */
  owner: z.string(),
  state: z.unknown(),
  cancelled: z.boolean(),
  opened_at: z.number(),
  next_at: z.number(),
  /** Steps committed since the message was leased: a restart before the first counts as a delivery. */
  steps: z.number().int(),
  errors: z.number().int(),
  /** Until `next_at` it waits for notes, and holds no place. */
  waits: z.boolean().default(false),
});
export type Run = z.infer<typeof run>;

export const runsSchema: readonly string[] = [
  `CREATE TABLE runs (id TEXT PRIMARY KEY, owner TEXT NOT NULL, next_at INTEGER NOT NULL, doc TEXT NOT NULL);
   CREATE INDEX runs_due ON runs (next_at);`,
];

export class Runs {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }
  get(id: string): Run | null {
    return this.#read(this.#sql.all("SELECT doc FROM runs WHERE id = ?", id))[0] ?? null;
  }
  ofOwner(owner: string): Run[] {
    return this.#read(this.#sql.all("SELECT doc FROM runs WHERE owner = ?", owner));
  }
  all(): Run[] {
    return this.#read(this.#sql.all("SELECT doc FROM runs ORDER BY next_at"));
  }
  put(row: Run): Run {
    this.#sql.run(
      "INSERT OR REPLACE INTO runs (id, owner, next_at, doc) VALUES (?, ?, ?, ?)",
      row.id,
      row.owner,
      row.next_at,
      JSON.stringify(row),
    );
    return row;
  }
  remove(id: string): void {
    this.#sql.run("DELETE FROM runs WHERE id = ?", id);
  }
  count(): number {
    return this.#sql.one<{ n: number }>("SELECT count(*) AS n FROM runs")?.n ?? 0;
  }
  nextDueAt(): number | null {
    return this.#sql.one<{ at: number | null }>("SELECT min(next_at) AS at FROM runs")?.at ?? null;
  }
  #read(rows: { doc: string }[]): Run[] {
    return rows.map((row) => run.parse(JSON.parse(row.doc)));
  }
}
