/** Calls of models as the runtime charges them: to whom, once, and what happens when nothing is left. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ThoughtRef } from "../../src/agents/mind-bus.ts";
import { derivedId } from "../../src/domain/ids.ts";
import { taskView } from "../../src/domain/view.ts";
import { limits } from "../../src/limits.ts";
import { must } from "../fakes/held-scope.ts";
import { nodeSql } from "../fakes/node-sql.ts";
import { only } from "../fakes/orders.ts";
import { openRuntime, planOf } from "../fakes/scope-runtime.ts";

type Run = ReturnType<typeof openRuntime>;
const scope_id = "abcdefghijklmnop";
const item = (id: string) =>
  `{ id: ${id}, runner: loop, verify: none, max_attempts: 1, on_stuck: escalate, allow: { tools: [file_read], paths: ['src/${id}/**'] } }`;
const thinking = (budget = "tokens: 1000", ...items: string[]) => {
  const listed = items.length === 0 ? [item("a")] : items;
  const sections = listed.map((text) => `## ${/id: (\w+)/.exec(text)?.[1]}\nDo it.\n`).join("\n");
  return `---\ntitle: A plan\ngoal: A goal\nbudget: { ${budget} }\nitems:\n${listed.map((text) => `  - ${text}\n`).join("")}---\n${sections}`;
};
beforeEach(() => vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-03-01T00:00:00Z") }));
afterEach(() => vi.useRealTimers());
const open = (sql = nodeSql()) => openRuntime(sql, () => true);
type Held = Awaited<ReturnType<Run["begun"]>>;
function refOf(
  task_id: string,
  { ref }: Pick<Held, "ref">,
  number: number,
  more: Partial<ThoughtRef> = {},
): ThoughtRef {
  const { attempt_id, entry, agent } = ref;
  return {
    ...{ thought_id: `${attempt_id}.${entry}.${number}`, run_id: `${attempt_id}.${entry}`, agent, role: "executor" },
    ...{ payer: { kind: "attempt", task_id, attempt_id, entry }, reserve_tokens: 100, prompt: "executor/work@1" },
    ...more,
  };
}
function planner(task_id: string, number: number, more: Partial<ThoughtRef> = {}): ThoughtRef {
  return {
    ...{ thought_id: `plan.${number}`, run_id: "plan", agent: "planner", role: "planner", reserve_tokens: 100 },
    ...{ payer: { kind: "task", task_id, why: "plan" }, prompt: "planner/plan@1" },
    ...more,
  };
}
const may = (run: Run, ref: ThoughtRef) => run.minds.mayThink(scope_id, ref);
function told(run: Run, task_id: string, thought_id: string, tokens: number, more: { usd?: number | null } = {}) {
  const usage = { input_tokens: tokens, output_tokens: 0, cached_tokens: 0, estimated: false };
  const done = { thought_id, model: "compatible/m", usage, usd: 0.5, failure: null, ...more };
  return run.minds.thought(scope_id, task_id, done);
}
async function thinks(run: Run, ref: ThoughtRef, tokens: number, more: { usd?: number | null } = {}): Promise<void> {
  expect(await may(run, ref)).toMatchObject({ answer: "go" });
  await told(run, ref.payer.task_id, ref.thought_id, tokens, more);
}
const suspended = (run: Run, id: string, held: Held) =>
  run.result(id, held, {
    ...{ end: "suspended", success: false, patch: null, content: "waits for budget" },
    suspension: {
      ...{ call_id: "model-9", step: 9, tool: "model_call", arguments: "{}", patch_key: "k", tree: "7".repeat(40) },
      transcript_key: "t",
    },
  });
const calls = (run: Run) =>
  run
    .audit("effect")
    .filter(({ details }) => details.effect === "model_call")
    .map(({ decision, details }) => `${decision} ${details.thought_id}`);
const accounts = (run: Run, id: string) =>
  Object.fromEntries(
    run.rows.accounts
      .ofTask(id)
      .map(({ id: name, spent }) => [name.split(":")[1], spent.input_tokens + spent.output_tokens]),
  );

async function working(plan = thinking()): Promise<{ run: Run; id: string; held: Held }> {
  const run = open();
  const id = await run.going(plan);
  return { run, id, held: await run.begun() };
}
/** The item's share is 800: all of it is spent, and the next call waits. */
async function broke() {
  const at = await working();
  await thinks(at.run, refOf(at.id, at.held, 1), 801);
  expect(await may(at.run, refOf(at.id, at.held, 2))).toMatchObject({ answer: "wait" });
  return { ...at, card: await at.run.onlyCard(at.id) };
}
const raise = (run: Run, card: Awaited<ReturnType<Run["onlyCard"]>>, amount: object) =>
  run.decisions.decide(run.ada, card.id, {
    ...{ decision: "approve", content_hash: card.content_hash, comment: null, amount },
  });

