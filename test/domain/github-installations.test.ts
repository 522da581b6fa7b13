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
import { isTooOld, type Tried, toRepeat } from "../../src/domain/github/redelivery.ts";
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
  let ids = 0;
  const tried = (guid: string, hours_ago: number, ok: boolean): Tried => ({
    id: String(++ids),
    guid,
    delivered_at: new Date(now - hours_ago * hour_ms).toISOString(),
    ok,
  });
  it("[GHL-10] what no try brought is asked for again, by its newest try and oldest first; what one brought is not", () => {
    const old = [
      tried("a", 5, false),
      tried("b", 9, false),
      tried("a", 4, false),
      tried("c", 3, false),
      tried("c", 2, true),
    ];
    expect(toRepeat(old, now)).toEqual([old[1]?.id, old[2]?.id]);
  });
  it("[GHL-10] not what was just sent, nor what was tried often enough", () => {
    const often = Array.from({ length: limits.github_redelivery_tries + 1 }, (_, n) => tried("a", 10 - n, false));
    expect(toRepeat([...often, tried("b", 0.01, false)], now)).toEqual([]);
    expect(toRepeat(often.slice(1), now)).toHaveLength(1);
  });
  it("[GHL-10] the list is read back as far as GitHub brings anything", () => {
    expect(isTooOld([tried("a", 71, false)], now)).toBe(false);
    expect(isTooOld([tried("b", 1, true), tried("a", 73, false)], now)).toBe(true);
    expect(isTooOld([], now)).toBe(true);
  });
  it("[GHL-11] after an outage of two days all 3,000 deliveries come, a hundred at a look", () => {
    const tries = Array.from({ length: 3_000 }, (_, n) => tried(`g${n}`, 48 - (n * 48) / 3_000, false));
    let at = now;
    let looks = 0;
    for (; looks < 40; looks++) {
      at += limits.github_redelivery_every_ms;
      const asked = toRepeat(tries, at);
      if (asked.length === 0) break;
      for (const id of asked) {
        const guid = tries.find((one) => one.id === id)?.guid ?? "";
        // Every tenth fails once more.
        const failed = Number(guid.slice(1)) % 10 === 0 && tries.filter((one) => one.guid === guid).length < 2;
        tries.push({ id: `${id}-${looks}`, guid, delivered_at: new Date(at).toISOString(), ok: !failed });
      }
    }
    const brought = new Set(tries.filter((one) => one.ok).map((one) => one.guid));
    expect(brought.size).toBe(3_000);
    expect(looks).toBeLessThan(40);
  });
});
