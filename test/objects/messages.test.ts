/** Messages between objects: twice, late, out of order, changed, or of a scope that was never made. */
import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Message } from "../../src/domain/message.ts";
import type { Sent } from "../../src/domain/posted.ts";
import worker from "../../src/worker.ts";
import {
  asked,
  attempts,
  begun,
  countersigned,
  heldScope,
  oneItem,
  openVerification,
  planned,
  planResult,
  result,
  verdict,
} from "./driven.ts";
import {
  agent,
  audit,
  decisions,
  events,
  expectSound,
  inAgent,
  inRuntime,
  makeScope,
  must,
  onlyCard,
  type Scope,
  task,
  until,
} from "./scope.ts";

/** Carries what objects posted, as the platform's queue would. */
async function carry(...posted: readonly Sent[]) {
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

describe("on its way", () => {
  it("[RTO-1] a message is seen by the runtime and taken by its addressee, and only then forgotten by its sender", async () => {
    const scope = await heldScope();
    const { body } = must(await asked(scope));
    await until(async () => (await sent(scope)).length === 0);
    expect(await inAgent(scope, "proxy", ({ queue }) => queue.view("inbox"))).toMatchObject({ queued: 1 });
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
