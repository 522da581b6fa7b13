/** What is forgotten of tasks that ended long ago, and what of them stays. */
import { afterEach, describe, expect, it } from "vitest";
import type { ResearchRow, UseRow } from "../../durable-objects/runtime/reading-rows.ts";
import { limits } from "../../src/limits.ts";
import { GithubScope, issue, linked, said, wish } from "../fakes/github-scope.ts";
import { type HeldScope, must, scopeId } from "../fakes/held-scope.ts";
import { bob, StandingScope } from "../fakes/standing-scope.ts";

let close = (): void => {};
afterEach(() => close());

/** A question of its planner and a use of a tool that reads, as they are stored. */
function reads({ rows }: HeldScope, task_id: string): void {
  const asked: ResearchRow = {
    ...{ id: `r ${task_id}`, task_id, message_id: "m", plan_run_id: "run", state: "answered" },
    ...{ agent: null, lease: null, due_at: 0, at: "2026-03-01T12:00:00.000Z" },
  };
  rows.research.put(asked);
  const used: UseRow = {
    ...{ id: `u ${task_id}`, task_id, agent: "planner", tool: "file_read", state: "run" },
    ...{ rule: "run", at: "2026-03-01T12:00:00.000Z" },
  };
  rows.uses.put(used);
}
const left = ({ rows }: HeldScope, task_id: string) =>
  rows.research.ofTask(task_id).length + rows.uses.ofTask(task_id).length;
/** So long that what ended by now is forgotten at the next alarm; to the millisecond. */
function passes(held: HeldScope, more_ms = 1): void {
  held.now += limits.ended_kept_ms + more_ms;
  held.mailroom.expire(held.now);
}

describe("tasks that ended", () => {
  it("[ROW-6] [ROW-8] thirty days later their questions and uses are forgotten, their threads after two years, not a moment sooner; of an open one nothing is", async () => {
    const at = new GithubScope();
    close = () => at.close();
    await at.linked();
    const ended = await at.happens(wish());
    const open = await at.happens(wish({ thread: { ...issue, number: 6 } }));
    for (const id of [ended, open]) reads(at.held, id);
    must(await at.held.tasks.cancelTask(bob, ended, "enough"));
    passes(at.held, 0);
    expect([left(at.held, ended), at.thread(ended).task_id]).toEqual([2, ended]);
    passes(at.held, 1 - limits.ended_kept_ms);
    const threads = () => [5, 6].map((n) => at.held.scope.stores.github.threadsOf(500, n).length);
    expect([left(at.held, ended), left(at.held, open), threads()]).toEqual([0, 2, [1, 1]]);
    passes(at.held, limits.ended_thread_kept_ms - 2 * limits.ended_kept_ms - 1);
    expect(threads()).toEqual([1, 1]);
    passes(at.held, 1 - limits.ended_kept_ms);
    expect(threads()).toEqual([0, 1]);
    expect(at.task(ended)).toMatchObject({ status: "cancelled", reason: "enough" });
    expect(at.audited("github_asked")).toHaveLength(2);
    // What is told of it after that finds nothing, and breaks nothing.
    await at.happens(wish({ thread: { ...issue, number: 5 } }));
    expect(threads()).toEqual([1, 1]);
  });

  it("[ROW-8] so long its own pull request knows it, and a check that could not be shown its end is shown it", async () => {
    const at = new GithubScope();
    close = () => at.close();
    await at.linked();
    const id = await at.happens(wish());
    await at.shows(id, { pull: { number: 50, url: "https://github.example/octo/app/pull/50" } });
    await at.door.githubUnlinked(scopeId, [linked.id], "suspended");
    expect(at.task(id).status).toBe("cancelled");
    for (const sync of at.orders("github_sync")) at.took(sync);
    passes(at.held, limits.ended_kept_ms);
    await at.linked();
    at.door.settle(at.held.now);
    const shown = await at.shows(id, { pull: { number: 50, url: "https://github.example/octo/app/pull/50" } });
    expect([shown.version, at.thread(id).shown_version]).toEqual([at.thread(id).version, at.thread(id).version]);
    await at.happens(said("status", { thread: { ...issue, kind: "pull", number: 50 } }));
    expect([at.orders("github_answer"), at.thread(id).version]).toEqual([[], shown.version + 1]);
  });

  it("[ROW-8] a failed check's thread stays, so that a branch has no more tasks of them than before", async () => {
    const at = new GithubScope();
    close = () => at.close();
    await at.linked();
    const id = await at.happens(wish());
    at.held.scope.stores.github.putThread({ ...at.thread(id), trigger: "failed_check" });
    must(await at.held.tasks.cancelTask(bob, id, "enough"));
    passes(at.held, limits.ended_thread_kept_ms);
    expect(at.thread(id).trigger).toBe("failed_check");
  });

  it("[ROW-6] so many at a time, each once, those of one moment too, and what ended before it was looked for", async () => {
    const s = new StandingScope();
    close = () => s.close();
    const first = s.rows.tasks.get(await s.chore());
    if (first === null) throw new Error("the task was made");
    const ids = Array.from({ length: limits.ended_forgotten + 5 }, (_, n) => `many${n}`);
    for (const [n, id] of ids.entries()) {
      // All of the same moment, but for the last.
      const ended_at = new Date(s.now + (n === ids.length - 1 ? 10 : 0)).toISOString();
      s.rows.tasks.put({ ...first, id, status: "done", ended_at });
      reads(s, id);
    }
    const still = () => ids.filter((id) => left(s, id) > 0).length;
    passes(s, 11);
    expect(still()).toBe(5);
    s.reopen();
    s.mailroom.expire(s.now);
    expect(still()).toBe(0);
    reads(s, "many0");
    s.mailroom.expire(s.now);
    expect(still()).toBe(1);
  });

  it("[ROW-7] the use of an approval in advance goes where that is over, and how many are left stands", async () => {
    const s = new StandingScope();
    close = () => s.close();
    const until = new Date(s.now + 60 * 86_400_000).toISOString();
    const used_up = await s.made({ uses: 1, until });
    const first = await s.chore();
    await s.flush();
    const goes_on = await s.made({ uses: 2, until });
    const second = await s.chore();
    await s.flush();
    for (const id of [first, second]) must(await s.tasks.cancelTask(bob, id, "enough"));
    const uses = async () => [(await s.standing(used_up.id)).used.length, (await s.standing(goes_on.id)).used.length];
    expect(await uses()).toEqual([1, 1]);
    passes(s);
    expect(await uses()).toEqual([0, 1]);
    expect(await s.standing(used_up.id)).toMatchObject({ uses: 1, uses_left: 0, status: "used_up" });
    expect(await s.standing(goes_on.id)).toMatchObject({ uses: 2, uses_left: 1, status: "active" });
  });
});
