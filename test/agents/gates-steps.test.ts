/** What gates say after a step, and how an attempt meets it; and what agents are told. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Gate, gate } from "../../src/domain/policy-gates.ts";
import { must } from "../fakes/held-scope.ts";
import { openRuntime, planOf } from "../fakes/scope-runtime.ts";

const steps = planOf(["echo one", "echo two", "echo three"]);
const said = (action: Gate["action"], word: string): Gate =>
  gate.parse({
    ...{ id: `${action}-it`, trigger: "after_step", action, lane: action === "annotate" ? "quality" : "policy" },
    ...{ check: "text_contains", params: { any: [word] } },
  });
const asks = said("ask", "echo one");

/** An attempt that was suspended before its call `number`, whose card a person approved, begun again. */
async function allowed(
  run: ReturnType<typeof openRuntime>,
  id: string,
  held: Awaited<ReturnType<typeof run.begun>>,
  number: number,
) {
  const suspension = held.suspension(number);
  await run.deliver(run.result(id, held, { end: "suspended", success: false, patch: null, suspension }));
  const card = await run.onlyCard(id);
  must(await run.approve(card));
  return { card, held: await run.begun("crew-2") };
}

describe("after a step", () => {
  it("[GATE-12] what a gate asks about stops the next call, although it is granted; allowed, that call runs and no other asks", async () => {
    const run = openRuntime();
    run.gates(asks);
    const id = await run.going(steps);
    const first = await run.begun();
    expect(await first.authorize(1)).toEqual({ answer: "run" });
    for (const _ of [1, 2]) await first.settle(1);
    for (const _ of [1, 2]) expect(await first.authorize(2)).toEqual({ answer: "wait" });
    const { card, held } = await allowed(run, id, first, 2);
    expect(card).toMatchObject({
      kind: "tool_call",
      rule: "gate:ask-it",
      card: { why: 'after step-1: the text contains "echo one"' },
    });
    expect(await held.authorize(2, "7".repeat(40))).toEqual({ answer: "run" });
    await held.settle(2);
    expect(await held.authorize(3)).toEqual({ answer: "run" });
    expect(run.audit("gate_block").map((link) => [link.decision, link.details.trigger])).toEqual([
      ["ask", "after_step"],
      ["ask", undefined],
      ["ask", undefined],
    ]);
  });
  it("[GATE-12] a card allowed in another workspace is void, and the question stands", async () => {
    const run = openRuntime();
    run.gates(asks);
    const id = await run.going(steps);
    const first = await run.begun();
    await first.authorize(1);
    await first.settle(1);
    await first.authorize(2);
    const { held } = await allowed(run, id, first, 2);
    expect(await held.authorize(2, "8".repeat(40))).toEqual({ answer: "wait" });
  });
  it("[GATE-12] after the last step the result waits at the gate", async () => {
    for (const passes of [true, false]) {
      const run = openRuntime();
      run.gates(asks);
      const id = await run.going(planOf(["echo one"]));
      const held = await run.begun();
      await held.authorize(1);
      await held.settle(1);
      await run.deliver(run.result(id, held));
      const card = await run.onlyCard(id);
      expect(card).toMatchObject({ kind: "gate", rule: "gate:ask-it" });
      must(await (passes ? run.approve(card) : run.deny(card)));
      expect(run.rows.verifications.ofTask(id)).toHaveLength(passes ? 1 : 0);
    }
  });
  it("[GATE-12] what a gate blocks runs no further call, and its result counts for nothing", async () => {
    const run = openRuntime();
    run.gates(said("block", "exit code 7"));
    const id = await run.going(steps);
    const held = await run.begun();
    await held.authorize(1);
    await held.settle(1, 7);
    expect(await held.authorize(2)).toMatchObject({ answer: "refused", error_code: "gate_blocked" });
    await run.deliver(run.result(id, held));
    expect(run.attempts(id)).toMatchObject([{ state: "failed", error_code: "gate_blocked" }]);
    expect(run.rows.verifications.ofTask(id)).toEqual([]);
  });
  it.each([
    ["the production database is gone", true],
    ["production\u{0}database", true],
    ["production\u{1b}[0mdatabase", true],
    [`${"x ".repeat(10_000)}production\u{200b}database`, true],
    [`${"x".repeat(40 * 1024)} production database`, false],
    ["production data", false],
  ])("[GATE-48] a gate after a step reads what the step printed (%#), within its bound", async (printed, blocks) => {
    const run = openRuntime();
    run.gates(said("block", "production database"));
    await run.going(steps);
    const held = await run.begun();
    await held.authorize(1);
    await held.settle(1, 0, printed);
    expect((await held.authorize(2)).answer).toBe(blocks ? "refused" : "run");
  });
  it("[GATE-12] what is denied stays denied, and a remark only remarks", async () => {
    const run = openRuntime();
    run.gates(asks, said("annotate", "echo two"));
    const id = await run.going(planOf(["echo one", "rm -rf /work", "echo two"]));
    const held = await run.begun();
    await held.authorize(1);
    await held.settle(1);
    expect(await held.authorize(2)).toMatchObject({ answer: "refused" });
    run.gates(said("annotate", "echo two"));
    const other = await run.going(planOf(["echo two", "echo three"]));
    const next = await run.begun("crew-2");
    await next.authorize(1);
    for (const _ of [1, 2]) await next.settle(1);
    expect(await next.authorize(2)).toEqual({ answer: "run" });
    expect(run.taskRow(other).gate_notes).toMatchObject([{ gate: "annotate-it", trigger: "after_step" }]);
    expect(run.taskRow(id).gate_notes).toEqual([]);
  });
  it("[GATE-13] a remark about a call is kept once, however often the call is asked", async () => {
    const run = openRuntime();
    run.gates({ ...said("annotate", "echo one"), trigger: "on_tool_call" });
    const id = await run.going(steps);
    const held = await run.begun();
    for (const _ of [1, 2]) expect(await held.authorize(1)).toEqual({ answer: "run" });
    expect(run.taskRow(id).gate_notes).toMatchObject([{ trigger: "on_tool_call" }]);
  });
});