describe("a call of a model", () => {
  it("[CHG-1] is on record as an intent before it is made; asked again under its id nothing more is", async () => {
    const { run, id, held } = await working();
    for (const _ of [1, 2])
      expect(await may(run, refOf(id, held, 1))).toEqual({ answer: "go", tokens_left: 800, usd_left: null });
    expect(calls(run)).toEqual([`intent ${held.ref.attempt_id}.0.1`]);
    expect(run.rows.thoughts.ofTask(id)).toMatchObject([{ state: "open", prompt: "executor/work@1", model: null }]);
  });
  it("[CHG-2] is charged once, however often it is told what it cost, also after its task has ended", async () => {
    const { run, id, held } = await working();
    await may(run, refOf(id, held, 1));
    must(await run.tasks.cancelTask(run.ada, id, "enough"));
    for (const tokens of [70, 70, 9]) await told(run, id, refOf(id, held, 1).thought_id, tokens);
    expect(accounts(run, id)).toEqual({ item: 70 });
    expect(calls(run)).toHaveLength(2);
    await told(run, id, "nobody asked", 1_000);
    expect(accounts(run, id)).toEqual({ item: 70 });
  });
  it("[CHG-3] that was lost is charged as estimated when its run asks anew, and stays so when its price comes late", async () => {
    const { run, id, held } = await working();
    await may(run, refOf(id, held, 1));
    expect(await may(run, refOf(id, held, 2))).toMatchObject({ answer: "go", tokens_left: 700 });
    expect(accounts(run, id)).toEqual({ item: 100 });
    await told(run, id, refOf(id, held, 1).thought_id, 5);
    expect(accounts(run, id)).toEqual({ item: 100 });
    expect(run.rows.thoughts.ofTask(id)).toMatchObject([{ state: "estimated", usd: null }, { state: "open" }]);
    expect(await may(run, refOf(id, held, 1))).toMatchObject({ answer: "stale" });
    expect(must(await run.tasks.task(run.ada, id)).spent).toMatchObject({ estimated: true, unknown_price: true });
  });
  it("[CHG-4] is not let go for an attempt, an entry, an agent or a task that has gone on without it", async () => {
    const { run, id, held } = await working();
    const stale = async (more: Partial<ThoughtRef>) =>
      expect(await may(run, refOf(id, held, 7, more))).toMatchObject({ answer: "stale" });
    const { payer } = refOf(id, held, 7);
    if (payer.kind !== "attempt") throw new Error("not an attempt");
    await stale({ payer: { ...payer, entry: 1 } });
    await stale({ payer: { ...payer, attempt_id: "other" } });
    await stale({ payer: { ...payer, task_id: "other" } });
    await stale({ agent: "crew-2" });
    await thinks(run, refOf(id, held, 1), 10);
    await stale({ thought_id: refOf(id, held, 1).thought_id });
    await may(run, refOf(id, held, 2));
    await stale({ thought_id: refOf(id, held, 2).thought_id, run_id: "another run" });
    must(await run.tasks.cancelTask(run.ada, id, "enough"));
    await stale({});
    expect(await may(run, planner(id, 1))).toMatchObject({ answer: "stale" });
  });
  it("[CHG-5] nobody tells the end of is charged after a quarter of an hour, whoever is still there", async () => {
    const { run, id, held } = await working();
    await may(run, refOf(id, held, 1));
    vi.setSystemTime(Date.now() + limits.thought_lost_ms - 1);
    run.expire();
    expect(accounts(run, id)).toEqual({});
    vi.setSystemTime(Date.now() + 1);
    run.expire();
    expect(accounts(run, id)).toEqual({ item: 100 });
  });
  it("[CHG-6] is known after a restart between the question and the price", async () => {
    const sql = nodeSql();
    const before = open(sql);
    const id = await before.going(thinking());
    const held = await before.begun();
    await may(before, refOf(id, held, 1));
    const run = open(sql);
    expect(await may(run, refOf(id, held, 1))).toMatchObject({ answer: "go" });
    await told(run, id, refOf(id, held, 1).thought_id, 40);
    expect([accounts(run, id), calls(run).length]).toEqual([{ item: 40 }, 2]);
  });
});

