/** What happened on GitHub, on its way through the courier: everybody it names is asked about, and nothing is lost. */
import { describe, expect, it } from "vitest";
import { courier } from "../../src/agents/courier.ts";
import { githubFailureCodes } from "../../src/agents/github-port.ts";
import { type GithubPerson, githubRequest, type Happening } from "../../src/domain/github/shapes.ts";
import { limits } from "../../src/limits.ts";
import { FakeGithub, repository, shaOf } from "../fakes/github.ts";
import { MemorySandboxes } from "../fakes/memory-sandboxes.ts";
import { testMessage } from "../fakes/messages.ts";
import { only, stamped } from "../fakes/orders.ts";
import { type Driving, drive, runContext, tameWorld } from "../fakes/world.ts";

type Wish = Extract<Happening, { kind: "wish" }>;
const person = (login: string, id = 1): GithubPerson => ({ id, login, is_bot: false });
const issue: Wish["thread"] = {
  kind: "issue",
  number: 12,
  title: "Slow",
  url: "https://github.com/o/r/issues/12",
  head: null,
};
const pull: Wish["thread"] = { ...issue, kind: "pull" };
function wish(fields: Partial<Wish> = {}): Wish {
  return {
    ...{
      kind: "wish",
      trigger: "comment",
      by: person("alice"),
      thread: issue,
      labels: [],
      follows: null,
      comment_id: 5,
    },
    texts: [
      { by: person("stranger"), text: "It is slow.", cut: false },
      { by: person("alice"), text: "/countersign fix it", cut: false },
    ],
    ...fields,
  };
}
function eventOf(happening: Happening) {
  const payload = JSON.parse(JSON.stringify({ delivery_id: "d-1", repository, happening }));
  return testMessage(1, { message_kind: "github_event", sender: "runtime", recipient: "courier", payload });
}
function world() {
  const github = new FakeGithub();
  github.permissions.set("alice", "write").set("stranger", "read");
  const { ports } = tameWorld(new MemorySandboxes({}));
  const hear = async (happening: Happening, driving: Driving = {}) => {
    const context = runContext(eventOf(happening), { agent: "courier" });
    const ended = await drive(courier, context, { ...ports, github: github.port }, driving);
    return { ...ended, request: githubRequest.parse(stamped(only(ended.out), "courier").payload) };
  };
  return { github, hear };
}

