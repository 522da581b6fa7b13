/** Standing approvals in the scope's runtime: used once a plan, lost and raced at any moment, and taken back. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { approvalView } from "../../src/domain/approval-view.ts";
import { readJws } from "../../src/domain/token.ts";
import { limits } from "../../src/limits.ts";
import { callerOf, must } from "../fakes/held-scope.ts";
import { alice, bob, day, plan, StandingScope, widePlan } from "../fakes/standing-scope.ts";

let s: StandingScope;
beforeEach(() => {
  s = new StandingScope();
});
afterEach(() => {
  s.close();
  vi.restoreAllMocks();
});

describe("a standing approval in use", () => {
  it("[STA-20] a plan that fits is approved without a person, in its name, with its maker named, and each use is on record", async () => {
    const { id } = await s.made();
    const task = await s.chore();
    expect(s.status(task)).toBe("waiting on plan");
    await s.flush();
    const card = s.approval(task);
    expect(card).toMatchObject({ status: "approved", decisions: [{ by: `standing:${id}`, decision: "approve" }] });
    expect(card.decisions[0]?.comment).toContain('"chores", which bob#def456 made: They are small');
    expect(s.rows.attempts.ofTask(task)).toMatchObject([{ state: "due" }]);
    const [item] = s.rows.items.ofTask(task);
    expect(readJws(item?.grant?.jws ?? "")?.statement).toMatchObject({
      ...{ approver: `standing:${id}`, approval_id: card.id, content_hash: card.content_hash },
    });
    expect(s.audited("standing_used")).toMatchObject([
      {
        event_type: "approval",
        details: { standing_id: id, approval_id: card.id, uses_left: 1, made_by: bob.subject },
      },
    ]);
    expect(await s.standing(id)).toMatchObject({ status: "active", uses_left: 1, used: [{ task_id: task }] });
    expect(s.audited("approve")).toMatchObject([{ actor: "approval_engine", details: { by: `standing:${id}` } }]);
    const said = s.scope.stores.events.byTask(task, null, 200).items;
    expect(said.find(({ type }) => type === "approval_resolved")?.actor).toBe(`standing:${id}`);
    expect(said.find(({ type }) => type === "standing_changed")?.detail).toContain("Uses left: 1");
    expect((await s.begun()).ref.attempt_id).toBe(s.rows.attempts.ofTask(task)[0]?.id);
  });

  it("[STA-21] where none fits the plan waits for a person, and beside its card stands which came nearest and why", async () => {
    await s.made({ name: "far" }, { who: ["eve#eve123"] });
    const near = await s.made({ name: "near" });
    const task = await s.chore(widePlan);
    const before = s.approval(task);
    await s.flush();
    const card = s.approval(task);
    expect(s.status(task)).toBe("waiting on plan");
    expect(card.standing_notes).toEqual([
      { id: near.id, name: "near", why: "a: the path ** is outside" },
      { id: expect.any(String), name: "far", why: "alice#abc123 may not use it" },
    ]);
    expect([card.content_hash, card.card]).toEqual([before.content_hash, before.card]);
    expect(approvalView.parse(await s.view(card.id)).standing_notes).toHaveLength(2);
    must(await s.approve(bob, card));
    expect(s.status(task)).toBe("active");
    expect((await s.standing(near.id)).uses_left).toBe(2);
  });

  it("[STA-44] a plan over what its asker gave waits for a person, and its card says why", async () => {
    const { id } = await s.made();
    const costly = plan.replace("goal:", "budget: { tokens: 900000, usd: 5 }\ngoal:");
    const task = await s.chore(costly, alice, ["chore"], { tokens: 20_000, usd: 0.01 });
    await s.flush();
    expect(s.status(task)).toBe("waiting on plan");
    expect(s.approval(task).standing_notes).toEqual([
      {
        ...{ id, name: "chores" },
        why: "alice#abc123 gave this task 20,000 tokens and $0.01; this plan asks for 900,000 tokens and $5: more than was given.",
      },
    ]);
    expect((await s.standing(id)).uses_left).toBe(2);
    const enough = await s.chore(costly, alice, ["chore"], { tokens: 900_000, usd: 5 });
    await s.flush();
    expect(s.status(enough)).toBe("active");
  });

  it("[STA-22] lost before its commit it is begun anew after a restart; lost after it nothing happens twice", async () => {
    const { id } = await s.made();
    const task = await s.chore();
    vi.spyOn(console, "warn").mockImplementation(() => {});
    s.between(() => {
      throw new Error("the object was evicted");
    });
    await s.flush();
    expect(s.status(task)).toBe("waiting on plan");
    expect(await s.standing(id)).toMatchObject({ uses_left: 2, used: [] });
    s.reopen();
    const again = s.scope.stores.standing.nextDueAt(s.now);
    expect(again).toBe(s.now + limits.standing_retry_ms);
    s.now = again ?? 0;
    await s.flush();
    expect(s.status(task)).toBe("active");
    s.reopen();
    await Promise.all([s.flush(), s.flush()]);
    expect((await s.standing(id)).uses_left).toBe(1);
    expect([s.audited("standing_used").length, s.rows.attempts.ofTask(task).length]).toEqual([1, 1]);
    expect(s.scope.stores.standing.nextDueAt(s.now)).toBeNull();
  });

  it("[STA-23] two plans that race for the last use get one; two flushes at once use it once", async () => {
    const { id } = await s.made({ uses: 1 });
    const tasks = [await s.chore(), await s.chore()];
    await Promise.all([s.flush(), s.flush(), s.flush()]);
    expect(tasks.map((task) => s.status(task)).toSorted()).toEqual(["active", "waiting on plan"]);
    expect(await s.standing(id)).toMatchObject({ status: "used_up", uses_left: 0, ended: { by: "runtime" } });
    expect(s.audited("standing_used")).toHaveLength(1);
    await s.chore();
    await s.flush();
    expect(s.audited("standing_used")).toHaveLength(1);
  });

  const changes: readonly (readonly [string, (id: string, task: string) => unknown, string])[] = [
    ["it was revoked", (id) => s.revoke(id), "waiting on plan"],
    [
      "its time came",
      () => {
        s.now += 11 * day;
      },
      "waiting on plan",
    ],
    ["a person denied the plan", (_, task) => s.deny(bob, s.approval(task)), "denied"],
    ["the task was cancelled", (_, task) => s.tasks.cancelTask(alice, task, "never mind"), "cancelled"],
    ["the policy asks for two approvers", () => s.demand({ two_approvers: ["plan"] }), "waiting on plan"],
    [
      "the policy asks for a session",
      () => s.demand({ proof: { kinds: { plan: "session" }, tools: {} } }),
      "waiting on plan",
    ],
    ["a newer plan took its place", (_, task) => s.replan(task, widePlan), "waiting on plan"],
    ["the task read what is worse", (_, task) => taint(task), "waiting on plan"],
    ["its maker's token was revoked", () => s.scope.people.revoke("bobs-token", s.now), "waiting on plan"],
  ];
  const taint = (task: string) => {
    const row = s.rows.tasks.get(task);
    if (row !== null) s.rows.tasks.put({ ...row, taint: "web" });
  };
  for (const [what, happens, status] of changes)
    it(`[STA-24] between signing and committing ${what}: nothing starts and no use is counted`, async () => {
      const token = { id: "bobs-token", name: "bob", role: "approver", secret_hash: "bob" } as const;
      must(s.scope.people.addToken(token, s.now));
      const input = s.inputOf();
      const { id } = must(await s.door.addStandingApproval({ ...bob, credential_id: token.id }, input, null)).body;
      const task = await s.chore();
      s.between(() => happens(id, task));
      await s.flush();
      expect(s.status(task)).toBe(status);
      expect([s.rows.attempts.ofTask(task), s.audited("standing_used")]).toEqual([[], []]);
      expect((await s.standing(id)).uses_left).toBe(2);
      s.reopen();
      await s.flush();
      expect(s.status(task)).toBe(status);
    });

  it("[STA-25] once its end was noticed it stays ended, and a clock set back frees no day's budget", async () => {
    const { id } = await s.made({}, { budget: { ...s.inputOf().bounds.budget, day: { ...free, plans: 1 } } });
    await s.chore();
    await s.flush();
    s.now -= 3 * day;
    const second = await s.chore();
    await s.flush();
    expect(s.approval(second).standing_notes?.[0]?.why).toContain("1 plans in 24 hours");
    s.now += 14 * day;
    expect((await s.standing(id)).status).toBe("expired");
    const third = await s.chore();
    await s.flush();
    expect(s.approval(third).standing_notes?.[0]?.why).toBe("it is expired");
    s.now -= 10 * day;
    const fourth = await s.chore();
    await s.flush();
    expect(s.status(fourth)).toBe("waiting on plan");
    expect(s.audited("standing_expired")).toHaveLength(1);
  });
  const free = { tokens: null, usd: null, minutes: null };

  it("[STA-26] labels that a submitter set, and labels of rows from before anybody noted who set them, count for nothing", async () => {
    await s.made({}, { who: [alice.subject, "sue#sub001"] });
    const bySue = await s.chore(plan, callerOf("sue#sub001", "submitter"));
    const old = await s.chore();
    const row = JSON.parse(s.sql.one<{ doc: string }>("SELECT doc FROM tasks WHERE id = ?", old)?.doc ?? "");
    s.sql.run("UPDATE tasks SET doc = ? WHERE id = ?", JSON.stringify({ ...row, labels_by_role: undefined }), old);
    await s.flush();
    for (const task of [bySue, old]) expect(s.approval(task).standing_notes?.[0]?.why).toContain("not set by somebody");
  });

  it("[STA-27] a plan is looked at once, when it comes into review: one made later does not speak for it", async () => {
    const task = await s.chore();
    await s.made();
    await s.flush();
    expect([s.status(task), s.approval(task).standing_notes]).toEqual(["waiting on plan", undefined]);
  });

  it("[STA-28] without a key to sign with it is tried a bounded number of times, and then a person decides", async () => {
    await s.made();
    const task = await s.chore();
    vi.spyOn(console, "warn").mockImplementation(() => {});
    s.keys.sign = async () => {
      throw new Error("no key");
    };
    for (let tries = 0; tries < limits.standing_tries + 2; tries++) {
      await s.flush();
      s.now += day / 8;
    }
    expect(s.scope.stores.standing.nextDueAt(s.now)).toBeNull();
    expect(s.approval(task)).toMatchObject({ status: "pending", standing_notes: [{ why: "it could not be signed" }] });
  });
});

describe("a person and a standing approval", () => {
  it("[STA-37] who asked for changes of a plan sees the next one, though it fits", async () => {
    const { id } = await s.made();
    const task = await s.chore(widePlan);
    await s.flush();
    const wish = { decision: "request_changes", content_hash: null, comment: "less" } as const;
    must(await s.decide(bob, s.approval(task).id, wish));
    await s.replan(task, plan);
    await s.flush();
    expect(s.status(task)).toBe("waiting on plan");
    expect(s.approval(task).standing_notes).toMatchObject([
      { id, why: expect.stringContaining("a person has decided") },
    ]);
  });

  it("[STA-38] what waits only because one is used up says so", async () => {
    const { id, name } = await s.made({ uses: 1 });
    const tasks = [await s.chore(), await s.chore()];
    await s.flush();
    const later = await s.chore();
    await s.flush();
    for (const task of [tasks[1] ?? "", later])
      expect(s.approval(task).standing_notes).toEqual([{ id, name, why: "it is used up" }]);
  });
});

describe("a standing approval taken back", () => {
  it("[STA-29] at once: what is queued is called off, its token is void, and the same plan waits for a person", async () => {
    const { id } = await s.made();
    const task = await s.chore();
    await s.flush();
    must(await s.revoke(id));
    expect(s.rows.attempts.ofTask(task)).toMatchObject([{ state: "cancelled" }]);
    expect(s.rows.items.ofTask(task)).toMatchObject([
      { grant: { life: "void", void_reason: 'the standing approval "chores" was revoked: too wide' } },
    ]);
    expect(s.claim()).toBeNull();
    expect(s.status(task)).toBe("waiting on plan");
    expect(s.rows.plans.ofTask(task)).toMatchObject([{ status: "in_review" }]);
    expect(s.approval(task).decisions).toEqual([]);
    const card = s.card(task);
    expect(card.card.facts[0]).toContain("Stopped: the standing approval");
    expect(s.audited("standing_revoked")).toMatchObject([{ reason: "too wide", details: { stopped: [task] } }]);
    // Another that fits does not bring back what a person has just stopped.
    await s.made({ name: "other" });
    await s.flush();
    expect(s.status(task)).toBe("waiting on plan");

    must(await s.approve(bob, card));
    const held = await s.begun();
    expect(held.ref.attempt_id).toBe(`${s.rows.items.ofTask(task)[0]?.id}.2`);
    expect(must(await s.revoke(id, "again")).ended?.reason).toBe("too wide");
    expect(s.rows.attempts.ofTask(task)[1]?.state).toBe("running");
  });

  it("[STA-30] a running attempt ends, its agent is told, its result comes too late; what waited of it is over", async () => {
    const { id } = await s.made({ uses: 1 });
    const task = await s.chore();
    await s.flush();
    const held = await s.begun();
    expect((await s.standing(id)).status).toBe("used_up");
    must(await s.revoke(id));
    expect(s.rows.kills.all()).toMatchObject([{ agent: "crew-1", owner: held.ref.attempt_id, what: "call_off" }]);
    const call = {
      call_id: "step-1",
      step: 0,
      tool: "shell_execute",
      arguments: '{"command":"echo a > src/a.txt"}',
      tree: null,
    };
    expect(await s.authorize(held, call)).toMatchObject({ answer: "stale" });
    await s.fail(held);
    expect(s.rows.attempts.ofTask(task)).toMatchObject([{ state: "cancelled" }]);
    expect([s.status(task), s.cards(task).length]).toEqual(["waiting on plan", 1]);
    must(await s.deny(bob, s.card(task)));
    expect(s.status(task)).toBe("denied");
  });

  it("[STA-30] what a person was asked about its stopped work is asked no more", async () => {
    const { id } = await s.made();
    const task = await s.chore();
    await s.flush();
    while (s.cards(task).length === 0) await s.fail(await s.begun());
    const stuck = s.card(task);
    expect(stuck.kind).toBe("escalation");
    must(await s.revoke(id));
    expect(s.cards(task).map(({ kind }) => kind)).toEqual(["plan"]);
    expect(JSON.stringify(await s.approve(bob, stuck))).toContain("already_resolved");
    must(await s.approve(bob, s.card(task)));
    expect((await s.begun()).ref.attempt_id).toContain(".a.");
  });

  it("[STA-31] it stops only what it spoke for: a person's approvals and tasks that are over stay as they are", async () => {
    const { id } = await s.made();
    const over = await s.chore();
    await s.flush();
    must(await s.tasks.cancelTask(alice, over, "never mind"));
    const own = await s.chore(widePlan);
    await s.flush();
    must(await s.approve(bob, s.card(own)));
    must(await s.revoke(id));
    expect([s.status(over), s.status(own)]).toEqual(["cancelled", "active"]);
    expect(s.rows.items.ofTask(own)[0]?.grant?.life).toBe("attached");
    expect(s.audited("standing_revoked")[0]?.details.stopped).toEqual([]);
  });

  it("[STA-33] making and revoking take an approver, an end that is to come and not too far, and a bounded number in force", async () => {
    const sue = callerOf("sue#sub001", "submitter");
    const refusal = async (made: Promise<{ ok: boolean } & object>) => JSON.stringify(await made);
    expect(await refusal(s.make({}, {}, sue))).toContain("forbidden");
    const { id } = await s.made();
    expect(await refusal(s.revoke(id, "no", sue))).toContain("forbidden");
    expect(await refusal(s.revoke("nothing"))).toContain("standing_approval_not_found");
    expect(await refusal(s.make({ until: new Date(s.now).toISOString() }))).toContain("is over already");
    const far = new Date(s.now + limits.standing_ahead_ms + 1).toISOString();
    expect(await refusal(s.make({ until: far }))).toContain("too far ahead");
    for (let made = 1; made < limits.standing_active; made++) await s.made();
    expect(await refusal(s.make())).toContain("too_many");
    must(await s.revoke(id));
    expect(await refusal(s.make())).toContain('"active"');
    const page = must(await s.door.standingApprovals(sue, { limit: 2, cursor: null }));
    expect(
      page.items.length +
        must(await s.door.standingApprovals(sue, { limit: 200, cursor: page.next_cursor })).items.length,
    ).toBe(101);
  });

  it("[STA-34] the same key makes one, however often it is asked", async () => {
    const key = { route: "POST /api/standing-approvals", key: "k", body_hash: "h" };
    const first = must(await s.door.addStandingApproval(bob, s.inputOf(), key));
    const again = must(await s.door.addStandingApproval(bob, s.inputOf(), key));
    expect([again.replay, again.body.id]).toEqual([true, first.body.id]);
    expect(
      JSON.stringify(await s.door.addStandingApproval(bob, s.inputOf(), { ...key, body_hash: "other" })),
    ).toContain("idempotency_mismatch");
    expect(s.scope.stores.standing.active()).toHaveLength(1);
  });
});
