/** Which scope a repository belongs to, what scopes are told of it, and which deliveries GitHub shall bring again. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  covered,
  type InstallationState,
  type Kept,
  nextTell,
  scopeFor,
} from "../../src/domain/github/installations.ts";
import { isTooOld, lostOf, type Tried } from "../../src/domain/github/redelivery.ts";
import type { GithubRepository } from "../../src/domain/github/shapes.ts";
import { limits } from "../../src/limits.ts";

const repo = (id: number, change: Partial<GithubRepository> = {}): GithubRepository => ({
  ...{ id, installation_id: 7, full_name: `acme/r${id}`, private: false, default_branch: "main" },
  ...change,
});
const kept = (id: number, change: Partial<Kept> = {}): Kept => ({
  ...{ repository: repo(id), covered: true, own: null, told: null },
  ...change,
});
const [a, b] = ["aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"];
const active = (scope_id: string | null) => ({ state: "active" as const, scope_id });

/** Tells whoever must be told, until everybody knows. */
function settle(row: Kept, installation: { state: InstallationState; scope_id: string | null }) {
  const said: string[] = [];
  let at = row;
  for (let next = nextTell(at, installation); next !== null; next = nextTell(at, installation)) {
    said.push(`${next.tell.what} ${next.tell.scope_id.slice(0, 1)}`);
    at = { ...at, told: next.told };
    if (said.length > 3) throw new Error(`it never ends: ${said.join(", ")}`);
  }
  return { said, row: at };
}

