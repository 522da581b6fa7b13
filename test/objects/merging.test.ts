/** What a verification leads to: the branch moved, built again, published, or not; and what comes too late. */
import { describe, expect, it } from "vitest";
import {
  attempts,
  begun,
  changed,
  countersigned,
  item,
  oneItem,
  openVerification,
  planOf,
  publication,
  result,
  verdict,
} from "./driven.ts";
import { approve, audit, decisions, expectSound, inRuntime, missing, must, onlyCard, task, taskRow } from "./scope.ts";

const two = planOf([
  "id: a, runner: steps, verify: none, allow: { paths: ['a/**'] }",
  "id: b, runner: steps, verify: none, allow: { paths: ['b/**'] }",
]);

describe("a verification's result", () => {
  async function verifying(plan = oneItem) {
    const driven = await countersigned(plan);
    await driven.scope.runtime.deliver(
      await result(driven, await begun(driven.scope), { files: plan === oneItem ? [changed] : [] }),
    );
    return { driven, row: await openVerification(driven) };
  }

  it("[MRG-1] passed, the branch moves to the very commit that was verified; published, the task is done", async () => {
    const { driven, row } = await verifying();
    const { scope, task_id } = driven;
    const passed = await verdict(driven, row);
    for (const _ of [1, 2]) await scope.runtime.deliver(passed);
    expect((await taskRow(scope, task_id)).tip).toEqual({
      commit: passed.payload.commit,
      bundle_key: passed.payload.bundle_key,
    });
    expect(await decisions(scope, "merge")).toEqual(["merged"]);
    expect(await task(scope, task_id)).toMatchObject({ status: "active", phase: "merging", branch: null });
    const pushed = await publication(driven);
    for (const _ of [1, 2]) await scope.runtime.deliver(pushed);
    expect(await task(scope, task_id)).toMatchObject({
      status: "done",
      phase: "complete",
      branch: `countersign/${task_id}`,
      commit: passed.payload.commit,
    });
    expect((await item(driven)).grant).toMatchObject({ life: "executed" });
    expect((await task(scope, task_id)).phases.filter((phase) => phase.outcome === "open")).toEqual([]);
    await expectSound(scope);
  });

  it("[MRG-2] failed, it counts as an attempt and the next one is told; a protected path is named", async () => {
    const { driven, row } = await verifying();
    const { scope } = driven;
    await scope.runtime.deliver(
      await verdict(driven, row, {
        verdict: "integrity_violation",
        detail: "the patch touches protected paths: test/a",
      }),
    );
    expect(await attempts(driven)).toMatchObject([
      { state: "failed", error_code: "verification_failed" },
      { state: "due" },
    ]);
    expect((await begun(scope)).lease.message.payload.guidance).toEqual([
      "Attempt 1 ended: the patch touches protected paths: test/a",
    ]);
    expect(await item(driven)).toMatchObject({ counted: 1 });
    expect(await task(scope, driven.task_id)).toMatchObject({ phase: "fixing" });
  });

  it("[MRG-3] a fault of the infrastructure is neither pass nor fail and does not count", async () => {
    const { driven, row } = await verifying();
    await driven.scope.runtime.deliver(
      await verdict(driven, row, { verdict: "infra_error", detail: "the host was away" }),
    );
    expect(await attempts(driven)).toMatchObject([{ state: "crashed" }, { state: "due" }]);
    expect(await item(driven)).toMatchObject({ counted: 0, uncounted: 1 });
  });

  it("[MRG-4] a pass without a commit is not believed", async () => {
    const { driven, row } = await verifying();
    await driven.scope.runtime.deliver(await verdict(driven, row, { commit: null }));
    expect(await attempts(driven)).toMatchObject([{ state: "crashed" }, { state: "due" }]);
    expect((await taskRow(driven.scope, driven.task_id)).tip).toBeNull();
  });

  it("[MRG-5] of a verification that is void, over or unknown it is kept for the record only", async () => {
    const { driven, row } = await verifying();
    const { scope, task_id } = driven;
    const passed = await verdict(driven, row);
    must(await scope.runtime.cancelTask(scope.admin, task_id, "never mind"));
    expect(await inRuntime(scope, ({ rows }) => rows.verifications.all())).toMatchObject([{ state: "void" }]);
    await scope.runtime.deliver(passed);
    await scope.runtime.deliver(await verdict(driven, { ...row, id: "v-invented" }));
    expect((await decisions(scope, "effect")).filter((said) => said === "stale_result")).toHaveLength(2);
    expect(await taskRow(scope, task_id)).toMatchObject({ tip: null, status: "cancelled" });
    expect(await decisions(scope, "merge")).toEqual([]);
  });

  it("[MRG-6] on a branch that moved meanwhile the candidate is built and verified again, then merged", async () => {
    const driven = await countersigned(two);
    const { scope, task_id } = driven;
    for (const crew of ["crew-1", "crew-2"])
      await scope.runtime.deliver(await result(driven, await begun(scope, crew), { files: [] }));
    const [first = missing("first"), second = missing("second")] = await inRuntime(scope, ({ rows }) =>
      rows.verifications.ofTask(task_id),
    );
    const passed = await verdict(driven, first);
    await scope.runtime.deliver(passed);
    await scope.runtime.deliver(await verdict(driven, second));
    expect(await decisions(scope, "merge")).toEqual(["merged", "rebuild"]);
    const again = await openVerification(driven);
    expect(again).toMatchObject({ attempt_id: second.attempt_id, round: 1, parent: passed.payload.commit });
    expect((await taskRow(scope, task_id)).tip?.commit).toBe(passed.payload.commit);
    const rebuilt = await verdict(driven, again);
    await scope.runtime.deliver(rebuilt);
    expect((await taskRow(scope, task_id)).tip?.commit).toBe(rebuilt.payload.commit);
    await scope.runtime.deliver(await publication(driven));
    expect(await task(scope, task_id)).toMatchObject({ status: "done" });
    await expectSound(scope);
  });

  it("[MRG-7] a conflict with the branch is a failed attempt; the next begins at the branch as it is now", async () => {
    const driven = await countersigned(two);
    const { scope, task_id } = driven;
    for (const crew of ["crew-1", "crew-2"])
      await scope.runtime.deliver(await result(driven, await begun(scope, crew), { files: [] }));
    const [first = missing("first"), second = missing("second")] = await inRuntime(scope, ({ rows }) =>
      rows.verifications.ofTask(task_id),
    );
    await scope.runtime.deliver(await verdict(driven, first));
    await scope.runtime.deliver(
      await verdict(driven, second, {
        verdict: "fail",
        conflicts: ["b/x"],
        detail: "does not merge onto the branch: b/x",
      }),
    );
    const next = await begun(scope);
    expect(next.lease.message.payload).toMatchObject({
      baseline: (await taskRow(scope, task_id)).tip?.commit,
      guidance: ["Attempt 1 ended: does not merge onto the branch: b/x"],
    });
    expect((await attempts(driven)).find((attempt) => attempt.id === second.attempt_id)).toMatchObject({
      state: "failed",
      error_code: "tool_failure",
    });
  });

  it("[MRG-8] nothing is published before every item is done, and then once", async () => {
    const driven = await countersigned(two);
    const { scope, task_id } = driven;
    const published = () => inRuntime(scope, ({ rows }) => rows.tasks.get(task_id)?.publishing ?? null);
    const requests = async () =>
      (await audit(scope)).filter((link) => link.event_type === "check" && link.details.entry === "publish");
    const one = await begun(scope, "crew-1");
    const other = await begun(scope, "crew-2");
    await scope.runtime.deliver(await result(driven, one, { files: [] }));
    await scope.runtime.deliver(await verdict(driven, await openVerification(driven)));
    expect(await published()).toBeNull();
    await scope.runtime.deliver(await result(driven, other, { files: [] }));
    await scope.runtime.deliver(await verdict(driven, await openVerification(driven)));
    await scope.runtime.deliver(await verdict(driven, await openVerification(driven)));
    expect(await published()).toMatchObject({ tries: 0 });
    expect(await requests()).toHaveLength(2);
  });

  it("[MRG-9] a push that failed is tried again, at most five times; one that never will ends the task with its reason", async () => {
    const { driven, row } = await verifying();
    const { scope, task_id } = driven;
    await scope.runtime.deliver(await verdict(driven, row));
    const first = await publication(driven, { ok: false });
    await scope.runtime.deliver(first);
    expect((await taskRow(scope, task_id)).publishing).toMatchObject({ tries: 1 });
    await scope.runtime.deliver(first);
    expect((await taskRow(scope, task_id)).publishing).toMatchObject({ tries: 1 });
    for (let tries = 2; tries <= 5; tries++) await scope.runtime.deliver(await publication(driven, { ok: false }));
    expect(await task(scope, task_id)).toMatchObject({
      status: "failed",
      reason: "The branch could not be published: not pushed",
    });

    const other = await verifying();
    await other.driven.scope.runtime.deliver(await verdict(other.driven, other.row));
    await other.driven.scope.runtime.deliver(await publication(other.driven, { ok: false, retryable: false }));
    expect(await task(other.driven.scope, other.driven.task_id)).toMatchObject({
      status: "failed",
      error_code: "tool_failure",
      branch: null,
    });
  });

  it("[MRG-10] a cancelled task is not published, however late the push's answer", async () => {
    const { driven, row } = await verifying();
    const { scope, task_id } = driven;
    await scope.runtime.deliver(await verdict(driven, row));
    const pushed = await publication(driven);
    must(await scope.runtime.cancelTask(scope.admin, task_id, "stop"));
    await scope.runtime.deliver(pushed);
    expect(await task(scope, task_id)).toMatchObject({ status: "cancelled", branch: null });
  });

  it("[MRG-11] a gate that a person opened stays open for the same result when the branch moves", async () => {
    const driven = await countersigned(two);
    const { scope, task_id } = driven;
    const one = await begun(scope, "crew-1");
    const other = await begun(scope, "crew-2");
    await scope.runtime.deliver(
      await result(driven, one, { files: [{ path: "docs/x", change: "added", old_mode: "000000", mode: "100644" }] }),
    );
    must(await approve(scope, await onlyCard(scope, task_id)));
    const gated = await openVerification(driven);
    await scope.runtime.deliver(await result(driven, other, { files: [] }));
    const open = await inRuntime(
      scope,
      ({ rows }) =>
        rows.verifications.ofTask(task_id).find((row) => row.attempt_id === other.ref.attempt_id) ??
        missing("verification"),
    );
    await scope.runtime.deliver(await verdict(driven, open));
    await scope.runtime.deliver(await verdict(driven, gated));
    await scope.runtime.deliver(await verdict(driven, await openVerification(driven)));
    await scope.runtime.deliver(await publication(driven));
    expect(await task(scope, task_id)).toMatchObject({ status: "done" });
    expect(await decisions(scope, "gate_block")).toEqual(["blocked"]);
  });
});