it("[GATE-18] agents are told that a gate stopped them, and neither which nor why", async () => {
  const run = openRuntime();
  run.gates(said("block", "echo one"), {
    ...said("block", "A plan"),
    id: "secret-rule",
    trigger: "every_agent_response",
  });
  const id = await run.going(steps).catch(() => null);
  expect(id).toBeNull();
  const stopped = run.rows.tasks.all().find((task) => task.status === "failed");
  expect(stopped?.reason).toContain("secret-rule");
  run.gates(said("block", "echo one"));
  await run.going(steps);
  const held = await run.begun();
  await held.authorize(1);
  await held.settle(1);
  const told = [await held.authorize(2), ...run.sent("execution_status"), ...run.sent("execution_request")];
  expect(told[0]).toMatchObject({ answer: "refused", reason: "a gate of the policy stopped it" });
  expect(JSON.stringify(told)).not.toMatch(/secret-rule|block-it|the text contains/);
});

it("[GATE-8] a comment to a yes that a gate stops is refused, and the yes goes through without it", async () => {
  for (const action of ["block", "ask"] as const) {
    const run = openRuntime();
    const id = await run.going(planOf(["echo one"]));
    for (const agent of ["crew-1", "crew-2"])
      await run.deliver(run.result(id, await run.begun(agent), { failed: true }));
    run.gates({ ...said(action, "forbidden"), trigger: "every_user_message" });
    const card = await run.onlyCard(id);
    expect(card.kind).toBe("escalation");
    const yes = { decision: "approve", content_hash: card.content_hash, comment: "the forbidden way" } as const;
    expect(await run.decisions.decide(run.ada, card.id, yes)).toMatchObject({
      ok: false,
      refusal: { code: "denied_by_policy" },
    });
    expect(run.attempts(id)).toHaveLength(2);
    must(await run.approve(card));
    expect(run.attempts(id)).toHaveLength(3);
  }
});

describe("time", () => {
  afterEach(() => {
    vi.useRealTimers();
  });
  it("[GATE-19] a held message whose card expires is dropped like one that is denied, and the task says that it expired", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const run = openRuntime();
    run.gates({ ...said("ask", "forbidden"), trigger: "every_user_message" });
    const { approvals } = run.scope.policies.inForce().policy;
    run.policy({ approvals: { ...approvals, expires_after_s: { gate: 60 } } });
    const id = must(await run.ask(run.ada, { description: "forbidden" }));
    const card = await run.onlyCard(id);
    vi.setSystemTime(Date.now() + 61_000);
    await run.decisions.expire(Date.now());
    expect(run.taskRow(id)).toMatchObject({
      status: "failed",
      error_code: "timeout",
      reason: expect.stringContaining("expired"),
    });
    expect(run.rows.held.all()).toEqual([]);
    expect((await run.approve(card)).ok).toBe(false);
    expect(run.sent("user_message")).toEqual([]);
  });
});
