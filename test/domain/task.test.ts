import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  finalStatuses,
  isFinal,
  type Phase,
  phaseOf,
  phasePath,
  statusWhile,
  type TaskFacts,
} from "../../src/domain/task.ts";
import { attemptStates, phases, taskStatuses } from "../../src/domain/view.ts";

type Item = TaskFacts["items"][number];
const item = (fields: Partial<Item> = {}): Item => ({
  outcome: "open",
  attempt: null,
  failed_before: false,
  ...fields,
});
const task = (fields: Partial<TaskFacts> = {}): TaskFacts => ({
  status: "active",
  routed: true,
  plan: "approved",
  items: [item()],
  ...fields,
});

describe("the phase of a task", () => {
  it("[TASK-1] before a plan is approved it is where the plan is", () => {
    const early: [Partial<TaskFacts>, Phase][] = [
      [{ routed: false, plan: "none" }, "discovery"],
      [{ plan: "none" }, "spec_creation"],
      [{ plan: "none", researching: true }, "context_gathering"],
      [{ plan: "in_review", researching: true }, "planning"],
      [{ plan: "in_review" }, "planning"],
      [{ plan: "in_review", items: [item({ outcome: "done" })] }, "planning"],
      [{ plan: "approved", items: [] }, "coding"],
    ];
    for (const [facts, phase] of early) expect(phaseOf(task(facts)), JSON.stringify(facts)).toBe(phase);
  });
  it("[TASK-1] an item shows the phase of its newest attempt, and `fixing` once one of them failed", () => {
    const shown = attemptStates.map((attempt) => [
      attempt,
      phaseOf(task({ items: [item({ attempt })] })),
      phaseOf(task({ items: [item({ attempt, failed_before: true })] })),
    ]);
    expect(shown).toEqual([
      ["due", "coding", "fixing"],
      ["running", "coding", "fixing"],
      ["suspended", "coding", "fixing"],
      ["executed", "qa", "qa"],
      ["verifying", "qa", "qa"],
      ["merging", "merging", "merging"],
      ["done", "merging", "merging"],
      ["failed", "coding", "fixing"],
      ["crashed", "coding", "fixing"],
      ["cancelled", "coding", "fixing"],
    ]);
  });
  it("[TASK-2] of items side by side the least advanced open one is shown", () => {
    const coding = item({ attempt: "running" });
    const fixing = item({ attempt: "running", failed_before: true });
    const qa = item({ attempt: "verifying" });
    const merging = item({ attempt: "merging" });
    const done = item({ outcome: "done", attempt: "done" });
    const rising = [coding, fixing, qa, merging, done];
    const names: Phase[] = ["coding", "fixing", "qa", "merging", "merging"];
    for (const [low, phase] of names.entries())
      for (const high of rising.slice(low))
        for (const items of [
          [rising[low] ?? done, high],
          [high, rising[low] ?? done],
        ])
          expect(phaseOf(task({ items }))).toBe(phase);
  });
  it("[TASK-2] what failed for good and what waits for it hold no sibling back", () => {
    const dead = [item({ outcome: "failed", attempt: "failed", failed_before: true }), item({ outcome: "blocked" })];
    expect(phaseOf(task({ items: [...dead, item({ attempt: "verifying" })] }))).toBe("qa");
    expect(phaseOf(task({ items: [item({ outcome: "done" }), ...dead] }))).toBe("merging");
    expect(phaseOf(task({ items: dead }))).toBe("coding");
  });
  it("[TASK-3] done is complete, every other end is an error, whatever the items say", () => {
    for (const items of [[], [item()], [item({ outcome: "done" })]])
      for (const status of taskStatuses.filter(isFinal))
        for (const plan of ["none", "in_review", "approved"] as const)
          expect(phaseOf(task({ status, plan, items }))).toBe(status === "done" ? "complete" : "error");
    expect(taskStatuses.filter((status) => !isFinal(status))).toEqual(["active", "waiting"]);
    expect(finalStatuses).toHaveLength(4);
  });
});

describe("the phases passed on the way", () => {
  const order: Phase[] = [
    "discovery",
    "context_gathering",
    "spec_creation",
    "planning",
    "coding",
    "fixing",
    "qa",
    "merging",
    "complete",
  ];
  it("[TASK-4] forward every phase between is passed, `fixing` only as the goal", () => {
    expect(phasePath(null, "discovery")).toEqual(["discovery"]);
    expect(phasePath("discovery", "planning")).toEqual(["context_gathering", "spec_creation", "planning"]);
    expect(phasePath("coding", "qa")).toEqual(["qa"]);
    expect(phasePath("coding", "fixing")).toEqual(["fixing"]);
    expect(phasePath("fixing", "merging")).toEqual(["qa", "merging"]);
    expect(phasePath(null, "complete")).toEqual(order.filter((phase) => phase !== "fixing"));
  });
  it("[TASK-4] backward, into an error or out of one there is nothing between; where it is already, nothing starts", () => {
    expect(phasePath("qa", "fixing")).toEqual(["fixing"]);
    expect(phasePath("merging", "coding")).toEqual(["coding"]);
    expect(phasePath("qa", "planning")).toEqual(["planning"]);
    for (const phase of phases) {
      expect(phasePath(phase, phase)).toEqual([]);
      if (phase === "error") continue;
      expect(phasePath(phase, "error")).toEqual(["error"]);
      expect(phasePath("error", phase)).toEqual([phase]);
    }
    expect(phasePath(null, "error")).toEqual(["error"]);
  });
  it("[TASK-4] whatever the way, it ends where the task is and no phase starts twice in a row", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...phases), { minLength: 1 }), (visited) => {
        let at: Phase | null = null;
        const started: Phase[] = [];
        for (const to of visited) {
          started.push(...phasePath(at, to));
          at = to;
        }
        return started.at(-1) === at && started.every((phase, index) => phase !== started[index - 1]);
      }),
    );
  });
});

describe("the status of a task that is not over", () => {
  it("[TASK-5] it waits once nothing of it runs and a card is open, and names the newest card's kind", () => {
    expect(statusWhile(0, [])).toEqual({ status: "active", waiting_on: null });
    expect(statusWhile(0, ["plan"])).toEqual({ status: "waiting", waiting_on: "plan" });
    expect(statusWhile(0, ["gate", "tool_call"])).toEqual({ status: "waiting", waiting_on: "tool_call" });
    expect(statusWhile(1, ["gate", "tool_call"])).toEqual({ status: "active", waiting_on: null });
    expect(statusWhile(3, [])).toEqual({ status: "active", waiting_on: null });
  });
});
