/** Where a task stands, as the courier makes GitHub show it: each thing once, in order, whatever others do meanwhile. */
import { describe, expect, it } from "vitest";
import { roleOf, runsAtOnce } from "../../durable-objects/agent/roles.ts";
import { Directory, directorySchema } from "../../durable-objects/runtime/directory.ts";
import { applySchemas } from "../../durable-objects/sql.ts";
import { courier } from "../../src/agents/courier.ts";
import type { GithubStanding } from "../../src/domain/github/standing.ts";
import { marker } from "../../src/domain/github/words.ts";
import { counts, courierWorld, syncOrder } from "../fakes/courier.ts";
import { doneStanding as done, FakeGithub, shaOf, waitingStanding } from "../fakes/github.ts";
import { MemorySandboxes } from "../fakes/memory-sandboxes.ts";
import { testMessage } from "../fakes/messages.ts";
import { nodeSql } from "../fakes/node-sql.ts";
import { drive, runContext, tameWorld } from "../fakes/world.ts";

describe("what stands on GitHub", () => {
  it("[GHO-10] the pull request, the check and the comment are made in this order, the comment names the others, and the answer names all", async () => {
    const w = courierWorld(done);
    const { shown } = await w.sync();
    expect(w.github.writes()).toEqual(["createPull", "createCheck", "createComment"]);
    const [comment] = w.github.comments;
    const [check] = w.github.checks;
    const [pull] = w.github.pulls;
    expect(shown).toMatchObject({ task_id: "tabcdefgh2345678", version: 8, failed: null });
    expect(shown.comment).toEqual({ id: comment?.id, url: comment?.url });
    expect(shown.check).toEqual({ id: check?.id, url: check?.url, sha: shaOf("b") });
    expect(shown.pull).toEqual({ number: pull?.number, url: pull?.url });
    expect(comment?.issue).toBe(12);
    expect(comment?.bodies.at(-1)).toContain(`(${check?.url})`);
    expect(comment?.bodies.at(-1)).toContain(`(${pull?.url})`);
    expect(check?.looks.at(-1)?.summary).toContain(`(${pull?.url})`);
    expect(pull).toMatchObject({ head: "countersign/tabcdefgh2345678", base: "main" });
  });
  it("[GHO-10] a pull request leads to the branch that the work started from", async () => {
    const w = courierWorld({ ...done, base_branch: "release/2" });
    await w.sync();
    expect(w.github.pulls[0]?.base).toBe("release/2");
  });
  it("[GHO-11] of a task that GitHub is to show nothing of, nothing is asked and nothing said", async () => {
    const github = new FakeGithub();
    const { ports } = tameWorld(new MemorySandboxes({}));
    const ended = await drive(courier, runContext(syncOrder()), { ...ports, github: github.port });
    expect(ended.out).toEqual([]);
    expect(github.calls).toEqual([]);
  });
  it("[GHO-12] what stands unchanged is not written again", async () => {
    const w = courierWorld(done);
    await w.sync();
    const before = w.github.calls.length;
    const { shown } = await w.sync();
    expect(w.github.calls.length).toBe(before);
    expect(shown).toMatchObject({ version: 9, failed: null, comment: { id: w.github.comments[0]?.id } });
  });
  it("[GHO-12] a hundred syncs make one comment, one check and one pull request", async () => {
    const w = courierWorld();
    for (let n = 0; n < 99; n++)
      await w.sync({ spent: { tokens: n, usd: null }, ...(n > 60 ? { published: shaOf("c") } : {}) });
    const { shown } = await w.sync({ ...done, spent: { tokens: 100, usd: 1 } });
    expect(counts(w)).toEqual([1, 1, 1]);
    expect(
      w.github
        .writes()
        .filter((method) => method.startsWith("create"))
        .toSorted(),
    ).toEqual(["createCheck", "createComment", "createPull"]);
    expect(shown.failed).toBeNull();
    expect(w.github.standing().checks[0]).toMatchObject({ status: "completed", conclusion: "success" });
  });
  it("[GHO-17] the check stands on the task's commit; until it has one, on its branch's newest; and it stays there", async () => {
    const own = courierWorld();
    expect((await own.sync()).shown.check?.sha).toBe(shaOf("b"));
    expect(own.github.methods()).not.toContain("head");
    const w = courierWorld({ base_commit: null });
    expect((await w.sync()).shown.check?.sha).toBe(shaOf("a"));
    w.github.heads.set("main", shaOf("d"));
    expect((await w.sync({ base_commit: shaOf("e") })).shown.check?.sha).toBe(shaOf("a"));
    expect(counts(w)).toEqual([1, 1, 0]);
    const follows = courierWorld({ base_commit: null, follows: "countersign/old", branch: "countersign/old" });
    follows.github.heads.set("countersign/old", shaOf("9"));
    expect((await follows.sync()).shown.check?.sha).toBe(shaOf("9"));
  });
  it("[GHO-17] the commit that was chosen is kept even if the check could not be made on it", async () => {
    const w = courierWorld({ base_commit: null });
    w.github.fault = ({ method }) => (method === "createCheck" ? { code: "forbidden" } : null);
    const { shown } = await w.sync();
    expect(shown).toMatchObject({ check: null, wrote: { sha: shaOf("a") } });
    w.github.fault = () => null;
    expect((await w.sync({ base_commit: shaOf("e") })).shown.check?.sha).toBe(shaOf("a"));
  });
  it("[GHO-17] where there is no commit at all there is no check, and the comment stands", async () => {
    const w = courierWorld({ base_commit: null });
    w.github.heads.clear();
    const { shown } = await w.sync();
    expect(shown.failed).toBe("the check run: there is no commit to stand on");
    expect(counts(w)).toEqual([1, 0, 0]);
  });
  it("[GHO-18] there is no pull request before the branch is published, and none of work on somebody's own", async () => {
    const w = courierWorld();
    expect((await w.sync()).shown.pull).toBeNull();
    const follows = courierWorld({ ...done, follows: "countersign/old", branch: "countersign/old" });
    expect((await follows.sync()).shown).toMatchObject({ pull: null, failed: null });
    expect(counts(follows)).toEqual([1, 1, 0]);
  });
  it("[GHO-18] without a thread there is no comment, and the rest stands", async () => {
    const w = courierWorld({ ...done, thread: null });
    expect((await w.sync()).shown).toMatchObject({ comment: null, failed: null });
    expect(counts(w)).toEqual([0, 1, 1]);
  });
});

