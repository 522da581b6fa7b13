/** Which items of an approved plan start when, and from where. */
import { describe, expect, it } from "vitest";
import { begun, countersigned, failure, item, openVerification, planOf, result, verdict } from "./driven.ts";
import { events, expectSound, inRuntime, missing, must, onlyCard, task } from "./scope.ts";

describe("what an approved plan starts", () => {
  it("[DSP-1] items start in the order of their dependencies, each from the branch as the one before left it", async () => {
    const driven = await countersigned(
      planOf(["id: b, runner: steps, verify: none, depends_on: [a]", "id: a, runner: steps, verify: none"]),
    );
    const { scope, task_id } = driven;
    const first = await begun(scope);
    expect(first.lease.message.work_item_id).toBe((await item(driven, "a")).id);
    expect(await scope.runtime.claim(scope.id, "crew-2")).toBeNull();
    await scope.runtime.deliver(await result(driven, first, { files: [] }));
    await scope.runtime.deliver(await verdict(driven, await openVerification(driven)));
    const tip = await inRuntime(scope, ({ rows }) => rows.tasks.get(task_id)?.tip ?? missing("tip"));
    const second = await begun(scope, "crew-2");
    expect(second.lease.message.payload).toMatchObject({ baseline: tip.commit, bundle_key: tip.bundle_key });
    expect((await events(scope)).filter((event) => event.type === "work_item_unblocked")).toHaveLength(1);
  });

  it("[DSP-2] independent items run side by side; those that touch the same paths do not", async () => {
    const apart = await countersigned(
      planOf([
        "id: a, runner: steps, verify: none, allow: { paths: ['a/**'] }",
        "id: b, runner: steps, verify: none, allow: { paths: ['b/**'] }",
      ]),
    );
    expect([
      await apart.scope.runtime.claim(apart.scope.id, "crew-1"),
      await apart.scope.runtime.claim(apart.scope.id, "crew-2"),
    ]).not.toContain(null);
    const same = await countersigned(
      planOf([
        "id: a, runner: steps, verify: none, allow: { paths: ['src/**'] }",
        "id: b, runner: steps, verify: none, allow: { paths: ['src/x.ts'] }",
      ]),
    );
    expect(await same.scope.runtime.claim(same.scope.id, "crew-1")).not.toBeNull();
    expect(await same.scope.runtime.claim(same.scope.id, "crew-2")).toBeNull();
  });

  it("[DSP-3] an item that failed for good blocks what depends on it; its siblings finish; nothing is published", async () => {
    const driven = await countersigned(
      planOf([
        "id: a, runner: steps, verify: none, allow: { paths: ['a/**'] }",
        "id: b, runner: steps, verify: none, allow: { paths: ['b/**'] }",
        "id: c, runner: steps, verify: none, depends_on: [a]",
      ]),
    );
    const { scope, task_id } = driven;
    const one = await begun(scope, "crew-1");
    const two = await begun(scope, "crew-2");
    const [a, b] = one.lease.message.work_item_id?.endsWith(".a") ? [one, two] : [two, one];
    await scope.runtime.deliver(await failure(driven, a, false));
    must(
      await scope.runtime.decide(scope.admin, (await onlyCard(scope, task_id)).id, {
        decision: "deny",
        content_hash: null,
        comment: "no",
        stop: false,
      }),
    );
    expect(await item(driven, "c")).toMatchObject({ outcome: "blocked" });
    expect(await task(scope, task_id)).toMatchObject({ status: "active" });
    await scope.runtime.deliver(
      await result(driven, b, { files: [{ path: "b/x", change: "added", old_mode: "000000", mode: "100644" }] }),
    );
    await scope.runtime.deliver(await verdict(driven, await openVerification(driven)));
    expect(await task(scope, task_id)).toMatchObject({ status: "failed", branch: null });
    expect(await item(driven, "b")).toMatchObject({ outcome: "done" });
    await expectSound(scope);
  });
});
