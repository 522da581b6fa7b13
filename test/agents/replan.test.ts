/** Another plan for what is left of a task: when it is asked for, what it replaces, and what follows when none comes. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { refuseBudget } from "../../durable-objects/runtime/budgets.ts";
import { dispatch } from "../../durable-objects/runtime/dispatch.ts";
import { ask } from "../../durable-objects/runtime/plans.ts";
import { emptyCard } from "../../src/domain/approval.ts";
import { executionOrder } from "../../src/domain/result.ts";
import { askingPlan, base, callerOf, HeldScope, must, shell } from "../fakes/held-scope.ts";
import { answers, fails, item, merges, open, planOf, replanOf, rungs, stuckTwice } from "../fakes/ladders.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-03-01T00:00:00Z") }));
afterEach(() => vi.useRealTimers());

describe("another plan", () => {
  const two = planOf("First", item("a", "max_attempts: 1, on_stuck: replan"), item("b"));
  /** The same, and an item that may start once b is done. */
  const three = `${two.replace("items:\n", `items:\n  - ${item("z", "depends_on: [b]")}\n`)}\n## z\n\`\`\`sh\necho z\n\`\`\`\n`;
  const tip = "c".repeat(40);
  /** Item b is merged, item a has failed, and a new plan is in review. */
  async function inReview(run = open(), plan = two) {
    const id = await run.going(plan);
    const [a, b] = [await run.begun(), await run.begun("crew-2")];
    await fails(run, id, {}, a);
    await merges(run, id, b, tip);
    // The repository has moved on since the first plan.
    await run.observe(run.planResult(id, planOf("Second", item("c")), { payload: { base_commit: "e".repeat(40) } }));
    return { run, id, card: await run.onlyCard(id) };
  }
  it("[LAD-25] is asked for when the siblings have finished, and nothing new is begun: what is done and what failed goes with it", async () => {
    const run = open();
    const id = await run.going(three);
    const [a, b] = [await run.begun(), await run.begun("crew-2")];
    await fails(run, id, {}, a);
    expect(rungs(run, id)).toEqual(["attempt > replan: held"]);
    expect(run.sent("replan_request")).toEqual([]);
    await merges(run, id, b, tip);
    expect(run.attempts(id).map(({ state }) => state)).toEqual(["failed", "done"]);
    const { message, asked } = replanOf(run);
    expect(message).toMatchObject({ recipient: "planner", plan_markdown: run.rows.plans.ofTask(id)[0]?.markdown });
    expect(asked).toMatchObject({
      ...{ base_commit: tip, goal: "A goal", done: ["b: b"], depth: 1, mode: "other_approach" },
      failures: ["a: Attempt 1 ended: it broke"],
    });
    expect(run.taskRow(id)).toMatchObject({ status: "active", phase: "spec_creation" });
  });
  it("[LAD-26] is put before a person, who is told what it replaces and what is done", async () => {
    const { run, id, card } = await inReview();
    expect(card).toMatchObject({ kind: "plan", card: { title: expect.stringContaining("Second") } });
    expect(card.card.facts.slice(0, 3)).toEqual([
      'It replaces version 1 of the plan, "First": approving it ends that one\'s open items and their approvals.',
      "Done, and kept on the branch: b",
      "Why another plan: it broke",
    ]);
    expect(run.taskRow(id)).toMatchObject({ status: "waiting", waiting_on: "plan", phase: "planning" });
    expect(run.rows.plans.ofTask(id).map(({ status }) => status)).toEqual(["approved", "in_review"]);
  });
  it("[LAD-27] approved takes the old one's place: its open items and their tokens end, what is done stays, and the new items start at the branch", async () => {
    const { run, id, card } = await inReview();
    must(await run.approve(card));
    expect(run.rows.plans.ofTask(id).map(({ status }) => status)).toEqual(["superseded", "approved"]);
    const items = run.rows.items.ofTask(id).map(({ spec, outcome, grant }) => [spec.id, outcome, grant?.life]);
    expect(items).toEqual([
      ["a", "blocked", "void"],
      ["b", "done", "executed"],
      ["c", "open", "attached"],
    ]);
    const held = await run.begun();
    expect(executionOrder.parse(held.lease.message.payload)).toMatchObject({ baseline: tip });
    expect(run.taskRow(id).base_commit).toBe(base);
    await merges(run, id, held, "d".repeat(40), "src/c/x.txt");
    expect(run.taskRow(id).tip?.commit).toBe("d".repeat(40));
    expect(run.sent("verification_request").at(-1)?.payload).toMatchObject({
      stage: "publish",
      commit: "d".repeat(40),
    });
  });
  it("[LAD-28] denied ends the task; changes asked for go to the planner, and nothing of the old plan is begun meanwhile", async () => {
    const { run, id, card } = await inReview(open(), three);
    must(await run.changes(card, "smaller"));
    run.scope.commit((tx) => dispatch(tx, run.taskRow(id)));
    expect(run.attempts(id)).toHaveLength(2);
    await answers(run, id, planOf("Third", item("d")), "again");
    const third = await run.onlyCard(id);
    expect(third.card.facts[0]).toContain("It replaces version 1");
    must(await run.deny(third, "no more"));
    expect(run.taskRow(id).status).toBe("denied");
    expect(run.rows.items.ofTask(id).find(({ spec }) => spec.id === "b")?.outcome).toBe("done");
  });
  it.each<[string, string | null]>([
    ["that the planner does not have", null],
    ["that is the same again", planOf("First")],
    ["that is not valid", "no plan at all"],
  ])("[LAD-29] %s puts the item before a person, whose yes allows one more attempt", async (_, plan) => {
    const { run, id } = await stuckTwice();
    await answers(run, id, plan, "nothing else comes to mind");
    expect(rungs(run, id)).toEqual([
      "attempt > consult: timeout",
      "consult > replan: failed",
      "replan > escalate: taken",
    ]);
    const card = await run.onlyCard(id);
    expect(card).toMatchObject({ kind: "escalation" });
    expect(card.card.facts.join("\n")).toContain("replan: ");
    must(await run.approve(card));
    expect((await run.begun()).ref.attempt_id).toBe(run.attempts(id)[1]?.id);
  });
  it("[LAD-30] of another plan is asked for too, twice a task at most; then a person is", async () => {
    const run = open();
    const plan = (title: string) => planOf(title, item("a", "max_attempts: 1, on_stuck: replan"));
    const id = await run.going(plan("First"));
    for (const title of ["Second", "Third"]) {
      await fails(run, id);
      await answers(run, id, plan(title), title);
      must(await run.approve(await run.onlyCard(id)));
    }
    await fails(run, id);
    expect(run.sent("replan_request").map(({ payload }) => payload.depth)).toEqual([1, 2]);
    expect((await run.onlyCard(id)).kind).toBe("escalation");
    expect(run.rows.plans.ofTask(id).map(({ status }) => status)).toEqual(["superseded", "superseded", "approved"]);
  });
  it("[LAD-31] a loop too big for its item asks for smaller ones; one that asks for a person gets one", async () => {
    const run = open();
    const id = await run.going(planOf("First", item("a", "max_attempts: 3")));
    await fails(run, id, { stuck: { reason: "exhausted", next: "decompose", detail: "too big" } });
    expect(replanOf(run).asked).toMatchObject({ mode: "decompose", depth: 1 });
    expect(run.taskRow(id)).toMatchObject({ replans: 0, decomposes: 1 });
    const other = await run.going(planOf("First", item("a", "max_attempts: 3")));
    await fails(run, other, { stuck: { reason: "looping", next: "ask_person", detail: "help" } });
    expect((await run.onlyCard(other)).kind).toBe("escalation");
  });
  it("[LAD-32] is for everybody who wants one: items that are stuck together ask once, and all are escalated if none comes", async () => {
    const run = open();
    const stuck = "max_attempts: 1, on_stuck: replan";
    const id = await run.going(planOf("First", item("a", stuck), item("b", stuck)));
    const [a, b] = [await run.begun(), await run.begun("crew-2")];
    await fails(run, id, {}, a);
    await fails(run, id, { output: "b" }, b);
    expect(run.sent("replan_request")).toHaveLength(1);
    expect(replanOf(run).asked.failures).toHaveLength(2);
    await answers(run, id, null);
    expect((await run.cards(id)).map(({ kind }) => kind)).toEqual(["escalation", "escalation"]);
  });
});