describe("who may do it", () => {
  it("[GHO-1] everybody it names is asked about, each once and one call a step, and the answer holds all of them", async () => {
    const { github, hear } = world();
    const { request, states } = await hear(wish());
    expect(request).toMatchObject({ delivery_id: "d-1", repository, people: { alice: "write", stranger: "read" } });
    expect(request.happening).toEqual(wish());
    expect(github.calls).toEqual([
      { method: "permission", args: [repository, "alice"] },
      { method: "permission", args: [repository, "stranger"] },
    ]);
    expect(states.length).toBe(2);
  });
  it("[GHO-1] an object that dies after each call asks again, and answers once", async () => {
    const { github, hear } = world();
    expect((await hear(wish(), { dies: true })).request.people).toEqual({ alice: "write", stranger: "read" });
    expect(github.calls.length).toBe(4);
  });
  it("[GHO-1] what names nobody, and what is no wish, comes through as well", async () => {
    const { github, hear } = world();
    const text = { by: { ...person("checks[bot]"), is_bot: true }, text: "It failed.", cut: false };
    expect((await hear(wish({ by: null, trigger: "failed_check", texts: [text] }))).request.people).toEqual({
      "checks[bot]": "none",
    });
    expect((await hear(wish({ by: null, texts: [] }))).request.people).toEqual({});
    const decision: Happening = {
      ...{ kind: "decision", what: "approve", by: person("alice"), reason: null, hash: "abcdef012345", via: "button" },
      ...{ said_at: "2026-01-01T00:00:00Z", thread: null, task_id: "t1" },
    };
    expect((await hear(decision)).request).toMatchObject({ happening: decision, people: { alice: "write" } });
    expect(github.calls.length).toBe(2);
  });
  it("[GHO-1] of words that were changed nobody is asked about, nor of a pull request where something is decided", async () => {
    const { github, hear } = world();
    const changed: Happening = {
      ...{ kind: "changed", what: "edited", by: person("mallory"), thread: pull, comment_id: 5 },
    };
    expect((await hear(changed)).request).toMatchObject({ happening: changed, people: {} });
    expect(github.calls).toEqual([]);
    const decision: Happening = {
      ...{ kind: "decision", what: "cancel", by: person("alice"), reason: null, hash: null, via: "comment" },
      ...{ said_at: "2026-01-01T00:00:00Z", thread: pull, task_id: null },
    };
    await hear(decision);
    expect(github.methods()).toEqual(["permission"]);
  });
  it("[GHO-1] a name that is a word of the language's own is a name", async () => {
    const { hear } = world();
    const { request } = await hear(wish({ by: person("constructor"), texts: [] }));
    expect(Object.hasOwn(request.people, "constructor")).toBe(true);
    expect(request.people.constructor).toBe("none");
  });
  it("[GHO-46] whoever may not write there costs one call: nobody else and no branch is asked for", async () => {
    const asks = [wish({ by: person("mallory"), thread: pull }), wish({ by: person("mallory"), trigger: "label" })];
    for (const asked of asks) {
      const { github, hear } = world();
      github.permissions.set("mallory", "triage");
      expect((await hear(asked)).request.people).toEqual({ mallory: "triage", stranger: "none", alice: "none" });
      expect(github.methods()).toEqual(["permission"]);
    }
    const { github, hear } = world();
    expect((await hear(wish({ by: { ...person("ci[bot]"), is_bot: true } }))).request.people).toMatchObject({
      stranger: "read",
    });
    expect(github.calls.length).toBe(3);
  });
  it("[GHO-2] the branch of a pull request is asked for where the happening has none; only one of the same repository counts", async () => {
    const facts = {
      number: 12,
      url: "https://github.com/o/r/pull/12",
      state: "open",
      draft: true,
      base_branch: "main",
    } as const;
    const head = { head_branch: "countersign/t1", head_sha: shaOf("e") };
    for (const [found, expected] of [
      [
        { ...facts, ...head, same_repository: true },
        { branch: "countersign/t1", sha: shaOf("e") },
      ],
      [{ ...facts, ...head, same_repository: false }, null],
      [{ ...facts, ...head, head_sha: "no sha", same_repository: true }, null],
      [null, null],
    ] as const) {
      const { github, hear } = world();
      if (found !== null) github.threads.set(12, found);
      const { request } = await hear(wish({ thread: pull }));
      expect(request.happening.thread?.head).toEqual(expected);
      expect(request.happening).toMatchObject({ follows: expected?.branch ?? null });
      expect(github.methods()).toEqual(["permission", "permission", "pull"]);
    }
    const { github, hear } = world();
    const known = { branch: "feature", sha: shaOf("d") };
    expect((await hear(wish({ thread: { ...pull, head: known } }))).request.happening.thread?.head).toEqual(known);
    github.threads.set(12, { ...facts, head_branch: "feature", head_sha: shaOf("e"), same_repository: true });
    expect((await hear(wish({ thread: pull }))).request.happening).toMatchObject({ follows: null });
    github.calls.length = 0;
    await hear(wish({ thread: { ...pull, head: known } }));
    expect(github.methods()).not.toContain("pull");
  });
});

