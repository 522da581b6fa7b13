/** What the runtime does with an attempt of an agent that thinks: asked, refused, expired, out of budget; and with questions. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RemoteAgent } from "../../durable-objects/remote.ts";
import { Crew } from "../../durable-objects/runtime/crew.ts";
import { AgentsDoor } from "../../durable-objects/runtime/doors-agents.ts";
import type { Feed } from "../../durable-objects/runtime/feed.ts";
import type { ToolCall } from "../../src/agents/bus.ts";
import { executionOrder, modelCallTool } from "../../src/domain/result.ts";
import { callerOf, type Held, HeldScope, must, repo, scopeId, shell } from "../fakes/held-scope.ts";

const ada = callerOf("ada#tok001");
const tree = "5".repeat(40);
const budget = "budget: { tokens: 100000, usd: 1 }";
const item = "{ id: a, title: Greet, runner: loop, verify: none, max_attempts: 2, allow: { paths: ['src/**'] } }";
const loopPlan = `---\ntitle: A plan\ngoal: Greet people\n${budget}\nitems:\n  - ${item}\n---\n## a\nWrite the greeting.\n`;
const stepsPlan = loopPlan
  .replace("runner: loop", "runner: steps")
  .replace("Write the", "```sh\necho a\n```\nWrite the");
const words = "I need \u202e this.";

let held: HeldScope;
beforeEach(() => {
  held = new HeldScope((role) => role === "executor");
});
afterEach(() => held.close());

async function going(plan = loopPlan): Promise<{ task_id: string; run: Held }> {
  const task_id = await held.planned(plan);
  must(await held.approve(ada, held.card(task_id)));
  return { task_id, run: await held.begun() };
}
async function waiting(plan = loopPlan) {
  const { task_id, run } = await going(plan);
  const call: ToolCall = shell("echo a", plan === loopPlan ? "1-1" : "step-1");
  expect(await held.authorize(run, call)).toEqual({ answer: "wait" });
  await held.suspend(run, call, tree, { transcript_key: "kept.json", words });
  return { task_id, run, call, card: held.card(task_id) };
}
const attemptsOf = (task_id: string) =>
  held.rows.attempts.ofTask(task_id).map(({ number, entry, state }) => [number, entry, state]);
const orderOf = ({ message }: Held) => executionOrder.parse(message.payload);

describe("an attempt of an agent that thinks, in the runtime", () => {
  it("[MIND-17] its order holds its own item: goal, grant, checks, skills, and what it touches", async () => {
    const { task_id, run } = await going();
    expect(orderOf(run)).toMatchObject({ runner: "loop", section: expect.stringContaining("greeting"), steps: [] });
    expect(orderOf(run).mind).toEqual({
      protect: held.rows.items.ofTask(task_id)[0]?.spec.protect,
      goal: "Greet people",
      allow: { tools: [], paths: ["src/**"], commands: [], hosts: [], secrets: [] },
      ...{ checks: [], skills: [], touches: ["src/**"], preset: "DEFAULT" },
    });
    expect(orderOf((await going(stepsPlan)).run).mind).toBeUndefined();
  });
  it("[MIND-18] the card says which call it is and, so that nothing hides in it, what the agent wrote before", async () => {
    const { card } = await waiting();
    expect(card.card.facts).toEqual([
      "Work item: Greet",
      "Attempt 1, call 1-1 of an agent that chooses its own steps",
      'Before the call the agent wrote (its words, not checked): "I need ⟦U+202E⟧ this."',
    ]);
    expect((await waiting(stepsPlan)).card.card.facts).toEqual(["Work item: Greet", "Attempt 1, step 1 of 1"]);
  });
  it("[MIND-19] a no lets the same attempt go on, with the person's words; steps end with it", async () => {
    const { task_id, card } = await waiting();
    must(await held.deny(ada, card, "Not that one."));
    expect(attemptsOf(task_id)).toEqual([[1, 1, "due"]]);
    const next = await held.begun();
    expect(orderOf(next)).toMatchObject({ entry: 1, resume: { denied: "Not that one.", transcript_key: "kept.json" } });
    expect(orderOf(next).resume?.unanswered).toBeUndefined();
    expect(await held.authorize(next, shell("echo a", "1-1", tree))).toMatchObject({ answer: "refused" });
    expect(await held.authorize(next, shell("echo b", "2-1"))).toEqual({ answer: "wait" });
    const steps = await waiting(stepsPlan);
    must(await held.deny(ada, steps.card));
    expect(attemptsOf(steps.task_id)[0]).toEqual([1, 0, "failed"]);
  });
  it("[MIND-19] with `stop` the no ends the task, also of an agent that thinks", async () => {
    const { task_id, card } = await waiting();
    must(await held.deny(ada, card, "stop", true));
    expect(held.rows.tasks.get(task_id)?.status).toBe("cancelled");
    expect(held.claim()).toBeNull();
  });
  it("[MIND-20] a card that nobody decided lets it go on as well, told as expired", async () => {
    held.demand({ expires_after_s: { tool_call: 60 } });
    const { task_id } = await waiting();
    held.now += 60_000;
    await held.decisions.expire(held.now);
    expect(attemptsOf(task_id)).toEqual([[1, 1, "due"]]);
    const { resume } = orderOf(await held.begun());
    expect(resume?.unanswered).toContain("nobody decided by");
    expect(resume?.denied).toBeUndefined();
    const steps = await waiting(stepsPlan);
    held.now += 60_000;
    await held.decisions.expire(held.now);
    expect(attemptsOf(steps.task_id)[0]).toEqual([1, 0, "failed"]);
  });
  it("[MIND-21] what the policy, a cap or a no before says is of the call; the token, the lease and the order are the attempt's", async () => {
    const { task_id, card, call } = await waiting();
    must(await held.deny(ada, card));
    const run = await held.begun();
    expect(await held.authorize(run, call)).toMatchObject({ answer: "refused", scope: "attempt" });
    expect(await held.authorize(run, { ...call, call_id: "2-1" })).toMatchObject({
      ...{ answer: "refused", error_code: "approval_denied", scope: "call" },
    });
    expect(await held.authorize(run, { ...shell("x", "2-2"), arguments: "{" })).toMatchObject({ scope: "call" });
    held.edit((policy) => ({ ...policy, tools: { ...policy.tools, shell_execute: "deny" } }));
    expect(await held.authorize(run, shell("echo c", "2-3"))).toMatchObject({ answer: "refused", scope: "call" });
    for (const row of held.rows.items.ofTask(task_id)) held.rows.items.put({ ...row, grant: null });
    expect(await held.authorize(run, shell("echo d", "2-4"))).toMatchObject({ answer: "refused", scope: "attempt" });
  });
  it("[MIND-22] put away because the budget is used up, it has no card of its own; decided meanwhile, it is asked anew", async () => {
    const { task_id, run } = await going();
    const asks: ToolCall = { ...shell(""), call_id: "model-2", tool: modelCallTool, arguments: "{}" };
    await held.suspend(run, asks, tree, { transcript_key: "kept.json" });
    expect(held.rows.approvals.ofTask(task_id).filter(({ status }) => status === "pending")).toEqual([]);
    expect(attemptsOf(task_id)).toEqual([[1, 1, "due"]]);
    expect(orderOf(await held.begun()).resume).toMatchObject({ tool: modelCallTool, transcript_key: "kept.json" });
  });
  it("[MIND-22] steps cannot be put away like that", async () => {
    const { task_id, run } = await going(stepsPlan);
    await held.suspend(run, { ...shell(""), call_id: "model-2", tool: modelCallTool, arguments: "{}" }, tree);
    expect(attemptsOf(task_id)[0]).toEqual([1, 0, "crashed"]);
  });
});

describe("questions of a planner, in the runtime", () => {
  const nothing = async () => {};
  const agents = () =>
    new AgentsDoor(held.scope, {
      signatures: held.signatures,
      feed: { show: () => {} } as unknown as Feed, // nobody looks
      after: nothing,
    });
  async function asked(answer_in_ms = 60_000) {
    const { task_id } = await going();
    const payload = {
      ...{ research_id: `r-${held.now}`, plan_run_id: "plan-run-1", repo, commit: "b".repeat(40) },
      answer_by: new Date(held.now + answer_in_ms).toISOString(),
    };
    const message = held.message(task_id, {
      ...{ message_kind: "research_request", sender: "planner", recipient: "executor_queue", content: "What?" },
      ...{ payload, attempt_number: null, work_item_id: null },
      constraints: { return_format: "one word", max_tokens: 100, tools_allowed: [] },
    });
    expect(await held.mailroom.deliver(message)).toEqual({ refused: null });
    return { task_id, message };
  }
  it("[MIND-23] they wait in a queue of their own: an executor is never given one, a researcher never an attempt", async () => {
    const { message } = await asked();
    expect(await agents().claim(scopeId, "crew-9")).toBeNull();
    must(await held.approve(ada, held.card(await held.planned(loopPlan))));
    const lease = await agents().claim(scopeId, "research-1");
    expect(lease?.message.message_id).toBe(message.message_id);
    expect(await agents().claim(scopeId, "research-2")).toBeNull();
    expect((await agents().claim(scopeId, "crew-9"))?.message.message_kind).toBe("execution_request");
    expect(await agents().heartbeat(scopeId, "research-1", lease ?? { lease_id: "", epoch: 0 })).toBe(true);
  });
  it("[MIND-23] a question that waits wakes the researchers and no executor, and is asked about again until it is taken", async () => {
    await asked();
    const woken: string[] = [];
    const stub = (name: string) => ({ start: nothing, poke: async () => woken.push(name) });
    const crew = new Crew(held.scope, (name) => stub(name) as unknown as RemoteAgent); // all that waking needs
    await crew.wake(held.now);
    expect(woken.sort()).toEqual(["research-1", "research-2"]);
    expect(crew.nextDueAt(held.now)).toBeLessThanOrEqual(held.now + 15_000);
    await agents().claim(scopeId, "research-1");
    await crew.wake(held.now);
    expect(woken).toHaveLength(2);
  });
  it("[MIND-23] its sandbox is wanted as long as the question is; what nobody waits for is not handed out", async () => {
    const { message } = await asked();
    expect(await agents().ownersOver(scopeId, [message.message_id, "stranger"])).toEqual(["stranger"]);
    held.now += 61_000;
    expect(await agents().claim(scopeId, "research-1")).toBeNull();
    expect(await agents().ownersOver(scopeId, [message.message_id])).toEqual([message.message_id]);
  });
});
