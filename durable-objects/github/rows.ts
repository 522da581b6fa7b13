/** What the deployment's GitHub object keeps: installations, repositories, and what their scopes were told. [GHL-*] */
import { z } from "zod";
import {
  covered,
  type InstallationState,
  type Kept,
  nextTell,
  type RepositoryOf,
  type Seen,
  scopeFor,
  type Told,
} from "../../src/domain/github/installations.ts";
import { type GithubRepository, githubRepository } from "../../src/domain/github/shapes.ts";
import type { InstallationView } from "../../src/domain/github/views.ts";
import { limits } from "../../src/limits.ts";
import type { Sql } from "../sql.ts";

export const githubSchema: readonly string[] = [
  `CREATE TABLE installations (
     id INTEGER PRIMARY KEY, account TEXT, state TEXT NOT NULL, scope_id TEXT, seen_at INTEGER NOT NULL,
     version INTEGER NOT NULL, next_at INTEGER, tries INTEGER NOT NULL);
   CREATE TABLE repositories (
     id INTEGER PRIMARY KEY, installation_id INTEGER NOT NULL, doc TEXT NOT NULL, covered INTEGER NOT NULL, own TEXT,
     told TEXT, next_at INTEGER, tries INTEGER NOT NULL);
   CREATE INDEX repositories_installation ON repositories (installation_id);
   CREATE INDEX repositories_due ON repositories (next_at) WHERE next_at IS NOT NULL;
   CREATE TABLE claims (delivery_id TEXT PRIMARY KEY, at INTEGER NOT NULL);
   CREATE TABLE ignored (why TEXT PRIMARY KEY, n INTEGER NOT NULL);
   CREATE TABLE redelivery (one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL);`,
  `ALTER TABLE installations ADD COLUMN failed_at INTEGER;
   ALTER TABLE installations ADD COLUMN failed_why TEXT;`,
];

const told = z.strictObject({
  scope_id: z.string(),
  state: z.enum(["linked", "suspended"]),
  repository: githubRepository,
});

export interface InstallationRow {
  readonly id: number;
  readonly account: string | null;
  readonly state: InstallationState;
  readonly scope_id: string | null;
  /** Grows with each event: what was asked before it is not the last word. */
  readonly version: number;
  readonly tries: number;
}
export interface RepositoryRow extends Kept {
  readonly tries: number;
}
interface StoredRepository {
  readonly doc: string;
  readonly covered: number;
  readonly own: string | null;
  readonly told: string | null;
  readonly tries: number;
}

const nowhere = { state: "removed", scope_id: null } as const;

