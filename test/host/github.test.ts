import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type GithubWorld, githubFrom } from "../../src/adapters/github-world.ts";
import { type CheckInput, GithubFailure, type RepoRef } from "../../src/agents/github-port.ts";
import { limits } from "../../src/limits.ts";
import type { FaultKind } from "../setup/github/faults.ts";
import { type GithubServer, startGithubServer } from "../setup/github-server.ts";

const sha = "a".repeat(40);
const branch = "countersign/t1";
const mark = "<!-- countersign:task:t1 -->";
const check: CheckInput = {
  name: "Countersign",
  external_id: "t1",
  details_url: "https://countersign.example/tasks/t1",
  status: "in_progress",
  conclusion: null,
  title: "Working",
  summary: "It **goes on**.",
  text: null,
  actions: [],
};
const waiting: CheckInput = {
  ...check,
  status: "completed",
  conclusion: "action_required",
  actions: ["approve", "deny", "cancel"].map((word) => ({
    label: word,
    identifier: `${word}:0123456789ab`,
    description: `${word} it`,
  })),
};

let server: GithubServer;
let world: GithubWorld;
let name: string;
let repo: RepoRef;
let counter = 0;
const seen: string[] = [];

beforeAll(async () => {
  server = await startGithubServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  counter += 1;
  name = `acme/shop${counter}`;
  const made = server.owners.makeRepo({
    full_name: name,
    branches: { main: sha, [branch]: "b".repeat(40) },
    people: { alice: "maintain", bob: "read" },
  });
  const installation_id = server.state.installationOf(made)?.id ?? 0;
  repo = { id: made.id, installation_id, full_name: name };
  world = githubFrom(server.bindings(), true, { timeout_ms: 2_000 });
});
afterEach(() => {
  server.clearFaults();
  expect(server.violations()).toEqual([]);
  for (const secret of [...server.state.tokens.keys(), server.app.webhook_secret, "PRIVATE KEY", "eyJ"])
    for (const text of [JSON.stringify(server.journal()), ...seen]) expect(text.includes(secret)).toBe(false);
});

async function codeOf(work: Promise<unknown>): Promise<string> {
  const thrown = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof GithubFailure)) throw new Error(`no failure of GitHub: ${String(thrown)}`);
  seen.push(thrown.message, String(thrown.stack), JSON.stringify(thrown));
  return thrown.code;
}
const issue = () => server.people.openIssue({ repo: name, by: "bob", title: "Broken", body: "It is." });
const pull = { head: branch, base: "main", title: "Repair", body: "Done." };
/** What creates, what finds it again, and how often it stands there. */
const creations = [
  {
    what: "comment",
    only: "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
    create: (number: number) => world.github.createComment(repo, number, `${mark} words`),
    find: (number: number) => world.github.findComment(repo, number, mark),
    stands: (number: number) => server.ownComments(name, number).length,
  },
  {
    what: "check run",
    only: "POST /repos/{owner}/{repo}/check-runs",
    create: () => world.github.createCheck(repo, sha, waiting),
    find: () => world.github.findCheck(repo, sha, "t1"),
    stands: () => server.ownChecks(name).length,
  },
  {
    what: "pull request",
    only: "POST /repos/{owner}/{repo}/pulls",
    create: () => world.github.createPull(repo, pull),
    find: () => world.github.findPull(repo, branch),
    stands: () => server.ownPulls(name).length,
  },
] as const;

