/**
 * The deployment's executor slots, as leases, asked before work is claimed; how far the minute's sweep has come; and the
 * list of its sandboxes in containers. [POOL-*] [CON-6]
 */
import { DurableObject } from "cloudflare:workers";
import { mayTakeSlot } from "../src/domain/pool.ts";
import { limits } from "../src/limits.ts";
import type { RemotePool } from "./remote.ts";
import { type ListedSandbox, SandboxList, sandboxListSchema } from "./sandbox-list.ts";
import { applySchemas, durableSql, type Sql } from "./sql.ts";

const poolSchema = [
  `CREATE TABLE slots (holder TEXT PRIMARY KEY, scope TEXT NOT NULL, expires_at INTEGER NOT NULL);
   CREATE TABLE waiting (scope TEXT PRIMARY KEY, since INTEGER NOT NULL, seen_at INTEGER NOT NULL);`,
  "CREATE TABLE sweep (one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT NOT NULL);",
];
/** A scope that has not asked again for this long is not waiting any more. */
const waitingForgottenMs = 60_000;

export class PoolObject extends DurableObject<unknown> implements RemotePool {
  readonly #sql: Sql;
  readonly #list: SandboxList;
  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env);
    this.#sql = durableSql(ctx);
    applySchemas(this.#sql, { pool: poolSchema, sandbox_list: sandboxListSchema });
    this.#list = new SandboxList(this.#sql);
  }

  /** `holder` is `<scope>/<agent>`; one that has a slot keeps it. */
  async acquire(scope: string, holder: string): Promise<boolean> {
    const now = Date.now();
    return this.#sql.transaction(() => {
      this.#sql.run("DELETE FROM slots WHERE expires_at <= ?", now);
      this.#sql.run("DELETE FROM waiting WHERE seen_at <= ?", now - waitingForgottenMs);
      const has = this.#sql.one("SELECT 1 AS found FROM slots WHERE holder = ?", holder) !== null;
      if (!has) {
        this.#sql.run(
          "INSERT INTO waiting (scope, since, seen_at) VALUES (?1, ?2, ?2) ON CONFLICT (scope) DO UPDATE SET seen_at = ?2",
          ...[scope, now],
        );
        const facts = this.#sql.one<{ used: number; mine: number; before: number }>(
          `SELECT (SELECT count(*) FROM slots) AS used, (SELECT count(*) FROM slots WHERE scope = ?1) AS mine,
             (SELECT count(*) FROM waiting WHERE scope <> ?1 AND since < (SELECT since FROM waiting WHERE scope = ?1)) AS before`,
          scope,
        );
        const free = mayTakeSlot({
          slots: limits.deployment_slots,
          used: facts?.used ?? 0,
          scope_slots: limits.scope_slots,
          used_by_scope: facts?.mine ?? 0,
          waiting_before: facts?.before ?? 0,
        });
        if (!free) return false;
        this.#sql.run("DELETE FROM waiting WHERE scope = ?", scope);
      }
      this.#sql.run(
        "INSERT OR REPLACE INTO slots (holder, scope, expires_at) VALUES (?, ?, ?)",
        holder,
        scope,
        now + limits.lease_ms,
      );
      return true;
    });
  }
  /** Slots whose holders fell silent are free again; acquiring looks at the time as well. */
  async endSlots(): Promise<void> {
    this.#sql.transaction(() => this.#sql.run("DELETE FROM slots WHERE expires_at <= ?", Date.now()));
  }
  /** After which scope the last sweep ran out of time; null when it came to the end. */
  async sweepFrom(): Promise<string | null> {
    return this.#sql.one<{ cursor: string }>("SELECT cursor FROM sweep")?.cursor ?? null;
  }
  async sweptTo(cursor: string | null): Promise<void> {
    this.#sql.transaction(() => {
      this.#sql.run("DELETE FROM sweep");
      if (cursor !== null) this.#sql.run("INSERT INTO sweep (one, cursor) VALUES (1, ?)", cursor);
    });
  }
  /** False when there are too many. */
  async keepSandbox(sandbox: ListedSandbox): Promise<boolean> {
    return this.#sql.transaction(() => this.#list.keep(sandbox));
  }
  async forgetSandbox(id: string): Promise<void> {
    this.#sql.transaction(() => this.#list.forget(id));
  }
  async sandboxes(): Promise<readonly ListedSandbox[]> {
    return this.#list.all();
  }
  async release(holder: string): Promise<void> {
    this.#sql.transaction(() => this.#sql.run("DELETE FROM slots WHERE holder = ?", holder));
  }
}