export class GithubRows {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }
  transaction<T>(change: (rows: GithubRows) => T): T {
    return this.#sql.transaction(() => change(this));
  }

  // --- installations

  /** False for a delivery that came before. */
  claim(delivery_id: string, now: number): boolean {
    const sql = "INSERT OR IGNORE INTO claims (delivery_id, at) VALUES (?, ?) RETURNING 1 AS made";
    return this.#sql.one(sql, delivery_id, now) !== null;
  }
  lookAgain({ id, account }: { id: number; account: string | null }, now: number): void {
    this.#sql.run(
      `INSERT INTO installations (id, account, state, scope_id, seen_at, version, next_at, tries) VALUES (?1, ?2, 'active', NULL, 0, 1, ?3, 0)
         ON CONFLICT (id) DO UPDATE SET version = version + 1, next_at = ?3, tries = 0, account = coalesce(?2, account)`,
      ...[id, account, now],
    );
  }
  /** A delivery is no news of it: one that could not be looked at waits for its time, however many come. */
  #lookSoon(id: number, now: number): void {
    this.#sql.run(
      "UPDATE installations SET version = version + 1, next_at = CASE WHEN tries > 0 THEN coalesce(next_at, ?2) ELSE ?2 END WHERE id = ?1",
      ...[id, now],
    );
  }
  due(now: number, most: number): readonly InstallationRow[] {
    return this.#sql.all<InstallationRow>(
      "SELECT id, account, state, scope_id, version, tries FROM installations WHERE next_at <= ? ORDER BY next_at LIMIT ?",
      ...[now, most],
    );
  }
  /** It could not be looked at, and is looked at again then. */
  putOff(
    { id }: Pick<InstallationRow, "id">,
    at: number,
    failed: { readonly why: string; readonly now: number },
  ): void {
    this.#sql.run(
      "UPDATE installations SET next_at = ?, tries = tries + 1, failed_at = ?, failed_why = ? WHERE id = ?",
      ...[at, failed.now, failed.why.slice(0, limits.github_redelivery_why_chars).toWellFormed(), id],
    );
  }
  /** Installations that cannot be looked at, in words. */
  troubles(): string[] {
    return this.#sql
      .all<{ id: number; account: string | null; failed_at: number; failed_why: string }>(
        "SELECT id, account, failed_at, failed_why FROM installations WHERE failed_at IS NOT NULL ORDER BY id LIMIT ?",
        limits.github_troubles,
      )
      .map(({ id, account, failed_at, failed_why }) => {
        const whose = account === null ? "" : ` of ${account}`;
        return `As of ${new Date(failed_at).toISOString()}, installation ${id}${whose} could not be looked at: ${failed_why}`;
      });
  }
  /** What GitHub answered; `scope_id` for where nobody assigned it. Where an event came meanwhile it is asked once more. */
  seen(
    asked: InstallationRow,
    seen: Seen & { readonly account: string | null; readonly scope_id: string | null },
    now: number,
  ): void {
    const before = this.#installation(asked.id);
    if (before === null) return;
    const again = before.version === asked.version ? null : now;
    this.#sql.run(
      "UPDATE installations SET state = ?, account = coalesce(?, account), scope_id = coalesce(scope_id, ?), seen_at = ?, next_at = ?, tries = 0, failed_at = NULL, failed_why = NULL WHERE id = ?",
      ...[seen.state, seen.account, seen.scope_id, now, again, asked.id],
    );
    const wanted = new Set(seen.repositories.map(({ id }) => id));
    const mine = this.#repositories("WHERE installation_id = ?", asked.id);
    const moved = [...wanted].flatMap((id) => (mine.some((row) => row.repository.id === id) ? [] : this.#find(id)));
    for (const row of covered([...mine, ...moved], asked.id, seen)) this.#put(row, now);
  }
  assign(id: number, scope_id: string | null, now: number): InstallationView | null {
    if (this.#installation(id) === null) return null;
    this.#sql.run("UPDATE installations SET scope_id = ? WHERE id = ?", scope_id, id);
    this.#sql.run("UPDATE repositories SET next_at = ?, tries = 0 WHERE installation_id = ?", now, id);
    return this.views(id)[0] ?? null;
  }
  assignRepository(id: RepositoryOf, scope_id: string | null, now: number): InstallationView | null {
    const { installation_id, repository_id } = id;
    const [row] = this.#find(repository_id);
    if (row?.covered !== true || row.repository.installation_id !== installation_id) return null;
    this.#put({ ...row, own: scope_id }, now);
    return this.views(installation_id)[0] ?? null;
  }
  #installation(id: number): InstallationRow | null {
    return this.#sql.one<InstallationRow>(
      "SELECT id, account, state, scope_id, version, tries FROM installations WHERE id = ?",
      id,
    );
  }

  // --- repositories and their scopes

  /** `unsure`: it is an installation of ours that somebody assigned, and the repository is not known yet. */
  scopeOf(
    installation_id: number,
    repository: Pick<GithubRepository, "id">,
    now: number,
  ): { readonly scope_id: string | null; readonly unsure: boolean } {
    const installation = this.#installation(installation_id);
    const [row] = this.#find(repository.id);
    const known = row?.covered === true && row.repository.installation_id === installation_id;
    if (known && row.told?.state === "linked" && row.told.scope_id === scopeFor(row, installation ?? nowhere))
      return { scope_id: row.told.scope_id, unsure: false };
    const sure = installation === null || installation.scope_id === null || installation.state !== "active";
    if (sure && !known) return { scope_id: null, unsure: false };
    if (known && nextTell(row, installation ?? nowhere) === null) return { scope_id: null, unsure: false };
    if (!known) this.#lookSoon(installation_id, now);
    return { scope_id: null, unsure: true };
  }
  /** Repositories whose scopes still have to be told something. */
  untold(now: number, most: number) {
    return this.#repositories("WHERE next_at <= ? ORDER BY next_at, id LIMIT ?", now, most).flatMap((row) => {
      const next = nextTell(row, this.#installation(row.repository.installation_id) ?? nowhere);
      if (next !== null) return [{ row, next }];
      this.#settled(row);
      return [];
    });
  }
  told(row: RepositoryRow, told: Told | null): void {
    const [now] = this.#find(row.repository.id);
    if (now === undefined) return;
    const after = { ...now, told, tries: 0 };
    const more = nextTell(after, this.#installation(now.repository.installation_id) ?? nowhere);
    this.#write(after, more === null ? null : 0);
    if (more === null) this.#settled(after);
  }
  tellLater({ repository }: RepositoryRow, at: number): void {
    this.#sql.run("UPDATE repositories SET next_at = ?, tries = tries + 1 WHERE id = ?", at, repository.id);
  }
  /** Everybody knows. What nobody covers and nobody has is forgotten. */
  #settled({ repository, covered: stands, told: has, own }: RepositoryRow): void {
    if (!stands && has === null && own === null) this.#sql.run("DELETE FROM repositories WHERE id = ?", repository.id);
    else this.#sql.run("UPDATE repositories SET next_at = NULL, tries = 0 WHERE id = ?", repository.id);
  }
  #put(row: Kept & { readonly tries?: number }, now: number): void {
    const next = nextTell(row, this.#installation(row.repository.installation_id) ?? nowhere);
    this.#write(row, next === null ? null : now);
  }
  #write(row: Kept, next_at: number | null): void {
    const { repository, covered: stands, own, told: has } = row;
    this.#sql.run(
      "INSERT OR REPLACE INTO repositories (id, installation_id, doc, covered, own, told, next_at, tries) VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
      ...[repository.id, repository.installation_id, JSON.stringify(repository), stands ? 1 : 0, own],
      ...[has === null ? null : JSON.stringify(has), next_at],
    );
  }
  #find(id: number): readonly RepositoryRow[] {
    return this.#repositories("WHERE id = ?", id);
  }
  #repositories(where: string, ...params: readonly (string | number)[]): readonly RepositoryRow[] {
    return this.#sql
      .all<StoredRepository>(`SELECT doc, covered, own, told, tries FROM repositories ${where}`, ...params)
      .map((row) => ({
        repository: githubRepository.parse(JSON.parse(row.doc)),
        covered: row.covered === 1,
        own: row.own,
        told: row.told === null ? null : told.parse(JSON.parse(row.told)),
        tries: row.tries,
      }));
  }

  // --- what people see, and upkeep

  views(only: number | null = null): InstallationView[] {
    const rows = this.#sql.all<InstallationRow>(
      "SELECT id, account, state, scope_id, version, tries FROM installations WHERE ?1 IS NULL OR id = ?1 ORDER BY id",
      only,
    );
    return rows.map(({ id, account, state, scope_id }) => ({
      ...{ id, account, state, scope_id },
      repositories: this.#repositories("WHERE installation_id = ? AND covered = 1 ORDER BY id", id).map((row) => ({
        id: row.repository.id,
        full_name: row.repository.full_name,
        private: row.repository.private,
        own_scope_id: row.own,
        scope_id: row.told?.state === "linked" ? row.told.scope_id : null,
      })),
    }));
  }
  count(why: string, n = 1): void {
    const known = this.#sql.one("SELECT 1 AS found FROM ignored WHERE why = ?", why) !== null;
    const room = this.#sql.one<{ n: number }>("SELECT count(*) AS n FROM ignored")?.n ?? 0;
    const word = known || room < limits.github_ignored_words ? why : "other";
    this.#sql.run("INSERT INTO ignored (why, n) VALUES (?1, ?2) ON CONFLICT (why) DO UPDATE SET n = n + ?2", word, n);
  }
  counts(): readonly { readonly why: string; readonly n: number }[] {
    return this.#sql.all<{ why: string; n: number }>("SELECT why, n FROM ignored ORDER BY n DESC, why");
  }
  /** Installations not seen for long are looked at again; old claims are forgotten. */
  upkeep(now: number): void {
    this.#sql.run(
      "UPDATE installations SET next_at = ?1 WHERE next_at IS NULL AND state <> 'removed' AND seen_at <= ?2",
      ...[now, now - limits.github_look_again_ms],
    );
    this.#sql.run(
      "DELETE FROM claims WHERE delivery_id IN (SELECT delivery_id FROM claims WHERE at < ? LIMIT ?)",
      ...[now - limits.github_installation_claims_ms, limits.github_installation_claims_pruned],
    );
  }
  /** True once in each while, and notes that it was. */
  redeliveryDue(now: number): boolean {
    const last = this.#sql.one<{ at: number }>("SELECT at FROM redelivery")?.at ?? 0;
    if (last > now - limits.github_redelivery_every_ms) return false;
    this.#sql.run("INSERT OR REPLACE INTO redelivery (one, at) VALUES (1, ?)", now);
    return true;
  }
  /** The next look is not due before; at the earliest when it would be anyway. */
  redeliveryPutOff(until: number): void {
    this.#sql.run("UPDATE redelivery SET at = max(at, ?)", until - limits.github_redelivery_every_ms);
  }
  nextDueAt(): number | null {
    return (
      this.#sql.one<{ at: number | null }>(
        `SELECT min(at) AS at FROM (SELECT min(next_at) AS at FROM installations UNION ALL SELECT min(next_at) FROM repositories)`,
      )?.at ?? null
    );
  }
}