describe("GitHub as its own description has it", () => {
  it("[GHA-5] every method asks and reads as the description says, and does what it says", async () => {
    const { github } = world;
    const number = await issue();
    expect([await github.permission(repo, "alice"), await github.permission(repo, "bob")]).toEqual([
      "maintain",
      "read",
    ]);
    expect(await github.permission(repo, "nobody-here")).toBe("none");
    expect(await github.head(repo, null)).toEqual({ branch: "main", sha });
    expect(await github.head(repo, branch)).toEqual({ branch, sha: "b".repeat(40) });
    expect(await github.head(repo, "gone/branch")).toBeNull();

    expect(await github.findComment(repo, number, mark)).toBeNull();
    const { at: written, ...comment } = await github.createComment(repo, number, `${mark} one`);
    expect(written).toMatch(/:\d\d\.000Z$/);
    expect(await github.findComment(repo, number, mark)).toEqual(comment);
    expect(await github.updateComment(repo, comment.id, `${mark} two`)).toMatchObject(comment);
    expect(server.ownComments(name, number).map(({ body }) => body)).toEqual([`${mark} two`]);
    expect(await github.updateComment(repo, 1, "x")).toBeNull();

    const { at: made, ...run } = await github.createCheck(repo, sha, check);
    expect(made).toMatch(/:\d\d\.000Z$/);
    expect(await github.updateCheck(repo, run.id, waiting)).toMatchObject(run);
    expect(server.ownChecks(name)[0]).toMatchObject({
      status: "completed",
      conclusion: "action_required",
      actions: waiting.actions,
    });
    expect(await github.updateCheck(repo, run.id, check)).toMatchObject(run);
    expect(server.ownChecks(name)[0]).toMatchObject({ status: "in_progress", conclusion: null, actions: [] });
    expect(await github.findCheck(repo, sha, "t1")).toEqual(run);
    expect(await github.findCheck(repo, sha, "t2")).toBeNull();
    expect(await github.updateCheck(repo, 1, check)).toBeNull();

    expect(await github.findPull(repo, branch)).toBeNull();
    const opened = await github.createPull(repo, pull);
    expect(server.ownPulls(name)).toMatchObject([{ title: "Repair", draft: true, head: branch }]);
    expect(await github.findPull(repo, branch)).toMatchObject({
      ...opened,
      draft: true,
      same_repository: true,
      base_branch: "main",
    });
    expect(await github.updatePull(repo, opened.number, { title: "Repaired", body: "x" })).toEqual(opened);
    expect(await github.pull(repo, opened.number)).toMatchObject({ head_branch: branch, head_sha: "b".repeat(40) });
    expect(await github.pull(repo, number)).toBeNull();
    await github.createComment(repo, opened.number, "below a pull request");
    expect(await codeOf(github.createPull(repo, pull))).toBe("invalid");
    const fork = await server.people.openPull({
      repo: name,
      by: "stranger",
      title: "x",
      body: "y",
      head: "fix",
      fork: true,
    });
    expect(await github.pull(repo, fork)).toMatchObject({ same_repository: false });
    expect(await github.findPull(repo, "fix")).toBeNull();
  });

  it("[GHA-5] a repository without a commit has no head, one without drafts gets an ordinary pull request", async () => {
    const made = server.owners.makeRepo({ full_name: `${name}-empty` });
    const empty = { id: made.id, installation_id: repo.installation_id, full_name: made.full_name };
    expect(await world.github.head(empty, null)).toBeNull();
    server.state.repo(name).drafts = false;
    await world.github.createPull(repo, pull);
    expect(server.ownPulls(name)).toMatchObject([{ draft: false }]);
  });

  it("[GHA-6] a token does nothing beyond its repository and its permissions", async () => {
    const number = await issue();
    const tokens = world.githubTokens;
    const { token } = (await tokens?.tokenFor(repo, { issues: "read" })) ?? { token: "" };
    const ask = (path: string, init: RequestInit = {}) =>
      fetch(`${server.url}${path}`, { ...init, headers: { authorization: `token ${token}` } }).then(
        ({ status }) => status,
      );
    const other = server.owners.makeRepo({ full_name: `${name}-other` });
    expect(await ask(`/repos/${name}/issues/${number}/comments`)).toBe(200);
    expect(await ask(`/repos/${name}/issues/${number}/comments`, { method: "POST", body: '{"body":"x"}' })).toBe(403);
    expect(await ask(`/repos/${name}/pulls`)).toBe(403);
    expect(await ask(`/repos/${other.full_name}`)).toBe(404);
    const used = server
      .journal()
      .filter(({ path, as }) => path.startsWith(`/repos/${name}`) && as.startsWith("installation"));
    expect(used.every(({ as }) => as.endsWith(` on ${repo.id}`))).toBe(true);
  });

  it("[GHA-8] what others wrote or made with our marks is not ours", async () => {
    const number = await issue();
    await server.people.comment({ repo: name, number, by: "mallory", body: `${mark} approved` });
    server.state.repo(name).checks.push({
      ...server.state.repo(name).checks[0],
      id: 3,
      app_id: 99,
      sha,
      name: "x",
      external_id: "t1",
      details_url: null,
      status: "queued",
      conclusion: null,
      output: { title: null, summary: null, text: null },
      actions: [],
      at: "2026-01-01T00:00:00Z",
    });
    expect(await world.github.findComment(repo, number, mark)).toBeNull();
    expect(await world.github.findCheck(repo, sha, "t1")).toBeNull();
    for (let at = 0; at < limits.github_texts_page; at++)
      await server.people.comment({ repo: name, number, by: "bob", body: "more" });
    const ours = await world.github.createComment(repo, number, mark);
    await world.github.createComment(repo, number, mark);
    expect(await world.github.findComment(repo, number, mark)).toEqual({ id: ours.id, url: ours.url });
    for (let at = 0; at <= limits.github_texts_page; at++)
      await world.github.createCheck(repo, sha, { ...check, external_id: `other${at}` });
    const first = await world.github.findCheck(repo, sha, "other0");
    expect(first?.sha).toBe(sha);
  });

  it("[GHA-16] installations: there, suspended, gone, and all that one covers", async () => {
    const { githubApp } = world;
    const installation = server.owners.install("many");
    for (let at = 0; at < 120; at++)
      server.owners.makeRepo({ full_name: `many/r${at}`, private: at % 2 === 0, installation: installation.id });
    expect(await githubApp.installation(installation.id)).toEqual({
      id: installation.id,
      account: { id: server.state.person("many").id, name: "many" },
      suspended: false,
    });
    expect(await githubApp.owner()).toEqual({ id: server.state.person("acme").id, name: "acme" });
    const all = await githubApp.repositories(installation.id);
    expect([all.length, all[119]?.full_name, all[0]?.private]).toEqual([120, "many/r119", true]);
    await server.owners.suspend(installation.id, "owner");
    expect(await githubApp.installation(installation.id)).toMatchObject({ suspended: true });
    expect(await codeOf(githubApp.repositories(installation.id))).toBe("suspended");
    await server.owners.uninstall(installation.id, "owner");
    expect(await githubApp.installation(installation.id)).toBeNull();
    expect(await codeOf(githubApp.repositories(installation.id))).toBe("suspended");
  });

  it("[GHA-13] an installation that is suspended, removed or no longer covers the repository is told so, with a token of before and without", async () => {
    const number = await issue();
    const made = server.owners.install("acme");
    await server.owners.cover(repo.installation_id, name, "owner", false);
    await server.owners.cover(made.id, name, "owner");
    const own = { ...repo, installation_id: made.id };
    expect(await codeOf(world.github.permission(repo, "alice"))).toBe("suspended");
    expect(await world.github.permission(own, "alice")).toBe("maintain");
    await server.owners.suspend(made.id, "owner");
    expect(await codeOf(world.github.permission(own, "alice"))).toBe("suspended");
    expect(await codeOf(world.github.createComment(own, number, "x"))).toBe("suspended");
    await server.owners.suspend(made.id, "owner", false);
    expect(await world.github.permission(own, "alice")).toBe("maintain");
    await server.owners.uninstall(made.id, "owner");
    expect(await codeOf(world.github.permission(own, "alice"))).toBe("suspended");
    const stranger = githubFrom({ ...server.bindings(), GITHUB_APP_ID: "1" }, true);
    expect(await codeOf(stranger.githubApp.installation(1))).toBe("unauthorized");
  });

  it("[GHA-17] deliveries that were lost are found with their exact ids, and come again when asked for", async () => {
    const got: { guid: string; good: boolean; event: string }[] = [];
    const hook = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const signed = createHmac("sha256", server.app.webhook_secret).update(Buffer.concat(parts)).digest("hex");
      got.push({
        guid: String(request.headers["x-github-delivery"]),
        good: request.headers["x-hub-signature-256"] === `sha256=${signed}`,
        event: String(request.headers["x-github-event"]),
      });
      response.writeHead(202).end("{}");
    });
    await new Promise<void>((done) => hook.listen(0, "127.0.0.1", done));
    server.hooks.to(`http://127.0.0.1:${(hook.address() as AddressInfo).port}/webhooks/github`);
    try {
      server.hooks.lose(1);
      const number = await issue();
      await server.people.label({ repo: name, number, by: "alice", name: "countersign" });
      expect(got.map(({ event, good }) => [event, good])).toEqual([["issues", true]]);
      for (let at = 0; at < 120; at++) await server.hooks.send("ping", null, {});
      const first = await world.githubApp.deliveries(null);
      const second = await world.githubApp.deliveries(first.next);
      expect([first.items.length, first.items.every(({ ok }) => ok)]).toEqual([100, true]);
      const lost = second.items.find(({ ok }) => !ok);
      expect(lost?.id).toMatch(/^38040046231722\d{5}$/);
      await world.githubApp.redeliver(lost?.id ?? "");
      await server.hooks.settled();
      expect(got.at(-1)).toMatchObject({ guid: lost?.guid, good: true });
      const again = await world.githubApp.deliveries(null);
      expect(again.items[0]).toMatchObject({ guid: lost?.guid, ok: true, redelivery: true });
    } finally {
      server.hooks.to(null);
      hook.close();
    }
  });

  it("[GHA-18] a token for git opens its repository for its access alone, until it is revoked", async () => {
    const tokens = world.githubTokens;
    const read = (await tokens?.tokenFor(repo, { contents: "read" }))?.token ?? "";
    const write = (await tokens?.tokenFor(repo, { contents: "write" }))?.token ?? "";
    const other = server.owners.makeRepo({ full_name: `${name}-other` }).full_name;
    const may = (token: string | null, where = name) => [
      server.gitAccess(token, where, "read"),
      server.gitAccess(token, where, "write"),
    ];
    expect([may(read), may(write), may(read, other), may(null), may("ghs_invented")]).toEqual([
      [true, false],
      [true, true],
      [false, false],
      [false, false],
      [false, false],
    ]);
    await tokens?.revoke(read);
    await tokens?.revoke(read);
    expect([may(read), may(write)]).toEqual([
      [false, false],
      [true, true],
    ]);
  });
});

