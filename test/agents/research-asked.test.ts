import { afterEach, describe, expect, it, vi } from "vitest";
import type { Lease } from "../../durable-objects/durable-queue.ts";
import { claimResearch } from "../../durable-objects/runtime/entries.ts";
import type { Message, MessageInput, Taint } from "../../src/domain/message.ts";
import { taskView } from "../../src/domain/view.ts";
import { limits } from "../../src/limits.ts";
import { must } from "../fakes/held-scope.ts";
import { goodPlan } from "../fakes/planning.ts";
import { openRuntime } from "../fakes/scope-runtime.ts";

afterEach(() => vi.useRealTimers());
const start = Date.parse("2026-01-01T00:00:00.000Z");

async function world() {
  vi.useFakeTimers({ now: start, toFake: ["Date"] });
  const runtime = openRuntime();
  const task_id = must(await runtime.ask(runtime.ada));
  const asks = (research_id: string, more: Partial<MessageInput> = {}): Message =>
    runtime.messageOf(task_id, {
      ...{ message_kind: "research_request", sender: "planner", recipient: "executor_queue", content: research_id },
      constraints: { return_format: "a line", max_tokens: 100, tools_allowed: [] },
      payload: {
        ...{ research_id, plan_run_id: "run-1", repo: "r", commit: "c" },
        answer_by: new Date(start + limits.research_timeout_ms).toISOString(),
      },
      ...more,
    });
  async function ask(research_id: string): Promise<Message> {
    const message = asks(research_id);
    await runtime.observe(message);
    expect(await runtime.deliver(message)).toEqual({ refused: null });
    return message;
  }
  let leases = 0;
  const claim = (agent = "research-1") =>
    runtime.scope.commit((tx) => claimResearch(tx, agent, () => `lease-${++leases}`));
  const held = (lease: Lease | null): Lease => {
    if (lease === null) throw new Error("nothing was claimed");
    return lease;
  };
  const answer = (
    research_id: string,
    lease: Lease,
    more: { taint?: Taint; content?: string; sender?: string } = {},
  ) => {
    const { taint = "member", content = "it is so", sender = "research-1" } = more;
    return runtime.messageOf(task_id, {
      ...{ message_kind: "research_result", sender, recipient: "planner", content },
      payload: {
        ...{ research_id, plan_run_id: "run-1", lease_id: lease.lease_id, epoch: lease.epoch, taint, cut: false },
      },
    });
  };
  const ask_task = (plan?: string) => runtime.ask(runtime.ada, plan === undefined ? {} : { plan });
  const state = (research_id: string) => runtime.rows.research.get(research_id)?.state;
  const late = () => runtime.audit("effect").filter(({ decision }) => decision === "late_research");
  const phase = () => runtime.taskRow(task_id).phase;
  const kills = () => runtime.rows.kills.all().map(({ agent, owner }) => [agent, owner]);
  const waits = () => runtime.scope.stores.queue.depth("research_queue", Date.now());
  return { ...runtime, task_id, asks, ask, ask_task, claim, held, answer, state, late, phase, kills, waits };
}