describe("who pays", () => {
  it("[CHG-7] an attempt its item's share, all else the planner's part; before a plan the task's own budget", async () => {
    const run = open();
    const id = must(await run.ask(run.ada));
    await thinks(run, planner(id, 1), 10);
    expect(accounts(run, id)).toEqual({ task: 10 });
    await run.observe(run.planResult(id, thinking("tokens: 1000", item("a"), item("b"))));
    await thinks(run, planner(id, 2), 20);
    must(await run.approve(await run.onlyCard(id)));
    const held = await run.begun();
    await thinks(run, refOf(id, held, 1), 30);
    const consult = { payer: { kind: "task", task_id: id, why: "consult" } } as const;
    expect(await may(run, planner(id, 3, consult))).toEqual({ answer: "go", tokens_left: 200, usd_left: null });
    await told(run, id, "plan.3", 40);
    expect(accounts(run, id)).toEqual({ task: 30, item: 30, plan: 40 });
  });
  it("[CHG-8] a plan that states no tokens leaves the planner's calls to the task's budget", async () => {
    const run = open();
    const id = await run.going(planOf(["echo one"]));
    expect(await may(run, planner(id, 1))).toEqual({ answer: "go", tokens_left: limits.task_tokens, usd_left: 5 });
  });
  it("[CHG-9] what a task has spent and has left is shown with it, by phase, with its statuses, and call by call", async () => {
    const { run, id, held } = await working(thinking("tokens: 1000, usd: 10"));
    await thinks(run, refOf(id, held, 1), 30);
    const view = taskView.parse(must(await run.tasks.task(run.ada, id)));
    expect(view.spent).toMatchObject({ calls: 1, input_tokens: 30, usd: 0.5, unknown_price: false, estimated: false });
    expect(view.spent).toMatchObject({ remaining_tokens: 970, remaining_usd: 9.5 });
    expect(view.phases.find(({ phase }) => phase === "coding")?.tokens).toBe(30);
    await thinks(run, refOf(id, held, 2), 30, { usd: null });
    const later = must(await run.tasks.task(run.ada, id));
    expect([later.spent?.usd, later.spent?.unknown_price, later.phases.at(-1)?.tokens]).toEqual([null, true, 60]);
    const page = must(await run.tasks.thoughts(run.ada, id, { limit: 1, cursor: null }));
    const rest = must(await run.tasks.thoughts(run.ada, id, { limit: 5, cursor: page.next_cursor }));
    expect([...page.items, ...rest.items].map(({ id: name, usd }) => [name.at(-1), usd])).toEqual([
      ["1", 0.5],
      ["2", null],
    ]);
    await run.deliver(run.result(id, held, { failed: true, content: "no" }));
    const last = run.sent("execution_status").at(-1)?.payload;
    expect(last).toMatchObject({ status: "stuck", budget_remaining_tokens: 740, budget_remaining_usd: null });
  });
});

