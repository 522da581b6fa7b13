/** Charges that cannot be, rows that hold such from before, and dollars of several calls at once. */
import { describe, expect, it } from "vitest";
import { accountRow } from "../../durable-objects/runtime/mind-rows.ts";
import type { ThoughtRef } from "../../src/agents/mind-bus.ts";
import { approveInput } from "../../src/domain/approval-view.ts";
import { taskInput, taskView, thoughtView } from "../../src/domain/view.ts";
import { limits } from "../../src/limits.ts";
import { must, repo } from "../fakes/held-scope.ts";
import { nodeSql } from "../fakes/node-sql.ts";
import { openRuntime } from "../fakes/scope-runtime.ts";

type Run = ReturnType<typeof openRuntime>;
const scope_id = "abcdefghijklmnop";
function refOf(task_id: string, run_id: string, more: Partial<ThoughtRef> = {}): ThoughtRef {
  return {
    ...{ thought_id: `${run_id}.1`, run_id, agent: "planner", role: "planner", reserve_tokens: 100 },
    ...{ payer: { kind: "task", task_id, why: "research" }, prompt: "planner/plan@1", ...more },
  };
}
const may = (run: Run, ref: ThoughtRef) => run.minds.mayThink(scope_id, ref);
const told = (run: Run, id: string, thought_id: string, cost: { usage?: object; usd?: number | null } = {}) => {
  const usage = { input_tokens: 10, output_tokens: 5, cached_tokens: 0, estimated: false, ...cost.usage };
  const done = { thought_id, model: "openai/gpt-5.6", failure: null, usd: cost.usd ?? null, usage };
  return run.minds.thought(scope_id, id, done);
};
async function wished(budget: { tokens?: number; usd?: number } = {}, sql = nodeSql()) {
  const run = openRuntime(sql, () => true);
  const id = must(await run.ask(run.ada));
  run.rows.tasks.put({ ...run.taskRow(id), budget });
  return { run, id, sql };
}
/** Everything somebody may look at, as the doors hand it out. */
async function shown(run: Run, id: string) {
  const task = taskView.parse(must(await run.tasks.task(run.ada, id)));
  const page = must(await run.tasks.thoughts(run.ada, id, { limit: 50, cursor: null }));
  return { spent: task.spent, thoughts: page.items.map((item) => thoughtView.parse(item)), phases: task.phases };
}

describe("a cost that cannot be", () => {
  it.each([
    { usage: { input_tokens: 1e300 } },
    { usage: { output_tokens: 1.5 } },
    { usage: { input_tokens: -1_000_000 } },
    { usage: { cached_tokens: 2 ** 53 + 2 } },
    { usage: { output_tokens: limits.call_tokens + 1 } },
    { usage: { input_tokens: Number.POSITIVE_INFINITY } },
  ])("[CHG-30] is charged as the most it may have been, and its task is still read: %o", async (cost) => {
    const { run, id } = await wished();
    await may(run, refOf(id, "a", { reserve_usd: 0.25 }));
    await told(run, id, "a.1", { ...cost, usd: -4 });
    const { spent, thoughts } = await shown(run, id);
    expect(spent).toMatchObject({ input_tokens: 100, output_tokens: 0, usd: 0.25, estimated: true, calls: 1 });
    expect(thoughts).toMatchObject([{ state: "charged", input_tokens: 100, usd: 0.25, estimated: true }]);
    must(await run.tasks.cancelTask(run.ada, id, "enough"));
  });
  it.each([-4, Number.NaN, Number.POSITIVE_INFINITY])("[CHG-30] of %d dollars is a price nobody knows", async (usd) => {
    const { run, id } = await wished({ usd: 1 });
    await may(run, refOf(id, "a"));
    await told(run, id, "a.1", { usd });
    expect((await shown(run, id)).spent).toMatchObject({ usd: null, unknown_price: true, input_tokens: 10 });
  });
});

