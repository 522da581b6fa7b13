/**
 * The standing approvals of a scope as they are stored, each use of one, and the plans that still wait for an answer
 * whether one speaks for them. [STA-*]
 */
import { z } from "zod";
import type { StandingUsage } from "../../src/domain/standing.ts";
import type { Amounts, StandingView } from "../../src/domain/standing-shape.ts";
import { standingBounds, standingStatuses } from "../../src/domain/standing-shape.ts";
import { limits } from "../../src/limits.ts";
import { pageOf, type Sql } from "../sql.ts";

export const standingSchema: readonly string[] = [
  `CREATE TABLE standing (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, status TEXT NOT NULL, doc TEXT NOT NULL);
   CREATE INDEX standing_status ON standing (status, seq);
   CREATE TABLE standing_uses (
     approval_id TEXT PRIMARY KEY, standing_id TEXT NOT NULL, task_id TEXT NOT NULL, at INTEGER NOT NULL,
     tokens REAL NOT NULL, usd REAL NOT NULL, minutes REAL NOT NULL);
   CREATE INDEX standing_uses_of ON standing_uses (standing_id, at);
   CREATE TABLE standing_due (approval_id TEXT PRIMARY KEY, next_at INTEGER NOT NULL, tries INTEGER NOT NULL);`,
];

export const standingRow = z.strictObject({
  id: z.string(),
  status: z.enum(standingStatuses),
  name: z.string(),
  reason: z.string(),
  bounds: standingBounds,
  until_ms: z.number(),
  uses: z.number().int(),
  uses_left: z.number().int(),
  made_by: z.string(),
  /** Who else made the link of the session it was made in. */
  link_by: z.string().exactOptional(),
  /** What they signed in with, or what that came of: once it is revoked, this lends nothing any more. */
  credential_id: z.string(),
  made_at: z.string(),
  ended: z.strictObject({ by: z.string(), at: z.string(), reason: z.string() }).nullable(),
});
export type StandingRow = z.infer<typeof standingRow>;
export interface StandingUse {
  readonly approval_id: string;
  readonly standing_id: string;
  readonly task_id: string;
  readonly at: number;
}
export interface StandingDue {
  readonly approval_id: string;
  readonly next_at: number;
  readonly tries: number;
}