describe("what others do meanwhile", () => {
  it("[GHO-14] a comment that a person deleted is made again, once, when there is something new to say", async () => {
    const w = courierWorld();
    await w.sync();
    for (const comment of w.github.comments) comment.deleted = true;
    const { shown } = await w.sync({ phase: "qa" });
    expect(counts(w)).toEqual([1, 1, 0]);
    expect(w.github.comments.length).toBe(2);
    expect(shown.comment?.id).toBe(w.github.comments[1]?.id);
  });
  it("[GHO-14] a comment of somebody else that holds the marker, and another App's check of that id, are left alone", async () => {
    const w = courierWorld();
    w.github.addComment(12, `${marker("tabcdefgh2345678")} mine`, false);
    const look = { ...{ name: "x", external_id: "tabcdefgh2345678", details_url: null, status: "queued" as const } };
    w.github.addCheck(
      shaOf("b"),
      { ...look, conclusion: null, title: "x", summary: "x", text: null, actions: [] },
      false,
    );
    await w.sync();
    await w.sync({ phase: "qa" });
    expect(w.github.comments[0]?.bodies.length).toBe(1);
    expect(w.github.checks[0]?.looks.length).toBe(1);
    expect(counts(w)).toEqual([1, 1, 0]);
  });
  it("[GHO-14] a pull request that a person closed is neither opened again nor made a second time", async () => {
    for (const forgotten of [false, true]) {
      const w = courierWorld(done);
      await w.sync();
      for (const pull of w.github.pulls) pull.state = "closed";
      if (forgotten && w.stands !== null) w.stands = { ...w.stands, shown: null };
      const { shown } = await w.sync({ audit_head: "scopescopescope1/runtime@99 ffff" });
      expect(counts(w)).toEqual([1, 1, 1]);
      expect(w.github.pulls[0]).toMatchObject({ state: "closed" });
      expect(w.github.standing().pulls[0]?.body).toContain("@99");
      expect(shown.pull?.number).toBe(w.github.pulls[0]?.number);
    }
  });
  it("[GHO-14] what is found and gone in turns ends, and is told", async () => {
    const w = courierWorld();
    w.github.port.updateComment = async () => null;
    w.github.addComment(12, marker("tabcdefgh2345678"), true);
    const { shown } = await w.sync();
    expect(shown.failed).toBe("the comment: GitHub finds it and says that it is gone");
  });
  it("[GHO-22] where a check that was completed may not go on, it says that it is not over, without buttons", async () => {
    const w = courierWorld(waitingStanding);
    w.github.stubborn = true;
    await w.sync();
    expect(w.github.standing().checks[0]?.actions.length).toBe(3);
    expect((await w.sync({ status: "active", phase: "coding", card: null })).shown.failed).toBeNull();
    const working = { status: "completed", conclusion: "action_required", title: "Working", actions: [] };
    expect(w.github.standing().checks).toMatchObject([working]);
    await w.sync({ ...done });
    expect(w.github.standing().checks).toMatchObject([{ status: "completed", conclusion: "success" }]);
  });
  it("[GHO-22] where it may, it is in progress again", async () => {
    const w = courierWorld(waitingStanding);
    await w.sync();
    await w.sync({ status: "active", phase: "coding", card: null });
    expect(w.github.standing().checks).toMatchObject([{ status: "in_progress", conclusion: null, actions: [] }]);
  });
});

