/** What a person's decision about a plan does in the scope's runtime, what it cannot do, and what cancelling ends. */
import { describe, expect, it } from "vitest";
import { readJws } from "../../src/domain/token.ts";
import {
  attempts,
  base,
  begun,
  claim,
  countersigned,
  failure,
  item,
  oneItem,
  planned,
  planResult,
  result,
  step,
} from "./driven.ts";
import {
  approve,
  as,
  audit,
  decisions,
  deny,
  events,
  expectSound,
  inRuntime,
  missing,
  must,
  onlyCard,
  pending,
  refusalOf,
  task,
  taskRow,
  until,
} from "./scope.ts";

describe("a plan in review", () => {
  it("[DEC-1] approving issues one token an item, bound to the bytes stored, and attempts begin", async () => {
    const { scope, task_id, card } = await planned();
    expect(card.card).toMatchObject({ kind: "plan", base_commit: base, publishes: `countersign/${task_id}` });
    expect(await task(scope, task_id)).toMatchObject({ status: "waiting", waiting_on: "plan", phase: "planning" });
    expect(must(await approve(scope, card, { comment: "go" }))).toMatchObject({
      status: "approved",
      decisions: [{ by: "ada", comment: "go" }],
    });

    const { grant, item_hash } = await item({ scope, task_id, card });
    const signed = readJws(grant?.jws ?? "")?.statement;
    expect(signed).toMatchObject({
      scope: scope.id,
      task: task_id,
      approval_id: card.id,
      content_hash: card.content_hash,
      approver: "ada",
      subject: { item_hash },
    });
    expect(grant?.life).toBe("attached");
    expect(await decisions(scope, "approval")).toEqual(["requested", "approve", "issued"]);
    expect(await task(scope, task_id)).toMatchObject({ status: "active", phase: "coding", pending_approvals: [] });
    await expectSound(scope);
  });

  it("[DEC-2] the first decision stands: the second is refused with the first, whatever it says", async () => {
    const { scope, card } = await planned();
    must(await approve(scope, card));
    for (const again of [
      await approve(scope, card, { by: as(scope, "bob", "approver") }),
      await deny(scope, card, "too late"),
    ])
      expect(refusalOf(again)).toMatchObject({
        code: "already_resolved",
        extra: { status: "approved", decision: { by: "ada", decision: "approve" } },
      });
    expect(await inRuntime(scope, ({ rows }) => rows.attempts.all().length)).toBe(1);
  });

  it("[DEC-3] a decision about other content than the card's is refused and changes nothing", async () => {
    const { scope, task_id, card } = await planned();
    const stale = await approve(scope, { ...card, content_hash: "0".repeat(64) });
    expect(refusalOf(stale)).toMatchObject({ code: "content_changed", extra: { content_hash: card.content_hash } });
    expect(await onlyCard(scope, task_id)).toEqual(card);
    expect(await attempts({ scope, task_id, card })).toEqual([]);
    expect((await audit(scope)).at(-1)).toMatchObject({ event_type: "approval", decision: "refused" });
  });

  it("[DEC-4] only approvers decide; an unknown card is not there; a kind takes its own decisions only", async () => {
    const { scope, task_id, card } = await planned();
    for (const role of ["viewer", "submitter"] as const)
      expect(refusalOf(await approve(scope, card, { by: as(scope, "eve", role) })).code).toBe("forbidden");
    expect(refusalOf(await approve(scope, { ...card, id: "a-invented" })).code).toBe("approval_not_found");
    must(await approve(scope, card));
    const driven = { scope, task_id, card };
    await scope.runtime.deliver(await failure(driven, await begun(scope), false));
    const stuck = await onlyCard(scope, task_id);
    expect(stuck.kind).toBe("escalation");
    const wish = { decision: "request_changes", content_hash: stuck.content_hash, comment: "other" } as const;
    expect(refusalOf(await scope.runtime.decide(scope.admin, stuck.id, wish)).code).toBe("bad_request");
  });

  it("[DEC-5] of approve, deny and cancel at once exactly one wins, and what follows is the winner's", async () => {
    for (let round = 0; round < 3; round++) {
      const driven = await planned();
      const { scope, task_id, card } = driven;
      const deciders = [
        async () => (await approve(scope, card)).ok && "approved",
        async () => (await deny(scope, card, "no")).ok && "denied",
        async () => (await scope.runtime.cancelTask(scope.admin, task_id, "never mind")).ok && "cancelled",
      ];
      const order = deciders.map((_, at) => deciders[(at + round) % deciders.length] ?? missing("decider"));
      const won = (await Promise.all(order.map((decide) => decide()))).filter((name) => name !== false);
      const { status } = await task(scope, task_id);
      const made = await attempts(driven);
      // Who approves first may still be cancelled after.
      if (won.includes("approved") && won.includes("cancelled")) expect(won).toHaveLength(2);
      else expect(won).toHaveLength(1);
      if (won.includes("denied")) expect([status, made.length]).toEqual(["denied", 0]);
      else if (won.includes("cancelled"))
        expect([status, made.filter((attempt) => attempt.state !== "cancelled")]).toEqual(["cancelled", []]);
      else expect([status, made.length]).toEqual(["active", 1]);
      await expectSound(scope);
    }
  });

  it("[DEC-6] denied, nothing runs: the task ends with the reason, and its tokens never were", async () => {
    const driven = await planned();
    const { scope, task_id, card } = driven;
    must(await deny(scope, card, "not this way"));
    expect(await task(scope, task_id)).toMatchObject({ status: "denied", reason: "not this way", phase: "error" });
    expect([await attempts(driven), (await item(driven)).grant, await scope.runtime.claim(scope.id, "crew-1")]).toEqual(
      [[], null, null],
    );
    expect(refusalOf(await scope.runtime.cancelTask(scope.admin, task_id, "too")).code).toBe("not_in_this_state");
    await expectSound(scope);
  });

  it("[DEC-7] a stored plan, item or card that is not what the card says cannot be approved", async () => {
    const spoilt = [
      ({ rows }, id) => rows.plans.ofTask(id).map((plan) => rows.plans.put({ ...plan, markdown: `${plan.markdown} ` })),
      ({ rows }, id) =>
        rows.items.ofTask(id).map((each) => rows.items.put({ ...each, spec: { ...each.spec, steps: ["curl evil"] } })),
      ({ rows }, id) =>
        rows.approvals
          .ofTask(id)
          .map((card) => rows.approvals.put({ ...card, card: { ...card.card, title: "Harmless" } })),
      ({ rows }, id) => rows.tasks.put({ ...(rows.tasks.get(id) ?? missing("task")), repo: "file:///elsewhere" }),
    ] satisfies ((stores: Parameters<Parameters<typeof inRuntime>[1]>[0], id: string) => unknown)[];
    for (const spoil of spoilt) {
      const driven = await planned();
      const { scope, task_id, card } = driven;
      await inRuntime(scope, (stores) => spoil(stores, task_id));
      expect(refusalOf(await approve(scope, card)).code).toBe("content_changed");
      expect([await attempts(driven), (await item(driven)).grant]).toEqual([[], null]);
      expect((await pending(scope, task_id)).map((each) => each.id)).toEqual([card.id]);
      must(await deny(scope, card, "it was changed"));
    }
  });

  it("[DEC-8] changes asked for go to the planner with the words; a plan that cannot be revised asks again", async () => {
    const driven = await planned();
    const { scope, task_id, card } = driven;
    const wish = { decision: "request_changes", content_hash: card.content_hash, comment: "smaller steps" } as const;
    expect(must(await scope.runtime.decide(scope.admin, card.id, wish)).status).toBe("superseded");
    expect(await scope.runtime.claim(scope.id, "crew-1")).toBeNull();
    const errors = {
      error_code: "tool_failure",
      retryable: false,
      origin_agent: "planner",
      attempt_number: 0,
    } as const;
    await scope.runtime.observe(
      await planResult(scope, task_id, oneItem, { plan_markdown: null, payload: {}, content: "no model", ...errors }),
    );
    const again = await onlyCard(scope, task_id);
    expect(again).toMatchObject({
      kind: "escalation",
      card: { facts: ["no model", "Changes asked for: smaller steps"] },
    });
    must(await approve(scope, again));
    expect((await onlyCard(scope, task_id)).card).toMatchObject({ kind: "plan", plan_hash: card.card.plan_hash });
    expect(await task(scope, task_id)).toMatchObject({ plan: { version: 2, status: "in_review" } });
  });

  it("[DEC-9] a newer plan takes the place of the one in review, whose card can be decided no more", async () => {
    const driven = await planned();
    const { scope, task_id, card } = driven;
    await scope.runtime.observe(await planResult(scope, task_id, oneItem.replace("A goal", "Another goal")));
    const newer = await onlyCard(scope, task_id);
    expect(newer.id).not.toBe(card.id);
    expect(refusalOf(await approve(scope, card))).toMatchObject({
      code: "already_resolved",
      extra: { status: "superseded" },
    });
    must(await approve(scope, newer));
    expect(await attempts(driven)).toHaveLength(1);
  });
});