describe("GitHub on a bad day", () => {
  const before: [FaultKind, string][] = [
    ["primary_limit", "rate_limited"],
    ["secondary_limit", "rate_limited"],
    ["too_many", "rate_limited"],
    ["forbidden", "forbidden"],
    ["5xx_before", "unavailable"],
    ["cut_before", "unavailable"],
    ["echo", "invalid"],
  ];
  it.each(before)("[GHA-15] %s: nothing is made, and the next try makes it once", async (kind, code) => {
    const number = await issue();
    for (const { only, create, find, stands } of creations) {
      server.fault({ kind, only, seconds: 5 });
      expect(await codeOf(create(number))).toBe(code);
      expect([stands(number), await find(number)]).toEqual([0, null]);
      await create(number);
      expect(stands(number)).toBe(1);
    }
  });

  it.each(["5xx_after", "cut_after", "html", "huge", "slow"] as const)(
    "[GHA-15] %s: what was made is found again, and stands once",
    async (kind) => {
      const number = await issue();
      for (const { only, create, find, stands } of creations) {
        server.fault({ kind, only, ms: 2_500 });
        expect(await codeOf(create(number))).toBe("unavailable");
        expect(stands(number)).toBe(1);
        expect(await find(number)).not.toBeNull();
        expect(stands(number)).toBe(1);
      }
    },
  );

  it("[GHA-7] a refused token is made anew, and what creates is still done once", async () => {
    const number = await issue();
    // Tokens of before, for each of the three.
    expect(await world.github.updatePull(repo, number, { title: "x", body: "" })).toBeNull();
    for (const { only, create, find, stands } of creations) {
      await find(number);
      server.fault({ kind: "unauthorized", only });
      await create(number);
      expect(stands(number)).toBe(1);
    }
    server.fault({ kind: "unauthorized", times: 9 });
    expect(await codeOf(world.github.permission(repo, "alice"))).toBe("unauthorized");
  });

  it("[GHA-11] a redirect to another host is not followed", async () => {
    const asked: string[] = [];
    const elsewhere = createServer((request, response) => {
      asked.push(JSON.stringify(request.headers));
      response.end("{}");
    });
    await new Promise<void>((done) => elsewhere.listen(0, "127.0.0.1", done));
    const number = await issue();
    server.fault({
      kind: "redirect",
      only: creations[0].only,
      to: `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/x`,
    });
    expect(await codeOf(world.github.createComment(repo, number, "x"))).toBe("unavailable");
    expect(asked).toEqual([]);
    elsewhere.close();
  });
});