export class StandingRows {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }
  #read(rows: { doc: string }[]): StandingRow[] {
    return rows.map((row) => standingRow.parse(JSON.parse(row.doc)));
  }
  get(id: string): StandingRow | null {
    return this.#read(this.#sql.all("SELECT doc FROM standing WHERE id = ?", id))[0] ?? null;
  }
  put(row: StandingRow): StandingRow {
    this.#sql.run(
      "INSERT INTO standing (id, status, doc) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET status = excluded.status, doc = excluded.doc",
      ...[row.id, row.status, JSON.stringify(row)],
    );
    return row;
  }
  /** In the order they were made: the oldest that fits is used. */
  active(): StandingRow[] {
    return this.#read(this.#sql.all("SELECT doc FROM standing WHERE status = 'active' ORDER BY seq"));
  }
  /** The newest of those that would still be in force had they not been used so often. */
  usedUp(most: number): StandingRow[] {
    return this.#read(
      this.#sql.all("SELECT doc FROM standing WHERE status = 'used_up' ORDER BY seq DESC LIMIT ?", most),
    );
  }
  page(limit: number, cursor: string | null): { items: StandingRow[]; next_cursor: string | null } {
    const before =
      cursor === null
        ? null
        : (this.#sql.one<{ seq: number }>("SELECT seq FROM standing WHERE id = ?", cursor)?.seq ?? 0);
    const found = this.#read(
      this.#sql.all(
        "SELECT doc FROM standing WHERE (?1 IS NULL OR seq < ?1) ORDER BY seq DESC LIMIT ?2",
        before,
        limit + 1,
      ),
    );
    return pageOf(found, limit);
  }

  addUse(use: StandingUse, stated: Amounts): void {
    const { tokens, usd, minutes } = stated;
    this.#sql.run(
      "INSERT INTO standing_uses (approval_id, standing_id, task_id, at, tokens, usd, minutes) VALUES (?, ?, ?, ?, ?, ?, ?)",
      ...[use.approval_id, use.standing_id, use.task_id, use.at, tokens ?? 0, usd ?? 0, minutes ?? 0],
    );
  }
  /** Of what is in force each use counts on. How many are left stands in its own row. */
  forgetUses(task_id: string): void {
    this.#sql.run(
      `DELETE FROM standing_uses WHERE approval_id IN (SELECT id FROM approvals WHERE task_id = ?)
         AND standing_id IN (SELECT id FROM standing WHERE status <> 'active')`,
      task_id,
    );
  }
  /** Newest first. */
  usesOf(standing_id: string, most: number): StandingUse[] {
    return this.#sql.all(
      "SELECT approval_id, standing_id, task_id, at FROM standing_uses WHERE standing_id = ? ORDER BY at DESC, approval_id LIMIT ?",
      ...[standing_id, most],
    );
  }
  /** What the last 24 hours hold. A use that lies ahead of the clock counts too, so that a clock set back frees nothing. */
  usage(standing_id: string, now: number): StandingUsage {
    return (
      this.#sql.one<StandingUsage & object>(
        `SELECT count(*) AS plans, coalesce(sum(tokens), 0) AS tokens, coalesce(sum(usd), 0) AS usd,
           coalesce(sum(minutes), 0) AS minutes FROM standing_uses WHERE standing_id = ? AND at > ?`,
        ...[standing_id, now - limits.standing_day_ms],
      ) ?? { plans: 0, tokens: 0, usd: 0, minutes: 0 }
    );
  }

  /** A plan's card is to be looked at. Where nothing stands, there is nothing to look for. */
  consider(approval_id: string, now: number): void {
    if (this.#sql.one("SELECT 1 AS found FROM standing WHERE status IN ('active', 'used_up') LIMIT 1") === null) return;
    this.#sql.run(
      "INSERT OR IGNORE INTO standing_due (approval_id, next_at, tries) VALUES (?, ?, 0)",
      approval_id,
      now,
    );
  }
  due(now: number, most: number): StandingDue[] {
    return this.#sql.all("SELECT * FROM standing_due WHERE next_at <= ? ORDER BY next_at, rowid LIMIT ?", now, most);
  }
  isDue(approval_id: string): boolean {
    return this.#sql.one("SELECT 1 AS found FROM standing_due WHERE approval_id = ?", approval_id) !== null;
  }
  putOff({ approval_id, tries }: StandingDue, next_at: number): void {
    this.#sql.run(
      "UPDATE standing_due SET next_at = ?, tries = ? WHERE approval_id = ?",
      next_at,
      tries + 1,
      approval_id,
    );
  }
  considered(approval_id: string): void {
    this.#sql.run("DELETE FROM standing_due WHERE approval_id = ?", approval_id);
  }
  /** A wait is bounded even when the clock was set back meanwhile. */
  nextDueAt(now: number): number | null {
    const first = this.#sql.one<{ at: number | null }>("SELECT min(next_at) AS at FROM standing_due")?.at ?? null;
    return first === null ? null : Math.min(first, now + limits.standing_retry_ms * 2 ** limits.standing_tries);
  }
}

export function standingViewOf(row: StandingRow, uses: readonly StandingUse[], now: number): StandingView {
  const { credential_id, link_by, until_ms, ...shown } = row;
  return {
    ...shown,
    status: row.status === "active" && now >= until_ms ? "expired" : row.status,
    until: new Date(until_ms).toISOString(),
    used: uses.map(({ approval_id, task_id, at }) => ({ approval_id, task_id, at: new Date(at).toISOString() })),
  };
}
