/** Calls that ask: how often, not again right after a no, and what a yes is worth after a long wait. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callerOf, grantedPlan, type Held, HeldScope, missing, must, shell } from "../fakes/held-scope.ts";

const ada = callerOf("ada#tok001");
const tree = "5".repeat(40);
const day_ms = 86_400_000;
let held: HeldScope;
beforeEach(() => {
  held = new HeldScope();
});
afterEach(() => held.close());

async function started(): Promise<{ task_id: string; run: Held }> {
  const task_id = await held.planned();
  must(await held.approve(ada, held.card(task_id)));
  return { task_id, run: await held.begun() };
}
async function waiting(command = "echo a") {
  const { task_id, run } = await started();
  expect(await held.authorize(run, shell(command))).toEqual({ answer: "wait" });
  await held.suspend(run, shell(command), tree);
  return { task_id, run, card: held.card(task_id) };
}
async function resumed(after_ms: number): Promise<{ run: Held; id: string }> {
  const { task_id, card } = await waiting();
  held.now += after_ms;
  must(await held.approve(ada, card));
  held.now += after_ms;
  held.reopen();
  const [attempt] = held.rows.attempts.ofTask(task_id);
  expect(attempt).toMatchObject({ state: "due", entry: 1, agent: null, lease: null });
  return { run: await held.begun(), id: card.id };
}
function checks(): (string | null)[] {
  const links = held.scope.stores.audit.after(0, 1_000).filter((link) => link.event_type === "check");
  return links.filter((link) => link.details.call_id !== undefined).map((link) => link.decision);
}

describe("a no", () => {
  it("[ASK-4] for 60 s the same call is refused at once in every attempt of the task, without a card; then it asks", async () => {
    const { task_id, card } = await waiting();
    must(await held.deny(ada, card, "not that command"));
    must(await held.approve(ada, held.card(task_id)));
    const again = await held.begun();
    const answer = await held.authorize(again, shell("echo a"));
    expect(answer).toMatchObject({ answer: "refused", error_code: "approval_denied" });
    expect(answer).toMatchObject({
      reason: expect.stringContaining("ada#tok001 denied this call less than 60 s ago: not that command"),
    });
    expect(await held.authorize(again, shell("echo b", "step-2"))).toEqual({ answer: "wait" });
    expect(held.cards(task_id)).toEqual([]);
    const blocks = held.scope.stores.audit.after(0, 1_000).filter((link) => link.event_type === "gate_block");
    expect(blocks.map((link) => [link.decision, link.details.rule])).toContainEqual(["deny", "asks:denied_again"]);
    held.now += 60_000;
    expect(await held.authorize(again, shell("echo a", "step-3"))).toEqual({ answer: "wait" });
    // Another task has not been told no.
    const other = await waiting();
    expect(other.card.kind).toBe("tool_call");
  });

  it("[DEC-57] its words reach the attempt, the guidance of the next, the card and the status as they were written", async () => {
    const words = "Nein – use `git mv` instead;\n\tkeep “history” \u202e and 100 %";
    const { task_id, card } = await waiting();
    must(await held.deny(ada, card, words));
    const reason = `the call was denied: ${words}`;
    expect(held.rows.attempts.ofTask(task_id)[0]).toMatchObject({ error_code: "approval_denied", detail: reason });
    expect(held.rows.items.ofTask(task_id)[0]?.guidance).toEqual([`Attempt 1 ended: ${reason}`]);
    const stuck = held.card(task_id);
    expect(stuck.card.facts[0]).toBe(`Attempt 1 ended: ${reason}`);
    const bodies = held.sql.all<{ body: string }>("SELECT body FROM outbox").map(({ body }) => JSON.parse(body));
    const told = bodies.findLast((message) => message.message_kind === "execution_status");
    expect(told).toMatchObject({
      content: reason,
      error_code: "approval_denied",
      payload: { status: "stuck", detail: reason },
    });
    must(await held.approve(ada, stuck, "as I said"));
    expect(held.claim()?.message.payload.guidance).toEqual([`Attempt 1 ended: ${reason}`, "A person said: as I said"]);
  });
});

describe("caps", () => {
  it("[ASK-5] past the policy's most a task's calls are refused with that reason and make no card; what asked already still asks", async () => {
    held.demand({ asks_per_task: 2, asks_per_minute: 100 });
    const { task_id, run } = await started();
    expect(await held.authorize(run, shell("echo 1", "step-1"))).toEqual({ answer: "wait" });
    expect(await held.authorize(run, shell("echo 2", "step-2"))).toEqual({ answer: "wait" });
    expect(await held.authorize(run, shell("echo 3", "step-3"))).toMatchObject({
      ...{
        answer: "refused",
        error_code: "gate_blocked",
        reason: "asks:of_task: this task has asked 2 times, and 2 is the most",
      },
    });
    expect(await held.authorize(run, shell("echo 2", "step-2"))).toEqual({ answer: "wait" });
    held.reopen();
    held.now += day_ms / 24;
    await held.suspend(run, shell("echo 2", "step-2"), tree);
    expect(held.cards(task_id)).toMatchObject([{ kind: "tool_call" }]);
    const other = await started();
    expect(await held.authorize(other.run, shell("echo 3"))).toEqual({ answer: "wait" });
  });

  it("[ASK-6] past the scope's most a minute every task's calls are refused, and a minute later they ask again", async () => {
    held.demand({ asks_per_minute: 2 });
    const [one, two] = [await started(), await started()];
    expect(await held.authorize(one.run, shell("echo 1", "step-1"))).toEqual({ answer: "wait" });
    expect(await held.authorize(two.run, shell("echo 1", "step-1"))).toEqual({ answer: "wait" });
    for (const { run } of [one, two])
      expect(await held.authorize(run, shell("echo 2", "step-2"))).toMatchObject({
        reason: expect.stringContaining("asks:in_minute"),
      });
    held.now += 60_000;
    expect(await held.authorize(two.run, shell("echo 3", "step-3"))).toEqual({ answer: "wait" });
  });
});

describe("a yes after a long wait", () => {
  it("[DEC-58] days later and after a restart the call runs once in the same workspace, whoever carries it on", async () => {
    const { run, id } = await resumed(13 * day_ms);
    for (const _ of [1, 2])
      expect(await held.authorize(run, shell("echo a", "step-1", tree))).toEqual({ answer: "run" });
    expect(held.rows.approvals.get(id)?.life).toBe("executed");
    expect(checks()).toEqual(["valid"]);
    held.settle(run, "step-1");
    expect(await held.authorize(run, shell("echo a", "step-1", tree))).toMatchObject({ answer: "refused" });
    expect(held.rows.calls.all()[0]).toMatchObject({ state: "settled", grant: { life: "executed" } });
  });

  it("[DEC-59] another tree makes it void, audited with why, and the call asks anew; other arguments are refused", async () => {
    const cases: [spoil: (id: string) => void, tree: string, why: RegExp][] = [
      [() => {}, "6".repeat(40), /not what is stored now/],
      [() => {}, "", /not what is stored now/],
      [(id) => tamper(id, { arguments: '{"command":"echo evil"}' }), tree, /other arguments/],
    ];
    for (const [spoil, now, why] of cases) {
      const { run, id } = await resumed(1_000);
      spoil(run.ref.attempt_id);
      const answer = await held.authorize(run, shell("echo a", "step-1", now));
      if (why.source.includes("other")) {
        expect(answer).toMatchObject({ answer: "refused", reason: expect.stringMatching(why) });
        continue;
      }
      expect(answer).toEqual({ answer: "wait" });
      const [link] = held.scope.stores.audit
        .after(0, 5_000)
        .filter((each) => each.decision === "void")
        .slice(-1);
      expect(link).toMatchObject({
        event_type: "check",
        reason: expect.stringMatching(why),
        details: { approval_id: id },
      });
      expect(held.rows.approvals.get(id)).toMatchObject({ status: "approved", life: "void" });
      await held.suspend(run, shell("echo a", "step-1", now), now);
      const fresh = held.card(run.message.task_id ?? "");
      expect([fresh.id === id, fresh.card.tool?.workspace_tree]).toEqual([false, now]);
      must(await held.tasks.cancelTask(callerOf("eve", "admin"), run.message.task_id ?? "", "next"));
    }
  });

  it("[DEC-60] what the policy denies today does not run, however it was allowed before; milder, it runs without the void yes", async () => {
    const { run, id } = await resumed(1_000);
    held.edit((policy) => ({ ...policy, tools: { ...policy.tools, shell_execute: "deny" } }));
    expect(await held.authorize(run, shell("echo a", "step-1", tree))).toMatchObject({
      ...{ answer: "refused", reason: expect.stringContaining("tool:shell_execute") },
    });
    expect(held.rows.approvals.get(id)?.life).toBe("void");
    const set = (to: "require_approval" | "auto_approve") =>
      held.edit((policy) => ({ ...policy, tools: { ...policy.tools, shell_execute: to } }));
    set("require_approval");
    const other = await resumed(1_000);
    set("auto_approve");
    expect(await held.authorize(other.run, shell("echo a", "step-1", "6".repeat(40)))).toEqual({ answer: "run" });
    expect(held.rows.approvals.get(other.id)?.life).toBe("void");
  });
});

describe("an approval that became too old", () => {
  it("[DEC-63] after 30 days what is left of a plan is approved again, in the same bytes, and what is done stays done", async () => {
    const { task_id, card } = await waiting();
    const { plan_hash, items } = held.rows.approvals.ofTask(task_id)[0]?.card ?? missing("card");
    held.now += 31 * day_ms;
    must(await held.approve(ada, card));
    const run = held.claim() ?? missing("request");
    expect(await held.begin(run)).toEqual({ answer: "stale", reason: "the token has expired" });
    const again = held.card(task_id);
    expect(again).toMatchObject({ kind: "plan", card: { plan_hash, items, why: expect.stringContaining("too old") } });
    expect(held.rows.attempts.ofTask(task_id).map(({ state }) => state)).toEqual(["cancelled"]);
    expect(held.rows.items.ofTask(task_id)[0]?.grant).toMatchObject({ life: "void" });
    expect([held.claim(), held.rows.tasks.get(task_id)?.status]).toEqual([null, "waiting"]);
    held.reopen();
    must(await held.approve(ada, again));
    const fresh = await held.begun();
    expect(fresh.ref.attempt_id).not.toBe(run.ref.attempt_id);
    // The one call that was allowed then was for an attempt that is over.
    expect(await held.authorize(fresh, shell("echo a", "step-1"))).toEqual({ answer: "wait" });
  });
});

describe("a call that was begun", () => {
  it("[DEC-61] goes on after a restart, but not with other bytes than were signed or granted, nor once it is denied", async () => {
    const { run, id } = await resumed(1_000);
    const asked = shell("echo a", "step-1", tree);
    expect(await held.authorize(run, asked)).toEqual({ answer: "run" });
    held.reopen();
    // The workspace has moved on under the call itself.
    for (const now of [tree, null, "7".repeat(40)])
      expect(await held.authorize(run, { ...asked, tree: now })).toEqual({ answer: "run" });
    const evil = shell("echo evil", "step-1", tree);
    tamper(run.ref.attempt_id, { arguments: evil.arguments });
    expect(await held.authorize(run, evil)).toMatchObject({
      answer: "refused",
      reason: expect.stringContaining("not what is stored"),
    });
    tamper(run.ref.attempt_id, { arguments: asked.arguments });
    expect(held.rows.approvals.get(id)?.life).toBe("executed");
    held.edit((policy) => ({ ...policy, tools: { ...policy.tools, shell_execute: "deny" } }));
    expect(await held.authorize(run, asked)).toMatchObject({
      answer: "refused",
      reason: expect.stringContaining("tool:"),
    });
    held.edit((policy) => ({ ...policy, tools: { ...policy.tools, shell_execute: "require_approval" } }));

    const granted = await held.planned(grantedPlan);
    must(await held.approve(ada, held.card(granted)));
    const plain = await held.begun();
    expect(await held.authorize(plain, shell("echo a"))).toEqual({ answer: "run" });
    tamper(plain.ref.attempt_id, { arguments: evil.arguments });
    expect(await held.authorize(plain, { ...evil, tree: null })).toMatchObject({ answer: "refused" });
  });
});

function tamper(attempt_id: string, change: { arguments: string }): void {
  const call = held.rows.calls.get(`${attempt_id}/step-1`) ?? missing("call");
  held.rows.calls.put({ ...call, ...change });
}
