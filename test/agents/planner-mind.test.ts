import { describe, expect, it } from "vitest";
import { planner } from "../../src/agents/planner.ts";
import { planResult, words } from "../../src/domain/payloads.ts";
import { limits } from "../../src/limits.ts";
import { only, sample, stamped } from "../fakes/orders.ts";
import {
  calling,
  consultMessage,
  goodPlan,
  lastRequest,
  planMessage,
  replanMessage,
  runPlanner as run,
  script,
  texts,
} from "../fakes/planning.ts";
import { drive, runContext } from "../fakes/world.ts";

const submit = ["submit_plan", { plan_markdown: goodPlan }] as const;

describe("a wish", () => {
  it("[PLR-6] becomes a plan: handed in, it goes to the proxy with the commit the reference named at first", async () => {
    const w = sample();
    script(w, calling(["validate_plan", { plan_markdown: goodPlan }]), calling(submit));
    const { out } = await run(w, planMessage(), { dies: true });
    const sent = stamped(only(out), "planner");
    expect(sent).toMatchObject({ message_kind: "plan_result", recipient: "proxy", plan_markdown: goodPlan });
    expect(planResult.parse(sent.payload)).toEqual({ base_commit: w.main });
    expect(texts(lastRequest(w).turns)).toContain("The plan is valid.");
    expect(texts(lastRequest(w).turns)[0]).toContain("Show the last page.");
    expect(lastRequest(w).instructions).not.toContain("Show the last page.");
    expect(new Set(w.asked.map(({ method }) => method))).toEqual(new Set(["resolve"]));
    expect(w.bus.asked).toEqual([]);
  });
  it("[PLR-6] what needs no change is answered: the words go through the proxy, and the task is done with them", async () => {
    const w = sample();
    script(w, calling(["answer", { text: "It has three pages." }]));
    const sent = stamped(only((await run(w, planMessage())).out), "planner");
    expect(sent).toMatchObject({ message_kind: "agent_message", recipient: "proxy", content: "It has three pages." });
    expect(words.parse(sent.payload)).toEqual({ route: "direct", ends_task: true, version: null, ended_as: "done" });
  });
  it("[PLR-6] no way is said so, with the planner's reason", async () => {
    const w = sample();
    script(w, calling(["give_up", { reason: "there is no pager" }]));
    const sent = stamped(only((await run(w, planMessage())).out), "planner");
    expect(sent).toMatchObject({ message_kind: "plan_result", plan_markdown: null, error_code: "tool_failure" });
    expect(sent.content).toContain("there is no pager");
  });
  it("[PLR-7] a plan with problems comes back with each and its line, and the third one ends it", async () => {
    const w = sample();
    const bad = goodPlan.replace("goal:", "gaol:");
    script(w, calling(["submit_plan", { plan_markdown: bad }]), calling(submit));
    const good = await run(w, planMessage(), { dies: true });
    expect(only(good.out).plan_markdown).toBe(goodPlan);
    const back = lastRequest(w).turns.findLast((turn) => turn.kind === "result");
    expect(back).toMatchObject({ is_error: true });
    expect(back?.kind === "result" ? back.text : "").toMatch(/line 3, column \d+: /);

    const worse = sample();
    const other = (n: number) => calling(["submit_plan", { plan_markdown: bad.replace("Fix it", `Fix ${n}`) }]);
    script(worse, other(1), other(2), other(3));
    const sent = stamped(only((await run(worse, planMessage())).out), "planner");
    expect(sent).toMatchObject({ message_kind: "plan_result", plan_markdown: null, error_code: "tool_failure" });
    expect(sent.content).toContain("3 plans with problems");
    expect(worse.models.requests).toHaveLength(limits.max_plan_errors);
  });
  it("[PLR-7] an item for an executor's model is a problem as long as none is configured", async () => {
    const w = sample();
    w.models.without = ["executor"];
    const loop = goodPlan
      .replace("runner: steps", "runner: loop")
      .replace("items:", "budget: { tokens: 100000 }\nitems:");
    script(w, calling(["submit_plan", { plan_markdown: loop }]), calling(submit));
    expect(only((await run(w, planMessage())).out).plan_markdown).toBe(goodPlan);
    expect(texts(lastRequest(w).turns).join("\n")).toContain("MODEL_EXECUTOR");
  });
  it("[PLR-8] changes somebody asked for are told with the plan as it was, and cannot be answered by words alone", async () => {
    const w = sample();
    script(w, calling(submit));
    const payload = { repo: planMessage().payload.repo ?? "", ref: "HEAD", revise: true, previous_plan: "p1" };
    const previous_markdown = goodPlan.replace("Every row is listed", "The plan as it was before");
    await run(w, planMessage({ content: "Change the plan: smaller.", payload: { ...payload, previous_markdown } }));
    const { tools, turns } = lastRequest(w);
    expect(texts(turns)[0]).toContain("Change the plan: smaller.");
    expect(texts(turns)[0]).toContain("The plan as it was before");
    expect(tools.map(({ name }) => name)).not.toContain("answer");
  });
  it("[PLR-8] the planner has no tool that touches a repository or the web", async () => {
    const w = sample();
    script(w, calling(submit));
    await run(w, planMessage());
    expect(
      lastRequest(w)
        .tools.map(({ name }) => name)
        .sort(),
    ).toEqual(
      [
        "answer",
        "await_research",
        "give_up",
        "memory_search",
        "request_research",
        "submit_plan",
        "validate_plan",
      ].sort(),
    );
  });
  it("[PLR-9] a budget that is used up is waited for, one that was refused ends it, and a task that is over ends it in silence", async () => {
    const w = sample();
    script(w, calling(submit));
    let waits = 3;
    w.minds.thinking = () =>
      waits-- > 0 ? { answer: "wait", reason: "a person is asked" } : { answer: "go", tokens_left: 1, usd_left: 1 };
    const waited = await run(w, planMessage());
    expect(waited.waits).toHaveLength(3);
    expect(only(waited.out).plan_markdown).toBe(goodPlan);
    w.minds.thinking = () => ({ answer: "refused", error_code: "budget_exceeded", reason: "no more" });
    expect(only((await run(w, planMessage())).out)).toMatchObject({
      error_code: "budget_exceeded",
      content: "no more",
    });
    w.minds.thinking = () => ({ answer: "stale", reason: "the task is cancelled" });
    expect((await run(w, planMessage())).out).toEqual([]);
    const called_off = await drive(planner, { ...runContext(planMessage()), cancelled: true }, w.ports);
    expect(called_off.out).toEqual([]);
  });
  it("[PLR-9] who thinks is paid for as a plan, and what is looked up is asked of the runtime first", async () => {
    const w = sample();
    script(w, calling(["memory_search", { query: "pager" }]), calling(submit));
    w.minds.using = () => ({
      answer: "refused",
      rule: "tool:memory_search",
      reason: "the policy denies memory_search",
    });
    const told: string[] = [];
    w.minds.memories = (query) => {
      told.push(query);
      return [];
    };
    await run(w, planMessage());
    expect(w.minds.asked[0]).toMatchObject({
      role: "planner",
      payer: { kind: "task", task_id: "task-1", why: "plan" },
    });
    expect(w.minds.used).toMatchObject([{ tool: "memory_search", agent: "planner", task_id: "task-1" }]);
    expect(told).toHaveLength(1);
    expect(texts(lastRequest(w).turns).join("\n")).toContain("the policy denies memory_search");
  });
});

