/** Queues as people meet them: seen, paused, resumed, drained. */
import { describe, expect, it } from "vitest";
import { build } from "../../src/domain/message.ts";
import { messageOf, planned } from "./driven.ts";
import { agent, as, events, inAgent, inRuntime, makeScope, must, refusalOf, until } from "./scope.ts";

describe("a queue", () => {
  it("[HTTP-70] shows its state and counts, who holds what until when, and its owner's outbox", async () => {
    const { scope, task_id } = await planned();
    const held = await messageOf(scope, task_id, {
      message_kind: "system_event",
      sender: "runtime",
      recipient: "proxy",
    });
    await agent(scope, "proxy").deliver(held);
    await inAgent(scope, "proxy", ({ queue }) =>
      queue.lease("inbox", { holder: "proxy", lease_id: "l", lease_ms: 1e6 }, Date.now()),
    );
    const { queues: listed, silent } = must(await scope.runtime.queues(scope.admin));
    expect(silent).toEqual([]);
    expect(listed.map(({ name }) => name).slice(0, 5)).toEqual([
      "runtime_queue",
      "executor_queue",
      "proxy",
      "planner",
      "verifier",
    ]);
    expect(listed[1]).toMatchObject({ state: "open", by: null, outbox: null });
    const one = must(await scope.runtime.queueDetail(scope.admin, "proxy"));
    expect(one).toMatchObject({ name: "proxy", state: "open", leased: 1, dead: 0, outbox: { waiting: 0, dead: 0 } });
    expect(one.leases).toMatchObject([{ holder: "proxy", deliveries: 1, heartbeats: 0 }]);
    expect(Date.parse(one.leases[0]?.expires_at ?? "") - Date.parse(one.leases[0]?.leased_at ?? "")).toBe(1e6);
    expect(refusalOf(await scope.runtime.queueDetail(scope.admin, "zoe")).code).toBe("queue_not_found");
  });

  it("[HTTP-71] of an agent or of the runtime is paused and resumed, once, on its holder's record with who and why", async () => {
    const { scope } = await planned();
    for (const name of ["planner", "runtime_queue"]) {
      const pause = () => scope.runtime.moveQueue(scope.admin, name, { move: "pause", reason: "a bad model" });
      expect(must(await pause())).toMatchObject({ state: "paused", by: "ada", reason: "a bad model" });
      const first = must(await scope.runtime.queueDetail(scope.admin, name));
      expect(
        must(await scope.runtime.moveQueue(as(scope, "eve", "admin"), name, { move: "pause", reason: "" })),
      ).toEqual(first);
      const resumed = must(await scope.runtime.moveQueue(scope.admin, name, { move: "resume", reason: "" }));
      expect(resumed).toMatchObject({ state: "open", by: "ada", reason: null });
      const rows = await (name === "planner"
        ? inAgent(scope, name, ({ audit }) => audit.after(0, 1_000))
        : inRuntime(scope, ({ audit }) => audit.after(0, 1_000)));
      const moves = rows.filter((row) => row.decision?.startsWith("queue_"));
      expect(moves.map((row) => [row.decision, row.details.by, row.reason])).toEqual([
        ["queue_paused", "ada", "a bad model"],
        ["queue_resumed", "ada", null],
      ]);
      const shown = (await events(scope)).filter((event) => event.type === "queue_changed" && event.queue === name);
      expect(shown.map((event) => event.state)).toEqual(["paused", "open"]);
    }
    expect(refusalOf(await scope.runtime.moveQueue(scope.admin, "zoe", { move: "pause", reason: "" })).code).toBe(
      "queue_not_found",
    );
  });

  it("[HTTP-72] paused hands nothing out; resumed its agent goes on by itself", async () => {
    const scope = await makeScope();
    const move = (which: "pause" | "resume") =>
      scope.runtime.moveQueue(scope.admin, "planner", { move: which, reason: "" });
    must(await move("pause"));
    const note = build({
      ...{ message_kind: "system_event", sender: "runtime", recipient: "planner", content: "hello" },
      ...{
        message_id: "note-0001",
        trace_id: "trace-0001",
        scope_id: scope.id,
        taint: "owner",
        created_at: new Date().toISOString(),
      },
      payload: { recipient: "planner", content: "hello" },
    });
    expect(await agent(scope, "planner").deliver(note)).toMatchObject({ refused: null });
    await agent(scope, "planner").poke(scope.id);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const waits = await inAgent(scope, "planner", ({ queue }) => queue.isWaiting("inbox", "note-0001"));
    expect(waits).toBe(true);
    must(await move("resume"));
    await until(async () => !(await inAgent(scope, "planner", ({ queue }) => queue.isWaiting("inbox", "note-0001"))));
  });

  it("[HTTP-73] drained takes nothing in: new messages stay with their senders until it is resumed", async () => {
    const { scope, task_id } = await planned();
    const drained = must(await scope.runtime.moveQueue(scope.admin, "verifier", { move: "drain", reason: "moving" }));
    expect(drained).toMatchObject({ state: "drained", queued: 0, leased: 0 });
    const late = await messageOf(scope, task_id, {
      message_kind: "system_event",
      sender: "runtime",
      recipient: "verifier",
    });
    await inRuntime(scope, ({ outbox }) => outbox.put(late, Date.now()));
    await scope.runtime.sweep(scope.id);
    // Put off, it is asked again half a minute later; only sent, it would be after five seconds.
    const putOff = "SELECT message_id FROM outbox WHERE died_at IS NULL AND next_at > ?";
    await until(async () => {
      const standing = await inRuntime(scope, ({ sql }) =>
        sql.all<{ message_id: string }>(putOff, Date.now() + 10_000),
      );
      return standing.some(({ message_id }) => message_id === late.message_id);
    });
    expect(must(await scope.runtime.queueDetail(scope.admin, "verifier")).queued).toBe(0);
    await until(async () => {
      const { outbox } = must(await scope.runtime.queueDetail(scope.admin, "runtime_queue"));
      return outbox?.waiting === 1 && outbox.dead === 0;
    });
    must(await scope.runtime.moveQueue(scope.admin, "verifier", { move: "resume", reason: "" }));
    await inRuntime(scope, ({ sql }) => sql.run("UPDATE outbox SET next_at = 0"));
    await scope.runtime.sweep(scope.id);
    await until(async () => must(await scope.runtime.queueDetail(scope.admin, "verifier")).queued === 1);
  });
});
