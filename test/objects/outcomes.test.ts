/** How attempts end, and which ends count. */
import { describe, expect, it } from "vitest";
import { limits } from "../../src/limits.ts";
import {
  attempts,
  begun,
  carried,
  countersigned,
  type Driven,
  failure,
  type Held,
  item,
  publication,
  result,
} from "./driven.ts";
import { decisions, events, expectSound, inRuntime, onlyCard, task } from "./scope.ts";

const crash = (driven: Driven, held: Held) =>
  result(
    driven,
    held,
    { end: "crashed", success: false, patch: null },
    { error_code: "tool_failure", retryable: true, origin_agent: held.ref.agent },
  );

describe("an execution's result", () => {
  it("[OUTC-1] a good one gives the lease back and goes to verification, once however often it comes", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    const good = await result(driven, await begun(scope));
    for (const _ of [1, 2, 3]) expect(await scope.runtime.deliver(good)).toEqual({ refused: null });
    expect(await inRuntime(scope, ({ rows }) => rows.verifications.ofTask(task_id))).toHaveLength(1);
    expect(await inRuntime(scope, ({ queue }) => queue.view("executor_queue"))).toMatchObject({ queued: 0, leased: 0 });
    expect(await task(scope, task_id)).toMatchObject({ status: "active", phase: "qa" });
    expect((await events(scope)).filter((event) => event.type === "task_execution_complete")).toHaveLength(1);
  });

  it("[OUTC-2] one of another lease, epoch, entry or agent, or of an attempt that is over, is kept for the record only", async () => {
    const driven = await countersigned();
    const { scope } = driven;
    const held = await begun(scope);
    const { ref } = held;
    const stale: Held[] = [
      { ...held, ref: { ...ref, epoch: ref.epoch + 1 } },
      { ...held, ref: { ...ref, entry: 1 } },
      { ...held, ref: { ...ref, lease_id: "invented" } },
      { ...held, ref: { ...ref, agent: "crew-2" } },
      { ...held, ref: { ...ref, attempt_id: "invented" } },
    ];
    for (const other of stale)
      expect(await scope.runtime.deliver(await result(driven, other))).toEqual({ refused: null });
    expect(await attempts(driven)).toMatchObject([{ state: "running", patch: null }]);
    expect((await decisions(scope, "effect")).filter((said) => said === "stale_result")).toHaveLength(stale.length);
    await scope.runtime.deliver(await failure(driven, held));
    await scope.runtime.deliver(await result(driven, held));
    expect(await attempts(driven)).toMatchObject([{ state: "failed", patch: null }, { state: "due" }]);
    await expectSound(scope);
  });

  it("[OUTC-3] failures are tried again to the item's limit, each told of the ones before; then a person is asked", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    await scope.runtime.deliver(await failure(driven, await begun(scope)));
    const second = await begun(scope);
    expect(second.lease.message.payload.guidance).toEqual(["Attempt 1 ended: it ended with 1"]);
    await scope.runtime.deliver(await failure(driven, second));
    expect(await task(scope, task_id)).toMatchObject({ status: "waiting", waiting_on: "escalation" });
    expect((await onlyCard(scope, task_id)).card.facts).toContain("consult: no planner model configured");
    expect(await scope.runtime.claim(scope.id, "crew-1")).toBeNull();
  });

  it("[OUTC-4] crashes take a number and do not count, and never exceed five", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    for (let number = 1; number <= limits.max_uncounted_attempts; number++)
      await scope.runtime.deliver(await crash(driven, await begun(scope)));
    expect(await scope.runtime.claim(scope.id, "crew-1")).toBeNull();
    expect(await item(driven)).toMatchObject({ attempts: 5, counted: 0, uncounted: 5 });
    expect(await onlyCard(scope, task_id)).toMatchObject({ kind: "escalation" });
    expect((await attempts(driven)).map((attempt) => attempt.state)).toEqual(
      Array.from({ length: 5 }, () => "crashed"),
    );
  });

  it("[OUTC-5] an attempt its agent gave up although nobody called it off is a crash, and another begins", async () => {
    const driven = await countersigned();
    const { scope } = driven;
    await scope.runtime.deliver(
      await result(driven, await begun(scope), { end: "cancelled", success: false, patch: null }),
    );
    expect(await attempts(driven)).toMatchObject([{ state: "crashed" }, { state: "due" }]);
    expect(await scope.runtime.claim(scope.id, "crew-1")).not.toBeNull();
  });

  it("[OUTC-6] one that stopped to wait without saying for what is a crash", async () => {
    const driven = await countersigned();
    const { scope } = driven;
    await scope.runtime.deliver(
      await result(driven, await begun(scope), { end: "suspended", success: false, patch: null, suspension: null }),
    );
    expect(await attempts(driven)).toMatchObject([{ state: "crashed" }, { state: "due" }]);
  });
});

it("[OUTC-7] a task's whole life passes each phase in order, and each start has its end", async () => {
  const driven = await countersigned();
  const { scope, task_id } = driven;
  await scope.runtime.deliver(await failure(driven, await begun(scope)));
  await carried(driven, await begun(scope));
  await scope.runtime.deliver(await publication(driven));
  const said = (await events(scope)).filter((event) => event.type.startsWith("phase_")).map((event) => event.type);
  const passed = ["discovery", "context_gathering", "spec_creation", "planning", "coding", "qa", "merging", "complete"];
  expect(said).toEqual(passed.flatMap((phase) => [`phase_start:${phase}`, `phase_complete:${phase}`]));
  expect(await task(scope, task_id)).toMatchObject({ status: "done" });
});
