/** Messages between objects: twice, late, out of order, to nobody, poisonous; and what a person decides about the dead. */
import {
  createExecutionContext,
  createMessageBatch,
  getQueueResult,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Posted } from "../../durable-objects/post.ts";
import type { Message } from "../../src/domain/message.ts";
import { limits } from "../../src/limits.ts";
import worker from "../../src/worker.ts";
import {
  asked,
  attempts,
  begun,
  countersigned,
  heldScope,
  messageOf,
  oneItem,
  openVerification,
  planned,
  planResult,
  result,
  verdict,
} from "./driven.ts";
import {
  agent,
  approve,
  audit,
  decisions,
  deny,
  events,
  expectSound,
  hold,
  inAgent,
  inRuntime,
  makeScope,
  missing,
  must,
  onlyCard,
  pending,
  type Scope,
  setAgentState,
  task,
  until,
} from "./scope.ts";

/** Carries what objects posted, as the platform's queue would. */
async function carry(...posted: readonly Posted[]) {
  const batch = createMessageBatch(
    "agent-messages",
    posted.map((body, at) => ({ id: `m${at}`, timestamp: new Date(0), attempts: 1, body })),
  );
  const context = createExecutionContext();
  await worker.queue(batch, env);
  return getQueueResult(batch, context);
}
function sent(scope: Scope): Promise<Message[]> {
  return inRuntime(scope, ({ outbox }) => outbox.due(Number.MAX_SAFE_INTEGER).map((row) => row.message));
}
/** From the runtime to an agent, promised in its outbox. */
async function notice(scope: Scope, task_id: string, recipient: string, content = "hello"): Promise<Message> {
  const message = await messageOf(scope, task_id, {
    message_kind: "system_event",
    sender: "runtime",
    recipient,
    content,
    payload: { recipient, content },
  });
  await inRuntime(scope, ({ outbox }) => outbox.put(message, Date.now()));
  return message;
}
/** Ends the waiting of every row that backs off. */
async function again(scope: Scope): Promise<void> {
  await inRuntime(scope, ({ sql }) => sql.run("UPDATE queue_rows SET available_at = 0"));
  await scope.runtime.sweep(scope.id);
}