describe("installations", () => {
  it("[GHL-1] a repository belongs to its own assignment's scope, else to its installation's, else to nobody's", () => {
    expect(scopeFor(kept(1), active(a))).toBe(a);
    expect(scopeFor(kept(1, { own: b }), active(a))).toBe(b);
    expect(scopeFor(kept(1), active(null))).toBeNull();
    expect(scopeFor(kept(1, { own: b }), { state: "removed", scope_id: a })).toBeNull();
    expect(scopeFor(kept(1, { own: b, covered: false }), active(a))).toBeNull();
  });
  it("[GHL-2] a repository that moves is taken from the one scope before the other gets it", () => {
    const first = settle(kept(1), active(a));
    expect(first.said).toEqual(["linked a"]);
    expect(settle(first.row, active(b)).said).toEqual(["removed a", "linked b"]);
    expect(settle({ ...first.row, own: b }, active(a)).said).toEqual(["removed a", "linked b"]);
    expect(settle(first.row, active(null)).said).toEqual(["removed a"]);
  });
  it("[GHL-3] a suspended installation stops its scopes and goes on when it is active again; a removed one unlinks", () => {
    const { row } = settle(kept(1), active(a));
    const stopped = settle(row, { state: "suspended", scope_id: a });
    expect(stopped.said).toEqual(["suspended a"]);
    expect(settle(stopped.row, active(a)).said).toEqual(["linked a"]);
    expect(settle(stopped.row, { state: "removed", scope_id: a }).said).toEqual(["removed a"]);
    expect(settle(kept(1), { state: "suspended", scope_id: a }).said).toEqual([]);
  });
  it("[GHL-4] what GitHub answers is how it is: new, renamed, moved and gone repositories, whatever was known", () => {
    const linked = settle(kept(1), active(a)).row;
    const renamed = covered([linked, kept(2)], 7, {
      state: "active",
      repositories: [repo(1, { full_name: "acme/new" }), repo(3)],
    });
    expect(renamed.map((row) => [row.repository.full_name, row.covered])).toEqual([
      ["acme/new", true],
      ["acme/r2", false],
      ["acme/r3", true],
    ]);
    expect(renamed[0] && settle(renamed[0], active(a)).said).toEqual(["linked a"]);
    const elsewhere = covered([kept(1, { repository: repo(1, { installation_id: 8 }) })], 7, {
      state: "active",
      repositories: [],
    });
    expect(elsewhere[0]?.covered).toBe(true);
    const moved = covered([kept(1, { own: b })], 8, {
      state: "active",
      repositories: [repo(1, { installation_id: 8 })],
    });
    expect(moved[0]).toMatchObject({ own: null, covered: true });
    // A suspended installation's repositories cannot be listed: what was known stays.
    expect(covered([linked], 7, { state: "suspended", repositories: [] })[0]?.covered).toBe(true);
    expect(covered([linked], 7, { state: "removed", repositories: [] })[0]?.covered).toBe(false);
  });
  it("[GHL-5] in whatever order it changes, no two scopes have a repository at once, and in the end the right one has it", () => {
    const change = fc.record({
      state: fc.constantFrom<InstallationState>("active", "suspended", "removed"),
      scope_id: fc.constantFrom(a, b, null),
      own: fc.constantFrom(a, b, null),
      covered: fc.boolean(),
      tells: fc.nat(3),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
        const has = new Set<string>();
        let row = kept(1);
        let installation: { state: InstallationState; scope_id: string | null } = active(null);
        const tell = (most: number): void => {
          for (let n = 0; n < most; n++) {
            const next = nextTell(row, installation);
            if (next === null) return;
            const { tell: told } = next;
            if (told.what === "linked") has.add(told.scope_id);
            if (told.what === "removed") has.delete(told.scope_id);
            expect(has.size).toBeLessThan(2);
            row = { ...row, told: next.told };
          }
        };
        for (const one of changes) {
          row = { ...row, own: one.own, covered: one.covered };
          installation = { state: one.state, scope_id: one.scope_id };
          tell(one.tells);
        }
        tell(5);
        expect(nextTell(row, installation)).toBeNull();
        const wanted = scopeFor(row, installation);
        if (installation.state === "active") expect([...has]).toEqual(wanted === null ? [] : [wanted]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("lost deliveries", () => {
  const hour_ms = 3_600_000;
  const now = Date.parse("2026-11-22T12:00:00Z");
  const waits = limits.github_redelivery_waits_ms;
  let ids = 0;
  const tried = (guid: string, hours_ago: number, ok: boolean, redelivery = false): Tried => ({
    ...{ id: String(++ids), guid, redelivery, ok },
    delivered_at: new Date(now - hours_ago * hour_ms).toISOString(),
  });
  const ids_of = (tries: readonly Tried[]) => lostOf(tries).map(({ id }) => id);
  it("[GHL-10] what no try brought is lost, by its newest try and oldest first; what one brought is not", () => {
    const old = [
      tried("a", 4, false, true),
      tried("a", 5, false),
      tried("b", 9, false),
      tried("c", 2, true, true),
      tried("c", 3, false),
    ];
    expect(ids_of(old)).toEqual([old[2]?.id, old[0]?.id]);
  });
  it("[GHL-10] what GitHub tried first before its list begins is left out", () => {
    expect(ids_of([tried("a", 60, false, true), tried("a", 70, false, true)])).toEqual([]);
  });
  it("[GHL-10] each wait is longer than the one before, up to eight hours, beside whatever comes", () => {
    const tries = [tried("a", 0, false)];
    const waited: number[] = [];
    for (let n = 0; n < waits.length + 2; n++) {
      const last = Math.max(...tries.map((one) => Date.parse(one.delivered_at)));
      const [lost] = lostOf(tries);
      waited.push((lost?.due_ms ?? 0) - last);
      const hours = (last - now + hour_ms / 60 + (waited.at(-1) ?? 0)) / hour_ms;
      // Between each two of its tries others come.
      tries.push(tried(`other ${n}`, -hours + 0.01, true), tried("a", -hours, false, true));
    }
    expect(waited).toEqual([...waits, 8 * hour_ms, 8 * hour_ms]);
  });
  it("[GHL-10] once anything comes again, what failed while nothing came waits no longer than at first", () => {
    const closed = [20, 19, 18, 17, 16].map((ago, n) => tried("a", ago, false, n > 0));
    const early = tried("early", 30, true);
    const due = (...more: Tried[]) => (lostOf([...closed, early, ...more])[0]?.due_ms ?? 0) - (now - 16 * hour_ms);
    expect(due()).toBe(8 * hour_ms);
    expect(due(tried("b", 1, true))).toBe(waits[0]);
    // Once: where it fails beside what comes, it is its own fault.
    const again =
      (lostOf([...closed, tried("b", 1, true), tried("a", 0.5, false, true), tried("c", 0, true)])[0]?.due_ms ?? 0) -
      now;
    expect(again).toBe(7.5 * hour_ms);
    for (const ago of [16.5, 16]) expect(due(tried("b", ago, true), tried("c", 1, true)), `${ago}`).toBe(8 * hour_ms);
  });
  it("[GHL-16] a list of 60,000 tries, a third of them lost, takes no longer than to sort it", () => {
    const many = Array.from({ length: limits.github_redelivery_kept }, (_, n) =>
      tried(`g${n}`, 48 - n / 1_500, n >= 20_000),
    );
    const begun = performance.now();
    const lost = lostOf(many.toReversed());
    // Some 0.1 s; each lost one compared with each that came took eight.
    expect(performance.now() - begun).toBeLessThan(2_500);
    expect([lost.length, lost[0]?.id, lost.at(-1)?.id]).toEqual([20_000, many[0]?.id, many[19_999]?.id]);
  });
  it("[GHL-10] the list is read back as far as GitHub brings anything", () => {
    expect(isTooOld([tried("a", 71, false)], now)).toBe(false);
    expect(isTooOld([tried("b", 1, true), tried("a", 73, false)], now)).toBe(true);
    expect(isTooOld([], now)).toBe(true);
  });
});
