/** What a standing approval speaks for, and above all what it does not. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Card } from "../../src/domain/approval-view.ts";
import { commandContains, globContains } from "../../src/domain/containment.ts";
import { globMatches } from "../../src/domain/glob.ts";
import { commandGranted } from "../../src/domain/grant.ts";
import { defaultPolicy } from "../../src/domain/policy.ts";
import { fits, type StandingUsage } from "../../src/domain/standing.ts";
import { type StandingBounds, standingInput } from "../../src/domain/standing-shape.ts";
import { boundsInWords } from "../../src/domain/standing-words.ts";
import { anyBounds, anyCard, anyCommand, anyGlob, asked, cardOf, day, itemOf, why } from "./standing-world.ts";

const grants = (more: Partial<Card["items"][number]["grants"]>) => ({
  card: cardOf({ items: [itemOf({ grants: { ...itemOf().grants, ...more } })] }),
});
const item = (more: Partial<Card["items"][number]>) => ({
  card: cardOf({ items: [itemOf(), itemOf({ id: "two", ...more })] }),
});
const amounts = { tokens: null, usd: null, minutes: null };
const usage = (more: Partial<StandingUsage>) => ({ usage: { plans: 0, tokens: 0, usd: 0, minutes: 0, ...more } });

describe("one grant inside another", () => {
  it("[STA-2] a glob lies inside another only if every path it matches is matched there", () => {
    for (const [outer, inner, inside] of [
      ["src/**", "src/a.ts", true],
      ["src/**", "src/**", true],
      ["src/**", "src/*/b/**", true],
      ["src/**", "src", false],
      ["src/*", "src/**", false],
      ["src/*.ts", "src/a*.ts", true],
      ["src/*.ts", "src/?.ts", true],
      ["src/?.ts", "src/*.ts", false],
      ["*", "**", false],
      ["**", "**", true],
      ["**/x", "a/b/x", true],
      ["a/**/b", "a/b", true],
      ["a/b", "a/**/b", false],
      ["src/a", "src/?", false],
    ] as const)
      expect(globContains(outer, inner), `${outer} holds ${inner}`).toBe(inside);
    const path = fc
      .array(fc.constantFrom("a", "b", "ab", "ba", "c"), { minLength: 1, maxLength: 5 })
      .map((p) => p.join("/"));
    let held = 0;
    fc.assert(
      fc.property(anyGlob, anyGlob, fc.array(path, { minLength: 8, maxLength: 8 }), (outer, inner, paths) => {
        if (!globContains(outer, inner)) return;
        held++;
        for (const one of paths) if (globMatches(inner, one)) expect(globMatches(outer, one)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    expect(held).toBeGreaterThan(100);
  });

  it("[STA-3] a command lies inside another only if every call it grants is granted there", () => {
    for (const [outer, inner, inside] of [
      ["npm **", "npm test", true],
      ["npm **", "npm", true],
      ["npm **", "npm run **", true],
      ["npm *", "npm **", false],
      ["npm *", "npm run x", false],
      ["npm test", "npm *", false],
      ["npx vitest *", "npx vitest a*", true],
      ["**", "rm -rf *", true],
    ] as const)
      expect(commandContains(outer, inner), `${outer} holds ${inner}`).toBe(inside);
    const argv = fc.array(fc.constantFrom("a", "b", "ab", "aab", "c"), { minLength: 1, maxLength: 4 });
    let held = 0;
    fc.assert(
      fc.property(anyCommand, anyCommand, fc.array(argv, { minLength: 8, maxLength: 8 }), (outer, inner, calls) => {
        if (!commandContains(outer, inner)) return;
        held++;
        for (const call of calls) if (commandGranted([inner], call)) expect(commandGranted([outer], call)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    expect(held).toBeGreaterThan(100);
  });
});

describe("what a standing approval speaks for", () => {
  it("[STA-1] its shape names who, where and what is checked; secrets, hosts and set-up are none unless named", () => {
    const least = {
      name: "chores",
      reason: "small things",
      bounds: { who: ["alice"], repos: ["https://git.example/a/b"], verify: ["npm test"] },
      until: "2030-01-01T00:00:00Z",
      uses: 3,
    };
    expect(standingInput.parse(least).bounds).toMatchObject({
      ...{ tools: [], paths: [], commands: [], hosts: [], secrets: [], protect: [], labels: [], taint: "member" },
      ...{ runners: ["steps"], environment: { setup: [], hosts: [], cache: [] } },
    });
    const wrong = (more: object, within: object = {}) =>
      standingInput.safeParse({ ...least, ...more, bounds: { ...least.bounds, ...within } }).success;
    for (const uses of [0, 1.5, 1_000_000]) expect(wrong({ uses })).toBe(false);
    for (const until of ["tomorrow", "2030-01-01", "2030-01-01T00:00:00"]) expect(wrong({ until })).toBe(false);
    for (const within of [
      { who: [] },
      { repos: [] },
      { verify: [] },
      { verify: ["npm *"] },
      { paths: ["../a"] },
      { commands: ["a; b"] },
      { secrets: ["lower"] },
      { taint: "none" },
      { more: 1 },
    ])
      expect(wrong({}, within), JSON.stringify(within)).toBe(false);
  });

  it("[STA-4] a plan inside every bound fits", () => {
    expect(fits(asked())).toEqual({ fits: true });
  });

  it("[STA-5] over, used up, ended or from somebody who may no longer approve, it speaks for nothing", () => {
    const { standing } = asked();
    for (const status of ["used_up", "expired", "revoked"] as const)
      expect(why(asked({ standing: { ...standing, status } }))).toContain("it is ");
    expect(why(asked({ now: 10 * day }))).toBe("its time is over");
    expect(why(asked({ now: 10 * day - 1 }))).toBe("");
    expect(why(asked({ standing: { ...standing, uses_left: 0 } }))).toBe("it is used up");
    expect(why(asked({ standing: { ...standing, maker_stands: false } }))).toContain("may no longer approve");
    expect(why(asked({ card: cardOf({ kind: "gate" }) }))).toContain("plans only");
    expect(why(asked({ card: cardOf({ items: [] }) }))).toContain("plans only");
  });

  it("[STA-6] where policy asks for two approvers, a session, or another than who asked, it does not apply", () => {
    const rules = (more: Partial<typeof defaultPolicy.approvals>) => ({
      rules: { ...defaultPolicy.approvals, ...more },
    });
    expect(why(asked(rules({ two_approvers: ["plan"] })))).toContain("two approvers");
    expect(why(asked(rules({ two_approvers: ["gate"] })))).toBe("");
    expect(why(asked(rules({ proof: { kinds: { plan: "session" }, tools: {} } })))).toContain("session");
    const own = rules({ own_task: "forbid" });
    expect(why(asked(own))).toBe("");
    const standing = { ...asked().standing, made_by: "Alice#zzz999" };
    expect(why(asked({ ...own, standing }))).toContain("nobody approve their own");
    expect(why(asked({ standing }))).toBe("");
    const lent = { ...asked().standing, link_by: "Alice#zzz999" };
    expect(why(asked({ ...own, standing: lent }))).toContain("nobody approve their own");
  });

  it("[STA-7] it speaks for the people, repositories and labels it names, and for labels that an approver set", () => {
    const { task } = asked();
    expect(why(asked({ task: { ...task, created_by: "alice#other0" } }))).toContain("may not use it");
    expect(why(asked({ task: { ...task, repo: "https://git.example/else" } }))).toContain("repositories");
    expect(why(asked({ card: cardOf({ repo: "https://git.example/else" }) }))).toContain("repositories");
    expect(why(asked({ task: { ...task, labels: ["small"] } }))).toContain("no label chore");
    for (const labels_by_role of ["submitter", "viewer", null] as const) {
      expect(why(asked({ task: { ...task, labels_by_role } }))).toContain("not set by somebody who may approve");
      expect(why(asked({ task: { ...task, labels_by_role } }, { labels: [] }))).toBe("");
    }
  });

  it("[STA-37] once a person has decided about a plan of the task it speaks for none of it", () => {
    const task = { ...asked().task, decided_by_person: true };
    expect(why(asked({ task }))).toContain("a person has decided");
  });

  it("[STA-8] what the task has read may not be worse than allowed, whether the card or the task says so", () => {
    const { task } = asked();
    expect(why(asked({ task: { ...task, taint: "outsider" } }))).toContain("outsider");
    expect(why(asked({ card: cardOf({ taint: "web" }) }))).toContain("web");
    expect(why(asked({ card: cardOf({ taint: "web" }) }, { taint: "web" }))).toBe("");
  });

  it("[STA-9] every tool, path, command, host, secret and runner of every item lies inside", () => {
    expect(why(asked(grants({ tools: ["shell_execute", "git_push"] })))).toContain("git_push is outside");
    expect(why(asked(grants({ paths: ["src/a", "lib/**"] })))).toContain("lib/** is outside");
    expect(why(asked(grants({ paths: ["**"] })))).toContain("** is outside");
    expect(why(asked(grants({ commands: ["npm **"] })))).toContain("npm ** is outside");
    expect(why(asked(grants({ hosts: ["git.example.com"] })))).toBe("");
    expect(why(asked(grants({ hosts: ["evil.example.com"] })))).toContain("evil.example.com is outside");
    expect(why(asked(grants({ secrets: ["KEY"] })))).toContain("KEY is outside");
    expect(why(asked(item({ runner: "loop" })))).toBe("two: the runner loop is outside");
  });

  it("[STA-10] a file whose naming grants more than a glob does must be named in the bounds too", () => {
    for (const named of ["src/package.json", "src/AGENTS.md", "src/vitest.config.ts", "src/package-lock.json"]) {
      expect(why(asked(grants({ paths: [named] }))), named).toContain("is outside");
      expect(why(asked(grants({ paths: [named] }), { paths: ["src/**", named] })), named).toBe("");
    }
    expect(why(asked(grants({ paths: ["src/a.ts"] })))).toBe("");
  });

  it("[STA-11] each block of steps runs nothing but allowed commands and redirects nowhere else; the unreadable does not fit", () => {
    for (const steps of [
      ["rm -rf src"],
      ["echo x > lib/a"],
      ["echo $(id)"],
      ["$x"],
      ["npm test; curl x"],
      ["if"],
      ["echo a", "sh x"],
    ])
      expect(why(asked(item({ steps }))), steps[0]).toContain("not surely inside");
    expect(why(asked(item({ steps: ["echo a && npm test"] })))).toBe("");
  });

  it("[STA-12] set-up runs, reaches and keeps only what is named", () => {
    const setup = (environment: Card["environment"]) => why(asked({ card: cardOf({ environment }) }));
    expect(setup(null)).toBe("");
    expect(setup({ setup: [["npm", "install"]], hosts: [], cache: [] })).toContain("npm install");
    expect(setup({ setup: [], hosts: ["pip"], cache: [] })).toContain("reaches pip");
    expect(setup({ setup: [], hosts: [], cache: ["pip"] })).toContain("cache of pip");
  });

  it("[STA-13] every item protects what is demanded and runs every check that is demanded", () => {
    expect(why(asked(item({ protect: [] })))).toContain("test/** is not protected");
    expect(why(asked(item({ protect: ["test/*"] })))).toContain("test/** is not protected");
    expect(why(asked(item({ protect: ["**"] })))).toBe("");
    expect(why(asked(item({ protect: ["**", "!test/a.ts"] })))).toContain("test/** is not protected");
    expect(why(asked(item({ verify: [] })))).toContain("npm test is missing");
    expect(why(asked(item({ verify: [["true"]] })))).toContain("npm test is missing");
    expect(why(asked(item({ verify: [["npm test"]] })))).toContain("npm test is missing");
    expect(why(asked(item({ verify: [["npm", "test", "--", "none"]] })))).toContain("npm test is missing");
  });

  it("[STA-14] a plan states its budget inside that of a plan and of 24 hours; stating none does not fit a bound that does", () => {
    const stating = (budget: Card["budget"]) => ({ card: cardOf({ budget }) });
    expect(why(asked(stating({ tokens: 0, usd: 5, minutes: null })))).toBe("");
    expect(why(asked(stating({ tokens: 0, usd: 5.01, minutes: null })))).toContain("more than the 5 of a plan");
    expect(why(asked(stating(null)))).toContain("does not say how many usd");
    // Blocks of steps call no model; where one is called, no stated amount is no bound.
    expect(why(asked(stating({ tokens: 0, usd: 0, minutes: null })))).toBe("");
    const loop = cardOf({ items: [itemOf({ runner: "loop" })], budget: { tokens: 0, usd: 0, minutes: null } });
    expect(why(asked({ card: loop }, { runners: ["loop"] }))).toContain("does not say how many usd");
    expect(why(asked(usage({ usd: 6 })))).toBe("");
    expect(why(asked(usage({ usd: 6.5 })))).toContain("more than the 8 of 24 hours");
    expect(why(asked(usage({ plans: 3 })))).toContain("3 plans in 24 hours");
  });
  it("[STA-44] a plan that asks for more than whoever asked gave does not fit, whatever the bounds", () => {
    const free = { plan: amounts, day: { ...amounts, plans: null } };
    const given = (budget: object | null, asks: Card["budget"]) =>
      why(asked({ card: cardOf({ budget: asks }), task: { ...asked().task, budget } }, { budget: free }));
    const costly = { tokens: 900_000, usd: 5, minutes: 10 };
    expect(given({ tokens: 20_000 }, costly)).toBe(
      "alice#abc123 gave this task 20,000 tokens; this plan asks for 900,000 tokens, $5 and 10 minutes: more than was given.",
    );
    expect(given({ usd: 1 }, { ...costly, usd: 0 })).toContain(
      "no limit in dollars and 10 minutes: more than was given",
    );
    expect(given({ minutes: 5 }, costly)).toContain("10 minutes: more");
    expect(given({ minutes: 5 }, null)).toContain("30 minutes an attempt");
    for (const enough of [{ tokens: 900_000 }, { tokens: 900_000, usd: 5, minutes: 10 }])
      expect(given(enough, costly)).toBe("");
  });

  it("[STA-15] whatever a plan that fits grants, the bounds grant, for any plan and any bounds", () => {
    const path = fc
      .array(fc.constantFrom("a", "b", "ab", "ba"), { minLength: 1, maxLength: 3 })
      .map((p) => p.join("/"));
    const argv = fc.array(fc.constantFrom("a", "b", "ab"), { minLength: 1, maxLength: 3 });
    const samples = fc.record({ paths: fc.array(path, { maxLength: 8 }), calls: fc.array(argv, { maxLength: 8 }) });
    let fitted = 0;
    fc.assert(
      fc.property(anyBounds, anyCard, samples, (within, card, { paths, calls }) => {
        if (!fits(asked({ card }, within)).fits) return;
        fitted++;
        for (const each of card.items) {
          const { tools, hosts, secrets } = each.grants;
          expect([within.runners, within.tools, within.hosts, within.secrets]).toEqual([
            ...[expect.arrayContaining([each.runner]), expect.arrayContaining(tools)],
            ...[expect.arrayContaining(hosts), expect.arrayContaining(secrets)],
          ]);
          const matches = (globs: readonly string[], one: string) => globs.some((glob) => globMatches(glob, one));
          for (const one of paths)
            if (matches(each.grants.paths, one)) expect(matches(within.paths, one), one).toBe(true);
          for (const call of calls)
            if (commandGranted(each.grants.commands, call)) expect(commandGranted(within.commands, call)).toBe(true);
          for (const one of paths) if (matches(within.protect, one)) expect(matches(each.protect, one), one).toBe(true);
          for (const check of within.verify) expect(each.verify.map((run) => run.join(" "))).toContain(check);
        }
        for (const call of card.environment?.setup ?? [])
          expect(commandGranted(within.environment.setup, call)).toBe(true);
      }),
      { numRuns: 9_000 },
    );
    expect(fitted).toBeGreaterThan(100);
  });

  it("[STA-16] smaller bounds never make a plan fit that did not", () => {
    const keys = ["runners", "tools", "paths", "commands", "hosts", "secrets"] as const;
    const smaller = (
      within: StandingBounds,
      key: (typeof keys)[number] | "protect" | "verify" | "labels" | "taint" | "plan",
    ) => {
      if (key === "protect") return { ...within, protect: [...within.protect, "a/**"] };
      if (key === "verify") return { ...within, verify: [...within.verify, "a b"] };
      if (key === "labels") return { ...within, labels: [...within.labels, "rare"] };
      if (key === "taint") return { ...within, taint: "owner" as const };
      if (key === "plan")
        return {
          ...within,
          budget: { ...within.budget, plan: { tokens: 0, usd: 0, minutes: within.budget.plan.minutes ?? 1 } },
        };
      return { ...within, [key]: within[key].slice(1) };
    };
    const which = fc.constantFrom(
      ...keys,
      "protect" as const,
      "verify" as const,
      "labels" as const,
      "taint" as const,
      "plan" as const,
    );
    fc.assert(
      fc.property(anyBounds, anyCard, which, (within, card, key) => {
        if (fits(asked({ card }, smaller(within, key))).fits) expect(fits(asked({ card }, within)).fits).toBe(true);
      }),
      { numRuns: 6_000 },
    );
  });

  it("[STA-17] each bound has a line in words, and what is not allowed says so", () => {
    const words = boundsInWords(asked().standing.bounds);
    const is = (what: string) => words.find((line) => line.what === what)?.is;
    expect(is("Paths")).toBe("src/**, docs/*.md");
    expect(is("Secrets")).toBe("none");
    expect(is("Budget of a plan")).toBe("5 USD");
    expect(is("Budget of 24 hours")).toBe("3 plans, 8 USD");
    const text = JSON.stringify(words);
    for (const value of Object.values(asked().standing.bounds).flat())
      if (typeof value === "string") expect(text).toContain(value);
  });
});