describe("on its way", () => {
  it("[RTO-1] a message is seen by the runtime and taken by its addressee, and only then forgotten by its sender", async () => {
    const scope = await heldScope();
    const { body } = must(await asked(scope));
    const [message = missing("message")] = await until(async () => {
      const waiting = await sent(scope);
      return waiting.length > 0
        ? waiting
        : inAgent(scope, "proxy", ({ queue }) =>
            queue.view("inbox").queued > 0 ? ([null] as unknown as Message[]) : null,
          );
    });
    await until(async () => (await sent(scope)).length === 0);
    expect(await inAgent(scope, "proxy", ({ queue }) => queue.view("inbox"))).toMatchObject({ queued: 1 });
    if (message !== null) expect(message.message_kind).toBe("user_message");
    expect(await task(scope, body.id)).toMatchObject({ status: "active", phase: "discovery" });
  });

  it("[RTO-2] carried many times it is one event, one row and one card", async () => {
    const { scope, task_id, card } = await planned();
    const before = await events(scope);
    const posted = { from: `${scope.id}/planner`, message: await planResult(scope, task_id, oneItem) };
    expect(await carry(posted, posted, posted)).toMatchObject({ explicitAcks: ["m0", "m1", "m2"] });
    expect(await carry(posted)).toMatchObject({ explicitAcks: ["m0"] });
    expect(await onlyCard(scope, task_id)).toEqual(card);
    expect(await events(scope)).toEqual(before);
    expect((await inAgent(scope, "proxy", ({ queue }) => queue.dead("inbox"))).length).toBe(0);
  });

  it("[RTO-3] results out of order, twice and late lead to the same end as in order", async () => {
    const driven = await countersigned();
    const { scope } = driven;
    const held = await begun(scope);
    const good = await result(driven, held);
    await scope.runtime.deliver(good);
    const passed = await verdict(driven, await openVerification(driven));
    for (const message of [passed, good, passed, good])
      expect(await scope.runtime.deliver(message)).toEqual({ refused: null });
    expect(await attempts(driven)).toMatchObject([{ state: "done" }]);
    expect(await decisions(scope, "merge")).toEqual(["merged"]);
    await expectSound(scope);
  });

  it("[RTO-4] a known id with other bytes is refused and on record, and what came first stands", async () => {
    const driven = await countersigned();
    const { scope } = driven;
    const good = await result(driven, await begun(scope));
    await scope.runtime.deliver(good);
    const other = await scope.runtime.deliver({ ...good, content: "other" });
    expect(other.refused).toContain("other content");
    expect((await audit(scope)).findLast((link) => link.event_type === "enqueue")).toMatchObject({
      decision: "refused",
      message_id: good.message_id,
    });
    expect(await attempts(driven)).toMatchObject([{ state: "verifying" }]);
  });

  it("[RTO-5] what breaks the schema or has no route is refused, and seen in passing it changes nothing", async () => {
    const { scope, task_id, card } = await planned();
    const good = await planResult(scope, task_id, oneItem.replace("A goal", "Another"));
    await scope.runtime.observe({ ...good, message_id: "forged-by-the-proxy", sender: "proxy" });
    expect(await onlyCard(scope, task_id)).toEqual(card);
    const before = await inRuntime(scope, ({ queue }) => queue.view("runtime_queue"));
    for (const broken of [
      good,
      { ...good, recipient: "runtime_queue" },
      { ...good, taint: "none" as "owner" },
      { ...good, sender: "runtime", recipient: "executor_queue", message_kind: "execution_request" as const },
    ])
      expect((await scope.runtime.deliver(broken)).refused).not.toBeNull();
    expect(await inRuntime(scope, ({ queue }) => queue.view("runtime_queue"))).toEqual(before);
    expect((await agent(scope, "planner").deliver(good)).refused).toContain("addressed to proxy");
  });

  it("[RTO-6] a message of no scope that was made is not lost: the queue gives it back", async () => {
    const { scope, task_id } = await planned();
    const message = { ...(await planResult(scope, task_id, oneItem)), scope_id: "zzzzzzzzzzzzzzzz" };
    expect(await carry({ from: "zzzzzzzzzzzzzzzz/planner", message })).toMatchObject({
      explicitAcks: [],
      retryMessages: [{ msgId: "m0" }],
    });
  });

  it("[RTO-7] the same Idempotency-Key makes one task; with another body it is refused", async () => {
    const scope = await heldScope();
    const answers = await Promise.all([1, 2, 3].map(() => asked(scope, { key: "k1" })));
    const bodies = answers.map((answer) => must(answer));
    expect(new Set(bodies.map(({ body }) => body.id)).size).toBe(1);
    expect(bodies.map(({ replay }) => replay).sort()).toEqual([false, true, true]);
    expect(await asked(scope, { key: "k1", title: "Another" })).toMatchObject({
      ok: false,
      refusal: { code: "idempotency_mismatch" },
    });
    expect(must(await scope.runtime.tasks(scope.admin, { limit: 10, cursor: null, status: null })).items).toHaveLength(
      1,
    );
  });
});

describe("a dead letter", () => {
  it("[DL-1] to an agent nobody made becomes a card with its reason, and is sent no more", async () => {
    const { scope, task_id, card } = await planned();
    const message = await notice(scope, task_id, "zoe");
    await scope.runtime.sweep(scope.id);
    const dead = await until(async () => (await pending(scope, task_id)).find((each) => each.kind === "dead_letter"));
    expect(dead.card.facts).toEqual(["Reason: there is no agent zoe", `Message: ${message.message_id}`]);
    expect(
      await inRuntime(scope, ({ outbox }) => [
        outbox.waiting(),
        outbox.deadLetters().map((letter) => letter.message_id),
      ]),
    ).toEqual([0, [message.message_id]]);
    expect(await pending(scope, task_id)).toHaveLength(2);
    expect((await pending(scope, task_id)).map((each) => each.id)).toContain(card.id);
  });

  it("[DL-2] to a stopped agent too; approved it is sent again and arrives", async () => {
    const { scope, task_id } = await planned();
    await setAgentState(scope, "crew-1", "stopped");
    const message = await notice(scope, task_id, "crew-1");
    await scope.runtime.sweep(scope.id);
    const dead = await until(async () => (await pending(scope, task_id)).find((each) => each.kind === "dead_letter"));
    expect(dead.card.facts[0]).toBe("Reason: crew-1 has stopped");
    await setAgentState(scope, "crew-1", "paused");
    must(await approve(scope, dead));
    await until(() => inAgent(scope, "crew-1", ({ queue }) => queue.isWaiting("inbox", message.message_id)));
    expect(await pending(scope, task_id)).toHaveLength(1);
  });

  it("[DL-3] dead again after it was sent again it asks again; dropped it never does", async () => {
    const { scope, task_id } = await planned();
    const message = await notice(scope, task_id, "zoe");
    const letter = () => until(async () => (await pending(scope, task_id)).find((each) => each.kind === "dead_letter"));
    await scope.runtime.sweep(scope.id);
    const first = await letter();
    await scope.runtime.refusedMessage(message, "again while it waits");
    expect(await letter()).toEqual(first);
    must(await approve(scope, first));
    const second = await letter();
    expect(second.id).not.toBe(first.id);
    must(await deny(scope, second, "drop it"));
    await scope.runtime.refusedMessage(message, "there is no agent zoe");
    expect((await pending(scope, task_id)).map((each) => each.kind)).toEqual(["plan"]);
  });

  it("[DL-4] an agent's own letter that was refused is sent again by that agent", async () => {
    const { scope, task_id } = await planned();
    const message = await messageOf(scope, task_id, {
      message_kind: "agent_message",
      sender: "proxy",
      recipient: "zoe",
    });
    await inAgent(scope, "proxy", ({ outbox }) => outbox.put(message, Date.now()));
    await agent(scope, "proxy").poke(scope.id);
    const dead = await until(async () => (await pending(scope, task_id)).find((each) => each.kind === "dead_letter"));
    expect(await inAgent(scope, "proxy", ({ outbox }) => outbox.deadLetters())).toHaveLength(1);
    await hold(scope, "zoe");
    must(await approve(scope, dead));
    await until(() => inAgent(scope, "zoe", ({ queue }) => queue.isWaiting("inbox", message.message_id)));
    await until(async () => (await inAgent(scope, "proxy", ({ outbox }) => outbox.deadLetters())).length === 0);
  });
});

