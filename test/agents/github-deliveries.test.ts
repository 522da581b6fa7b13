/** An outage of two days by a clock of its own: what GitHub lists, what is asked for again, and what is said when it cannot be. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Deliveries } from "../../durable-objects/github/deliveries.ts";
import { Tries, triesSchema } from "../../durable-objects/github/tries.ts";
import { applySchemas } from "../../durable-objects/sql.ts";
import { type GithubApp, GithubFailure } from "../../src/agents/github-port.ts";
import type { Tried } from "../../src/domain/github/redelivery.ts";
import { limits } from "../../src/limits.ts";
import { type NodeSql, nodeSql } from "../fakes/node-sql.ts";

const hour_ms = 3_600_000;
const begin = Date.parse("2026-11-19T00:00:00Z");
const none = async (): Promise<never> => {
  throw new Error("nobody asks this here");
};

/** GitHub's own list, newest first, and a door that is open or not. */
class Hooks implements GithubApp {
  now = begin;
  open = true;
  tries: Tried[] = [];
  page_size: number = limits.github_page;
  pages = 0;
  /** Of each call: null lets it pass. */
  refuses: (what: "list" | "ask", id: string) => GithubFailure | null = () => null;
  /** Calls until the object that asks is put away; the answer of that one goes nowhere. */
  left = Number.POSITIVE_INFINITY;
  away: () => void = () => undefined;
  readonly owner = none;
  readonly installation = none;
  readonly repositories = none;

  happens(guid: string, redelivery = false): void {
    const id = String(this.tries.length + 1);
    const delivered_at = new Date(this.now).toISOString();
    this.tries.unshift({ id, guid, delivered_at, redelivery, ok: this.open });
  }
  async #answers(): Promise<void> {
    this.left -= 1;
    if (this.left > 0) return;
    this.away();
    await new Promise(() => undefined);
  }
  async deliveries(cursor: string | null) {
    const refused = this.refuses("list", cursor ?? "");
    if (refused !== null) throw refused;
    this.pages += 1;
    // The place in the list is an id, however many came meanwhile.
    const from = cursor === null ? 0 : this.tries.findIndex(({ id }) => id === cursor) + 1;
    const items = this.tries.slice(from, from + this.page_size);
    const more = from + this.page_size < this.tries.length;
    await this.#answers();
    return { items, next: more ? (items.at(-1)?.id ?? null) : null };
  }
  async redeliver(id: string) {
    const refused = this.refuses("ask", id);
    if (refused !== null) throw refused;
    const found = this.tries.find((one) => one.id === id);
    if (found === undefined || Date.parse(found.delivered_at) < this.now - 3 * 24 * hour_ms)
      throw new GithubFailure("not_found", "GitHub keeps it no more");
    this.happens(found.guid, true);
    await this.#answers();
  }
  lost(): string[] {
    const came = new Set(this.tries.flatMap(({ guid, ok }) => (ok ? [guid] : [])));
    return [...new Set(this.tries.map(({ guid }) => guid))].filter((guid) => !came.has(guid));
  }
  asked(guid: string): number {
    return this.tries.filter((one) => one.guid === guid && one.redelivery).length;
  }
}

let hooks: Hooks;
let sql: NodeSql;
/** Of all that GitHub keeps no more. */
let gone: number;
/** The object as it is made anew over the same storage. */
function evicted(): Deliveries {
  applySchemas(sql, { github_tries: triesSchema });
  return new Deliveries(new Tries(sql), (count) => {
    gone += count;
  });
}
beforeEach(() => {
  for (const how of ["warn", "error"] as const) vi.spyOn(console, how).mockImplementation(() => undefined);
  hooks = new Hooks();
  sql = nodeSql();
  gone = 0;
});
afterEach(() => {
  vi.restoreAllMocks();
  sql.close();
});
/** Every look has an object of its own, as in a service that does little else. Put away in the middle it never ends. */
async function look(): Promise<void> {
  const away = new Promise<void>((resolve) => {
    hooks.away = resolve;
  });
  await Promise.race([evicted().look(hooks, hooks.now), away]);
}
const problems = (now = hooks.now) => evicted().problems(now);
/** A look each five minutes, as the sweep has it; each half hour something happens on GitHub. Answers what was let go. */
async function passes(hours: number, happens = true): Promise<number> {
  const before = gone;
  const until = hooks.now + hours * hour_ms;
  for (let turn = 0; hooks.now < until; turn++) {
    hooks.now += limits.github_redelivery_every_ms;
    if (happens && turn % 6 === 0) hooks.happens(`at ${hooks.now}`);
    await look().catch(() => undefined);
  }
  return gone - before;
}