describe("when nothing is left", () => {
  it("[CHG-10] one card is asked for the account, however often it is asked, and says what was spent of what", async () => {
    const { run, id, held, card } = await broke();
    expect(await may(run, refOf(id, held, 3))).toMatchObject({ answer: "wait" });
    expect(await run.cards(id)).toHaveLength(1);
    expect(card).toMatchObject({ kind: "budget", card: { budget: { tokens: 800, usd: null } } });
    expect(card.card.facts.join("\n")).toMatch(/^Spent: 801 tokens in and 0 out of 800; .*: 1\n.*\nLeft: 0 tokens,/);
  });
  it("[CHG-11] granted more, the attempt that waits goes on where it was, and not a byte of the plan is other than it was", async () => {
    const { run, id, held, card } = await broke();
    const plan = run.rows.plans.ofTask(id);
    await run.deliver(suspended(run, id, held));
    expect(run.taskRow(id)).toMatchObject({ status: "waiting", waiting_on: "budget" });
    must(await raise(run, card, { tokens: 50 }));
    expect(run.rows.plans.ofTask(id)).toEqual(plan);
    const again = await run.begun("crew-2");
    expect(again.ref).toMatchObject({ attempt_id: held.ref.attempt_id, entry: 1 });
    expect(await may(run, refOf(id, held, 4))).toMatchObject({ answer: "stale" });
    expect(await may(run, refOf(id, again, 1))).toEqual({ answer: "go", tokens_left: 49, usd_left: null });
    await told(run, id, refOf(id, again, 1).thought_id, 60);
    expect(await may(run, refOf(id, again, 2))).toMatchObject({ answer: "wait" });
    expect((await run.onlyCard(id)).id).not.toBe(card.id);
  });
  it("[CHG-12] granted before it has stopped, it goes on at once, whether it asks again or stops", async () => {
    const { run, id, held, card } = await broke();
    must(await raise(run, card, { tokens: 500 }));
    expect(await may(run, refOf(id, held, 3))).toMatchObject({ answer: "go", tokens_left: 499 });
    await run.deliver(suspended(run, id, held));
    expect((await run.begun("crew-2")).ref).toMatchObject({ attempt_id: held.ref.attempt_id, entry: 1 });
  });
  it.each(["before it stops", "after it stopped"])(
    "[CHG-13] refused more %s, the attempt ends for lack of budget and its item fails, and no other card asks",
    async (when) => {
      const { run, id, held, card } = await broke();
      if (when === "after it stopped") await run.deliver(suspended(run, id, held));
      must(await run.deny(card, "too dear"));
      expect(run.attempts(id)).toMatchObject([{ state: "failed", error_code: "budget_exceeded" }]);
      expect(run.taskRow(id)).toMatchObject({ status: "failed", error_code: "budget_exceeded" });
      expect(await run.cards(id)).toEqual([]);
      if (when === "before it stops") await run.deliver(suspended(run, id, held));
      expect(await may(run, refOf(id, held, 3))).toMatchObject({ answer: "stale" });
      expect(run.attempts(id)).toMatchObject([{ state: "failed" }]);
    },
  );
  it("[CHG-14] an item without budget does not stop its siblings, and its card's no does not end what they do", async () => {
    const { run, id, held } = await working(thinking("tokens: 1000", item("a"), item("b")));
    const other = await run.begun("crew-2");
    await thinks(run, refOf(id, held, 1), 400);
    expect(await may(run, refOf(id, held, 2))).toMatchObject({ answer: "wait" });
    expect(await may(run, refOf(id, other, 1))).toMatchObject({ answer: "go", tokens_left: 400 });
    must(await run.deny(await run.onlyCard(id)));
    expect(run.taskRow(id).status).toBe("active");
    expect(await may(run, refOf(id, other, 1))).toMatchObject({ answer: "go" });
    await run.deliver(run.result(id, other, { failed: true, content: "no" }));
    must(await run.deny(await run.onlyCard(id)));
    expect(run.taskRow(id)).toMatchObject({ status: "failed", error_code: "budget_exceeded" });
  });
  it("[CHG-15] the planner's part: the task waits for the answer, and a no ends it", async () => {
    for (const granted of [true, false]) {
      const run = open();
      const id = must(await run.ask(run.ada));
      run.rows.tasks.put({ ...run.taskRow(id), budget: { tokens: 100 } });
      await thinks(run, planner(id, 1), 100);
      expect(await may(run, planner(id, 2))).toMatchObject({ answer: "wait" });
      const card = await run.onlyCard(id);
      expect(run.taskRow(id)).toMatchObject({ status: "waiting", waiting_on: "budget" });
      if (granted) {
        must(await raise(run, card, { tokens: 1 }));
        expect(await may(run, planner(id, 2))).toMatchObject({ answer: "go", tokens_left: 1 });
      } else {
        must(await run.deny(card));
        expect(run.taskRow(id)).toMatchObject({ status: "failed", error_code: "budget_exceeded" });
        expect(await may(run, planner(id, 2))).toMatchObject({ answer: "stale" });
      }
    }
  });
  it("[CHG-16] words about a task under way are not worth a card: the proxy is refused, and a new wish is not", async () => {
    const run = open();
    const id = must(await run.ask(run.ada));
    run.rows.tasks.put({ ...run.taskRow(id), budget: { tokens: 0 } });
    const words = { payer: { kind: "task", task_id: id, why: "proxy" }, role: "proxy", agent: "proxy" } as const;
    expect(await may(run, planner(id, 1, words))).toMatchObject({ answer: "wait" });
    run.rows.tasks.put({ ...run.taskRow(id), routed: true });
    expect(await may(run, planner(id, 2, words))).toMatchObject({ answer: "refused", error_code: "budget_exceeded" });
    expect(await run.cards(id)).toHaveLength(1);
  });
  it("[MNB-3] a wish that may spend no token is refused at the door, and a plan is not", async () => {
    const run = open();
    const repo = { url: run.taskRow(must(await run.ask(run.ada))).repo, ref: "HEAD" };
    const asked = { title: "x", description: "", repo, labels: [], register_repo: true, budget: { tokens: 0 } };
    const refused = await run.tasks.createTask(run.ada, asked, null);
    expect(refused).toMatchObject({ ok: false, refusal: { code: "bad_request" } });
    must(await run.tasks.createTask(run.ada, { ...asked, plan: thinking() }, null));
  });
  it("[MNB-5] a task that ends lets go of each call that is made for it, and of nobody else's", async () => {
    const run = open();
    const [id, other] = [must(await run.ask(run.ada)), must(await run.ask(run.ada))];
    const called = (task: string, number: number, run_id: string, agent: string) =>
      may(run, planner(task, number, { run_id, agent, payer: { kind: "task", task_id: task, why: "proxy" } }));
    await called(id, 1, "run-1", "proxy");
    await called(id, 2, "run-2", "planner");
    await called(id, 3, "run-3", "planner");
    await told(run, id, "plan.3", 10);
    await called(other, 4, "run-4", "proxy");
    must(await run.tasks.cancelTask(run.ada, id, "enough"));
    const kills = run.rows.kills.all().map(({ agent, owner, what }) => `${what} ${agent} ${owner}`);
    expect(kills.sort()).toEqual(["call_off planner run-2", "call_off proxy run-1"]);
  });
  it("[MNB-6] a card shows what an item's model is told, may spend and does when stuck, whole", async () => {
    const run = open();
    const own = item("a").replace("on_stuck: escalate", "on_stuck: replan, skills: [paging], budget: { tokens: 77 }");
    const plan = thinking("tokens: 1000", own, item("b")).replace("## b\nDo it.", `## b\n${"Do it. ".repeat(4_000)}`);
    const id = must(await run.ask(run.ada, { plan }));
    await run.observe(run.planResult(id, plan));
    const { items, facts } = only(await run.cards(id)).card;
    const [a, b] = items;
    expect(a).toMatchObject({ section: "Do it.", skills: ["paging"], on_stuck: "replan", budget: { tokens: 77 } });
    expect(b?.section).toBe("Do it. ".repeat(4_000).trim());
    expect(facts.filter((fact) => fact.startsWith("Written by"))).toEqual([]);
  });
  it("[MNB-8] a plan that a model wrote says so with its prompt and its model, and again when it is put up again", async () => {
    const run = open();
    const id = must(await run.ask(run.ada));
    await may(run, planner(id, 1, { run_id: "the-run" }));
    await told(run, id, "plan.1", 10);
    const result = run.planResult(id, thinking());
    const { message_id } = result;
    await run.observe({ ...result, message_id: derivedId("the-run", "plan_result", 0) });
    const said = "Written by a model, not by a person: the planner, prompt planner/plan@1, model compatible/m";
    expect((await run.cards(id)).at(-1)?.card.facts).toContain(said);
    await run.observe({ ...result, message_id });
    expect(run.rows.plans.ofTask(id).map(({ written_by }) => written_by?.slice(0, 11))).toEqual([
      "the planner",
      "the planner",
    ]);
  });
  it("[CHG-17] what calls under way may cost is kept back, and nobody is asked for it", async () => {
    const run = open();
    const id = must(await run.ask(run.ada));
    run.rows.tasks.put({ ...run.taskRow(id), budget: { tokens: 100 } });
    await may(run, planner(id, 1));
    const other = planner(id, 2, { run_id: "research" });
    expect(await may(run, other)).toMatchObject({ answer: "wait" });
    expect(await run.cards(id)).toEqual([]);
    await told(run, id, "plan.1", 60);
    expect(await may(run, other)).toMatchObject({ answer: "go", tokens_left: 40 });
  });
});
