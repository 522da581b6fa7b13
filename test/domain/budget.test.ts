/** Shares, charges and the answer to "may it think": pure, over many plans and many calls. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  charge,
  type Limit,
  leftOf,
  mayCall,
  nothingSpent,
  sharesOf,
  sumOf,
  unpaid,
  withMore,
} from "../../src/domain/budget.ts";
import { parsePlan } from "../../src/domain/plan.ts";
import { runnerProblems } from "../../src/domain/plan-runners.ts";

const amount = fc.integer({ min: 0, max: 1_000_000 });
const item = fc.record({
  runner: fc.constantFrom("loop", "steps"),
  budget: fc.record({ tokens: fc.option(amount), usd: fc.option(fc.integer({ min: 0, max: 50 })) }),
});
/** Plans as the rules let them through: stated shares come to four fifths at most. */
const plan = fc
  .record({
    tokens: amount,
    usd: fc.integer({ min: 0, max: 100 }),
    items: fc.array(item, { minLength: 1, maxLength: 6 }),
  })
  .filter(({ tokens, usd, items }) => {
    const stated = (unit: "tokens" | "usd") => items.reduce((sum, { budget }) => sum + (budget[unit] ?? 0), 0);
    return stated("tokens") <= tokens * 0.8 && stated("usd") <= usd * 0.8;
  })
  .map(({ tokens, usd, items }) => ({
    budget: { tokens, usd, minutes: null },
    items: items.map((each, index) => ({ id: `i${index}`, ...each })),
  }));
const cost = fc.record({
  input_tokens: fc.integer({ min: 0, max: 5_000 }),
  output_tokens: fc.integer({ min: 0, max: 5_000 }),
  usd: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  estimated: fc.boolean(),
});

describe("the parts of a plan's budget", () => {
  it("[BUD-1] come to the whole, and at least a fifth of it is the planner's", () => {
    fc.assert(
      fc.property(plan, (given) => {
        const { items, planner } = sharesOf(given);
        const shares = [...items.values()];
        expect(shares.reduce((sum, { tokens }) => sum + tokens, 0) + planner.tokens).toBe(given.budget.tokens);
        expect(planner.tokens).toBeGreaterThanOrEqual(given.budget.tokens * 0.2 - 1e-6);
        expect(shares.every(({ tokens }) => tokens >= 0)).toBe(true);
        if (given.budget.usd === 0) {
          expect([...shares, planner].every(({ usd }) => usd === null)).toBe(true);
          return;
        }
        const usd = shares.reduce((sum, share) => sum + (share.usd ?? 0), 0) + (planner.usd ?? 0);
        expect(usd).toBeCloseTo(given.budget.usd, 6);
        expect(planner.usd ?? 0).toBeGreaterThanOrEqual(given.budget.usd * 0.2 - 1e-6);
      }),
    );
  });
  it("[BUD-2] an item has what it states; those that think and state nothing part the rest of four fifths; steps cost nothing", () => {
    const { items, planner } = sharesOf({
      budget: { tokens: 1_000, usd: 10, minutes: null },
      items: [
        { id: "a", runner: "loop", budget: { tokens: 300, usd: 2 } },
        { id: "b", runner: "loop", budget: { tokens: null, usd: null } },
        { id: "c", runner: "loop", budget: { tokens: null, usd: null } },
        { id: "d", runner: "steps", budget: { tokens: null, usd: null } },
      ],
    });
    expect(Object.fromEntries(items)).toEqual({
      a: { tokens: 300, usd: 2 },
      b: { tokens: 250, usd: 3 },
      c: { tokens: 250, usd: 3 },
      d: { tokens: 0, usd: 0 },
    });
    expect(planner).toEqual({ tokens: 200, usd: 2 });
  });
  it("[BUD-3] an item that thinks with nothing to think with is named", () => {
    const loop = (id: string, tokens: number | null, usd: number | null = null) => ({
      ...{ id, runner: "loop", budget: { tokens, usd } },
    });
    const of = (tokens: number, usd: number, ...items: ReturnType<typeof loop>[]) =>
      unpaid({ budget: { tokens, usd, minutes: null }, items });
    expect(of(0, 0, loop("a", null))).toEqual(["a"]);
    expect(of(1_000, 0, loop("a", null))).toEqual([]);
    expect(of(1_000, 0, loop("a", 800), loop("b", null))).toEqual(["b"]);
    expect(of(1_000, 10, loop("a", null, 8), loop("b", null))).toEqual(["b"]);
    const steps = { id: "s", runner: "steps", budget: { tokens: null, usd: null } };
    expect(unpaid({ budget: { tokens: 0, usd: 0, minutes: null }, items: [steps] })).toEqual([]);
  });
});

