/** What GitHub shows of a task follows its rows: one look at a time, the newest last, tried again until it stands there; and where a task stands. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hearOfDeath } from "../../durable-objects/runtime/dead-letters.ts";
import { githubStanding } from "../../src/domain/github/standing.ts";
import { limits } from "../../src/limits.ts";
import { bob, GithubScope, issue, linked, page, said, url, wish } from "../fakes/github-scope.ts";
import { askingPlan, base, callerOf, grantedPlan, must, scopeId, shell } from "../fakes/held-scope.ts";

let at: GithubScope;
beforeEach(async () => {
  at = await new GithubScope().linked();
});
afterEach(() => at.close());

const syncs = (id: string) => at.orders("github_sync").filter(({ task_id }) => task_id === id);
const standing = async (id: string) => (await at.door.githubStanding(scopeId, id)) ?? expect.fail("nothing stands");
const pass = (ms: number) => {
  at.held.now += ms;
  at.door.settle(at.held.now);
};

describe("looks", () => {
  it("[GHR-70] every change marks the task, and one look is under way however many there are; the newest is shown", async () => {
    const id = await at.planned(askingPlan);
    const [first, ...more] = syncs(id);
    expect([more, first?.payload]).toEqual([[], { task_id: id, version: 1 }]);
    expect(at.thread(id).version).toBeGreaterThan(2);
    await at.shows(id);
    expect(at.thread(id)).toMatchObject({ sync: null, shown_version: at.thread(id).version });
    expect([syncs(id), at.door.nextDueAt()]).toEqual([[], null]);
  });

  it("[GHR-71] a change while it is under way is shown by the next, not before some seconds have passed", async () => {
    const id = await at.planned(askingPlan);
    const { version } = await standing(id);
    must(await at.held.approve(callerOf("ada#tok001"), at.held.card(id)));
    await at.shows(id, { version });
    expect([syncs(id), at.door.nextDueAt()]).toEqual([[], at.held.now + limits.github_sync_gap_ms]);
    pass(limits.github_sync_gap_ms - 1);
    expect(syncs(id)).toEqual([]);
    pass(1);
    expect(syncs(id)).toMatchObject([{ payload: { version: at.thread(id).version } }]);
  });

  it("[GHR-72] a failed one waits ten seconds, doubling to ten minutes, and its reason is on record once", async () => {
    const id = await at.planned(askingPlan);
    const waits: number[] = [];
    for (let tries = 0; tries < 9; tries++) {
      await at.shows(id, { failed: "GitHub refuses comments" });
      waits.push((at.door.nextDueAt() ?? 0) - at.held.now);
      pass(waits.at(-1) ?? 0);
    }
    expect(waits.map((ms) => ms / 1000)).toEqual([10, 20, 40, 80, 160, 320, 600, 600, 600]);
    expect(at.audited("github_not_shown")).toMatchObject([{ reason: "GitHub refuses comments" }]);
    await at.shows(id);
    expect(at.thread(id)).toMatchObject({ failures: 0, shown: { failed: null } });
    expect(
      new Set(at.held.scope.stores.outbox.due(Number.MAX_SAFE_INTEGER).map(({ message }) => message.message_id)).size,
    ).toBe(1);
  });

  it("[GHR-73] its death is a failure and asks nobody; of an older one it is nothing", async () => {
    const id = await at.planned(askingPlan);
    const [order = expect.fail("nothing is under way")] = syncs(id);
    const cards = at.held.cards(id).length;
    const death = (message_id: string) => {
      const died = { place: "inbox", death: 1, reason: "worn out", head: { ...order, message_id, deliveries: 5 } };
      at.held.scope.commit((tx) => hearOfDeath(tx, "courier", died));
    };
    death("another-message");
    expect(at.thread(id).sync?.message_id).toBe(order.message_id);
    death(order.message_id);
    expect([at.thread(id).sync, at.thread(id).failures, at.held.cards(id).length]).toEqual([null, 1, cards]);
    pass(limits.github_sync_first_retry_ms);
    expect(at.thread(id).sync).not.toBeNull();
  });

  it("[GHR-74] one that nobody told the end of is lost after a day, and another begins under another id", async () => {
    const id = await at.planned(askingPlan);
    await at.shows(id);
    at.held.now += limits.github_sync_gap_ms;
    await at.happens(said("status"));
    const before = at.thread(id).sync?.message_id;
    expect(before).toBeDefined();
    at.reopen();
    pass(limits.github_sync_lost_ms - 1);
    expect(at.thread(id).sync?.message_id).toBe(before);
    pass(1);
    expect(at.thread(id).sync?.message_id).not.toBe(before);
  });

  it("[GHR-75] where the link is gone nothing is shown and nothing rings; the order under way ends with that answer", async () => {
    const id = await at.planned(askingPlan);
    await at.door.githubUnlinked(scopeId, [linked.id], "removed");
    expect(await at.door.githubStanding(scopeId, id)).toBeNull();
    expect([at.thread(id).sync, at.door.nextDueAt()]).toEqual([null, null]);
    expect(await at.door.githubStanding(scopeId, "t-nobody")).toBeNull();
  });

  it("[GHR-76] an answer that comes late, twice or out of order takes nothing back", async () => {
    const id = await at.planned(askingPlan);
    const [order] = syncs(id);
    const newest = await at.shows(id);
    const old = { ...newest, version: newest.version - 1, comment: null };
    if (order !== undefined) await at.answer({ ...order, message_id: "an-older-order" }, "github_shown", old);
    expect(at.thread(id).shown).toEqual(newest);
    expect(at.audited("stale_result")).toHaveLength(1);
    const unknown = { ...newest, task_id: "t-nobody" };
    if (order !== undefined) await at.answer({ ...order, message_id: "of-nobody" }, "github_shown", unknown);
    expect(at.audited("stale_result")).toHaveLength(2);
  });

  it("[GHR-42] a card stands there since it was first shown, however often it is written again", async () => {
    const id = await at.planned(askingPlan);
    const { showed } = await at.shows(id);
    at.held.now += 60_000;
    await at.happens(said("status"));
    await at.shows(id);
    expect(at.thread(id).shown?.showed).toEqual(showed);
  });

  it("[GHR-77] messages to and from the courier make no event of their own, and a task of the scope itself is never shown", async () => {
    const id = await at.planned(askingPlan);
    const own = await at.held.planned();
    for (const { message } of at.held.scope.stores.outbox.due(Number.MAX_SAFE_INTEGER))
      await at.held.mailroom.observe(message);
    const kinds = at.held.scope.stores.events.byTask(id, null, 200).items.map((event) => event.message_kind);
    expect(kinds).not.toContain("github_sync");
    expect(syncs(own)).toEqual([]);
    expect(at.held.card(own).card).not.toHaveProperty("asked_by");
  });
});

describe("where a task stands", () => {
  it("[GHR-80] its thread, plan, items, card with the way to decide it, page and note", async () => {
    const id = await at.planned(askingPlan);
    const now = await standing(id);
    expect(githubStanding.parse(now)).toEqual(now);
    const card = at.held.card(id);
    expect(now).toMatchObject({
      ...{
        task_id: id,
        thread: { kind: "issue", number: 5 },
        title: "Greet people",
        asked_by: "github:alice",
        status: "waiting",
      },
      ...{
        page_url: `${page}/tasks/${id}`,
        base_commit: base,
        branch: `countersign/${id}`,
        published: null,
        follows: null,
      },
      plan: { title: "A plan", goal: "A goal", version: 1 },
      items: [{ state: "open" }],
      card: { approval_id: card.id, kind: "plan", content_hash: card.content_hash, buttons: true, why_page: null },
      ...{ checks: [], spent: { tokens: 0, usd: 0 }, audit_head: null, note: null, shown: null, infrastructure: false },
    });
    const shown = await at.shows(id);
    expect((await standing(id)).shown).toEqual(shown);
  });

  it("[GHR-81] work under way, a call that waits, and at its end where its audit stood", async () => {
    const id = await at.planned(askingPlan);
    must(await at.held.approve(callerOf("ada#tok001"), at.held.card(id)));
    const { version } = await standing(id);
    const run = await at.held.begun();
    expect((await standing(id)).version).toBeGreaterThan(version);
    expect((await standing(id)).items).toEqual([{ title: "a", state: "running" }]);
    const call = shell("echo a");
    await at.held.authorize(run, call);
    await at.held.suspend(run, call, "f".repeat(40));
    expect((await standing(id)).card).toMatchObject({ kind: "tool_call", buttons: false });
    await at.happens(said("cancel", { by: bob, reason: "enough" }));
    const end = await standing(id);
    expect(end).toMatchObject({ status: "cancelled", reason: "enough", card: null });
    expect(end.audit_head).toMatch(new RegExp(`^${scopeId}/runtime@\\d+ [0-9a-f]{64}$`));
  });

  it("[GHR-82] what the deployment itself did not manage is told from work that failed", async () => {
    const ended = async (state: "failed" | "crashed") => {
      const id = await at.planned(grantedPlan.replace("max_attempts: 2", "max_attempts: 1"), {
        thread: { ...issue, number: state.length },
      });
      must(await at.held.approve(callerOf("ada#tok001"), at.held.card(id)));
      await at.held.fail(await at.held.begun());
      for (const attempt of at.held.rows.attempts.ofTask(id)) at.held.rows.attempts.put({ ...attempt, state });
      must(await at.held.deny(callerOf("ada#tok001"), at.held.card(id)));
      return standing(id);
    };
    expect(await ended("failed")).toMatchObject({ status: "failed", infrastructure: false });
    expect(await ended("crashed")).toMatchObject({ status: "failed", infrastructure: true });
  });

  it("[GHR-83] a comment on the task's own pull request is about the task", async () => {
    const id = await at.planned(askingPlan);
    await at.shows(id, { pull: { number: 12, url: `${url}/pull/12` } });
    const hash = at.held.card(id).content_hash.slice(0, 12);
    await at.happens(said("approve", { hash, thread: { ...issue, kind: "pull", number: 12 } }));
    expect(at.task(id).status).toBe("active");
    await at.happens(wish({ thread: { ...issue, kind: "pull", number: 12 } }));
    expect(at.held.rows.tasks.all()).toHaveLength(1);
  });
});
