/**
 * What a scope keeps of GitHub: the repositories linked to it, the deliveries it has claimed, each task's thread with
 * what stands there, and how many events were passed over and why. [GHR-*]
 */
import { z } from "zod";
import { githubRepository, githubShown, triggerNames } from "../../src/domain/github/shapes.ts";
import { defaultTriggers, triggers } from "../../src/domain/github/triggers.ts";
import { limits } from "../../src/limits.ts";
import type { Sql } from "../sql.ts";

/** Addresses are kept in small letters: GitHub takes no notice of case. One of a renamed repository stays its own. */
export const githubSchema: readonly string[] = [
  `CREATE TABLE github_links (id INTEGER PRIMARY KEY, doc TEXT NOT NULL);
   CREATE TABLE github_addresses (url TEXT PRIMARY KEY, repository_id INTEGER NOT NULL);
   CREATE TABLE github_deliveries (id TEXT PRIMARY KEY, at INTEGER NOT NULL);
   CREATE INDEX github_deliveries_at ON github_deliveries (at);
   CREATE TABLE github_ignored (event TEXT NOT NULL, why TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (event, why));
   CREATE TABLE github_threads (
     task_id TEXT PRIMARY KEY, repository_id INTEGER NOT NULL, number INTEGER NOT NULL, pull INTEGER, branch TEXT NOT NULL,
     version INTEGER NOT NULL, shown_version INTEGER NOT NULL, next_at INTEGER NOT NULL, doc TEXT NOT NULL);
   CREATE INDEX github_threads_number ON github_threads (repository_id, number);
   CREATE INDEX github_threads_pull ON github_threads (repository_id, pull) WHERE pull IS NOT NULL;
   CREATE INDEX github_threads_branch ON github_threads (repository_id, branch);
   CREATE INDEX github_threads_due ON github_threads (next_at) WHERE version > shown_version;`,
  `ALTER TABLE github_deliveries ADD COLUMN body_hash TEXT;
   CREATE UNIQUE INDEX github_deliveries_body ON github_deliveries (body_hash) WHERE body_hash IS NOT NULL;`,
  `CREATE TABLE github_answers (
     repository_id INTEGER NOT NULL, number INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (repository_id, number));
   CREATE INDEX github_answers_at ON github_answers (at);`,
  `CREATE TABLE github_refused (hour INTEGER PRIMARY KEY, n INTEGER NOT NULL);`,
];

export const linkRow = z.strictObject({
  repository: githubRepository,
  url: z.string(),
  state: z.enum(["linked", "suspended"]),
  /** The link made the scope's registry entry: then it goes with it. */
  registered: z.boolean(),
  triggers: triggers.default(defaultTriggers),
  linked_at: z.string(),
});
export type LinkRow = z.infer<typeof linkRow>;

export const threadRow = z.strictObject({
  task_id: z.string(),
  repository_id: z.number().int(),
  kind: z.enum(["issue", "pull"]),
  number: z.number().int(),
  trigger: z.enum(triggerNames),
  /** What was asked, so that the same asked again on the same thread makes no second task. */
  ask: z.string(),
  comment_id: z.number().int().nullable(),
  /** When it was asked, by GitHub's clock; null where GitHub did not say. */
  asked_at: z.string().nullable().default(null),
  /** GitHub's own number of who asked; null when nobody did. */
  asked_id: z.number().int().nullable(),
  /** Branch that the work is pushed to, and the one it started from; null for the default branch. */
  branch: z.string(),
  base_branch: z.string().nullable(),
  /** Grows with every change of what is to be shown. `shown_version`: what GitHub shows, or was left at. */
  version: z.number().int(),
  shown_version: z.number().int(),
  /** The look at GitHub that is under way; null when none is. */
  sync: z.strictObject({ message_id: z.string(), at: z.number() }).nullable(),
  /** When the next may begin; while one is under way, when it is given up as lost. */
  next_at: z.number(),
  failures: z.number().int(),
  shown: githubShown.nullable(),
  note: z.string().nullable(),
  /** Content hashes of the first plans that were handed out to be shown: no more than tell one from several. Null: not known. */
  offered: z.array(z.string()).nullable().default(null),
  /** What was changed of the words it was made of, each once: `fact` is a line for cards. */
  edits: z.array(z.strictObject({ change: z.string(), fact: z.string() })),
  audit_head: z.string().nullable(),
});
export type ThreadRow = z.infer<typeof threadRow>;

