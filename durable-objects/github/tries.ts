/**
 * What is known of GitHub's list of deliveries, in the object's own tables: every page is kept as it comes, with the place
 * to go on from, so that an object that is put away loses nothing but the page it was waiting for. [GHL-12] [GHL-15]
 */
import { isKept, isTooOld, type Lost, lostOf, type Tried } from "../../src/domain/github/redelivery.ts";
import { limits } from "../../src/limits.ts";
import type { Sql } from "../sql.ts";

/** `reading`: of a reading that is not at its end, so between it and what is known there may be more. */
export const triesSchema: readonly string[] = [
  `CREATE TABLE tries (
     id TEXT PRIMARY KEY, guid TEXT NOT NULL, at INTEGER NOT NULL, redelivery INTEGER NOT NULL, ok INTEGER NOT NULL,
     reading INTEGER NOT NULL, later INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX tries_at ON tries (reading, at);
   CREATE INDEX tries_later ON tries (later) WHERE later = 1;
   CREATE TABLE deliveries (
     one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT, overflows_until INTEGER NOT NULL, failing_since INTEGER,
     failing_why TEXT);
   INSERT INTO deliveries (one, cursor, overflows_until) VALUES (1, NULL, 0);`,
  `ALTER TABLE deliveries ADD COLUMN failed_at INTEGER;`,
];

interface TriedRow {
  readonly id: string;
  readonly guid: string;
  readonly at: number;
  readonly redelivery: number;
  readonly ok: number;
}
/** How the list stands with us. */
export interface Standing {
  /** Where the reading goes on; null when none is under way. */
  readonly cursor: string | null;
  /** Until then GitHub's list is longer than what is known of it. */
  readonly overflows_until: number;
  readonly failing_since: number | null;
  /** The last time, and why. */
  readonly failed_at: number | null;
  readonly failing_why: string | null;
}
export interface Page {
  readonly items: readonly Tried[];
  readonly next: string | null;
}

export class Tries {
  readonly #sql: Sql;
  /** Worked out once after each change of what is known; another object over the same tables does so anew. */
  #lost: readonly Lost[] | null = null;
  constructor(sql: Sql) {
    this.#sql = sql;
  }
  transaction<T>(change: () => T): T {
    return this.#sql.transaction(change);
  }

  standing(): Standing {
    const none = { cursor: null, overflows_until: 0, failing_since: null, failed_at: null, failing_why: null };
    const sql = "SELECT cursor, overflows_until, failing_since, failed_at, failing_why FROM deliveries";
    return this.#sql.one<Standing>(sql) ?? none;
  }
  /** What has not come, oldest first. */
  lost(): readonly Lost[] {
    this.#lost ??= lostOf(this.#known());
    return this.#lost;
  }
  /** Newest first, without a gap. */
  #known(): Tried[] {
    return this.#sql
      .all<TriedRow>("SELECT id, guid, at, redelivery, ok FROM tries WHERE reading = 0 ORDER BY at DESC")
      .map(({ id, guid, at, redelivery, ok }) => ({
        ...{ id, guid, delivered_at: new Date(at).toISOString(), redelivery: redelivery === 1, ok: ok === 1 },
      }));
  }
  /** What could not be asked for when it was due. */
  later(): ReadonlySet<string> {
    return new Set(this.#sql.all<{ id: string }>("SELECT id FROM tries WHERE later = 1").map(({ id }) => id));
  }
  asked(id: string, done: boolean): void {
    this.#sql.run("UPDATE tries SET later = ? WHERE id = ?", done ? 0 : 1, id);
  }

  /** Keeps the page that the reading came to. True when nothing new stands behind it. */
  keep({ items, next }: Page, now_ms: number): boolean {
    this.#lost = null;
    let joins = false;
    for (const one of items)
      if (this.#sql.one("SELECT 1 AS found FROM tries WHERE id = ? AND reading = 0", one.id) !== null) joins = true;
      else if (isKept(one, now_ms)) this.#put(one);
    const full = this.#count("WHERE reading = 1") >= limits.github_redelivery_kept;
    const more = next !== null && !full && !joins && !isTooOld(items, now_ms);
    this.#sql.run("UPDATE deliveries SET cursor = ?", more ? next : null);
    if (more) return false;
    if (full) this.#sql.run("DELETE FROM tries WHERE reading = 0");
    this.#sql.run("UPDATE tries SET reading = 0 WHERE reading = 1");
    const over = this.#count("") - limits.github_redelivery_kept;
    if (over > 0)
      this.#sql.run("DELETE FROM tries WHERE id IN (SELECT id FROM tries WHERE reading = 0 ORDER BY at LIMIT ?)", over);
    if (full || over > 0)
      this.#sql.run("UPDATE deliveries SET overflows_until = ?", now_ms + limits.github_redelivery_days_ms);
    return true;
  }
  /** The reading that is under way is worth nothing. */
  forgetReading(): void {
    this.#sql.run("DELETE FROM tries WHERE reading = 1");
    this.#sql.run("UPDATE deliveries SET cursor = NULL");
  }
  /** Forgets what GitHub keeps no more; answers how many of it never came. */
  letGo(now_ms: number): number {
    const oldest = now_ms - limits.github_redelivery_days_ms;
    if (this.#count("WHERE reading = 0 AND at < ?", oldest) === 0) return 0;
    const lost = this.lost();
    this.#sql.run("DELETE FROM tries WHERE reading = 0 AND at < ?", oldest);
    // What GitHub tried first before then is no longer known to be lost.
    this.#lost = lost.filter(({ since_ms }) => since_ms >= oldest);
    return lost.length - this.#lost.length;
  }

  failed(now_ms: number, why: string): void {
    const sql = "UPDATE deliveries SET failing_since = coalesce(failing_since, ?1), failed_at = ?1, failing_why = ?2";
    this.#sql.run(sql, now_ms, why.slice(0, limits.github_redelivery_why_chars));
  }
  answered(): void {
    this.#sql.run("UPDATE deliveries SET failing_since = NULL, failed_at = NULL, failing_why = NULL");
  }

  #put({ id, guid, delivered_at, redelivery, ok }: Tried): void {
    this.#sql.run(
      "INSERT OR REPLACE INTO tries (id, guid, at, redelivery, ok, reading, later) VALUES (?, ?, ?, ?, ?, 1, 0)",
      ...[id, guid, Date.parse(delivered_at), redelivery ? 1 : 0, ok ? 1 : 0],
    );
  }
  #count(where: string, ...params: readonly number[]): number {
    return this.#sql.one<{ n: number }>(`SELECT count(*) AS n FROM tries ${where}`, ...params)?.n ?? 0;
  }
}
