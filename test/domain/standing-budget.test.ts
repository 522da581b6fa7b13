/** What a standing approval may give a whole task: no more than it was asked with, spent and to be spent together. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Card } from "../../src/domain/approval-view.ts";
import { spentWords } from "../../src/domain/asked-budget.ts";
import { fits, type StandingTask } from "../../src/domain/standing.ts";
import type { Amounts } from "../../src/domain/standing-shape.ts";
import { limits } from "../../src/limits.ts";
import { asked, cardOf, itemOf, why } from "./standing-world.ts";

const unbounded: Amounts = { tokens: null, usd: null, minutes: null };
type Budget = NonNullable<Card["budget"]>;
function ask(budget: Budget, task: Partial<StandingTask>, plan: Partial<Amounts> = {}) {
  const card = cardOf({ items: [itemOf({ runner: "loop" })], budget });
  const within = { plan: { ...unbounded, ...plan }, day: { ...unbounded, plans: null } };
  return asked({ card, task: { ...asked().task, ...task } }, { runners: ["loop"], budget: within });
}
const given = { tokens: 100_000, usd: 1 };
const spent = (tokens: number, usd = 0) => ({ spent: { tokens, usd } });

describe("what a whole task may spend without a person", () => {
  it("[STA-45] what is spent and what the plan may spend fit together into what was asked with", () => {
    const half = { tokens: 50_000, usd: 0.5, minutes: null };
    expect(why(ask(half, { budget: given, ...spent(50_000, 0.5) }))).toBe("");
    expect(why(ask(half, { budget: given, ...spent(50_001) }))).toBe(
      "50,001 tokens are spent on this task already; with them, the 50,000 tokens of this plan are more than the 100,000 tokens that alice#abc123 gave this task",
    );
    expect(why(ask(half, { budget: given, ...spent(0, 0.51) }))).toContain("$0.51 are spent on this task already");
    // Without tokens of its own, the task's account goes on paying beside what plans have spent.
    const free = { tokens: 0, usd: 0, minutes: null };
    const own_left = { tokens: 90_000, usd: 0.9 };
    expect(why(ask(free, { budget: given, own_left, ...spent(10_000, 0.1) }))).toBe("");
    expect(why(ask(free, { budget: given, own_left, ...spent(95_000, 0.1) }))).toContain("are more than the 100,000");
    const amount = fc.integer({ min: 1, max: 200_000 });
    fc.assert(
      fc.property(amount, amount, amount, (tokens, gone, gave) => {
        const task = { budget: { tokens: gave }, ...spent(gone) };
        const fit = fits(ask({ tokens, usd: 1, minutes: null }, task)).fits;
        expect(fit).toBe(gone + tokens <= gave);
      }),
    );
  });
  it("[STA-46] what the asker left unsaid is what a task has by default, and no limit in dollars is over any", () => {
    const most = { tokens: limits.task_tokens, usd: limits.task_usd, minutes: limits.attempt_minutes };
    for (const budget of [null, {}]) {
      expect(why(ask(most, { budget }))).toBe("");
      for (const [unit, words] of [
        ["tokens", "500,001 tokens of this plan are more than the 500,000 tokens that a task has by default"],
        ["usd", "$6 of this plan are more than the $5 that a task has by default"],
        ["minutes", "31 minutes are more than the 30 that an attempt has by default"],
      ] as const)
        expect(why(ask({ ...most, [unit]: most[unit] + 1 }, { budget }))).toContain(words);
      expect(why(ask({ ...most, tokens: 1 }, { budget, ...spent(limits.task_tokens) }))).toContain("by default");
    }
    for (const budget of [null, {}, { tokens: 500_000 }, { minutes: 30 }])
      expect(why(ask({ ...most, usd: 0 }, { budget }))).toBe(
        "no limit in dollars is more than the $5 that a task has by default",
      );
  });
  it("[STA-46] a bound of its own above that stands in its place, and never in that of what the asker said", () => {
    const wide = { tokens: 2_000_000, usd: 40, minutes: 90 };
    expect(why(ask(wide, { budget: null }, wide))).toBe("");
    expect(why(ask(wide, { budget: null, ...spent(1) }, wide))).toContain("2,000,000 tokens it allows a plan");
    expect(why(ask({ ...wide, minutes: 91 }, { budget: null }, { tokens: 2_000_000, usd: 40 }))).toContain(
      "by default",
    );
    expect(why(ask({ ...wide, usd: 0 }, { budget: null }, wide))).toContain("does not say how many usd");
    for (const budget of [{ tokens: 1_999_999 }, { usd: 39 }, { minutes: 89 }])
      expect(why(ask(wide, { budget }, wide))).toContain("more than was given");
    const fifty = { tokens: 50_000, usd: 0.5, minutes: null };
    const task = { budget: given, ...spent(60_000) };
    expect(why(ask(fifty, task, { tokens: 2_000_000, usd: 40 }))).toContain("that alice#abc123 gave");
    // A smaller one bounds each plan, not what the task may spend in all.
    const small = { tokens: 9_000, usd: 1, minutes: 5 };
    expect(why(ask(small, { budget: null, ...spent(8_000, 0.9) }, small))).toBe("");
  });
  it("[STA-47] what is spent and left stands in words; where nothing was, nothing does", () => {
    expect(spentWords(given, { tokens: 0, usd: 0 }, false)).toBeNull();
    expect(spentWords(given, { tokens: 182_000, usd: 1.82 }, false)).toBe(
      "Spent on this task already: 182,000 of 100,000 tokens and $1.82 of $1; left: 0 tokens and $0. What this plan asks for comes on top of what is spent.",
    );
    expect(spentWords(null, { tokens: 1_000, usd: 0 }, true)).toContain(
      "1,000 of 500,000 tokens and $0 of $5 (more in truth: the price of a model is unknown); left: 499,000 tokens and $5.",
    );
  });
});
