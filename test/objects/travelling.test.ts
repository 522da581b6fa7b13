/** Messages that do not travel in one piece, or not yet: big bodies, and queues that are being emptied. */
import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { canonicalJson, sha256Hex } from "../../src/domain/canonical.ts";
import { blobKeyOf, type Sent } from "../../src/domain/posted.ts";
import { limits } from "../../src/limits.ts";
import worker from "../../src/worker.ts";
import { heldScope, messageOf, oneItem, planned } from "./driven.ts";
import { approve, hold, inAgent, inRuntime, makeScope, must, pending, type Scope, until } from "./scope.ts";

async function carry(...sent: readonly Sent[]) {
  const batch = createMessageBatch(
    "agent-messages",
    sent.map((body, at) => ({ id: `m${at}`, timestamp: new Date(0), attempts: 1, body })),
  );
  const context = createExecutionContext();
  await worker.queue(batch, env);
  return getQueueResult(batch, context);
}
/** A plan of just under the most, of words that take more room in JSON. */
function longPlan(): string {
  const line = `${'"a remark" '.repeat(9)}\n`;
  return oneItem + line.repeat(Math.floor((limits.plan_bytes - oneItem.length) / line.length));
}
const order = (scope: Scope) => ({ scope_id: scope.id, by: "ana", reason: "deploying" });

describe("big messages", () => {
  it("[OUT-14] a plan of 256 KB comes from its task to its card, and leaves no body behind in the outboxes", async () => {
    const scope = await makeScope();
    const plan = longPlan();
    const input = { title: "Long", description: "", labels: [], repo: { url: env.TEST_REPO, ref: "HEAD" }, plan };
    const { body } = must(await scope.runtime.createTask(scope.admin, { ...input, register_repo: true }, null));
    const [card] = await until(async () => {
      const cards = await pending(scope, body.id);
      return cards.length > 0 && cards;
    });
    expect(card).toMatchObject({ kind: "plan", status: "pending" });
    expect(await inRuntime(scope, ({ rows }) => rows.plans.ofTask(body.id)[0]?.markdown)).toBe(plan);
    await until(() => inAgent(scope, "planner", ({ outbox }) => outbox.waiting() === 0));
    await until(() => inRuntime(scope, ({ outbox }) => outbox.waiting() === 0));
    expect((await env.BLOBS.list({ prefix: `${scope.id}/messages/` })).objects.length).toBeGreaterThan(0);
  });

  it("[OUT-15] a body that is missing, altered or another's is given back, refuses nobody, and arrives when it is put again", async () => {
    const { scope, task_id } = await planned();
    await hold(scope, "crew-1");
    const message = await messageOf(scope, task_id, {
      message_kind: "agent_message",
      sender: "planner",
      recipient: "crew-1",
      content: "x".repeat(limits.message_inline_bytes),
    });
    const body = canonicalJson(message);
    const named = { scope_id: scope.id, message_id: message.message_id, sha256: sha256Hex(body) };
    const sent = { from: `${scope.id}/planner`, ...named, key: blobKeyOf(named), bytes: body.length };
    const small = await messageOf(scope, task_id, {
      message_kind: "agent_message",
      sender: "planner",
      recipient: "crew-1",
    });
    const behind = { from: `${scope.id}/planner`, message: { ...small, message_id: "small-one-behind" } };
    const given = async () => (await carry(sent, behind)).retryMessages.map(({ msgId }) => msgId);
    expect(await given()).toEqual(["m0"]);
    await env.BLOBS.put(sent.key, body.replace("xx", "yy"));
    expect(await given()).toEqual(["m0"]);
    await env.BLOBS.put(sent.key, body.slice(1));
    expect(await given()).toEqual(["m0"]);
    expect(await inAgent(scope, "crew-1", ({ queue }) => queue.view("inbox"))).toMatchObject({ queued: 1, dead: 0 });
    await env.BLOBS.put(sent.key, body);
    expect(await given()).toEqual([]);
    expect(await inAgent(scope, "crew-1", ({ queue }) => queue.view("inbox"))).toMatchObject({ queued: 2, dead: 0 });
    const other = await heldScope();
    expect((await carry({ ...behind, from: `${other.id}/planner` })).retryMessages).toHaveLength(1);
    expect((await carry("nothing of ours" as unknown as Sent, behind)).explicitAcks).toEqual(["m1"]);
  });
});

describe("a queue that is being emptied", () => {
  it("[Q-33] what comes meanwhile waits with its sender, the runtime's own too, and arrives when it is resumed", async () => {
    const { scope, task_id, card } = await planned();
    await inRuntime(scope, ({ queue }) => queue.drain("executor_queue", order(scope), Date.now()));
    must(await approve(scope, card));
    const heard = () =>
      inRuntime(scope, ({ sql }) =>
        sql.one<{ heard: number }>("SELECT heard_at > created_at AS heard FROM outbox WHERE queue = 'executor_queue'"),
      );
    await until(async () => (await heard())?.heard === 1);
    expect(await scope.runtime.claim(scope.id, "crew-1")).toBeNull();
    expect(await inRuntime(scope, ({ queue }) => queue.view("executor_queue"))).toMatchObject({ queued: 0, leased: 0 });
    await inRuntime(scope, ({ queue, sql }) => {
      queue.resume("executor_queue", order(scope), Date.now());
      sql.run("UPDATE outbox SET next_at = 0");
    });
    await scope.runtime.sweep(scope.id);
    const lease = await until(() => scope.runtime.claim(scope.id, "crew-1"));
    expect(lease.message).toMatchObject({ message_kind: "execution_request", task_id });
    await until(async () => (await heard()) === null);
  });
  it("[Q-33] a paused inbox takes messages in and lets its agent begin nothing", async () => {
    const { scope, task_id } = await planned();
    await inAgent(scope, "proxy", ({ queue }) => queue.pause("inbox", order(scope), Date.now()));
    const message = await messageOf(scope, task_id, {
      message_kind: "system_event",
      sender: "runtime",
      recipient: "proxy",
    });
    const before = await inAgent(scope, "proxy", ({ queue }) => queue.view("inbox").queued);
    await carry({ from: `${scope.id}/runtime`, message });
    expect(await inAgent(scope, "proxy", ({ queue }) => queue.view("inbox").queued)).toBe(before + 1);
    expect(await inAgent(scope, "proxy", ({ queue }) => queue.depth("inbox", Date.now()).eligible)).toBe(0);
  });
});
