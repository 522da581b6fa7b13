/** What the deployment's GitHub object keeps of installations and repositories, and what it owes the scopes. */
import { beforeEach, describe, expect, it } from "vitest";
import { lookAt, retryAt } from "../../durable-objects/github/asking.ts";
import { GithubRows, githubSchema } from "../../durable-objects/github/rows.ts";
import { applySchema } from "../../durable-objects/sql.ts";
import { type Account, type GithubApp, GithubFailure } from "../../src/agents/github-port.ts";
import type { GithubRepository } from "../../src/domain/github/shapes.ts";
import { limits } from "../../src/limits.ts";
import { nodeSql } from "../fakes/node-sql.ts";

const [a, b] = ["aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"];
const now = Date.parse("2026-11-22T12:00:00Z");
const repo = (id: number, change: Partial<GithubRepository> = {}): GithubRepository => ({
  ...{ id, installation_id: 7, full_name: `acme/r${id}`, private: true, default_branch: "main" },
  ...change,
});

let rows: GithubRows;
beforeEach(() => {
  const sql = nodeSql();
  applySchema(sql, "github", githubSchema);
  rows = new GithubRows(sql);
});

/** GitHub answers about installation 7. */
function answers(
  repositories: readonly GithubRepository[],
  state: "active" | "suspended" | "removed" = "active",
  fallback: string | null = null,
) {
  const [due] = rows.due(now, 1);
  if (due === undefined) throw new Error("nobody is to be looked at");
  rows.seen(due, { state, repositories, account: "acme", scope_id: fallback }, now);
}
/** All scopes answer what they are told. */
function tellAll(): string[] {
  const said: string[] = [];
  for (let turn = 0; turn < 10; turn++)
    for (const { row, next } of rows.untold(now, 50)) {
      said.push(`${next.tell.what} ${row.repository.full_name} ${next.tell.scope_id.slice(0, 1)}`);
      rows.told(row, next.told);
    }
  return said;
}
const installed = (): void => rows.lookAgain({ id: 7, account: "acme" }, now);

