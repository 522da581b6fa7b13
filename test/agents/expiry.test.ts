/** Cards that nobody decides in time: they end as expired, never as denied, and whoever waited is told so. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nextExpiry } from "../../durable-objects/runtime/due-cards.ts";
import { ask } from "../../durable-objects/runtime/plans.ts";
import { cardTitle, emptyCard } from "../../src/domain/approval.ts";
import type { ApprovalView } from "../../src/domain/approval-view.ts";
import { callerOf, grantedPlan, HeldScope, missing, must, repo, shell } from "../fakes/held-scope.ts";

const ada = callerOf("ada#tok001");
const hour_s = 3_600;
const tree = "5".repeat(40);
let held: HeldScope;
beforeEach(() => {
  held = new HeldScope();
});
afterEach(() => held.close());

function expiring(...kinds: ApprovalView["kind"][]): void {
  held.demand({ expires_after_s: Object.fromEntries(kinds.map((kind) => [kind, hour_s])) });
}
async function waitingCall(): Promise<{ task_id: string; card: ApprovalView }> {
  const task_id = await held.planned();
  must(await held.approve(ada, held.card(task_id)));
  const run = await held.begun();
  expect(await held.authorize(run, shell("echo a"))).toEqual({ answer: "wait" });
  await held.suspend(run, shell("echo a"), tree);
  return { task_id, card: held.card(task_id) };
}
function task(id: string) {
  return held.rows.tasks.get(id) ?? missing("task");
}
function said(): string[] {
  const links = held.scope.stores.audit.after(0, 1_000).filter((link) => link.event_type === "approval");
  return links.map((link) => `${link.actor}: ${link.decision}`);
}
async function later(): Promise<void> {
  held.now += hour_s * 1000;
  await held.decisions.expire(held.now);
}

describe("when a card expires", () => {
  it("[DEC-49] the time is stored as the card is asked: a policy edited later moves none, and one without waits for ever", async () => {
    const forever = await held.planned();
    expiring("plan");
    const first = await held.planned();
    const at = new Date(held.now + hour_s * 1000).toISOString();
    held.demand({ expires_after_s: { plan: 60 } });
    const second = await held.planned();
    expect([forever, first].map((id) => held.card(id).expires_at)).toEqual([null, at]);
    expect(nextExpiry(held.sql)).toBe(held.now + 60_000);
    held.now += 60_000;
    await held.decisions.expire(held.now);
    expect([forever, first, second].map((id) => task(id).status)).toEqual(["waiting", "waiting", "failed"]);
    expect(nextExpiry(held.sql)).toBe(Date.parse(at));
    await later();
    expect([task(forever).status, task(first).status, nextExpiry(held.sql)]).toEqual(["waiting", "failed", null]);
  });

  it("[DEC-50] a decision after the time and before the alarm is refused as expired, and in its commit the card expires", async () => {
    expiring("plan");
    const task_id = await held.planned();
    const card = held.card(task_id);
    held.now += hour_s * 1000;
    const late = await held.approve(ada, card);
    expect(late).toMatchObject({
      refusal: {
        code: "already_resolved",
        detail: expect.stringContaining("expired"),
        extra: { status: "expired", winner: { what: "expire", by: "runtime" } },
      },
    });
    expect(held.rows.approvals.get(card.id)).toMatchObject({ status: "expired", life: "void", decisions: [] });
    expect([task(task_id).status, held.scope.stores.tokens.ofApproval(card.id), held.claim()]).toEqual([
      "failed",
      [],
      null,
    ]);
    // The alarm finds nothing left to do, and the clock may go back as far as it likes.
    await held.decisions.expire(held.now);
    held.now -= 10 * hour_s * 1000;
    expect(await held.approve(ada, card)).toMatchObject({ refusal: { code: "already_resolved" } });
    expect(said().filter((line) => line.endsWith("expired"))).toEqual(["approval_engine: expired"]);
  });

  it("[DEC-50] of a decision and the alarm at the same moment exactly one counts", async () => {
    expiring("plan");
    const early = await held.planned();
    held.now += hour_s * 1000 - 1;
    must(await held.approve(ada, held.card(early)));
    held.now += 1;
    await held.decisions.expire(held.now);
    expect(task(early).status).toBe("active");
    const both = await held.planned();
    const card = held.card(both);
    held.now += hour_s * 1000;
    const [answer] = await Promise.all([held.approve(ada, card), held.decisions.expire(held.now)]);
    expect([answer.ok, task(both).status]).toEqual([false, "failed"]);
  });
});

describe("what expiry does", () => {
  it("[DEC-51] an expired plan fails its task as timed out and says so; nothing says denied", async () => {
    expiring("plan");
    const task_id = await held.planned();
    await later();
    expect(task(task_id)).toMatchObject({ status: "failed", error_code: "timeout" });
    expect(task(task_id).reason).toMatch(/^the approval expired: nobody decided by 20/);
    expect(said()).toEqual(["approval_engine: requested", "approval_engine: expired"]);
    const events = held.scope.stores.events.after(0, 100).events.filter(({ type }) => type === "approval_resolved");
    expect(events).toMatchObject([{ status: "expired", detail: expect.stringMatching(/^Expired/) }]);
    expect(JSON.stringify([task(task_id), held.rows.plans.all(), events])).not.toContain("denied");
  });

  it("[DEC-52] an expired call ends its attempt as timed out with those words, does not run, and a person is asked how to go on", async () => {
    expiring("tool_call");
    const { task_id } = await waitingCall();
    held.reopen();
    await later();
    const [attempt] = held.rows.attempts.ofTask(task_id);
    expect(attempt).toMatchObject({ state: "failed", error_code: "timeout" });
    const stuck = held.card(task_id);
    expect(stuck).toMatchObject({ kind: "escalation" });
    expect(stuck.card.facts[0]).toMatch(/^Attempt 1 ended: the approval expired: nobody decided by/);
    expect([held.rows.calls.all()[0]?.state, held.claim()]).toEqual(["void", null]);
    expect(JSON.stringify([attempt, stuck, held.rows.items.all()])).not.toContain("denied");
    // Silence was no answer: the next attempt may ask the same again.
    must(await held.approve(ada, stuck));
    expect(await held.authorize(await held.begun(), shell("echo a"))).toEqual({ answer: "wait" });
  });

  it("[DEC-53] an expired escalation gives its item up, an expired revision fails the task", async () => {
    expiring("escalation");
    const task_id = await held.planned(grantedPlan);
    must(await held.approve(ada, held.card(task_id)));
    await held.fail(await held.begun());
    expect(held.card(task_id).kind).toBe("escalation");
    await later();
    expect([task(task_id).status, held.rows.items.all()[0]?.outcome]).toEqual(["failed", "failed"]);
    expect(held.cards(task_id)).toEqual([]);
  });

  it("[DEC-54] a dead letter that nobody decided is dropped, and a budget card ends the task for lack of budget", async () => {
    expiring("dead_letter", "budget");
    for (const kind of ["dead_letter", "budget"] as const) {
      const task_id = await held.planned(grantedPlan);
      must(await held.approve(ada, held.card(task_id)));
      const row = asked(task_id, kind, kind === "dead_letter" ? { message_kind: "execution_request" } : {});
      await later();
      expect(held.rows.approvals.get(row.id)).toMatchObject({ status: "expired", winner: { what: "expire" } });
      if (kind === "budget") expect(task(task_id)).toMatchObject({ status: "failed", error_code: "budget_exceeded" });
      else
        expect(held.rows.attempts.ofTask(task_id).map(({ state, detail }) => [state, detail])).toEqual([
          ["crashed", "nobody decided in time about its execution request, which could not be delivered"],
          ["due", null],
        ]);
      if (kind === "dead_letter") must(await held.tasks.cancelTask(callerOf("eve", "admin"), task_id, "next"));
    }
  });

  it("[DEC-55] one card that cannot end keeps no other from ending, and rings no alarm at once", async () => {
    expiring("plan");
    const bad = await held.planned();
    const good = await held.planned();
    const card = held.card(bad);
    held.sql.run("UPDATE approvals SET doc = json_remove(doc, '$.card.title') WHERE id = ?", card.id);
    const warned: unknown[] = [];
    const { error } = console;
    console.error = (...words) => warned.push(words);
    await later();
    console.error = error;
    expect([warned.length, task(good).status]).toEqual([1, "failed"]);
    expect(held.decisions.nextDueAt()).toBe(held.now + 60_000);
  });
});

function asked(task_id: string, kind: ApprovalView["kind"], more: Partial<Parameters<typeof ask>[2]> = {}) {
  return held.scope.commit((tx) => {
    const of = task(task_id);
    const about = { repo, taint: "owner", policy_hash: "", requested_by: "runtime", why: "" } as const;
    const card = emptyCard({ kind, title: cardTitle(kind, of, "it"), ...about });
    return ask(tx, of, { cause: `${task_id}-${kind}`, card, rule: "a test", ...more });
  });
}

describe("a budget card", () => {
  it("[DEC-56] adds what a person says to the task's budget, once", async () => {
    const task_id = await held.planned();
    held.rows.tasks.put({ ...task(task_id), budget: { tokens: 100 } });
    const row = asked(task_id, "budget");
    const yes = { decision: "approve", content_hash: row.content_hash, comment: null } as const;
    expect(await held.decide(ada, row.id, yes)).toMatchObject({ refusal: { code: "bad_request" } });
    must(await held.decide(ada, row.id, { ...yes, amount: { tokens: 50, usd: 2 } }));
    expect(held.rows.accounts.ofTask(task_id)).toMatchObject([{ extra: { tokens: 50, usd: 2 } }]);
    const again = await held.decide(ada, row.id, { ...yes, amount: { tokens: 50 } });
    expect(again).toMatchObject({ refusal: { code: "already_resolved" } });
    expect(held.rows.accounts.ofTask(task_id)).toMatchObject([{ extra: { tokens: 50, usd: 2 } }]);
    expect(task(task_id).budget).toEqual({ tokens: 100 });
  });
});