it("[LAD-35] a wish for another plan that a person drops puts the item before a person", async () => {
  const { run, id } = await stuckTwice();
  const { title, why, requested_by } = { title: "t", why: "w", requested_by: "runtime" };
  const about = { repo: "r", taint: "member", policy_hash: "h" } as const;
  const card = emptyCard({ kind: "dead_letter", title, why, requested_by, ...about });
  const message = { message_id: "m1", message_kind: "replan_request", recipient: "planner" } as const;
  run.scope.commit((tx) => ask(tx, run.taskRow(id), { cause: "letter", card, rule: "a test", ...message }));
  must(await run.deny(await run.onlyCard(id), "drop it"));
  expect(rungs(run, id).slice(1)).toEqual(["consult > replan: failed", "replan > escalate: taken"]);
  expect((await run.onlyCard(id)).kind).toBe("escalation");
});

describe("what is still asked when its attempt ends", () => {
  const ada = callerOf("ada#tok001");
  let held: HeldScope;
  beforeEach(() => {
    held = new HeldScope();
  });
  afterEach(() => held.close());

  /** A task whose one attempt waits for a yes to a call. */
  async function waiting(meanwhile: (id: string) => Promise<void> = async () => {}) {
    const id = await held.planned();
    must(await held.approve(ada, held.card(id)));
    const worker = await held.begun();
    await meanwhile(id);
    expect((await held.authorize(worker, shell("echo b"))).answer).toBe("wait");
    await held.suspend(worker, shell("echo b"), "5".repeat(40));
    const call = held.cards(id).find(({ kind }) => kind === "tool_call");
    if (call === undefined) throw new Error("the call was not asked about");
    return { id, call };
  }
  const another = (id: string) => held.replan(id, askingPlan.replace("A goal", "Another goal"));

  it("[LAD-37] approved, another plan takes back what the old one's items asked after it came", async () => {
    const { id, call } = await waiting(another);
    const plan = held.cards(id).find(({ kind }) => kind === "plan");
    if (plan === undefined) throw new Error("the plan is not in review");
    must(await held.approve(ada, plan));
    expect(held.rows.approvals.get(call.id)).toMatchObject({ status: "superseded", life: "void" });
    const late = await held.approve(ada, call);
    expect(late).toMatchObject({ ok: false, refusal: { code: "already_resolved" } });
  });
  it("[LAD-37] and an escalation of one of them is not approved for the new plan", async () => {
    const { id } = await waiting(another);
    const plan = held.cards(id).find(({ kind }) => kind === "plan");
    if (plan === undefined) throw new Error("the plan is not in review");
    const asked = held.scope.commit((tx) => {
      const task = tx.rows.tasks.get(id);
      const [item] = tx.rows.items.ofTask(id);
      if (task === null || item === undefined) throw new Error("there is no item");
      const card = emptyCard({
        ...{ kind: "escalation", title: "t", why: "w", repo: task.repo, taint: task.taint },
        ...{ policy_hash: tx.scope.policy_hash, requested_by: "runtime" },
      });
      return ask(tx, task, { cause: "old", card, rule: "r", work_item_id: item.id });
    });
    must(await held.approve(ada, plan));
    expect(held.rows.approvals.get(asked.id)?.status).toBe("superseded");
  });
  it("[LAD-38] an attempt that is called off takes back the call it asked about", async () => {
    const { id, call } = await waiting();
    held.scope.commit((tx) => {
      for (const attempt of tx.rows.attempts.ofTask(id)) tx.callOff(attempt, "nobody wants it");
    });
    expect(held.rows.approvals.get(call.id)).toMatchObject({
      status: "superseded",
      winner: { reason: "nobody wants it" },
    });
  });
  it("[LAD-38] so does one that fails for its budget", async () => {
    const { id, call } = await waiting();
    held.scope.commit((tx) => {
      const task = tx.rows.tasks.get(id);
      const [item] = tx.rows.items.ofTask(id);
      const card = tx.rows.approvals.get(call.id);
      if (task === null || item === undefined || card === null) throw new Error("there is no item");
      refuseBudget(tx, task, { ...card, kind: "budget", work_item_id: item.id }, { reason: "no", verified: new Set() });
    });
    expect(held.rows.approvals.get(call.id)?.status).toBe("superseded");
  });
});
