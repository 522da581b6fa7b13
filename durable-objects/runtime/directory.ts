/** What the scope knows beside its tasks: its own name, its repositories, and its agents as they last reported. */
import { z } from "zod";
import { wordOf } from "../../src/domain/agent.ts";
import { partyOf } from "../../src/domain/message.ts";
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import { agentView, repoView } from "../../src/domain/view.ts";
import type { AgentReport } from "../agent/self.ts";
import type { Sql } from "../sql.ts";

type AgentView = z.infer<typeof agentView>;
type RepoView = z.infer<typeof repoView>;
const self = z.strictObject({ scope_id: z.string(), name: z.string() });

export const directorySchema: readonly string[] = [
  `CREATE TABLE scope (one INTEGER PRIMARY KEY CHECK (one = 1), doc TEXT NOT NULL);
   CREATE TABLE policy (version INTEGER PRIMARY KEY, doc TEXT NOT NULL, at INTEGER NOT NULL);
   CREATE TABLE repos (url TEXT PRIMARY KEY, doc TEXT NOT NULL);
   CREATE TABLE agents (name TEXT PRIMARY KEY, version INTEGER NOT NULL, heard_move INTEGER NOT NULL, doc TEXT NOT NULL);`,
  `ALTER TABLE policy ADD COLUMN changed_by TEXT;
   ALTER TABLE policy ADD COLUMN reason TEXT;`,
];

/** The agents a scope begins with. */
export const firstAgents = ["proxy", "planner", "verifier"] as const;
/** Made with the first message for it. */
export const courier = "courier";
/** Those whom messages may reach before they are started: theirs are only late. */
export const startedAgents: readonly string[] = [...firstAgents, courier];

export class Directory {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  self(): z.infer<typeof self> | null {
    const row = this.#sql.one<{ doc: string }>("SELECT doc FROM scope");
    return row === null ? null : self.parse(JSON.parse(row.doc));
  }
  init(given: { scope_id: string; name: string }): void {
    this.#sql.run(
      "INSERT OR IGNORE INTO scope (one, doc) VALUES (1, ?)",
      JSON.stringify({ scope_id: given.scope_id, name: given.name }),
    );
    for (const name of firstAgents) this.addAgent(name);
  }

  repos(): RepoView[] {
    return this.#sql
      .all<{ doc: string }>("SELECT doc FROM repos ORDER BY url")
      .map((row) => repoView.parse(JSON.parse(row.doc)));
  }
  hasRepo(url: string): boolean {
    return this.#sql.one("SELECT 1 AS found FROM repos WHERE url = ?", url) !== null;
  }
  addRepo(repo: RepoView): RepoView {
    const known = this.repos().find((each) => each.url === repo.url);
    const kept = known === undefined ? repo : { ...known, default_ref: repo.default_ref };
    this.#sql.run("INSERT OR REPLACE INTO repos (url, doc) VALUES (?, ?)", kept.url, JSON.stringify(kept));
    return kept;
  }
  removeRepo(url: string): Result<{ url: string }> {
    if (!this.hasRepo(url)) return refuse("repo_not_found", "This repository is not registered in this scope.");
    this.#sql.run("DELETE FROM repos WHERE url = ?", url);
    return ok({ url });
  }

  agents(): AgentView[] {
    return this.#sql
      .all<{ doc: string }>("SELECT doc FROM agents ORDER BY rowid")
      .map((row) => agentView.parse(JSON.parse(row.doc)));
  }
  agent(name: string): AgentView | null {
    return this.agents().find((each) => each.name === name) ?? null;
  }
  addAgent(name: string): void {
    const party = partyOf(name);
    const role = party === "user" || party === "runtime" ? "executor" : party;
    const view: AgentView = {
      name,
      role,
      state: "idle",
      activity: null,
      word: wordOf("idle", null),
      current: null,
      last_seen: null,
    };
    this.#sql.run(
      "INSERT OR IGNORE INTO agents (name, version, heard_move, doc) VALUES (?, 0, 0, ?)",
      name,
      JSON.stringify(view),
    );
  }
  /** Takes a report; null when a newer one came before. `moves` are the ones not heard of yet. */
  report(
    report: AgentReport,
    now: number,
  ): { before: AgentView; after: AgentView; moves: AgentReport["moves"] } | null {
    const row = this.#sql.one<{ version: number; heard_move: number; doc: string }>(
      "SELECT version, heard_move, doc FROM agents WHERE name = ?",
      report.name,
    );
    if (row === null || report.version <= row.version) return null;
    const before = agentView.parse(JSON.parse(row.doc));
    const { state, activity, current } = report;
    const after = {
      ...before,
      state,
      activity,
      current,
      word: wordOf(state, activity),
      last_seen: new Date(now).toISOString(),
    };
    const moves = report.moves.filter((move) => move.seq > row.heard_move);
    const heard = moves.at(-1)?.seq ?? row.heard_move;
    this.#sql.run(
      "UPDATE agents SET version = ?, heard_move = ?, doc = ? WHERE name = ?",
      report.version,
      heard,
      JSON.stringify(after),
      report.name,
    );
    return { before, after, moves };
  }
}