describe("an outage", () => {
  it("[GHL-11] of the way in for two days, while the service looks each five minutes: every delivery comes, soon after", async () => {
    await passes(2);
    hooks.open = false;
    const first = `at ${hooks.now + limits.github_redelivery_every_ms}`;
    await passes(48);
    expect(hooks.lost()).toHaveLength(96);
    // Not without end: a few tries at first, then one each eight hours.
    expect([hooks.asked(first) > 5, hooks.asked(first) < 12]).toEqual([true, true]);
    hooks.open = true;
    expect(await passes(1)).toBe(0);
    expect([hooks.lost(), problems()]).toEqual([[], []]);
  });
  it("[GHL-11] of the way in, with nothing new after it: what was lost still comes", async () => {
    hooks.open = false;
    await passes(48);
    hooks.open = true;
    await passes(9, false);
    expect(hooks.lost()).toEqual([]);
  });
  it("[GHL-11] of the service itself: nothing was asked meanwhile, and all of it comes", async () => {
    hooks.open = false;
    for (let n = 0; n < 500; n++) {
      hooks.now += 96 * 3_600;
      hooks.happens(`down ${n}`);
    }
    hooks.open = true;
    // More pages than one look reads.
    hooks.page_size = 5;
    await passes(2);
    expect(hooks.lost()).toEqual([]);
  });
  it("[GHL-13] in which GitHub sends us away each second look, and in the middle of a reading: every delivery comes", async () => {
    let calls = 0;
    hooks.page_size = 10;
    hooks.refuses = () => (++calls % 7 === 0 ? new GithubFailure("rate_limited", "slow down", 60_000) : null);
    hooks.open = false;
    await passes(48);
    hooks.open = true;
    expect(await passes(6)).toBe(0);
    expect(hooks.lost()).toEqual([]);
  });
});

describe("an object that is put away", () => {
  it("[GHL-15] at each look, at any call of it: the reading goes on where it was, and every delivery comes", async () => {
    for (let n = 0; n < 7_000; n++) {
      hooks.now += 5_000;
      hooks.open = n >= 30;
      hooks.happens(`g${n}`);
    }
    const pages = hooks.tries.length / hooks.page_size;
    expect(pages).toBeGreaterThan(limits.github_redelivery_pages);
    let looks = 0;
    do {
      hooks.left = 2 + ((looks * 7) % 19);
      hooks.now += limits.github_redelivery_every_ms;
      await look();
      looks += 1;
    } while (problems().some((said) => said.includes("still being read")) && looks < 100);
    // Each page once, but for the one that was under way.
    expect([looks > 5, looks < 20, hooks.pages - pages]).toEqual([true, true, looks - 1]);
    for (let n = 0; hooks.lost().length > 0 && n < 20; n++) {
      hooks.left = 2 + ((n * 5) % 12);
      hooks.now += limits.github_redelivery_every_ms;
      await look();
    }
    expect([hooks.lost(), gone]).toEqual([[], 0]);
  });
  it("[GHL-15] says the same afterwards, whatever it had to say, and counts once what never came", async () => {
    hooks.open = false;
    for (const guid of ["a", "b"]) hooks.happens(guid);
    await passes(0.5, false);
    hooks.refuses = () => new GithubFailure("unavailable", `GitHub is down ${"x".repeat(9_000)}`);
    await passes(0.5, false);
    const said = [
      expect.stringMatching(/^As of .+, lost .+ since .+GitHub is down x+$/),
      expect.stringContaining("come yet: 2."),
    ];
    expect(problems()).toEqual(said);
    expect(problems()[0]?.length).toBeLessThan(1_000);
    // Forgotten in one step with its being counted, also where GitHub cannot be asked for the rest.
    hooks.refuses = (what) => (what === "ask" ? new GithubFailure("rate_limited", "slow down", 1) : null);
    hooks.now += limits.github_redelivery_days_ms - 1_800_000;
    hooks.happens("c");
    await passes(1, false);
    expect([gone, problems().length]).toEqual([2, 2]);
  });
});

