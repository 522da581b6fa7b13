/** An outage of two days by a clock of its own: what GitHub lists, what is asked for again, and what is said when it cannot be. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Deliveries } from "../../durable-objects/github/deliveries.ts";
import { type GithubApp, GithubFailure } from "../../src/agents/github-port.ts";
import type { Tried } from "../../src/domain/github/redelivery.ts";
import { limits } from "../../src/limits.ts";

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
  readonly installation = none;
  readonly repositories = none;

  happens(guid: string, redelivery = false): void {
    const id = String(this.tries.length + 1);
    const delivered_at = new Date(this.now).toISOString();
    this.tries.unshift({ id, guid, delivered_at, redelivery, ok: this.open });
  }
  async deliveries(cursor: string | null) {
    const refused = this.refuses("list", cursor ?? "");
    if (refused !== null) throw refused;
    this.pages += 1;
    // The place in the list is an id, however many came meanwhile.
    const from = cursor === null ? 0 : this.tries.findIndex(({ id }) => id === cursor) + 1;
    const items = this.tries.slice(from, from + this.page_size);
    const more = from + this.page_size < this.tries.length;
    return { items, next: more ? (items.at(-1)?.id ?? null) : null };
  }
  async redeliver(id: string) {
    const refused = this.refuses("ask", id);
    if (refused !== null) throw refused;
    const found = this.tries.find((one) => one.id === id);
    if (found === undefined || Date.parse(found.delivered_at) < this.now - 3 * 24 * hour_ms)
      throw new GithubFailure("not_found", "GitHub keeps it no more");
    this.happens(found.guid, true);
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
let deliveries: Deliveries;
beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  hooks = new Hooks();
  deliveries = new Deliveries();
});
afterEach(() => {
  vi.restoreAllMocks();
});
/** A look each five minutes, as the sweep has it; each half hour something happens on GitHub. */
async function passes(hours: number, happens = true): Promise<number> {
  let gone = 0;
  const until = hooks.now + hours * hour_ms;
  for (let turn = 0; hooks.now < until; turn++) {
    hooks.now += limits.github_redelivery_every_ms;
    if (happens && turn % 6 === 0) hooks.happens(`at ${hooks.now}`);
    gone += await deliveries.look(hooks, hooks.now).catch(() => 0);
  }
  return gone;
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
    expect([hooks.lost(), deliveries.problems(hooks.now)]).toEqual([[], []]);
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
    // Its memory is gone as well.
    deliveries = new Deliveries();
    await passes(2);
    expect(hooks.lost()).toEqual([]);
  });
  it("[GHL-13] in which GitHub sends us away each second look, and in the middle of a reading: every delivery comes", async () => {
    let calls = 0;
    hooks.page_size = 10;
    hooks.refuses = () => (++calls % 7 === 0 ? new GithubFailure("rate_limited", "slow down", 60_000) : null);
    hooks.open = false;
    await passes(24);
    deliveries = new Deliveries();
    await passes(24);
    hooks.open = true;
    expect(await passes(6)).toBe(0);
    expect(hooks.lost()).toEqual([]);
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
    await deliveries.look(hooks, hooks.now);
    expect([hooks.pages, deliveries.problems(hooks.now)]).toEqual([
      ...[limits.github_redelivery_pages, [expect.stringContaining("still being read")]],
    ]);
    await deliveries.look(hooks, hooks.now);
    expect(hooks.asked("lost")).toBe(0);
    await deliveries.look(hooks, hooks.now);
    // The oldest of all, beyond one look's pages.
    expect(hooks.lost()).toEqual([]);
    const read = hooks.pages;
    for (let n = 0; n < 4; n++) await deliveries.look(hooks, hooks.now);
    expect(hooks.pages - read).toBe(4);
  });
  it("[GHL-12] is begun anew where GitHub does not know its place any more", async () => {
    hooks.page_size = 1;
    many(limits.github_redelivery_pages + 5);
    await deliveries.look(hooks, hooks.now);
    const place = hooks.tries.at(-6)?.id;
    hooks.refuses = (what, cursor) =>
      what === "list" && cursor === place ? new GithubFailure("invalid", "what place?") : null;
    await expect(deliveries.look(hooks, hooks.now)).rejects.toThrow("what place?");
    // From the beginning it goes another way.
    hooks.happens("new");
    hooks.page_size = 2;
    for (let n = 0; n < 3; n++) await deliveries.look(hooks, hooks.now);
    expect(deliveries.problems(hooks.now)).toEqual([]);
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
    expect(deliveries.problems(hooks.now)).toEqual([expect.stringContaining("not come yet: 1.")]);
    hooks.refuses = () => new GithubFailure("unavailable", "GitHub is down");
    const since = new Date(hooks.now + limits.github_redelivery_every_ms).toISOString();
    await passes(2, false);
    expect(deliveries.problems(hooks.now)[0]).toBe(
      `Lost deliveries cannot be asked for since ${since}: GitHub is down`,
    );
    hooks.refuses = () => null;
    expect(await passes(72, false)).toBe(1);
    expect(deliveries.problems(hooks.now)).toEqual([]);
  });
  it("[GHL-14] says that it is longer than what is kept of it, as long as that matters", async () => {
    hooks.page_size = limits.github_redelivery_kept;
    const one = { guid: "g", delivered_at: new Date(hooks.now).toISOString(), redelivery: false, ok: true };
    hooks.tries = Array.from({ length: limits.github_redelivery_kept + 1 }, (_, n) => ({ ...one, id: `${n}` }));
    await deliveries.look(hooks, hooks.now);
    const said = [expect.stringContaining(`more than ${limits.github_redelivery_kept} deliveries`)];
    expect(deliveries.problems(hooks.now)).toEqual(said);
    expect(deliveries.problems(hooks.now + limits.github_redelivery_days_ms)).toEqual([]);
  });
});