describe("the deployment's installations", () => {
  it("[GHL-20] an event claimed once is not taken again, and old claims are forgotten", () => {
    expect([rows.claim("d1", now), rows.claim("d1", now), rows.claim("d2", now)]).toEqual([true, false, true]);
    rows.upkeep(now + limits.github_installation_claims_ms + 1);
    expect(rows.claim("d1", now)).toBe(true);
  });
  it("[GHL-21] an installation nobody assigned waits; assigned, its repositories are linked; assigned elsewhere, they move", () => {
    installed();
    answers([repo(1), repo(2)]);
    expect(tellAll()).toEqual([]);
    expect(rows.scopeOf(7, repo(1), now)).toEqual({ scope_id: null, unsure: false });
    rows.assign(7, a, now);
    expect(tellAll()).toEqual(["linked acme/r1 a", "linked acme/r2 a"]);
    expect(rows.scopeOf(7, repo(1), now).scope_id).toBe(a);
    rows.assignRepository({ installation_id: 7, repository_id: 2 }, b, now);
    expect(tellAll()).toEqual(["removed acme/r2 a", "linked acme/r2 b"]);
    expect(rows.views()[0]?.repositories.map(({ scope_id, own_scope_id }) => [scope_id, own_scope_id])).toEqual([
      [a, null],
      [b, b],
    ]);
    expect(rows.nextDueAt()).toBeNull();
    expect([rows.assign(99, a, now), rows.assignRepository({ installation_id: 7, repository_id: 3 }, a, now)]).toEqual([
      null,
      null,
    ]);
  });
  it("[GHL-27] one repository is assigned by its number within its installation: another of its name, or gone elsewhere, never is", () => {
    installed();
    answers([repo(1), repo(2)], "active", a);
    rows.lookAgain({ id: 8, account: "other" }, now);
    // Renamed at GitHub: of the name it had there is another one now, in another installation.
    answers([repo(5, { installation_id: 8, full_name: "acme/r2" })]);
    tellAll();
    for (const [installation_id, repository_id] of [
      [7, 5],
      [8, 2],
      [9, 2],
    ] as const)
      expect(rows.assignRepository({ installation_id, repository_id }, b, now)).toBeNull();
    expect(tellAll()).toEqual([]);
    expect(rows.assignRepository({ installation_id: 7, repository_id: 2 }, b, now)?.id).toBe(7);
    expect(tellAll()).toEqual(["removed acme/r2 a", "linked acme/r2 b"]);
    expect(rows.views(8)[0]?.repositories).toMatchObject([{ id: 5, own_scope_id: null, scope_id: null }]);
    installed();
    answers([repo(1)]);
    expect(rows.assignRepository({ installation_id: 7, repository_id: 2 }, a, now)).toBeNull();
  });
  it("[GHL-21] a new installation goes to the scope that the deployment names, one assigned before stays", () => {
    installed();
    answers([repo(1)], "active", b);
    expect(tellAll()).toEqual(["linked acme/r1 b"]);
    rows.assign(7, a, now);
    installed();
    answers([repo(1)], "active", b);
    expect(rows.views()[0]?.scope_id).toBe(a);
  });
  it("[GHL-28] unasked, only an installation of the App's owner goes to that scope; anybody else's waits", async () => {
    const none = async (): Promise<never> => {
      throw new Error("nobody asks this here");
    };
    const goesTo = async (account: Account | null, owner: Account | null, scope: string | null = b) => {
      const app: GithubApp = {
        ...{ deliveries: none, redeliver: none },
        owner: scope === null ? none : async () => owner,
        installation: async (id) => ({ id, account, suspended: false }),
        repositories: async () => [repo(1)],
      };
      return (await lookAt(app, 7, scope)).scope_id;
    };
    const acme = { id: 5, name: "acme" };
    expect(await goesTo(acme, { id: 5, name: "ACME" })).toBe(b);
    // A number is of its kind only: an enterprise may have a person's.
    for (const account of [{ id: 6, name: "mallory" }, { id: 5, name: "mallory" }, { id: 6, name: "acme" }, null])
      expect(await goesTo(account, acme)).toBeNull();
    expect(await goesTo(acme, null)).toBeNull();
    expect(await goesTo(null, null)).toBeNull();
    // Where no scope is named, or somebody assigned it, nobody is asked.
    expect(await goesTo(acme, acme, null)).toBeNull();
  });
  it("[GHL-22] an event that comes while GitHub is asked has it asked once more", () => {
    installed();
    const [due] = rows.due(now, 1);
    if (due === undefined) throw new Error("nobody is to be looked at");
    installed();
    rows.seen(due, { state: "active", repositories: [], account: null, scope_id: null }, now);
    expect(rows.due(now, 1).map(({ id }) => id)).toEqual([7]);
    answers([]);
    expect(rows.due(now, 1)).toEqual([]);
  });
  it("[GHL-23] a delivery of an assigned installation's repository that is not known yet must come again, and has it looked at", () => {
    installed();
    answers([repo(1)], "active", a);
    tellAll();
    expect(rows.scopeOf(7, repo(5), now)).toEqual({ scope_id: null, unsure: true });
    expect(rows.due(now, 1)).toHaveLength(1);
    answers([repo(1), repo(5)]);
    // Linked as soon as its scope has answered.
    expect(rows.scopeOf(7, repo(5), now).unsure).toBe(true);
    tellAll();
    expect(rows.scopeOf(7, repo(5), now)).toEqual({ scope_id: a, unsure: false });
    expect(rows.scopeOf(8, repo(5), now)).toEqual({ scope_id: null, unsure: false });
  });
  it("[GHL-24] suspended it is nobody's until it is active again; removed, its repositories are forgotten once their scope knows", () => {
    installed();
    answers([repo(1)], "active", a);
    tellAll();
    installed();
    answers([], "suspended");
    expect(tellAll()).toEqual(["suspended acme/r1 a"]);
    expect(rows.scopeOf(7, repo(1), now)).toEqual({ scope_id: null, unsure: false });
    installed();
    answers([repo(1)]);
    expect(tellAll()).toEqual(["linked acme/r1 a"]);
    installed();
    answers([], "removed");
    expect(rows.views()[0]?.repositories).toEqual([]);
    expect(tellAll()).toEqual(["removed acme/r1 a"]);
    expect(rows.scopeOf(7, repo(1), now)).toEqual({ scope_id: null, unsure: false });
    expect(rows.nextDueAt()).toBeNull();
  });
  it("[GHL-25] what fails is tried again later, as GitHub says or ever later; each installation is looked at each hour", () => {
    installed();
    const [due] = rows.due(now, 1);
    if (due === undefined) throw new Error("nobody is to be looked at");
    rows.putOff(due, now + 5_000, { why: "x", now });
    expect(rows.due(now, 1)).toEqual([]);
    expect(rows.nextDueAt()).toBe(now + 5_000);
    expect(rows.due(now + 5_000, 1)[0]?.tries).toBe(1);
    expect(retryAt(new GithubFailure("rate_limited", "x", 600_000), 0, now)).toBe(now + 600_000);
    expect(retryAt(new Error("x"), 3, now)).toBe(now + 8 * limits.github_link_retry_ms);
    expect(retryAt(new Error("x"), 99, now)).toBe(now + limits.github_link_retry_max_ms);
    const [again] = rows.due(now + 5_000, 1);
    if (again === undefined) throw new Error("nobody is to be looked at");
    rows.seen(again, { state: "active", repositories: [], account: null, scope_id: null }, now);
    rows.upkeep(now + limits.github_look_again_ms - 1);
    expect(rows.nextDueAt()).toBeNull();
    rows.upkeep(now + limits.github_look_again_ms);
    expect(rows.due(now + limits.github_look_again_ms, 1)).toHaveLength(1);
  });
  it("[GHL-29] one that cannot be looked at says so until it can be, and waits ever longer, however many deliveries come; an event is news of it", () => {
    installed();
    answers([repo(1)], "active", a);
    tellAll();
    rows.scopeOf(7, repo(5), now);
    for (let tries = 0; tries < 6; tries++) {
      const at = rows.nextDueAt() ?? 0;
      const [due] = rows.due(at, 1);
      if (due === undefined) throw new Error("nobody is to be looked at");
      expect(due.tries).toBe(tries);
      rows.putOff(due, retryAt(new Error("x"), due.tries, at), { why: "It covers too many.", now: at });
      const next = rows.nextDueAt();
      for (let n = 0; n < 3; n++) expect(rows.scopeOf(7, repo(5 + n), at).unsure).toBe(true);
      expect(rows.nextDueAt()).toBe(next);
    }
    const failed = new Date(now + 310_000).toISOString();
    expect(rows.troubles()).toEqual([
      `As of ${failed}, installation 7 of acme could not be looked at: It covers too many.`,
    ]);
    installed();
    expect(rows.due(now, 1)).toMatchObject([{ tries: 0 }]);
    answers([repo(1), repo(5)]);
    expect(rows.troubles()).toEqual([]);
  });
  it("[GHL-26] what is ignored is counted by its reason, and a look for lost deliveries is due once in each while", () => {
    for (const why of ["ping", "ping", "unknown"]) rows.count(why);
    expect(rows.counts()).toEqual([
      { why: "ping", n: 2 },
      { why: "unknown", n: 1 },
    ]);
    for (let n = 0; n < 2 * limits.github_ignored_words; n++) rows.count(`word ${n}`);
    expect(rows.counts().length).toBeLessThanOrEqual(limits.github_ignored_words + 1);
    expect([rows.redeliveryDue(now), rows.redeliveryDue(now + 1)]).toEqual([true, false]);
    expect(rows.redeliveryDue(now + limits.github_redelivery_every_ms)).toBe(true);
    // Sent away for longer, it waits for longer; for less, as long as ever.
    const then = now + limits.github_redelivery_every_ms;
    rows.redeliveryPutOff(then + 3_600_000);
    expect(rows.redeliveryDue(then + 3_599_999)).toBe(false);
    expect(rows.redeliveryDue(then + 3_600_000)).toBe(true);
    rows.redeliveryPutOff(then + 3_600_001);
    expect(rows.redeliveryDue(then + 3_600_002)).toBe(false);
    rows.count("ping", 3);
    expect(rows.counts().find(({ why }) => why === "ping")?.n).toBe(5);
  });
});
