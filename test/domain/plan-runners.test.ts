import { describe, expect, it } from "vitest";
import { parsePlan } from "../../src/domain/plan.ts";
import { runnerProblems } from "../../src/domain/plan-runners.ts";
import { fullPlan } from "./plan-text.ts";

function problemsOf(markdown: string, has_mind = false) {
  const reading = parsePlan(markdown);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return runnerProblems(markdown, reading.plan, has_mind);
}

describe("runners", () => {
  it("[PLAN-25] an item with a runner that is not here is named at its line, also when it wrote none", () => {
    const line = fullPlan.split("\n").findIndex((text) => text.includes("- id: fix")) + 1;
    const said = {
      line,
      column: 5,
      message: expect.stringContaining(
        "fix: the runner loop needs a model, and none is configured: set MODEL_EXECUTOR",
      ),
    };
    expect(problemsOf(fullPlan)).toEqual([said]);
    expect(problemsOf(fullPlan.replace("    runner: loop\n", ""))).toEqual([said]);
    for (const has_mind of [false, true])
      expect(problemsOf(fullPlan.replace("runner: loop", "runner: cli:claude"), has_mind)).toHaveLength(1);
  });
  it("[MIND-1] with a model for executors the runner loop is one of them; without, the problem says what to set", () => {
    expect(problemsOf(fullPlan, true)).toEqual([]);
    expect(problemsOf(fullPlan)[0]?.message).toContain("MODEL_EXECUTOR");
  });
  it("[PLAN-25] a plan of steps has no such problem", () => {
    const steps = fullPlan
      .replace("runner: loop", "runner: steps")
      .replace("The briefing, in prose.", "```sh\nnpm test\n```");
    expect(problemsOf(steps)).toEqual([]);
  });
});