describe("the contract server", () => {
  it.each([
    ["an operation that GitHub does not have", "GET", "/repos/a/b/secrets-of-others", undefined],
    ["a method it does not have", "PUT", "/repos/a/b/check-runs", {}],
    ["an unknown parameter", "GET", "/repos/a/b/pulls?heads=x", undefined],
    ["a parameter of another type", "GET", "/repos/a/b/pulls/one", undefined],
    ["a parameter that is none of its values", "GET", "/repos/a/b/pulls?state=merged", undefined],
    ["no body", "POST", "/repos/a/b/issues/1/comments", undefined],
    ["a body without what is required", "POST", "/repos/a/b/issues/1/comments", {}],
    ["a body with what is unknown", "POST", "/repos/a/b/issues/1/comments", { body: "x", marker: "y" }],
    [
      "four buttons",
      "POST",
      "/repos/a/b/check-runs",
      { name: "n", head_sha: sha, actions: Array(4).fill(waiting.actions[0]) },
    ],
    ["completed without a conclusion", "PATCH", "/repos/a/b/check-runs/1", { status: "completed" }],
    [
      "a button's label that is too long",
      "POST",
      "/repos/a/b/check-runs",
      { name: "n", head_sha: sha, actions: [{ label: "x".repeat(21), identifier: "a", description: "b" }] },
    ],
  ])("[GHA-21] refuses and records %s", async (_name, method, path, body) => {
    const strict = await startGithubServer();
    const response = await fetch(`${strict.url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect([response.status, strict.violations().length > 0]).toEqual([400, true]);
    await strict.stop();
  });
});
