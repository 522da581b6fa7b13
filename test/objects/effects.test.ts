/** Calls that were left open, holders that come too late, and what the scope does about agents that fall silent. */
import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { limits } from "../../src/limits.ts";
import {
  attempts,
  begun,
  countersigned,
  type Driven,
  failure,
  item,
  oneItem,
  result,
  step,
  suspended,
} from "./driven.ts";
import { approve, audit, events, expectSound, inRuntime, must, onlyCard, type Scope, task, until } from "./scope.ts";

const exited = { state: "exited", exit_code: 0, signal: null, duration_ms: 1 } as const;
const calls = (scope: Scope) => inRuntime(scope, ({ rows }) => rows.calls.all());
const staleOf = async (scope: Scope) =>
  (await audit(scope)).filter(({ decision }) => decision === "stale_result").map(({ details }) => details.what);
async function leftOpen(driven: Driven) {
  const held = await begun(driven.scope);
  await driven.scope.runtime.authorize(driven.scope.id, held.ref, step(held, 1));
  return held;
}

describe("a call that was left open", () => {
  it("[EFF-5] its sandbox is gone: it is kept as unknown, told once, shown, and named on the card; never run again", async () => {
    const driven = await countersigned(oneItem.replace("max_attempts: 2", "max_attempts: 1"));
    const { scope, task_id } = driven;
    const held = await leftOpen(driven);
    await scope.runtime.deliver(await failure(driven, held));
    await until(async () => (await calls(scope))[0]?.state === "unknown");
    const told = (await events(scope)).filter(({ type }) => type === "effect_unknown");
    expect(told).toMatchObject([
      { tool: "shell_execute", surfaces: ["review", "activity"], attempt_id: held.ref.attempt_id },
    ]);
    expect((await audit(scope)).filter(({ decision }) => decision === "unknown")).toMatchObject([
      { event_type: "effect", details: { call_id: "step-1", arguments: '{"command":"echo a"}' } },
    ]);
    const seen = await task(scope, task_id);
    expect(seen.unknown_effects).toMatchObject([{ tool: "shell_execute", state: "unknown", repeats: "never" }]);
    const card = await onlyCard(scope, task_id);
    expect(card.card.facts.join("\n")).toContain("What became of shell_execute");
    must(await approve(scope, card));
    const fresh = await begun(scope);
    expect(fresh.ref.attempt_id).not.toBe(held.ref.attempt_id);
    await expectSound(scope);
  });
  it("[EFF-5] what the sandbox still knew is on record, and nothing is said to be unknown", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    const held = await leftOpen(driven);
    await scope.runtime.lookedUp(scope.id, held.ref, { attempt_id: held.ref.attempt_id, call_id: "step-1" }, exited);
    await scope.runtime.deliver(await failure(driven, held));
    expect(await calls(scope)).toMatchObject([{ state: "settled", outcome: "exited" }]);
    expect((await task(scope, task_id)).unknown_effects).toEqual([]);
    await scope.runtime.lookedUp(
      scope.id,
      null,
      { attempt_id: held.ref.attempt_id, call_id: "step-1" },
      { state: "unknown" },
    );
    expect(await calls(scope)).toMatchObject([{ state: "settled", outcome: "exited" }]);
  });
  it("[EFF-5] the holder's own word that nobody knows is kept as unknown at once", async () => {
    const driven = await countersigned();
    const held = await leftOpen(driven);
    await driven.scope.runtime.settle(driven.scope.id, held.ref, "step-1", { state: "unknown" });
    expect(await calls(driven.scope)).toMatchObject([{ state: "unknown" }]);
    await driven.scope.runtime.settle(driven.scope.id, held.ref, "step-1", exited);
    expect(await calls(driven.scope)).toMatchObject([{ state: "unknown" }]);
  });
});