describe("a poisonous message", () => {
  async function poison(scope: Scope, task_id: string): Promise<Message> {
    const bad = await messageOf(scope, task_id, {
      message_kind: "execution_result",
      sender: "crew-1",
      recipient: "runtime_queue",
      payload: { nonsense: true },
    });
    expect(await scope.runtime.deliver(bad)).toEqual({ refused: null });
    return bad;
  }

  it("[DL-5] is tried a few times, never stops the ones behind it, and then is put before a person", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    const held = await begun(scope);
    const bad = await poison(scope, task_id);
    await scope.runtime.deliver(await result(driven, held));
    expect(await attempts(driven)).toMatchObject([{ state: "verifying" }]);
    for (let delivery = 2; delivery <= limits.max_deliveries; delivery++) {
      expect(await pending(scope, task_id)).toEqual([]);
      await again(scope);
    }
    const dead = await onlyCard(scope, task_id);
    expect(dead).toMatchObject({ kind: "dead_letter", agent_id: "crew-1" });
    expect(must(await scope.runtime.deadLetters(scope.admin, "runtime_queue"))).toMatchObject([
      { message_id: bad.message_id, deliveries: limits.max_deliveries },
    ]);
    await expectSound(scope);
  });

  it("[DL-6] never throws out of the alarm, which sets itself again", async () => {
    const { scope, task_id } = await countersigned();
    await poison(scope, task_id);
    await inRuntime(scope, ({ sql }) => sql.run("UPDATE queue_rows SET available_at = 0"));
    await runInDurableObject(scope.stub, (_object, state) => state.storage.setAlarm(Date.now() + 60_000));
    expect(await runDurableObjectAlarm(scope.stub)).toBe(true);
    expect(await runInDurableObject(scope.stub, (_object, state) => state.storage.getAlarm())).not.toBeNull();
  });

  it("[DL-7] a stored row that can no longer be read dies alone: the scope goes on", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    await poison(scope, task_id);
    await inRuntime(scope, ({ sql }) =>
      sql.run("UPDATE queue_rows SET body = 'gone', available_at = 0 WHERE queue = 'runtime_queue'"),
    );
    await scope.runtime.sweep(scope.id);
    expect(must(await scope.runtime.queues(scope.admin))[0]).toMatchObject({
      name: "runtime_queue",
      dead: 1,
      queued: 0,
    });
    await scope.runtime.deliver(await result(driven, await begun(scope)));
    expect(await attempts(driven)).toMatchObject([{ state: "verifying" }]);
  });
});

it("[RTO-8] a scope is made once: the same call changes nothing, and no task enters one that was not made", async () => {
  const scope = await makeScope();
  const before = await audit(scope);
  must(
    await scope.runtime.initScope({
      scope_id: scope.id,
      name: "test",
      token_id: scope.admin.credential_id,
      token_hash: `hash of ${scope.id}`,
    }),
  );
  expect((await audit(scope)).filter((link) => link.decision === "scope_created")).toHaveLength(1);
  expect((await audit(scope)).slice(0, before.length)).toEqual(before);
  expect(await scope.runtime.authenticate(scope.id, `hash of ${scope.id}`)).toMatchObject({
    role: "admin",
    scope_id: scope.id,
  });
  expect(await scope.runtime.authenticate(scope.id, "another hash")).toBeNull();
});
