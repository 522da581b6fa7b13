/** The ladder as the runtime climbs it: the planner asked for guidance, in and out of time, and each rung on record. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { executionOrder } from "../../src/domain/result.ts";
import { limits } from "../../src/limits.ts";
import { missing, must } from "../fakes/held-scope.ts";
import {
  answers,
  consulting,
  consultOf,
  effects,
  fails,
  guidance,
  item,
  merges,
  noPlan,
  open,
  planOf,
  type Run,
  rungs,
  stuckTwice,
} from "../fakes/ladders.ts";
import { nodeSql } from "../fakes/node-sql.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-03-01T00:00:00Z") }));
afterEach(() => vi.useRealTimers());

describe("the planner's guidance", () => {
  it("[LAD-20] is asked for once the attempts are used up, with what became of them; nothing of the item runs meanwhile", async () => {
    const run = open();
    const id = await run.going(planOf("First", item("a", "max_attempts: 2")));
    await fails(run, id);
    expect(run.sent("consult_planner")).toEqual([]);
    await fails(run, id);
    const sent = run.sent("consult_planner").at(0);
    expect(sent).toMatchObject({ recipient: "planner", attempt_number: 2, trace_id: run.taskRow(id).trace_id });
    expect(consultOf(run)).toMatchObject({
      failures: ["Attempt 1 ended: it broke", "Attempt 2 ended: it broke"],
      answer_by: new Date(Date.now() + limits.consult_timeout_ms).toISOString(),
    });
    expect(run.attempts(id).map(({ state }) => state)).toEqual(["failed", "failed"]);
    expect(run.taskRow(id)).toMatchObject({ status: "active", waiting_on: null });
  });
  it("[LAD-20] nothing of the item runs meanwhile, also when a sibling is merged or fails for good", async () => {
    for (const failed of [false, true]) {
      const run = open();
      const id = await run.going(planOf("First", item("a"), item("b", "max_attempts: 1, on_stuck: escalate")));
      const [a, b] = [await run.begun(), await run.begun("crew-2")];
      await fails(run, id, {}, a);
      if (failed) {
        await fails(run, id, {}, b);
        must(await run.deny(await run.onlyCard(id)));
      } else await merges(run, id, b, "c".repeat(40));
      expect(run.attempts(id)).toHaveLength(2);
      expect(run.taskRow(id).status).toBe("active");
      await guidance(run, id, consultOf(run).consult_id, "Use a hammer.");
      expect(run.attempts(id).map(({ state }) => state)).toEqual(["failed", failed ? "failed" : "done", "due"]);
    }
  });
  it("[LAD-21] in time reaches exactly one more attempt, under its own name; the item is never put to the planner again", async () => {
    const { run, id, consult_id } = await consulting();
    await guidance(run, id, consult_id, "Use a hammer.");
    const held = await run.begun();
    const order = executionOrder.parse(held.lease.message.payload);
    expect(order.planner_guidance).toEqual(["Use a hammer."]);
    expect(order.guidance).toEqual(["Attempt 1 ended: it broke"]);
    await fails(run, id, {}, held);
    expect(run.attempts(id)).toHaveLength(2);
    expect(rungs(run, id)).toEqual(["attempt > consult: answered", "attempt > replan: open"]);
    expect(run.sent("consult_planner")).toHaveLength(1);
  });
  it("[LAD-39] the attempt that guidance gives, and one that was lost, are shown as given beyond the plan's", async () => {
    const { run, id, consult_id } = await consulting();
    const shown = async () => {
      const [{ attempts_used, max_attempts } = missing("item")] = must(await run.tasks.task(run.ada, id)).items;
      return [attempts_used, max_attempts];
    };
    expect(await shown()).toEqual([1, 1]);
    await guidance(run, id, consult_id, "Use a hammer.");
    expect(await shown()).toEqual([2, 2]);
    const [item = missing("item")] = run.rows.items.ofTask(id);
    run.rows.items.put({ ...item, spec: { ...item.spec, max_attempts: 3 }, uncounted: 1 });
    expect(await shown()).toEqual([2, 4]);
  });
  it("[LAD-22] late, told twice, of another item, of nobody's, or of a task that is over changes nothing and is on record", async () => {
    const { run, id, consult_id } = await consulting();
    await guidance(run, id, consult_id, "For another.", { work_item_id: "other" });
    await guidance(run, id, "r0", "For nobody.");
    const other = await consulting(run);
    await guidance(run, id, other.consult_id, "For another task.");
    expect(effects(run).filter((decision) => decision === "ignored")).toHaveLength(3);
    await guidance(run, id, consult_id, "One.");
    await guidance(run, id, consult_id, "Two.");
    expect(run.attempts(id)).toHaveLength(2);
    expect(run.rows.items.ofTask(id)[0]?.planner_guidance).toEqual(["One."]);
    must(await run.tasks.cancelTask(run.ada, other.id, "enough"));
    await guidance(run, other.id, other.consult_id, "Too late.");
    expect(run.attempts(other.id)).toMatchObject([{ state: "failed" }]);
    expect(rungs(run, other.id)).toEqual(["attempt > consult: void"]);
    expect(effects(run).filter((decision) => decision === "late_guidance")).toHaveLength(2);
  });
  it.each(["the alarm", "the late word itself"])(
    "[LAD-23] that does not come in 90 s is a timeout, which %s notices: on record as an error, and the next rung is taken",
    async (who) => {
      const { run, id, consult_id } = await consulting();
      vi.setSystemTime(Date.now() + limits.consult_timeout_ms - 1);
      run.expire();
      expect(rungs(run, id)).toEqual(["attempt > consult: open"]);
      vi.setSystemTime(Date.now() + 1);
      if (who === "the alarm") run.expire();
      await guidance(run, id, consult_id, "Too late.");
      run.expire();
      expect(rungs(run, id)).toEqual(["attempt > consult: timeout", "consult > replan: open"]);
      expect(run.audit("effect").find(({ decision }) => decision === "timeout")?.details).toMatchObject({
        ...{ error_code: "timeout", retryable: true, origin_agent: "planner", attempt_number: 1 },
      });
      expect(run.sent("execution_status").at(-1)).toMatchObject({
        error_code: "timeout",
        payload: { status: "stuck" },
      });
      expect(effects(run)).toContain("late_guidance");
      expect(run.attempts(id)).toHaveLength(1);
    },
  );
  it("[LAD-24] that the planner does not have, or that a gate stops, is the next rung at once", async () => {
    const { run, id, consult_id } = await consulting();
    await guidance(run, id, consult_id, "No idea.", noPlan);
    expect(rungs(run, id)).toEqual(["attempt > consult: failed", "consult > replan: open"]);
    const gated = await consulting();
    gated.run.gates({
      ...{ id: "words", trigger: "every_agent_response", lane: "policy", action: "block" },
      ...{ check: "text_contains", params: { any: ["hammer"] } },
    } as Parameters<Run["gates"]>[0]);
    await guidance(gated.run, gated.id, gated.consult_id, "Use a hammer.");
    expect(rungs(gated.run, gated.id)).toEqual(["attempt > consult: failed", "consult > replan: open"]);
    expect(JSON.stringify(gated.run.rows.items.ofTask(gated.id))).not.toContain("hammer");
  });
});

describe("every rung", () => {
  it("[LAD-33] is in the audit, among the events and on the task, with what it came after and why", async () => {
    const { run, id } = await stuckTwice();
    await answers(run, id, null, "nothing else");
    const steps = [
      ["attempt", "consult", "it broke"],
      ["consult", "replan", "consult: the planner said nothing in 90 s"],
      ["replan", "escalate", "replan: nothing else"],
    ];
    const audited = run.audit("transition").filter(({ decision }) => decision === "rung");
    expect(audited.map(({ reason, details }) => [details.from, details.to, reason])).toEqual(steps);
    const events = run.events().filter(({ type, state }) => type === "rung" && state === undefined);
    expect(events.map(({ from, to, why }) => [from, to, why])).toEqual(steps);
    const shown = must(await run.tasks.task(run.ada, id)).rungs ?? [];
    expect(shown.map(({ from, to, why }) => [from, to, why])).toEqual(steps);
    expect(shown.map(({ state }) => state)).toEqual(["timeout", "failed", "taken"]);
  });
  it("[LAD-34] is climbed the same when the object is opened anew before each step, and when each message comes twice", async () => {
    const sql = nodeSql();
    const id = await open(sql).going(planOf("First"));
    await fails(open(sql), id);
    const { consult_id } = consultOf(open(sql));
    for (const _ of [1, 2]) await guidance(open(sql), id, consult_id, "Use a hammer.");
    const held = await open(sql).begun();
    for (const _ of [1, 2]) await fails(open(sql), id, {}, held);
    for (const _ of [1, 2]) await answers(open(sql), id, planOf("Second", item("c")));
    must(await open(sql).approve(await open(sql).onlyCard(id)));
    expect(rungs(open(sql), id)).toEqual(["attempt > consult: answered", "attempt > replan: answered"]);
    expect(
      open(sql)
        .attempts(id)
        .map(({ state }) => state),
    ).toEqual(["failed", "failed", "due"]);
    expect([open(sql).sent("consult_planner").length, open(sql).sent("replan_request").length]).toEqual([1, 1]);
  });
});