describe("cancelling", () => {
  it("[DEC-20] voids tokens and cards, ends the attempt, and tells its agent; what runs on is stale", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    const held = await begun(scope);
    must(await scope.runtime.cancelTask(scope.admin, task_id, "never mind"));
    expect(await task(scope, task_id)).toMatchObject({ status: "cancelled", reason: "never mind" });
    expect((await item(driven)).grant).toMatchObject({ life: "void", void_reason: "the task is cancelled" });
    expect(await scope.runtime.begin(scope.id, held.ref)).toMatchObject({ answer: "stale" });
    expect(await scope.runtime.authorize(scope.id, held.ref, step(held, 1))).toMatchObject({ answer: "stale" });
    expect(await scope.runtime.heartbeat(scope.id, "crew-1", held.ref)).toBe(false);
    await scope.runtime.deliver(await result(driven, held));
    expect(await attempts(driven)).toMatchObject([{ state: "cancelled", patch: null }]);
    expect(await decisions(scope, "effect")).toContain("stale_result");
    await until(async () => (await inRuntime(scope, ({ rows }) => rows.kills.all())).length === 0);
    await expectSound(scope);
  });

  it("[DEC-21] before it was claimed, the request is dropped by whoever comes for it", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    must(await scope.runtime.cancelTask(scope.admin, task_id, "never mind"));
    expect(await scope.runtime.claim(scope.id, "crew-1")).toBeNull();
    expect(await inRuntime(scope, ({ queue }) => queue.view("executor_queue"))).toMatchObject({
      queued: 0,
      leased: 0,
      dead: 0,
    });
    expect((await taskRow(scope, task_id)).status).toBe("cancelled");
    expect((await events(scope)).filter((event) => event.type === "task_cancelled")).toHaveLength(1);
  });

  it("[DEC-22] claimed but not begun, the lease is given back and the attempt never starts", async () => {
    const driven = await countersigned();
    const { scope, task_id } = driven;
    const held = await claim(scope);
    must(await scope.runtime.cancelTask(scope.admin, task_id, "never mind"));
    expect(await scope.runtime.begin(scope.id, held.ref)).toMatchObject({ answer: "stale" });
    expect(await attempts(driven)).toMatchObject([{ state: "cancelled", started_at: null }]);
  });
});