describe("GitHub does not answer", () => {
  it("[GHO-3] a limit is waited for as long as it asks, and then the asking goes on where it was", async () => {
    const { github, hear } = world();
    let left = 3;
    github.fault = ({ args }) =>
      args[1] === "stranger" && left-- > 0 ? { code: "rate_limited", retry_after_ms: left === 1 ? 9e9 : 20_000 } : null;
    const { request, waits } = await hear(wish());
    expect(waits).toEqual([20_000, limits.github_wait_max_ms, 20_000]);
    expect(request.people).toEqual({ alice: "write", stranger: "read" });
    expect(github.calls.filter(({ args }) => args[1] === "alice").length).toBe(1);
  });
  it("[GHO-3] after a day it is given up with words, for a person to send it again", async () => {
    const { github, hear } = world();
    github.fault = () => ({ code: "unavailable" });
    const waited: unknown[] = [];
    const given = hear(wish(), { before: (stored) => void waited.push(stored) });
    await expect(given).rejects.toThrow(/octo\/sample.*GitHub says unavailable.*requeue/);
    expect(JSON.stringify(waited.at(-1))).toMatch(/"waited_ms":8\d{7}/);
    expect(github.calls.length).toBeLessThan(200);
  });
  it("[GHO-4] where the installation is suspended or gone nobody may; whoever is not found may not", async () => {
    const { github, hear } = world();
    github.fault = () => ({ code: "suspended" });
    expect((await hear(wish())).request.people).toEqual({ alice: "none", stranger: "none" });
    expect(github.calls.length).toBe(1);
    github.fault = ({ args }) => (args[1] === "stranger" ? { code: "not_found" } : null);
    expect((await hear(wish())).request.people).toEqual({ alice: "write", stranger: "none" });
    github.fault = () => ({ code: "not_found" });
    const all = await hear(wish({ thread: pull }));
    expect(all.request).toMatchObject({
      people: { alice: "none", stranger: "none" },
      happening: { thread: { head: null } },
    });
  });
  it("[GHO-4] an installation that is suspended in the middle takes back what was answered before", async () => {
    const { github, hear } = world();
    github.fault = ({ args }) => (args[1] === "stranger" ? { code: "suspended" } : null);
    expect((await hear(wish())).request.people).toEqual({ alice: "none", stranger: "none" });
  });
  it("[GHO-5] whatever else fails is never taken for an answer: it is thrown on with words", async () => {
    for (const code of githubFailureCodes.filter(
      (each) => !["suspended", "not_found", "rate_limited", "unavailable"].includes(each),
    ))
      for (const method of ["permission", "pull"]) {
        const { github, hear } = world();
        github.fault = (call) => (call.method === method ? { code } : null);
        await expect(hear(wish({ thread: pull })), `${code} ${method}`).rejects.toThrow(`GitHub says ${code}.`);
      }
  });
  it("[GHO-5] an event that does not fit is thrown on", async () => {
    const { ports } = tameWorld(new MemorySandboxes({}));
    const message = { ...eventOf(wish()), payload: { delivery_id: "d-1" } };
    await expect(drive(courier, runContext(message), ports)).rejects.toThrow();
  });
});

describe("an answer without a task", () => {
  const payload = JSON.parse(JSON.stringify({ delivery_id: "d-1", repository, number: 12, words: "Write it so." }));
  const order = testMessage(2, { message_kind: "github_answer", sender: "runtime", recipient: "courier", payload });
  const say = async (github: FakeGithub, driving: Driving = {}) => {
    const { ports } = tameWorld(new MemorySandboxes({}));
    return drive(courier, runContext(order, { agent: "courier" }), { ...ports, github: github.port }, driving);
  };
  it("[GHO-45] is made once, though the object dies at every step and the answer is lost, with its intent on record", async () => {
    const github = new FakeGithub();
    github.fault = (call, index) =>
      call.method === "createComment" && index === 1 ? { code: "unavailable", after: true } : null;
    const { out, effects } = await say(github, { dies: true });
    await say(github);
    expect([out, github.comments.length]).toEqual([[], 1]);
    expect(github.standing().comments[0]).toContain("> Write it so.");
    expect(effects.map(({ decision, reason }) => [decision, reason])).toContainEqual(["intent", "github_comment"]);
  });
  it("[GHO-45] what GitHub refuses is left unsaid, and nobody is asked about it", async () => {
    for (const code of ["forbidden", "invalid", "not_found", "suspended"] as const) {
      const github = new FakeGithub();
      github.fault = ({ method }) => (method === "createComment" ? { code } : null);
      expect((await say(github)).out, code).toEqual([]);
    }
  });
});
