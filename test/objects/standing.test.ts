/** Standing approvals through the object itself: what approves leaves at once, and taking it back reaches a publication. */
import { describe, expect, it } from "vitest";
import { type StandingInput, type StandingView, standingInput } from "../../src/domain/standing-shape.ts";
import {
  asked,
  attempts,
  begun,
  carried,
  type Driven,
  heldScope,
  item,
  planOf,
  planResult,
  publication,
  repo,
} from "./driven.ts";
import {
  audit,
  decisions,
  expectSound,
  inRuntime,
  must,
  onlyCard,
  pending,
  refusalOf,
  type Scope,
  task,
  taskRow,
} from "./scope.ts";

const plan = planOf([
  "id: a, runner: steps, verify: [{ run: [npm, test] }], allow: { tools: [shell_execute], paths: ['src/**'] }",
]);
function inputOf(more: Partial<StandingInput> = {}): StandingInput {
  const bounds = {
    ...{ who: ["ada"], repos: [repo], tools: ["shell_execute"], paths: ["src/**"] },
    ...{ commands: ["echo **"], verify: ["npm test"] },
  };
  const until = new Date(Date.now() + 86_400_000).toISOString();
  return { ...standingInput.parse({ name: "chores", reason: "small", uses: 3, until, bounds }), ...more };
}
async function withStanding(more: Partial<StandingInput> = {}): Promise<{ scope: Scope; standing: StandingView }> {
  const scope = await heldScope();
  return { scope, standing: must(await scope.runtime.addStandingApproval(scope.admin, inputOf(more), null)).body };
}
/** A plan that comes into review: the entry that brings it answers only after it was looked at. */
async function reviewed(scope: Scope): Promise<Driven["task_id"]> {
  const { body } = must(await asked(scope, { plan }));
  await scope.runtime.observe(await planResult(scope, body.id, plan));
  return body.id;
}

describe("a standing approval in the object", () => {
  it("[STA-20] the entry that brings a plan into review leaves it approved and its attempt queued", async () => {
    const { scope, standing } = await withStanding();
    const task_id = await reviewed(scope);
    expect(await pending(scope, task_id)).toEqual([]);
    const held = await begun(scope);
    expect(held.ref.attempt_id).toBe((await attempts({ scope, task_id } as Driven))[0]?.id);
    expect(await decisions(scope, "approval")).toEqual([
      "standing_made",
      "requested",
      "approve",
      "issued",
      "standing_used",
    ]);
    expect(must(await scope.runtime.standingApproval(scope.admin, standing.id))).toMatchObject({ uses_left: 2 });
    await expectSound(scope);
  });

  it("[STA-22] a plan that nobody came to look at is looked at by the alarm, or by the sweep that finds it late", async () => {
    const scope = await heldScope();
    const task_id = await reviewed(scope);
    must(await scope.runtime.addStandingApproval(scope.admin, inputOf(), null));
    // As if the object had ended between the commit that brought the plan and the look.
    await inRuntime(scope, ({ sql, rows }) => {
      const [card] = rows.approvals.ofTask(task_id);
      sql.run("INSERT INTO standing_due (approval_id, next_at, tries) VALUES (?, 0, 0)", card?.id ?? "");
    });
    await scope.runtime.sweep(scope.id);
    expect(await pending(scope, task_id)).toEqual([]);
    expect(await inRuntime(scope, ({ sql }) => sql.all("SELECT * FROM standing_due"))).toEqual([]);
    expect((await audit(scope)).filter(({ decision }) => decision === "standing_used")).toHaveLength(1);
  });

  it("[STA-32] taken back while its work is published, the task is cancelled and the push called off", async () => {
    const { scope, standing } = await withStanding();
    const task_id = await reviewed(scope);
    const driven = { scope, task_id } as Driven; // its card is gone before anybody could see it
    await carried(driven, await begun(scope));
    const { publishing } = await taskRow(scope, task_id);
    expect(publishing).not.toBeNull();
    const pushed = await publication(driven);
    expect(await scope.runtime.mayPublish(scope.id, task_id, publishing?.verification_id ?? "")).toBe(true);
    must(await scope.runtime.revokeStandingApproval(scope.admin, standing.id, "stop"));
    expect(await task(scope, task_id)).toMatchObject({
      ...{ status: "cancelled", reason: 'the standing approval "chores" was revoked: stop', branch: null },
    });
    expect(await scope.runtime.mayPublish(scope.id, task_id, publishing?.verification_id ?? "")).toBe(false);
    expect((await item(driven)).grant?.life).toBe("void");
    await scope.runtime.deliver(pushed);
    expect((await task(scope, task_id)).status).toBe("cancelled");
    await expectSound(scope);
  });

  it("[STA-29] taken back after one of two items, the rest waits; approved by a person it goes on from there", async () => {
    const scope = await heldScope();
    const two = planOf([
      "id: a, runner: steps, verify: [{ run: [npm, test] }], allow: { tools: [shell_execute], paths: ['src/**'] }",
      "id: b, depends_on: [a], runner: steps, verify: [{ run: [npm, test] }], allow: { tools: [shell_execute], paths: ['src/**'] }",
    ]);
    const standing = must(await scope.runtime.addStandingApproval(scope.admin, inputOf(), null)).body;
    const { body } = must(await asked(scope, { plan: two }));
    await scope.runtime.observe(await planResult(scope, body.id, two));
    const driven = { scope, task_id: body.id } as Driven;
    await carried(driven, await begun(scope));
    must(await scope.runtime.revokeStandingApproval(scope.admin, standing.id, "stop"));
    expect(await scope.runtime.claim(scope.id, "crew-1")).toBeNull();
    const card = await onlyCard(scope, body.id);
    expect(card.card.facts).toContain("Already done: a");
    const approval = { decision: "approve", content_hash: card.content_hash, comment: null } as const;
    must(await scope.runtime.decide(scope.admin, card.id, approval));
    expect((await attempts(driven)).map(({ work_item_id, state }) => [work_item_id.split(".")[1], state])).toEqual([
      ["a", "done"],
      ["b", "cancelled"],
      ["b", "due"],
    ]);
    await carried(driven, await begun(scope));
    await scope.runtime.deliver(await publication(driven));
    expect((await task(scope, body.id)).status).toBe("done");
    expect(refusalOf(await scope.runtime.decide(scope.admin, card.id, approval)).code).toBe("already_resolved");
    await expectSound(scope);
  });
});