it("[BUD-8] a plan whose item thinks without a budget is refused, at the line that names the item", () => {
  const of = (budget: string) => {
    const head = `---\ntitle: A plan\ngoal: A goal\nbudget: { ${budget} }\nitems:\n`;
    const markdown = `${head}  - { id: a, verify: none }\n---\n## a\nThink.\n`;
    const reading = parsePlan(markdown);
    if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
    return runnerProblems(markdown, reading.plan, true);
  };
  expect(of("tokens: 0")).toMatchObject([{ line: 6, message: expect.stringContaining("needs a budget") }]);
  expect(of("tokens: 1000")).toEqual([]);
});

const none = { tokens: 0, usd: 0 };

describe("an account", () => {
  const limit = fc.record({ tokens: amount, usd: fc.option(fc.integer({ min: 0, max: 20 })) });
  it("[BUD-4] what was spent is the sum of its calls, and only grows; an unknown price is said, and its tokens count", () => {
    fc.assert(
      fc.property(fc.array(cost, { maxLength: 30 }), (calls) => {
        let spent = nothingSpent;
        for (const one of calls) {
          const next = charge(spent, one);
          expect(next.input_tokens).toBeGreaterThanOrEqual(spent.input_tokens);
          expect(next.usd).toBeGreaterThanOrEqual(spent.usd);
          spent = next;
        }
        const tokens = calls.reduce((sum, one) => sum + one.input_tokens + one.output_tokens, 0);
        expect(spent.input_tokens + spent.output_tokens).toBe(tokens);
        expect(spent.calls).toBe(calls.length);
        expect(spent.unknown_price).toBe(calls.some(({ usd }) => usd === null));
        expect(spent.estimated).toBe(calls.some(({ estimated }) => estimated));
        const summed = sumOf(calls.map((one) => charge(nothingSpent, one)));
        expect({ ...summed, usd: 0 }).toEqual({ ...spent, usd: 0 });
        expect(summed.usd).toBeCloseTo(spent.usd, 9);
      }),
    );
  });
  it("[BUD-5] while it is asked before each call, no more than one call goes past its limit", () => {
    fc.assert(
      fc.property(limit, fc.array(cost, { maxLength: 60 }), (given: Limit, calls) => {
        let spent = nothingSpent;
        for (const one of calls) {
          if (mayCall(given, spent, none) !== "go") break;
          const before = leftOf(given, spent);
          expect(before.tokens).toBeGreaterThan(0);
          if (before.usd !== null) expect(before.usd).toBeGreaterThan(0);
          spent = charge(spent, one);
          const left = leftOf(given, spent);
          expect(left.tokens).toBeGreaterThan(-10_000);
          if (left.usd !== null) expect(left.usd).toBeGreaterThan(-1 - 1e-9);
        }
      }),
    );
  });
  it("[BUD-6] what calls under way may cost is kept back: beside them nothing is let go that is not covered", () => {
    const some = { tokens: 100, usd: null };
    expect(mayCall(some, nothingSpent, none)).toBe("go");
    expect(mayCall(some, nothingSpent, { tokens: 99, usd: 0 })).toBe("go");
    expect(mayCall(some, nothingSpent, { tokens: 100, usd: 0 })).toBe("taken");
    const spent = charge(nothingSpent, { input_tokens: 60, output_tokens: 40, usd: null, estimated: false });
    expect(mayCall(some, spent, none)).toBe("used_up");
    expect(mayCall({ tokens: 1_000, usd: 0 }, nothingSpent, none)).toBe("used_up");
  });
  it("[BUD-20] dollars of calls under way are kept back as their tokens are, where there is a limit in dollars", () => {
    const some = { tokens: 100, usd: 1 };
    expect(mayCall(some, nothingSpent, { tokens: 0, usd: 0.99 })).toBe("go");
    expect(mayCall(some, nothingSpent, { tokens: 0, usd: 1 })).toBe("taken");
    expect(mayCall({ ...some, usd: null }, nothingSpent, { tokens: 0, usd: 1 })).toBe("go");
  });
  it("[BUD-21] what is charged never makes the sums less, nor more than can be counted", () => {
    const most = Number.MAX_SAFE_INTEGER;
    const spent = { ...nothingSpent, input_tokens: 10, output_tokens: most, usd: 2 };
    const odd = { input_tokens: -5, output_tokens: 1, usd: -1, estimated: false };
    expect(charge(spent, odd)).toMatchObject({ input_tokens: 10, output_tokens: most, usd: 2, calls: 1 });
    expect(sumOf([spent, spent])).toMatchObject({ input_tokens: 20, output_tokens: most, usd: 4 });
  });
  it("[BUD-7] what a person adds is added; what has no limit in dollars is given none by it", () => {
    expect(withMore({ tokens: 10, usd: 1 }, { tokens: 5, usd: 2 })).toEqual({ tokens: 15, usd: 3 });
    expect(withMore({ tokens: 10, usd: null }, { tokens: 0, usd: 2 })).toEqual({ tokens: 10, usd: null });
  });
});