it("[CHG-31] rows that hold odd numbers from before are read, shown and gone on with", async () => {
  const odd = [1e300, 1.5, 2 ** 53 + 2, -7, null];
  for (const stored of odd) {
    const sql = nodeSql();
    const { run, id } = await wished({ tokens: 10 * limits.call_tokens }, sql);
    await may(run, refOf(id, "a"));
    await told(run, id, "a.1");
    const change = (noun: string, change: (doc: Record<string, Record<string, unknown>>) => object) => {
      for (const row of sql.all<{ id: string; doc: string }>(`SELECT id, doc FROM ${noun} WHERE task_id = ?`, id))
        sql.run(`UPDATE ${noun} SET doc = ? WHERE id = ?`, JSON.stringify(change(JSON.parse(row.doc))), row.id);
    };
    const tokens = { input_tokens: stored, output_tokens: stored };
    change("thoughts", ({ reserve_usd: _, ...doc }) => ({ ...doc, usage: { ...doc.usage, ...tokens }, usd: -2 }));
    change("accounts", (doc) => ({ ...doc, spent: { ...doc.spent, ...tokens, usd: -2 } }));
    change("phases", (doc) => ({ ...doc, tokens: stored }));
    const again = openRuntime(sql, () => true);
    const read = { "1.5": 2, "-7": 0 }[String(stored)] ?? limits.call_tokens;
    const { spent, thoughts, phases } = await shown(again, id);
    expect(spent, String(stored)).toMatchObject({ input_tokens: read, output_tokens: read, calls: 1 });
    expect(thoughts, String(stored)).toMatchObject([{ input_tokens: read, output_tokens: read, usd: 0 }]);
    expect(phases.map(({ tokens: each }) => each)).toEqual(phases.map(() => read));
    expect(await may(again, refOf(id, "b"))).toMatchObject({ answer: "go" });
    await told(again, id, "b.1");
    expect((await shown(again, id)).spent).toMatchObject({ input_tokens: read + 10, calls: 2 });
    must(await again.tasks.cancelTask(again.ada, id, "enough"));
  }
});

describe("dollars", () => {
  it("[CHG-32] that calls under way may cost are kept back: several at once go past a limit by one call at most", async () => {
    const { run, id } = await wished({ usd: 0.02 });
    expect(await may(run, refOf(id, "a", { reserve_usd: 0.08 }))).toMatchObject({ answer: "go", usd_left: 0.02 });
    for (const other of ["b", "c"])
      expect(await may(run, refOf(id, other, { reserve_usd: 0.08 }))).toMatchObject({ answer: "wait" });
    expect(await run.cards(id)).toEqual([]);
    await told(run, id, "a.1", { usd: 0.015 });
    expect(await may(run, refOf(id, "b", { reserve_usd: 0.004 }))).toMatchObject({ answer: "go" });
    expect(await may(run, refOf(id, "c", { reserve_usd: 0.004 }))).toMatchObject({ answer: "go" });
    expect(await may(run, refOf(id, "d", { reserve_usd: 0.004 }))).toMatchObject({ answer: "wait" });
    for (const thought_id of ["b.1", "c.1"]) await told(run, id, thought_id, { usd: 0.004 });
    expect((await shown(run, id)).spent?.usd).toBeCloseTo(0.023);
    expect(await may(run, refOf(id, "d", { reserve_usd: 0.004 }))).toMatchObject({ answer: "wait" });
    expect(await run.cards(id)).toHaveLength(1);
  });
  it("[CHG-32] a price nobody knows keeps nothing back, and neither does an account without a limit", async () => {
    const { run, id } = await wished({ usd: 0.02 });
    for (const name of ["a", "b", "c"]) expect(await may(run, refOf(id, name))).toMatchObject({ answer: "go" });
  });
  it("[CHG-33] of a lost call are those that were kept back for it", async () => {
    const { run, id } = await wished({ usd: 0.1 });
    await may(run, refOf(id, "a", { reserve_usd: 0.2 }));
    expect(await may(run, refOf(id, "a", { thought_id: "a.2" }))).toMatchObject({ answer: "wait" });
    expect((await shown(run, id)).spent).toMatchObject({ usd: 0.2, estimated: true, unknown_price: false });
  });
});

it("[BUD-22] a budget that somebody states is bounded as a plan's; one that was stored before is read", async () => {
  const task = (budget: object) => taskInput.safeParse({ title: "A", repo: { url: repo }, budget }).success;
  const card = (amount: object) => approveInput.safeParse({ content_hash: "h", amount }).success;
  const money = { tokens: 1_000_000_000, usd: 1_000_000 };
  for (const [takes, most] of [
    [task, { ...money, minutes: 10_080 }],
    [card, money],
  ] as const) {
    expect([takes(most), takes({ tokens: 0, usd: 0 })]).toEqual([true, true]);
    for (const [part, amount] of Object.entries(most)) expect(takes({ [part]: amount + 1 })).toBe(false);
    expect(takes({ tokens: 9007199254740991 })).toBe(false);
  }
  const { run, id } = await wished({ tokens: 9007199254740991 });
  expect((await shown(run, id)).spent).toMatchObject({ remaining_tokens: 9007199254740991 });
});
it("[BUD-23] minutes are nothing that a card adds: an attempt has those of its plan; what an older row says of them is read", () => {
  expect(approveInput.safeParse({ content_hash: "h", amount: { tokens: 1, minutes: 5 } }).success).toBe(false);
  const spent = { calls: 0, input_tokens: 0, output_tokens: 0, usd: 0, unknown_price: false, estimated: false };
  const row = { id: "t:task", task_id: "t", spent, asked: 1, closed: false };
  const extra = { tokens: 1, usd: 0, minutes: 0 };
  expect(accountRow.parse({ ...row, extra }).extra).toEqual(extra);
});
