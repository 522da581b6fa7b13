/** The worst caller there is, and what it was answered instead: nothing of it may take effect. */
import { describe, expect, it } from "vitest";
import { families, rulings } from "./worst-case/asking.ts";
import { asked, table, tricked, tricks } from "./worst-case/main.ts";
import type { Outcome } from "./worst-case/scene.ts";

const held = ({ forbidden, missing }: Outcome) => [...forbidden, ...missing];
const seen = new Map<string, readonly Outcome[]>();

describe("the worst caller", () => {
  it.each(rulings)("[WORST-1] none of its calls takes effect under $under but what just that allows", async (ruled) => {
    const outcomes = await asked(ruled);
    seen.set(ruled.under, outcomes);
    expect(outcomes.flatMap(held)).toEqual([]);
    expect(outcomes.flatMap(({ answered }) => answered.filter(({ answer }) => answer === "threw"))).toEqual([]);
    const ran = outcomes.flatMap(({ answered }) => answered.filter(({ answer }) => answer === "run"));
    const open = families.flatMap(({ calls }) =>
      calls.filter(({ opens }) => ruled.opening !== null && opens.includes(ruled.opening)),
    );
    expect(ran.map(({ name }) => name)).toEqual(open.map(({ name }) => name));
  });
  it("[WORST-2] smuggled, stale, foreign or forged, a call runs only as it was allowed, and once", async () => {
    const outcomes = await tricked();
    seen.set("tricks", outcomes);
    expect(outcomes.flatMap(held)).toEqual([]);
    const answers = outcomes.flatMap(({ answered }) => answered);
    expect(answers.filter(({ answer }) => answer === "run" || answer === "threw")).toEqual([]);
    expect(outcomes.filter(({ answered }) => answered.length === 0)).toEqual([]);
  });
  it("[WORST-3] more than 200 different calls and 100 tricks are tried, and what each was answered is on record", async () => {
    const names = new Set(
      families.flatMap(({ calls }) => calls.map(({ tool, arguments: given }) => `${tool} ${given}`)),
    );
    expect(names.size).toBe(families.reduce((count, { calls }) => count + calls.length, 0));
    expect(names.size).toBeGreaterThan(400);
    expect(new Set(tricks.map(({ name }) => name)).size).toBe(tricks.length);
    expect(tricks.length).toBeGreaterThan(100);
    const under = rulings.map((ruled) => seen.get(ruled.under) ?? []);
    await expect(table(under, seen.get("tricks") ?? [])).toMatchFileSnapshot("worst-case/answers.txt");
  });
});