describe("a superseded holder", () => {
  it("[EFF-6] begins, calls, settles and beats in vain, and each is on record once however often it is tried", async () => {
    const driven = await countersigned();
    const { scope } = driven;
    const { ref, ...held } = await leftOpen(driven);
    await scope.runtime.deliver(await failure(driven, { ref, ...held }));
    const after = await calls(scope);
    for (const _ of [1, 2, 3]) {
      expect(await scope.runtime.begin(scope.id, ref)).toMatchObject({ answer: "stale" });
      expect(await scope.runtime.authorize(scope.id, ref, step({ ref, ...held }, 1))).toMatchObject({
        answer: "stale",
      });
      await scope.runtime.settle(scope.id, ref, "step-1", exited);
      expect(await scope.runtime.heartbeat(scope.id, ref.agent, ref, ref.attempt_id)).toBe(false);
    }
    expect(await staleOf(scope)).toEqual(["begin", "authorize step-1", "settle step-1", "heartbeat"]);
    expect((await calls(scope)).map(({ outcome }) => outcome)).toEqual(after.map(({ outcome }) => outcome));
  });
  it("[EFF-8] a fresh attempt clears the sandbox of every entry there was, also of one that was never begun", async () => {
    const driven = await countersigned(oneItem.replace("tools: [shell_execute]", "tools: []"));
    const { scope } = driven;
    const held = await begun(scope);
    await scope.runtime.authorize(scope.id, held.ref, step(held, 1));
    await scope.runtime.deliver(await suspended(driven, held));
    must(await approve(scope, await onlyCard(scope, driven.task_id)));
    const resumed = await begun(scope);
    await scope.runtime.deliver(await result(driven, resumed, { end: "cancelled", success: false, patch: null }));
    const fresh = await begun(scope);
    const id = held.ref.attempt_id;
    expect(fresh.lease.message.payload.clear).toEqual([`${scope.id}.${id}.0`, `${scope.id}.${id}.1`]);
  });
});

describe("an agent that fell silent", () => {
  const silent = (scope: Scope, what: "beat_at" | "asked_at") =>
    inRuntime(scope, ({ sql }) => sql.run(`UPDATE attempts SET doc = json_set(doc, '$.${what}', 1)`));

  it("[RCV-7] is asked, and when that is in vain its attempt ends and a fresh one begins, long before the lease is over", async () => {
    const driven = await countersigned();
    const { scope } = driven;
    const held = await begun(scope);
    await silent(scope, "beat_at");
    await runDurableObjectAlarm(scope.stub);
    expect(await attempts(driven)).toMatchObject([{ state: "running", asked_at: expect.any(Number) }]);
    expect(await scope.runtime.heartbeat(scope.id, "crew-1", held.ref, held.ref.attempt_id)).toBe(true);
    expect(await attempts(driven)).toMatchObject([{ state: "running", asked_at: null }]);
    await silent(scope, "asked_at");
    await runDurableObjectAlarm(scope.stub);
    expect(await attempts(driven)).toMatchObject([
      { state: "crashed", detail: "its agent fell silent" },
      { state: "due" },
    ]);
    expect(await item(driven)).toMatchObject({ counted: 0, uncounted: 1 });
    expect(await scope.runtime.begin(scope.id, held.ref)).toMatchObject({ answer: "stale" });
    await expectSound(scope);
  });
});

describe("the minute's sweep", () => {
  it("[RCV-1] an object that is behind goes on, and says how late it was; one that is in time says nothing", async () => {
    const { scope } = await countersigned();
    const recovered = async () =>
      (await audit(scope)).filter(({ decision }) => decision === "recovered_overdue").length;
    await scope.runtime.sweep(scope.id);
    expect(await recovered()).toBe(0);
    await begun(scope);
    await inRuntime(scope, ({ sql }) => sql.run("UPDATE queue_rows SET expires_at = 1 WHERE state = 'leased'"));
    await scope.runtime.sweep(scope.id);
    expect(await recovered()).toBe(1);
    expect(await inRuntime(scope, ({ queue }) => queue.view("executor_queue"))).toMatchObject({ queued: 1, leased: 0 });
  });
  it("[RCV-3] an agent that does not answer keeps no other from being told, and is asked again", async () => {
    const { scope, task_id } = await countersigned();
    await inRuntime(scope, ({ rows }) => {
      const asked = {
        task_id,
        what: "call_off",
        calls: [],
        version: 1,
        since: Date.now(),
        next_at: 0,
        tries: 0,
      } as const;
      rows.kills.put({ ...asked, calls: [], id: "nobody.x", agent: "nobody", owner: "x" });
      rows.kills.put({ ...asked, calls: [], id: "verifier.x", agent: "verifier", owner: "x" });
    });
    await runDurableObjectAlarm(scope.stub);
    const left = await inRuntime(scope, ({ rows }) => rows.kills.all());
    expect(left).toMatchObject([{ agent: "nobody" }]);
    expect(left[0]?.next_at).toBeLessThan(Date.now() + limits.overdue_ms);
  });
});