describe("the list", () => {
  const many = (count: number): void => {
    for (let n = 0; n < count; n++) hooks.happens(`g${n}`);
  };
  it("[GHL-12] is read some pages at a look and gone on with at the next; known once, only what is new is read", async () => {
    hooks.page_size = 2;
    hooks.open = false;
    hooks.happens("lost");
    hooks.open = true;
    many(3 * limits.github_redelivery_pages);
    hooks.now += hour_ms;
    await look();
    expect([hooks.pages, problems()]).toEqual([
      ...[limits.github_redelivery_pages, [expect.stringContaining("still being read")]],
    ]);
    await look();
    expect(hooks.asked("lost")).toBe(0);
    await look();
    // The oldest of all, beyond one look's pages.
    expect(hooks.lost()).toEqual([]);
    const read = hooks.pages;
    for (let n = 0; n < 4; n++) await look();
    expect(hooks.pages - read).toBe(4);
  });
  it("[GHL-12] is begun anew where GitHub does not know its place any more", async () => {
    hooks.page_size = 1;
    many(limits.github_redelivery_pages + 5);
    await look();
    const place = hooks.tries.at(-6)?.id;
    hooks.refuses = (what, cursor) =>
      what === "list" && cursor === place ? new GithubFailure("invalid", "what place?") : null;
    await expect(look()).rejects.toThrow("what place?");
    // From the beginning it goes another way.
    hooks.happens("new");
    hooks.page_size = 2;
    for (let n = 0; n < 3; n++) await look();
    expect(problems()).toEqual([]);
  });
  it("[GHL-13] one that GitHub does not bring stands in no other's way", async () => {
    hooks.open = false;
    for (let n = 0; n < 2 * limits.github_redelivery_failures; n++) {
      hooks.now += 1_000;
      hooks.happens(`bad ${n}`);
    }
    hooks.now += 1_000;
    hooks.happens("good");
    hooks.open = true;
    const bad = new Set(hooks.tries.filter(({ guid }) => guid.startsWith("bad")).map(({ id }) => id));
    hooks.refuses = (what, id) => (what === "ask" && bad.has(id) ? new GithubFailure("unavailable", "no") : null);
    await passes(0.5, false);
    expect(hooks.asked("good")).toBe(1);
  });
  it("[GHL-14] says since when GitHub cannot be asked, what has not come, and what never will", async () => {
    hooks.open = false;
    hooks.happens("lost");
    await passes(1, false);
    expect(problems()).toEqual([expect.stringContaining("not come yet: 1.")]);
    hooks.refuses = () => new GithubFailure("unavailable", "GitHub is down");
    const since = new Date(hooks.now + limits.github_redelivery_every_ms).toISOString();
    await passes(2, false);
    const said = () => {
      const now = new Date(hooks.now).toISOString();
      return `As of ${now}, lost deliveries cannot be asked for since ${since}: GitHub is down`;
    };
    expect(problems()[0]).toBe(said());
    // After a start it is no newer than it was.
    const before = said();
    expect(problems(hooks.now + hour_ms)[0]).toBe(before);
    hooks.refuses = () => null;
    expect(await passes(72, false)).toBe(1);
    expect(problems()).toEqual([]);
  });
  it("[GHL-16] is looked through once a look, however often anybody asks how it stands", async () => {
    const reads = vi.spyOn(sql, "all");
    const list = () => reads.mock.calls.filter(([query]) => query.startsWith("SELECT id, guid, at")).length;
    hooks.open = false;
    many(5);
    hooks.now += hour_ms;
    const kept = evicted();
    await kept.look(hooks, hooks.now);
    for (let n = 0; n < 4; n++) expect(kept.problems(hooks.now)).toEqual([expect.stringContaining("not come yet: 5.")]);
    expect(list()).toBe(1);
    // One in which some are let go, too.
    hooks.now += limits.github_redelivery_days_ms;
    await kept.look(hooks, hooks.now);
    expect([kept.problems(hooks.now), list(), gone]).toEqual([[], 2, 5]);
  });
  it("[GHL-14] says that it is longer than what is kept of it, as long as that matters", async () => {
    hooks.page_size = limits.github_redelivery_kept;
    const one = { guid: "g", delivered_at: new Date(hooks.now).toISOString(), redelivery: false, ok: true };
    hooks.tries = Array.from({ length: limits.github_redelivery_kept + 1 }, (_, n) => ({ ...one, id: `${n}` }));
    await look();
    const said = [expect.stringContaining(`more than ${limits.github_redelivery_kept} deliveries`)];
    expect(problems()).toEqual(said);
    expect(problems(hooks.now + limits.github_redelivery_days_ms)).toEqual([]);
  });
});
