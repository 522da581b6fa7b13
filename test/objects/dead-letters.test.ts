/** Messages nobody can take or nobody can carry out: kept, named, put before a person; and what that person decides. */
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { Message } from "../../src/domain/message.ts";
import { limits } from "../../src/limits.ts";
import { attempts, begun, countersigned, messageOf, planned, result } from "./driven.ts";
import {
  agent,
  approve,
  deny,
  expectSound,
  hold,
  inAgent,
  inRuntime,
  must,
  onlyCard,
  pending,
  type Scope,
  setAgentState,
  until,
} from "./scope.ts";

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
const firstPage = { limit: 50, cursor: null };
/** Ends the waiting of every row that backs off. */
async function again(scope: Scope): Promise<void> {
  await inRuntime(scope, ({ sql }) => sql.run("UPDATE queue_rows SET available_at = 0"));
  await scope.runtime.sweep(scope.id);
}

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
    await scope.runtime.refuseOwn(message.message_id, "again while it waits");
    expect(await letter()).toEqual(first);
    must(await approve(scope, first));
    const second = await letter();
    expect(second.id).not.toBe(first.id);
    must(await deny(scope, second, "drop it"));
    await scope.runtime.refuseOwn(message.message_id, "there is no agent zoe");
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
    const known = await messageOf(scope, task_id, {
      message_kind: "agent_message",
      sender: "crew-1",
      recipient: "proxy",
    });
    // The door would not let it in; a row like this is what a bug of ours would leave behind.
    const bad = {
      ...known,
      message_kind: "execution_result",
      recipient: "runtime_queue",
      payload: { nonsense: true },
    } as const;
    await inRuntime(scope, ({ queue }) => queue.enqueue("runtime_queue", bad, {}, Date.now()));
    await scope.runtime.sweep(scope.id);
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
    expect(must(await scope.runtime.deadLetters(scope.admin, "runtime_queue", firstPage)).items).toMatchObject([
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
    expect(must(await scope.runtime.queues(scope.admin)).queues[0]).toMatchObject({
      name: "runtime_queue",
      dead: 1,
      queued: 0,
    });
    await scope.runtime.deliver(await result(driven, await begun(scope)));
    expect(await attempts(driven)).toMatchObject([{ state: "verifying" }]);
  });
});