export class GithubRows {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  // --- repositories

  link(id: number): LinkRow | null {
    return this.#link("SELECT doc FROM github_links WHERE id = ?", id);
  }
  /** By its address of now or of before. */
  linkAt(url: string): LinkRow | null {
    const sql =
      "SELECT doc FROM github_addresses JOIN github_links ON github_links.id = repository_id WHERE github_addresses.url = ?";
    return this.#link(sql, url.toLowerCase());
  }
  #link(sql: string, key: string | number): LinkRow | null {
    const row = this.#sql.one<{ doc: string }>(sql, key);
    return row === null ? null : linkRow.parse(JSON.parse(row.doc));
  }
  links(): LinkRow[] {
    return this.#sql
      .all<{ doc: string }>("SELECT doc FROM github_links ORDER BY id")
      .map(({ doc }) => linkRow.parse(JSON.parse(doc)));
  }
  /** An address belongs to whoever was last seen to have it. */
  putLink(row: LinkRow): LinkRow {
    const { id } = row.repository;
    this.#sql.run("INSERT OR REPLACE INTO github_links (id, doc) VALUES (?, ?)", id, JSON.stringify(row));
    this.#sql.run(
      "INSERT OR REPLACE INTO github_addresses (url, repository_id) VALUES (?, ?)",
      row.url.toLowerCase(),
      id,
    );
    return row;
  }
  removeLink(id: number): void {
    this.#sql.run("DELETE FROM github_links WHERE id = ?", id);
    this.#sql.run("DELETE FROM github_addresses WHERE repository_id = ?", id);
  }
  addressesOf(id: number): string[] {
    const sql = "SELECT url FROM github_addresses WHERE repository_id = ?";
    return this.#sql.all<{ url: string }>(sql, id).map(({ url }) => url);
  }
  /** What nobody outside the account may read. Nothing is known of a repository that is not linked. */
  isPrivate(url: string): boolean {
    return this.linkAt(url)?.repository.private === true;
  }

  // --- deliveries

  /** `from`: thirty days after then it is forgotten. */
  claim(delivery_id: string, body_hash: string | null, from: number): void {
    this.#sql.run("INSERT INTO github_deliveries (id, body_hash, at) VALUES (?, ?, ?)", delivery_id, body_hash, from);
  }
  /** Under that id, or the same bytes under another. */
  isClaimed(delivery_id: string, body_hash: string | null): boolean {
    const sql = "SELECT 1 AS found FROM github_deliveries WHERE id = ? OR body_hash = ?";
    return this.#sql.one(sql, delivery_id, body_hash) !== null;
  }
  /**
   * Of somebody who may not: the claim is kept for as long as GitHub repeats it and some more, for whatever comes of the
   * same bytes is refused or permitted anew. True where it goes on record: the first of each hour; all are counted.
   */
  refused(delivery_id: string, now: number): boolean {
    const from = now + limits.github_refused_kept_ms - limits.github_delivery_kept_ms;
    this.#sql.run("UPDATE github_deliveries SET at = ? WHERE id = ?", from, delivery_id);
    const hour = Math.floor(now / 3_600_000);
    this.#sql.run("DELETE FROM github_refused WHERE hour <> ?", hour);
    const sql =
      "INSERT INTO github_refused (hour, n) VALUES (?, 1) ON CONFLICT (hour) DO UPDATE SET n = n + 1 RETURNING n";
    return (this.#sql.one<{ n: number }>(sql, hour)?.n ?? 0) <= limits.github_refused_recorded;
  }
  /** Whether the thread may be answered now, which then counts as done. What is over is forgotten at once. */
  mayAnswer(repository_id: number, number: number, now: number): boolean {
    this.#sql.run("DELETE FROM github_answers WHERE at <= ?", now - limits.github_answer_again_ms);
    const sql = "SELECT 1 AS found FROM github_answers WHERE repository_id = ? AND number = ?";
    if (this.#sql.one(sql, repository_id, number) !== null) return false;
    this.#sql.run(
      "INSERT INTO github_answers (repository_id, number, at) VALUES (?, ?, ?)",
      repository_id,
      number,
      now,
    );
    return true;
  }
  /** The oldest, a batch at a time. */
  forget(now: number): void {
    this.#sql.run(
      "DELETE FROM github_deliveries WHERE id IN (SELECT id FROM github_deliveries WHERE at < ? ORDER BY at LIMIT ?)",
      now - limits.github_delivery_kept_ms,
      limits.github_deliveries_pruned,
    );
  }
  count(event: string, why: string): void {
    const sql =
      "INSERT INTO github_ignored (event, why, n) VALUES (?, ?, 1) ON CONFLICT (event, why) DO UPDATE SET n = n + 1";
    this.#sql.run(sql, event, why);
  }
  counts(): { event: string; why: string; n: number }[] {
    return this.#sql.all("SELECT event, why, n FROM github_ignored ORDER BY event, why");
  }

  // --- threads

  #threads(rows: { doc: string }[]): ThreadRow[] {
    return rows.map(({ doc }) => threadRow.parse(JSON.parse(doc)));
  }
  thread(task_id: string): ThreadRow | null {
    return this.#threads(this.#sql.all("SELECT doc FROM github_threads WHERE task_id = ?", task_id))[0] ?? null;
  }
  putThread(row: ThreadRow): ThreadRow {
    const pull = row.shown?.pull?.number ?? null;
    this.#sql.run(
      `INSERT INTO github_threads (task_id, repository_id, number, pull, branch, version, shown_version, next_at, doc)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (task_id) DO UPDATE SET pull = excluded.pull, version = excluded.version,
           shown_version = excluded.shown_version, next_at = excluded.next_at, doc = excluded.doc`,
      ...[row.task_id, row.repository_id, row.number, pull, row.branch, row.version, row.shown_version, row.next_at],
      JSON.stringify(row),
    );
    return row;
  }
  /** Of a failed check it stays: how many tasks a branch has had of them is counted. */
  forgetThread(task_id: string): void {
    const sql = "DELETE FROM github_threads WHERE task_id = ? AND json_extract(doc, '$.trigger') <> 'failed_check'";
    this.#sql.run(sql, task_id);
  }
  /** Tasks of an issue or a pull request, and those whose own pull request it is: oldest first. */
  threadsOf(repository_id: number, number: number): ThreadRow[] {
    const sql = `SELECT doc FROM github_threads WHERE repository_id = ?1 AND (number = ?2 OR pull = ?2) ORDER BY rowid`;
    return this.#threads(this.#sql.all(sql, repository_id, number));
  }
  threadsOn(repository_id: number, branch: string): ThreadRow[] {
    const sql = "SELECT doc FROM github_threads WHERE repository_id = ? AND branch = ? ORDER BY rowid";
    return this.#threads(this.#sql.all(sql, repository_id, branch));
  }
  /** Those that were left as they were while nothing could be shown: the newest. */
  leftBehind(repository_id: number): ThreadRow[] {
    const sql = `SELECT doc FROM github_threads WHERE repository_id = ? AND version = shown_version
      AND json_extract(doc, '$.shown.version') IS NOT version ORDER BY rowid DESC LIMIT ?`;
    return this.#threads(this.#sql.all(sql, repository_id, limits.page_max));
  }
  due(now: number, most: number): ThreadRow[] {
    const sql =
      "SELECT doc FROM github_threads WHERE version > shown_version AND next_at <= ? ORDER BY next_at LIMIT ?";
    return this.#threads(this.#sql.all(sql, now, most));
  }
  nextDueAt(): number | null {
    const sql = "SELECT min(next_at) AS at FROM github_threads WHERE version > shown_version";
    return this.#sql.one<{ at: number | null }>(sql)?.at ?? null;
  }
}