describe("a question of the planner's, as the runtime knows it", () => {
  it("[RSC-7] waits in a queue of its own; while it is open the task gathers context, and the answer that passes ends both", async () => {
    const w = await world();
    expect(w.phase()).toBe("discovery");
    const message = await w.ask("q1");
    expect([w.state("q1"), w.phase()]).toEqual(["open", "context_gathering"]);
    expect(await w.deliver(message)).toEqual({ refused: null });
    const lease = w.held(w.claim());
    expect(lease.message).toEqual(message);
    expect(w.waits()).toMatchObject({ eligible: 0, leased: 1 });
    await w.observe(w.answer("q1", lease));
    expect([w.state("q1"), w.phase()]).toEqual(["answered", "discovery"]);
    expect(w.waits()).toMatchObject({ eligible: 0, leased: 0 });
    expect(w.claim()).toBeNull();
    expect(w.late()).toEqual([]);
  });
  it("[RSC-8] an answer that comes late, twice or from another holder is on record and changes nothing", async () => {
    const w = await world();
    await w.ask("q1");
    const lease = w.held(w.claim());
    await w.observe(w.answer("q1", { ...lease, epoch: lease.epoch + 1 }));
    await w.observe(w.answer("q1", lease, { sender: "research-2", content: "from another" }));
    await w.observe(w.answer("q0", lease));
    expect([w.state("q1"), w.late().length]).toEqual(["open", 3]);
    await w.observe(w.answer("q1", lease));
    await w.observe(w.answer("q1", lease));
    expect(w.late()).toHaveLength(3);
    const version = w.taskRow(w.task_id).version;
    await w.observe(w.answer("q1", lease, { content: "no, so" }));
    expect([w.state("q1"), w.late().length]).toEqual(["answered", 4]);
    expect(w.taskRow(w.task_id).version).toBe(version);
  });
  it("[RSC-8] what an answer rests on taints the task", async () => {
    const w = await world();
    await w.ask("q1");
    await w.observe(w.answer("q1", w.held(w.claim()), { taint: "web" }));
    expect(w.taskRow(w.task_id).taint).toBe("web");
  });
  it("[RSC-9] past its time it is closed, whoever works on it is called off, and what waits is never handed out", async () => {
    const w = await world();
    const first = await w.ask("q1");
    await w.ask("q2");
    const lease = w.held(w.claim());
    vi.setSystemTime(start + limits.research_timeout_ms - 1);
    w.expire();
    expect([w.state("q1"), w.state("q2")]).toEqual(["open", "open"]);
    vi.setSystemTime(start + limits.research_timeout_ms);
    w.expire();
    expect([w.state("q1"), w.state("q2"), w.phase()]).toEqual(["timed_out", "timed_out", "discovery"]);
    expect(w.kills()).toEqual([["research-1", first.message_id]]);
    expect(w.claim("research-2")).toBeNull();
    expect(w.waits()).toMatchObject({ eligible: 0, leased: 0 });
    await w.observe(w.answer("q1", lease));
    expect([w.state("q1"), w.late().length]).toEqual(["timed_out", 1]);
  });
  it("[RSC-9] it is cancelled with its task, and once the planner has ended", async () => {
    for (const how of ["cancel", "plan"] as const) {
      const w = await world();
      const message = await w.ask("q1");
      const lease = w.held(w.claim());
      await w.ask("q2");
      if (how === "cancel") must(await w.tasks.cancelTask(w.ada, w.task_id, "enough"));
      else await w.observe(w.planResult(w.task_id, goodPlan));
      expect([w.state("q1"), w.state("q2")]).toEqual(["cancelled", "cancelled"]);
      expect(w.kills()).toEqual([["research-1", message.message_id]]);
      expect(w.claim("research-2")).toBeNull();
      await w.observe(w.answer("q1", lease));
      expect([w.state("q1"), w.late().length]).toEqual(["cancelled", 1]);
      await w.ask("q3");
      if (how === "cancel") expect([w.state("q3"), w.claim()]).toEqual(["cancelled", null]);
    }
  });
  it("[RSC-9] whoever fell silent with it is called off when another takes it", async () => {
    const w = await world();
    const message = await w.ask("q1");
    const row = w.rows.research.get("q1");
    if (row === null) throw new Error("it was not kept");
    w.rows.research.put({ ...row, agent: "research-2", lease: { lease_id: "gone", epoch: 0 } });
    expect(w.claim("research-1")?.message).toEqual(message);
    expect(w.kills()).toEqual([["research-2", message.message_id]]);
    expect(w.rows.research.get("q1")?.agent).toBe("research-1");
  });
  it("[RSC-11] a task says how many of its questions stand how, and nothing while none was asked", async () => {
    const w = await world();
    const research = async () => taskView.parse(must(await w.tasks.task(w.ada, w.task_id))).research;
    expect(await research()).toBeUndefined();
    await w.ask("q1");
    const lease = w.held(w.claim());
    await w.ask("q2");
    await w.ask("q3");
    await w.observe(w.answer("q1", lease));
    expect(await research()).toEqual({ open: 2, answered: 1, timed_out: 0, cancelled: 0 });
    vi.setSystemTime(start + limits.research_timeout_ms);
    w.expire();
    expect(await research()).toEqual({ open: 0, answered: 1, timed_out: 2, cancelled: 0 });
  });
  it("[RSC-10] only a planner's question enters the queue: another sender, and one without its form, are refused", async () => {
    const w = await world();
    const good = w.asks("q1");
    for (const broken of [
      { ...good, sender: "crew-1" },
      { ...good, constraints: null },
      { ...good, payload: { research_id: "q1" } },
    ])
      expect((await w.deliver(broken)).refused).not.toBeNull();
    expect(w.state("q1")).toBeUndefined();
    expect(w.waits()).toMatchObject({ eligible: 0 });
  });
});

describe("what the proxy says, and what it passes on", () => {
  it("[PRX-14] an answer ends its task as done, and words about a task that has a plan never do", async () => {
    const w = await world();
    const done = { route: "direct", ends_task: true, version: null, ended_as: "done" } as const;
    await w.deliver(w.words(w.task_id, "It pages.", { payload: done }));
    expect(w.taskRow(w.task_id)).toMatchObject({
      status: "done",
      phase: "complete",
      reason: "It pages.",
      error_code: null,
    });
    const failed = must(await w.ask_task());
    await w.deliver(w.words(failed, "Nothing can be done.", { ends_task: true }));
    expect(w.taskRow(failed)).toMatchObject({ status: "failed", error_code: "tool_failure" });
    const planned = must(await w.ask_task(goodPlan));
    await w.observe(w.planResult(planned, goodPlan));
    await w.deliver(w.words(planned, "It is done.", { payload: done }));
    expect(w.taskRow(planned).status).not.toBe("done");
  });
  it("[PRX-14] changes that are asked for travel with the plan they are about", async () => {
    const w = await world();
    const id = must(await w.ask_task(goodPlan));
    await w.observe(w.planResult(id, goodPlan));
    const card = await w.onlyCard(id);
    must(await w.changes(card, "smaller, please"));
    const sent = w.sent("user_message").at(-1);
    expect(sent).toMatchObject({ content: "Change the plan: smaller, please" });
    expect(sent?.payload).toMatchObject({
      revise: true,
      previous_plan: expect.any(String),
      previous_markdown: goodPlan,
    });
  });
});