describe("what a person has seen when they answer", () => {
  const hash = "abcdef0123456789".repeat(4);
  const at = (ms: number) => new Date(ms).toISOString();
  it("[GHO-20] the card counts as shown since the comment first showed it, by GitHub's clock, however often it is written again", async () => {
    const w = courierWorld(waitingStanding);
    // Whatever our own clock says.
    w.clock.at = 1_000;
    w.github.clock_ms = 5_000_900;
    const first = (await w.sync()).shown.showed;
    expect(first).toEqual({ content_hash: hash, at: at(5_000_000) });
    w.github.clock_ms = 6_000_000;
    expect((await w.sync({ spent: { tokens: 2, usd: null } })).shown.showed).toEqual(first);
    const card = { ...(waitingStanding.card ?? null), content_hash: "9".repeat(64) } as GithubStanding["card"]; // all its fields are there
    w.github.clock_ms = 7_000_000;
    expect((await w.sync({ card })).shown.showed).toEqual({ content_hash: "9".repeat(64), at: at(7_000_000) });
    expect((await w.sync({ status: "active", card: null })).shown.showed).toBeNull();
  });
  it("[GHO-20] a card that could not be shown in the comment, or nobody knows when, does not count as shown", async () => {
    const w = courierWorld();
    await w.sync();
    w.github.fault = ({ method }) => (method === "updateComment" ? { code: "forbidden" } : null);
    expect((await w.sync(waitingStanding)).shown.showed).toBeNull();
    const alone = courierWorld({ ...waitingStanding, thread: null });
    expect((await alone.sync()).shown.showed?.content_hash).toBe(hash);
    const timeless = courierWorld(waitingStanding);
    timeless.github.clock_ms = null;
    expect((await timeless.sync()).shown).toMatchObject({ showed: null, failed: null });
  });
  it("[GHO-20] [GHO-43] where the check does not show the plan, the comment leads to the page and nothing counts as shown, until it does", async () => {
    const w = courierWorld();
    await w.sync();
    w.github.clock_ms = 5_000_000;
    w.github.fault = ({ method }) => (method === "updateCheck" ? { code: "forbidden" } : null);
    const { shown } = await w.sync(waitingStanding);
    expect(shown).toMatchObject({ showed: null, failed: expect.stringContaining("check run") });
    const comment = () => w.github.standing().comments[0] ?? "";
    expect(comment()).toContain("This is decided on");
    expect(comment()).not.toContain(hash.slice(0, 12));
    w.github.fault = () => null;
    w.github.clock_ms = 8_000_000;
    expect((await w.sync()).shown).toMatchObject({ failed: null, showed: { content_hash: hash, at: at(8_000_000) } });
    expect(comment()).toContain(`/countersign approve ${hash.slice(0, 12)}`);
    expect(w.github.standing().checks[0]?.text).toBe("All of the plan.");
    // What is never decided there needs no check to be said no to.
    const call = { ...waitingStanding.card, kind: "tool_call", buttons: false, text: null } as GithubStanding["card"]; // all its fields are there
    const other = courierWorld({ ...waitingStanding, card: call });
    other.github.fault = ({ method }) => (method === "createCheck" ? { code: "forbidden" } : null);
    expect((await other.sync()).shown.showed?.content_hash).toBe(hash);
  });
});

it("[GHO-23] the courier is a role of its own, works on four errands at once, and has none for any other message", () => {
  expect(roleOf("courier")).toBe(courier);
  expect(runsAtOnce("courier")).toBe(4);
  const sql = nodeSql();
  applySchemas(sql, { directory: directorySchema });
  const directory = new Directory(sql);
  directory.addAgent("courier");
  expect(directory.agent("courier")).toMatchObject({ name: "courier", role: "courier", word: "Idle" });
  expect(() => courier.open(runContext(testMessage(3)))).toThrow("no errand for user_message");
});
