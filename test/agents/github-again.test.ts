/** What comes from GitHub again, too late, unclear or for nobody: it makes nothing twice, and nothing that was not asked. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { courier } from "../../src/agents/courier.ts";
import { readEvent } from "../../src/domain/github/events.ts";
import { githubRequest } from "../../src/domain/github/shapes.ts";
import { defaultTriggers } from "../../src/domain/github/triggers.ts";
import { limits } from "../../src/limits.ts";
import { FakeGithub } from "../fakes/github.ts";
import { comment, identity, issue as issueOf, maintainer, payload } from "../fakes/github-payloads.ts";
import { alice, change, GithubScope, issue, linked, mallory, person, said, wish } from "../fakes/github-scope.ts";
import { askingPlan, base, scopeId } from "../fakes/held-scope.ts";
import { MemorySandboxes } from "../fakes/memory-sandboxes.ts";
import { only, stamped } from "../fakes/orders.ts";
import { drive, runContext, tameWorld } from "../fakes/world.ts";

let at: GithubScope;
beforeEach(async () => {
  at = await new GithubScope().linked();
});
afterEach(() => at.close());

const tasks = () => at.held.rows.tasks.all();
const note = async (id: string) => (await at.door.githubStanding(scopeId, id))?.note ?? null;
const dropped = () => at.audited("github_dropped").map(({ reason }) => reason);
const counts = () => at.door.githubCounts(scopeId);
const moment = (minute: number) => `2026-03-01T11:${String(minute).padStart(2, "0")}:00Z`;
const byComment = { trigger: "comment", comment_id: 9 } as const;

describe("the same again", () => {
  it("[GHR-84] bytes that were claimed once are the same delivery under any id, also after a restart; a button may be pressed twice", async () => {
    expect(await at.deliver(wish(), "d-1", linked, "signed")).toBe("claimed");
    at.reopen();
    expect(await at.deliver(wish(), "d-2", linked, "signed")).toBe("seen");
    expect(await at.deliver(wish(), "d-1", linked, "other")).toBe("seen");
    expect(at.orders("github_event")).toHaveLength(1);
    const pressed = said("approve", { via: "button", thread: null, task_id: "t1", hash: "0123456789ab" });
    for (const id of ["p-1", "p-2"]) expect(await at.deliver(pressed, id, linked, "pressed")).toBe("claimed");
    expect(await at.deliver(pressed, "p-1", linked, "pressed")).toBe("seen");
    const door = { delivery_id: "d-3", repository: linked, happening: wish() };
    await expect(at.door.githubDelivery(scopeId, door, "short")).rejects.toThrow();
  });

  it("[GHR-85] a wish not newer than what a task was made of before makes no other, whatever its id and its bytes", async () => {
    const first = await at.happens(wish({ at: moment(5) }));
    expect(at.thread(first).asked_at).toBe(moment(5));
    await at.happens(said("cancel"));
    for (const minute of [5, 4]) await at.happens(wish({ at: moment(minute) }));
    expect([tasks().length, dropped()]).toEqual([1, ["asked_before", "asked_before"]]);
    // Other words, and the same ones later, are asked for anew; so is what GitHub gave no time for.
    const words = [
      { by: alice, text: "", cut: false },
      { by: alice, text: "/countersign other", cut: false },
    ];
    await at.happens(wish({ ...byComment, texts: words, at: moment(3) }));
    await at.happens(wish({ at: moment(6) }));
    expect(tasks()).toHaveLength(3);
    const untimed = await at.happens(wish({ thread: { ...issue, number: 6 } }));
    await at.happens(said("cancel", { thread: { ...issue, number: 6 } }));
    await at.happens(wish({ thread: { ...issue, number: 6 }, at: moment(1) }));
    expect([at.thread(untimed).asked_at, tasks().length]).toEqual([null, 5]);
  });

  it("[GHR-86] a cancel that was said before the task was asked for ends nothing, by GitHub's clock or else by ours", async () => {
    const id = await at.happens(wish({ at: moment(5) }));
    for (const minute of [4, 5]) {
      await at.happens(said("cancel", { said_at: moment(minute) }));
      expect([at.task(id).status, await note(id)]).toEqual(["active", expect.stringContaining("said before")]);
    }
    await at.happens(said("cancel", { said_at: moment(6) }));
    expect(at.task(id).status).toBe("cancelled");
    const untimed = await at.happens(wish({ thread: { ...issue, number: 6 } }));
    const cancel = said("cancel", { thread: { ...issue, number: 6 } });
    await at.happens({ ...cancel, said_at: at.task(untimed).created_at });
    expect(at.task(untimed).status).toBe("active");
    await at.happens(cancel);
    expect(at.task(untimed).status).toBe("cancelled");
  });
});

describe("what is not meant", () => {
  it("[GHR-87] what may be meant in two ways decides nothing and is answered with how to write it, to those who may decide", async () => {
    const id = await at.planned(askingPlan);
    await at.happens(said("unclear", { by: person("mallory") }));
    expect([await note(id), dropped()]).toEqual([null, ["not_a_writer"]]);
    await at.happens(said("unclear"));
    expect([at.task(id).status, at.held.card(id).status]).toEqual(["waiting", "pending"]);
    expect(await note(id)).toMatch(
      /^What bob wrote may be meant in more than one way, so it did nothing\. .*do: .*holds one line and nothing else/,
    );
    await at.happens(said("help"));
    expect(await note(id)).toMatch(/^To wish for something, /);
    await at.happens(said("misplaced"));
    expect(await note(id)).toContain("write it as a comment of the thread");
    expect([at.task(id).status, at.held.card(id).status, tasks().length]).toEqual(["waiting", "pending", 1]);
    expect(at.orders("github_answer")).toEqual([]);
  });

  it("[GHR-89] in a thread without a task it is answered there, once; nobody else than who may decide is", async () => {
    const nine = { thread: { ...issue, number: 9 } };
    await at.happens(said("unclear", { ...nine, by: person("mallory") }));
    expect([at.orders("github_answer"), dropped()]).toEqual([[], ["not_a_writer"]]);
    for (const what of ["unclear", "help", "misplaced"] as const) {
      await at.happens(said(what, nine), undefined, `d-${what}`);
      at.held.now += limits.github_answer_again_ms;
    }
    const answers = at.orders("github_answer");
    expect(answers.map(({ payload }) => [payload.delivery_id, payload.number])).toEqual([
      ...[
        ["d-unclear", 9],
        ["d-help", 9],
        ["d-misplaced", 9],
      ],
    ]);
    const [order] = answers;
    if (order === undefined) return expect.fail("nobody is answered");
    const asked = new FakeGithub();
    const { ports } = tameWorld(new MemorySandboxes({}));
    const context = runContext(order, { agent: "courier" });
    for (const driving of [{ dies: true }, {}])
      expect((await drive(courier, context, { ...ports, github: asked.port }, driving)).out).toEqual([]);
    expect([asked.standing().comments, tasks()]).toEqual([
      [expect.stringMatching(/^<!-- countersign:task:answer:d-unclear -->\n\*\*Countersign\*\*\n\n> What bob wrote /)],
      [],
    ]);
  });

  it("[GHR-90] what decides or asks where no task is hears how to ask for one, unless it is a button or by nobody who may decide", async () => {
    const said_in = (number: number) => ({ thread: { ...issue, number } });
    const words = ["approve", "deny", "cancel", "status"] as const;
    for (const [n, what] of words.entries()) {
      await at.happens(said(what, { ...said_in(20 + n), by: mallory }));
      await at.happens(said(what, said_in(20 + n)));
    }
    expect(at.orders("github_answer").map(({ payload }) => [payload.number, payload.words])).toEqual(
      words.map((_, n) => [20 + n, "There is no task in this thread: write /countersign and a wish to ask for one."]),
    );
    await at.happens(said("deny", { via: "button", thread: null, task_id: "t1", hash: "0123456789ab" }));
    expect(dropped()).toEqual([...Array(4).fill("not_a_writer"), "no_task"]);
    expect(at.orders("github_answer")).toHaveLength(4);
  });

  it("[GHR-93] of people who may not write a hundred in an hour go on record, and all are counted", async () => {
    const asks = () => at.happens(wish({ by: mallory }));
    at.held.now = Math.ceil(at.held.now / 3_600_000) * 3_600_000;
    for (let n = 0; n < limits.github_refused_recorded + 5; n++) await asks();
    const recorded = () => at.audited("github_dropped").length;
    expect(recorded()).toBe(limits.github_refused_recorded);
    at.reopen();
    at.held.now += 3_599_999;
    await asks();
    at.held.now += 1;
    await asks();
    expect(recorded()).toBe(limits.github_refused_recorded + 1);
    expect(await at.door.githubCounts(scopeId)).toEqual([
      { event: "wish", why: "not_a_writer", n: limits.github_refused_recorded + 7 },
    ]);
    // What else is let go by is on record, however many of those there were.
    await at.happens(said("approve", { via: "button", thread: null, task_id: "t1", hash: "0123456789ab" }));
    expect(at.audited("github_dropped").at(-1)).toMatchObject({ reason: "no_task" });
  });

  it("[GHR-90] a thread without a task is answered once in an hour at most, whatever is said there, also after a restart", async () => {
    const numbers = () => at.orders("github_answer").map(({ payload }) => payload.number);
    const nine = { thread: { ...issue, number: 9 } };
    for (const what of ["unclear", "approve", "help", "unclear"] as const) await at.happens(said(what, nine));
    at.reopen();
    at.held.now += limits.github_answer_again_ms - 1;
    await at.happens(said("unclear", nine));
    expect([numbers(), dropped()]).toEqual([[9], Array(4).fill("answered_before")]);
    // Others have their own hour, and each hour begins with what was answered.
    await at.happens(said("unclear", { thread: { ...issue, number: 10 } }));
    at.held.now += 1;
    for (const _ of [1, 2]) await at.happens(said("unclear", nine));
    expect(numbers()).toEqual([9, 10, 9]);
    const rows = () => at.held.scope.sql.all<{ number: number }>("SELECT number FROM github_answers ORDER BY number");
    expect(rows()).toEqual([{ number: 9 }, { number: 10 }]);
    at.held.now += limits.github_answer_again_ms;
    await at.happens(said("unclear", { thread: { ...issue, number: 11 } }));
    expect(rows()).toEqual([{ number: 11 }]);
  });

  it("[GHR-88] a change of words that no open task was made of is counted and never leaves the door", async () => {
    const id = await at.happens(wish({ ...byComment, at: moment(1) }));
    const orders = at.orders("github_event").length;
    const audited = at.held.scope.stores.audit.after(0, 10_000).length;
    for (const other of [
      change("edited", { thread: { ...issue, number: 6 } }),
      change("edited", { comment_id: 8 }),
      change("deleted", { comment_id: 8 }),
    ])
      expect(await at.deliver(other, "x-1")).toBe("no_task");
    expect(await counts()).toEqual([{ event: "changed", why: "no_task", n: 3 }]);
    expect([at.orders("github_event").length, at.held.scope.stores.audit.after(0, 10_000).length]).toEqual([
      orders,
      audited,
    ]);
    // It was not claimed, so what is meant goes its way under the same id.
    expect(await at.deliver(change("edited", { comment_id: 9 }), "x-1")).toBe("claimed");
    await at.happens(said("cancel"));
    expect([at.task(id).status, await at.deliver(change("edited", { comment_id: 9 }))]).toEqual([
      "cancelled",
      "no_task",
    ]);
  });

  it("[GHR-38] a comment on a pull request of ours, whose payload names no branch, goes on its branch", async () => {
    const branch = `countersign/${await at.published()}`;
    const body = comment("/countersign also the footer", { user: maintainer });
    const on = payload("created", { issue: issueOf({ number: 8, pull_request: {} }), comment: body });
    const read = readEvent("issue_comment", on, identity, defaultTriggers);
    if (read.kind !== "happening") return expect.fail("nothing happened");
    expect(read.happening).toMatchObject({ follows: null, thread: { kind: "pull", head: null } });
    await at.deliver(read.happening, "asked");
    const [order] = at.orders("github_event").filter(({ payload }) => payload.delivery_id === "asked");
    if (order === undefined) return expect.fail("nothing goes to the courier");
    const asked = new FakeGithub();
    asked.permissions.set("maintainer", "write").set("stranger", "read");
    asked.threads.set(8, {
      ...{ number: 8, url: "https://github.com/octo/app/pull/8", state: "open", draft: true, base_branch: "main" },
      ...{ head_branch: branch, head_sha: base, same_repository: true },
    });
    const { ports } = tameWorld(new MemorySandboxes({}));
    const { out } = await drive(courier, runContext(order, { agent: "courier" }), { ...ports, github: asked.port });
    await at.answer(order, "github_request", githubRequest.parse(stamped(only(out), "courier").payload));
    expect(tasks().at(-1)).toMatchObject({ branch, follows: branch, ref: branch });
  });

  it("[GHR-38] only a branch that a task of the scope published is ours: of another so called nothing begins by itself", async () => {
    const head = (branch: string) => ({ ...issue, kind: "pull" as const, number: 8, head: { branch, sha: base } });
    const made = await at.happens(wish());
    const texts = ["", "Rename it."].map((text) => ({ by: alice, text, cut: false }));
    for (const branch of ["countersign/anything", `countersign/${made}`])
      for (const trigger of ["failed_check", "review_comment"] as const)
        await at.happens(
          wish({
            trigger,
            by: trigger === "failed_check" ? null : alice,
            thread: head(branch),
            follows: branch,
            texts,
          }),
        );
    expect([tasks().length, dropped()]).toEqual([1, Array(4).fill("not_ours")]);
    // Asked for in words it is somebody's own branch: the work begins there, and goes on one of its own.
    const id = await at.happens(wish({ thread: head("countersign/anything"), follows: "countersign/anything" }));
    expect(at.task(id)).toMatchObject({ branch: `countersign/${id}`, ref: "countersign/anything", follows: null });
    // Of another repository of the scope it is another's.
    const done = await at.published();
    const other = { ...linked, id: 501, full_name: "octo/other" };
    await at.linked(other);
    const there = wish({ thread: head(`countersign/${done}`), follows: `countersign/${done}` });
    await at.deliver(there, "there", other);
    const [order] = at.orders("github_event").filter(({ payload }) => payload.delivery_id === "there");
    if (order === undefined) return expect.fail("nothing goes to the courier");
    await at.answer(order, "github_request", { ...order.payload, people: { alice: "write" } });
    expect(tasks().at(-1)).toMatchObject({ follows: null, ref: `countersign/${done}` });
  });
});