describe("a crew that is stuck", () => {
  it("[PLR-14] is given guidance under the consultation's id, from a short loop that can only look back and advise", async () => {
    const w = sample();
    script(w, calling(["guide", { guidance: "Look at the rounding." }]));
    const sent = stamped(only((await run(w, consultMessage(), { dies: true })).out), "planner");
    expect(sent).toMatchObject({
      ...{ message_kind: "planner_guidance", recipient: "runtime_queue", content: "Look at the rounding." },
      ...{ payload: { consult_id: "consult-1" }, error_code: null },
    });
    expect(
      lastRequest(w)
        .tools.map(({ name }) => name)
        .sort(),
    ).toEqual(["guide", "memory_search"]);
    expect(texts(lastRequest(w).turns)[0]).toContain("npm test: 2 failed");
    expect(w.minds.asked[0]?.payer).toMatchObject({ why: "consult" });
    w.minds.thinking = () => ({ answer: "refused", error_code: "budget_exceeded", reason: "no more" });
    expect(only((await run(w, consultMessage())).out)).toMatchObject({
      ...{ message_kind: "planner_guidance", payload: { consult_id: "consult-1" }, error_code: "budget_exceeded" },
    });
  });
  it("[PLR-15] is given another plan for the commit it stands on; the same plan again comes back, and no way is a failed result", async () => {
    const w = sample();
    const other = goodPlan.replace("true\n", "false\n");
    script(
      w,
      calling(["submit_plan", { plan_markdown: `${goodPlan}\n` }]),
      calling(["submit_plan", { plan_markdown: other }]),
    );
    const sent = stamped(only((await run(w, replanMessage(goodPlan, "c0ffee"))).out), "planner");
    expect(sent).toMatchObject({
      message_kind: "plan_result",
      plan_markdown: other,
      payload: { base_commit: "c0ffee" },
    });
    expect(texts(lastRequest(w).turns).join("\n")).toContain("unchanged");
    expect(w.minds.asked[0]?.payer).toMatchObject({ why: "replan" });
    script(w, calling(["give_up", { reason: "it cannot be done" }]));
    expect(stamped(only((await run(w, replanMessage(goodPlan, "c0ffee"))).out), "planner")).toMatchObject({
      ...{ message_kind: "plan_result", plan_markdown: null, error_code: "verification_failed" },
    });
  });
});
