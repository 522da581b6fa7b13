import { describe, expect, it } from "vitest";
import { parsePlan } from "../../src/domain/plan.ts";
import { runnerProblems } from "../../src/domain/plan-runners.ts";
import { fullPlan } from "./plan-text.ts";

function problemsOf(markdown: string) {
  const reading = parsePlan(markdown);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return runnerProblems(markdown, reading.plan);
}

describe("runners", () => {
  it("[PLAN-25] an item with a runner that is not here is named at its line, also when it wrote none", () => {
    const line = fullPlan.split("\n").findIndex((text) => text.includes("- id: fix")) + 1;
    const said = {
      line,
      column: 5,
      message: expect.stringContaining("fix: the runner loop is not part of this version"),
    };
    expect(problemsOf(fullPlan)).toEqual([said]);
    expect(problemsOf(fullPlan.replace("    runner: loop\n", ""))).toEqual([said]);
    expect(problemsOf(fullPlan.replace("runner: loop", "runner: cli:claude"))).toHaveLength(1);
  });
  it("[PLAN-25] a plan of steps has no such problem", () => {
    const steps = fullPlan
      .replace("runner: loop", "runner: steps")
      .replace("The briefing, in prose.", "```sh\nnpm test\n```");
    expect(problemsOf(steps)).toEqual([]);
  });
});
