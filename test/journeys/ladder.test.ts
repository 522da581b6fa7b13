/** Work that does not get on: guidance, another plan, a person; a budget that is used up; a loop that goes in circles. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, inOrder, type Play, thoughts } from "./minds.ts";
import {
  begunCalls,
  grant,
  inTurn,
  loopPlan,
  markedIn,
  openThinkingRoad,
  rungsOf,
  type ThinkingRoad,
  toldRungs,
} from "./stuck.ts";

const write = (path: string, content: string) => call("file_write", { path, content });
const mark = (word: string) => call("shell_execute", { command: `sh mark.sh ${word} 0` });
const finish = call("finish", { summary: "It is written." });
const planned = (plan: string) => call("submit_plan", { plan_markdown: plan });
const givesUp = (reason: string): Play => inOrder(call("give_up", { reason }));
const isPlanner: (request: Parameters<Play>[0]) => boolean = ({ tools }) => tools.includes("submit_plan");

const advice = "Write the word amethyst, not the word glass: the check looks for that very stone.";
const amberPlan = loopPlan("amber", [
  { id: "amber", verify: [["grep", "-q", "amethyst", "src/amber.txt"]], max_attempts: 2 },
]);
const amber: Play = (request) => {
  if (request.tools.includes("guide")) return call("guide", { guidance: advice });
  const word = request.all.includes(advice) ? "amethyst" : "glass";
  return inOrder(write("src/amber.txt", `${word}\n`), finish)(request);
};

const berylPlans = [
  loopPlan("beryl", [{ id: "cut" }]),
  loopPlan("beryl", [{ id: "polish", on_stuck: "replan" }]),
  loopPlan("beryl", [{ id: "grind", on_stuck: "replan" }]),
] as const;
const replans = inTurn(
  // The first time it tries the plan that failed, which is not taken.
  inOrder(planned(berylPlans[0]), planned(berylPlans[1])),
  inOrder(planned(berylPlans[2])),
);
const beryl: Play = (request) => {
  if (request.tools.includes("guide")) return call("guide", { guidance: "Hold it the other way round." });
  return isPlanner(request) ? replans(request) : givesUp("the stone does not yield")(request);
};

const citrine: Play = (request) =>
  request.all.includes("blue ink")
    ? inOrder(write("src/citrine.txt", "blue\n"), finish)(request)
    : givesUp("nobody said which ink")(request);
const garnet: Play = (request) =>
  isPlanner(request) ? call("give_up", { reason: "Every door of it is walled up." }) : givesUp("it is a wall")(request);

const cobalt: Play = inOrder(write("src/cobalt.txt", "blue\n"), mark("one"), mark("two"), finish);
const coral: Play = inOrder(mark("one"), mark("two"), mark("three"), finish);

const dunePlan = loopPlan("dune", [
  { id: "half", section: "Write the first half." },
  { id: "rest", section: "Write the rest." },
]);
const dune: Play = (request) => {
  if (isPlanner(request)) return planned(dunePlan);
  const told = request.messages[0]?.text ?? "";
  const item = ["half", "rest"].find((id) => told.includes(`Change dune: ${id}`));
  return item === undefined
    ? call("file_read", { path: "README.md" })
    : inOrder(write(`src/${item}.txt`, `${item}\n`), finish)(request);
};

let thinking: ThinkingRoad;
beforeAll(async () => {
  thinking = await openThinkingRoad({ amber, beryl, citrine, garnet, cobalt, coral, dune });
});
afterAll(() => thinking.close());

describe.concurrent("an item that does not get on", () => {
  it("[MND-20] its checks fail to the limit, the planner's guidance reaches the next attempt under its own heading, and that one is done", async () => {
    const { road, briefs } = thinking;
    const id = await road.ask(amberPlan);
    await road.countersign(id);
    const task = await road.ended(id);
    expect(task).toMatchObject({ status: "done" });
    expect(road.repo.file(`countersign/${id}`, "src/amber.txt")).toBe("amethyst\n");
    expect(rungsOf(task)).toEqual(["attempt > retry: taken", "attempt > consult: answered"]);
    expect(toldRungs(await road.events(id))).toEqual(["attempt > retry", "attempt > consult"]);
    const told = briefs("amber", "executor");
    expect(told.map((text) => text.includes("## Planner guidance"))).toEqual([false, false, true]);
    expect(told[2]?.split("## Planner guidance")[1]).toContain(advice);
    expect(briefs("amber", "consult")[0]).toContain("Attempt 2 ended: grep -q amethyst src/amber.txt");
  });

  it("[MND-21] attempts, guidance and two other plans come to nothing: a person is asked, and told what was tried", async () => {
    const { road, briefs, requests } = thinking;
    const id = await road.ask(berylPlans[0]);
    await road.countersign(id);
    for (const version of [2, 3]) {
      const card = await road.card(id, "plan");
      expect(card.card.facts.join("\n")).toContain(`It replaces version ${version - 1} of the plan`);
      await road.approve(card);
    }
    const card = await road.card(id, "escalation");
    expect(card.card.facts.join("\n")).toContain("Attempt 1 ended: it gave up: the stone does not yield");
    const waiting = await road.task(id);
    expect(waiting).toMatchObject({ status: "waiting", waiting_on: "escalation" });
    const taken = ["attempt > consult", "attempt > replan", "attempt > replan", "attempt > escalate"];
    expect(rungsOf(waiting)).toEqual([
      ...["attempt > consult: answered", "attempt > replan: answered", "attempt > replan: answered"],
      "attempt > escalate: taken",
    ]);
    expect(toldRungs(await road.events(id))).toEqual(taken);
    expect(briefs("beryl", "executor")).toHaveLength(4);
    expect(
      requests("beryl", "planner").some(({ all }) => all.includes("This is the plan that failed, unchanged")),
    ).toBe(true);
    await road.deny(card, "Leave it.");
    expect(await road.ended(id)).toMatchObject({ status: "failed", error_code: "tool_failure", branch: null });
    const rungs = (await road.audit(waiting.trace_id)).filter(({ decision }) => decision === "rung");
    expect(rungs.map(({ details }) => `${details.from} > ${details.to}`).toSorted()).toEqual(taken.toSorted());
  });

  it("[MND-22] an item that goes to a person when it is stuck asks no planner, and what the person says reaches the next attempt", async () => {
    const { road, briefs } = thinking;
    const id = await road.ask(loopPlan("citrine", [{ id: "citrine", on_stuck: "escalate" }]));
    await road.countersign(id);
    await road.approve(await road.card(id, "escalation"), "Use the blue ink.");
    const task = await road.ended(id);
    expect(task).toMatchObject({ status: "done" });
    expect(rungsOf(task)).toEqual(["attempt > escalate: taken"]);
    expect([...briefs("citrine", "consult"), ...briefs("citrine", "planner")]).toEqual([]);
    expect(briefs("citrine", "executor")[1]).toContain("A person said: Use the blue ink.");
  });

  it("[MND-23] a planner that sees no other way says so to a person", async () => {
    const { road } = thinking;
    const id = await road.ask(loopPlan("garnet", [{ id: "garnet", on_stuck: "replan" }]));
    await road.countersign(id);
    const card = await road.card(id, "escalation");
    expect(card.card.facts.join("\n")).toContain("Every door of it is walled up.");
    expect(rungsOf(await road.task(id))).toEqual(["attempt > replan: failed", "replan > escalate: taken"]);
    await road.deny(card, "Then not.");
    expect((await road.ended(id)).status).toBe("failed");
  });

  it("[MND-24] a loop that goes in circles is told less, then in simpler words, then its item is parted by a plan that a person approves", async () => {
    const { road, requests } = thinking;
    const id = await road.ask(loopPlan("dune", [{ id: "whole", section: "Write all of it." }]));
    await road.countersign(id);
    const card = await road.card(id, "plan");
    expect(card.card.items.map(({ title }) => title)).toEqual(["Change dune: half", "Change dune: rest"]);
    const recovered = (await road.events(id)).filter(({ type }) => type === "recovery");
    expect(recovered.map(({ action, stuck }) => `${stuck}: ${action}`)).toEqual([
      ...["looping: reduce_context", "looping: simplify_prompt", "looping: decompose"],
    ]);
    for (const { detail } of recovered) expect(detail).toContain("the same call 3 times in a row");
    const circling = requests("dune", "executor");
    const [first, last] = [circling[0]?.system ?? "", circling.at(-1)?.system ?? ""];
    expect(last.length).toBeLessThan(first.length / 2);
    expect(requests("dune", "planner")[0]?.all).toContain("Split it into smaller items");
    await road.approve(card);
    const task = await road.ended(id);
    expect(task).toMatchObject({ status: "done" });
    expect(rungsOf(task)).toEqual(["attempt > decompose: answered"]);
    for (const item of ["half", "rest"])
      expect(road.repo.file(`countersign/${id}`, `src/${item}.txt`)).toBe(`${item}\n`);
  });
});

/** What a scripted call costs. */
const each = 1_040;
describe.concurrent("a budget that is used up", () => {
  it("[MND-25] in the middle of the work it pauses and asks; with more it goes on where it was, and nothing runs twice", async () => {
    const { road } = thinking;
    const tokens = 2 * each + 100;
    const id = await road.ask(loopPlan("cobalt", [{ id: "cobalt", tokens }]));
    await road.countersign(id);
    const card = await road.card(id, "budget");
    const paused = await road.becomes(id, "put away", ({ attempts }) => attempts[0]?.state === "suspended");
    expect(paused).toMatchObject({ status: "waiting", waiting_on: "budget" });
    expect(await thoughts(road, id)).toHaveLength(3);
    expect(card.card.facts[0]).toContain(`Spent: 3000 tokens in and 120 out of ${tokens}`);
    await grant(road, card, 2 * each);
    const task = await road.ended(id);
    expect(task).toMatchObject({ status: "done", spent: { calls: 4 } });
    expect(task.attempts.map(({ state }) => state)).toEqual(["done"]);
    expect(road.repo.file(`countersign/${id}`, "src/marks.txt")).toBe("one\ntwo\n");
    expect(markedIn(await road.events(id))).toEqual(["one", "two"]);
    const begun = begunCalls(await road.audit(task.trace_id));
    expect(begun.toSorted()).toEqual([...new Set(begun)].toSorted());
  });

  it("[MND-26] denied more, it ends for lack of budget, and it spent no more than one call too many", async () => {
    const { road } = thinking;
    const tokens = each + 100;
    const id = await road.ask(loopPlan("coral", [{ id: "coral", tokens }]));
    await road.countersign(id);
    await road.deny(await road.card(id, "budget"), "That was enough.");
    const task = await road.ended(id);
    expect(task).toMatchObject({ status: "failed", error_code: "budget_exceeded", branch: null });
    expect(task.attempts).toMatchObject([{ state: "failed", error_code: "budget_exceeded" }]);
    const { input_tokens = 0, output_tokens = 0 } = task.spent ?? {};
    expect(input_tokens + output_tokens).toBe(2 * each);
    expect(markedIn(await road.events(id))).toEqual(["one", "two"]);
  });
});
