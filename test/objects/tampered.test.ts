/** What the check of the token stops at each entry once a stored byte is not what was approved. */
import { describe, expect, it } from "vitest";
import {
  attempts,
  begun,
  claim,
  countersigned,
  heldScope,
  item,
  oneItem,
  openVerification,
  planned,
  planOf,
  result,
  step,
  verdict,
} from "./driven.ts";
import { approve, decisions, expectSound, inRuntime, missing, must, onlyCard, type Scope, task } from "./scope.ts";

describe("one byte of difference", () => {
  const spoils: readonly [string, (scope: Scope, task_id: string) => Promise<unknown>][] = [
    [
      "the plan",
      (scope, id) =>
        inRuntime(scope, ({ rows }) =>
          rows.plans.ofTask(id).map((plan) => rows.plans.put({ ...plan, markdown: `${plan.markdown} ` })),
        ),
    ],
    [
      "the item",
      (scope, id) =>
        inRuntime(scope, ({ rows }) =>
          rows.items
            .ofTask(id)
            .map((each) =>
              rows.items.put({ ...each, spec: { ...each.spec, allow: { ...each.spec.allow, paths: ["**"] } } }),
            ),
        ),
    ],
    [
      "the base commit",
      (scope, id) =>
        inRuntime(scope, ({ rows }) =>
          rows.plans.ofTask(id).map((plan) => rows.plans.put({ ...plan, base_commit: "c".repeat(40) })),
        ),
    ],
    [
      "the environment",
      (scope, id) =>
        inRuntime(scope, ({ rows }) =>
          rows.plans
            .ofTask(id)
            .map((plan) => rows.plans.put({ ...plan, environment: { ...plan.environment, setup: [["sh"]] } })),
        ),
    ],
    [
      "the repository",
      (scope, id) =>
        inRuntime(scope, ({ rows }) =>
          rows.tasks.put({ ...(rows.tasks.get(id) ?? missing("task")), repo: "file:///elsewhere" }),
        ),
    ],
    [
      "the token",
      (scope, id) =>
        inRuntime(scope, ({ rows }) =>
          rows.items.ofTask(id).map((each) =>
            rows.items.put({
              ...each,
              grant: each.grant && { ...each.grant, jws: `${each.grant.jws.slice(0, -6)}AAAAAA` },
            }),
          ),
        ),
    ],
    [
      "no token",
      (scope, id) =>
        inRuntime(scope, ({ rows }) => rows.items.ofTask(id).map((each) => rows.items.put({ ...each, grant: null }))),
    ],
  ];

  it.each(spoils)(
    "[ENT-11] after approval in %s blocks the item before anything runs, and is audited",
    async (_name, spoil) => {
      const driven = await countersigned();
      const { scope, task_id } = driven;
      await spoil(scope, task_id);
      const held = await claim(scope);
      expect(await scope.runtime.begin(scope.id, held.ref)).toMatchObject({
        answer: "refused",
        error_code: "gate_blocked",
      });
      expect(await scope.runtime.authorize(scope.id, held.ref, step(held, 1))).toMatchObject({
        answer: "refused",
        error_code: "gate_blocked",
      });
      expect(await decisions(scope, "check")).toEqual(["refused", "refused"]);
      expect(await decisions(scope, "gate_block")).toEqual(["blocked", "blocked"]);
      expect(await decisions(scope, "effect")).not.toContain("intent");
      const errors = { error_code: "gate_blocked", retryable: false, origin_agent: "crew-1" } as const;
      await scope.runtime.deliver(await result(driven, held, { success: false, patch: null }, errors));
      expect(await onlyCard(scope, task_id)).toMatchObject({ kind: "escalation" });
      await expectSound(scope);
    },
  );

  it("[ENT-12] between a call's permission and its start it is noticed too", async () => {
    const { scope, task_id } = await countersigned();
    const held = await begun(scope);
    expect(await scope.runtime.authorize(scope.id, held.ref, step(held, 1))).toEqual({ answer: "run" });
    await spoils[0]?.[1](scope, task_id);
    expect(await scope.runtime.authorize(scope.id, held.ref, step(held, 1))).toMatchObject({ answer: "refused" });
  });

  it("[ENT-13] after the work it stops verification", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    const held = await begun(scope);
    await spoils[1]?.[1](scope, task_id);
    await scope.runtime.deliver(await result(driven, held));
    expect(await inRuntime(scope, ({ rows }) => rows.verifications.all())).toEqual([]);
    expect(await attempts(driven)).toMatchObject([{ state: "failed", error_code: "gate_blocked" }]);
  });

  it("[ENT-14] after verification it stops the merge, and after the merge the publication", async () => {
    const one = await countersigned();
    await one.scope.runtime.deliver(await result(one, await begun(one.scope)));
    await spoils[0]?.[1](one.scope, one.task_id);
    await one.scope.runtime.deliver(await verdict(one, await openVerification(one)));
    expect(await attempts(one)).toMatchObject([{ state: "failed", error_code: "gate_blocked" }]);
    expect(await inRuntime(one.scope, ({ rows }) => rows.tasks.get(one.task_id)?.tip)).toBeNull();

    const two = await countersigned(
      planOf(["id: a, runner: steps, verify: none", "id: b, runner: steps, verify: none, depends_on: [a]"]),
    );
    for (const _ of ["a", "b"]) {
      await two.scope.runtime.deliver(await result(two, await begun(two.scope), { files: [] }));
      const open = await openVerification(two);
      if (open.attempt_id.includes(".b."))
        await inRuntime(two.scope, ({ rows }) =>
          rows.items
            .ofTask(two.task_id)
            .slice(0, 1)
            .map((each) => rows.items.put({ ...each, spec: { ...each.spec, title: "Other" } })),
        );
      await two.scope.runtime.deliver(await verdict(two, open));
    }
    expect(await task(two.scope, two.task_id)).toMatchObject({
      status: "failed",
      error_code: "gate_blocked",
      reason: expect.stringContaining("Not published"),
    });
    expect(
      await inRuntime(two.scope, ({ outbox }) =>
        outbox.due(Number.MAX_SAFE_INTEGER).filter((row) => row.message.content.startsWith("publish")),
      ),
    ).toEqual([]);
  });

  it("[ENT-15] a genuine token of another scope opens nothing", async () => {
    const { scope, task_id } = await countersigned();
    const other = await planned(oneItem, await heldScope());
    must(await approve(other.scope, other.card));
    const foreign = (await item(other)).grant ?? missing("grant");
    await inRuntime(scope, ({ rows }) =>
      rows.items.ofTask(task_id).map((each) => rows.items.put({ ...each, grant: foreign })),
    );
    const held = await claim(scope);
    expect(await scope.runtime.begin(scope.id, held.ref)).toMatchObject({
      answer: "refused",
      reason: "the token belongs to another scope",
    });
  });
});
