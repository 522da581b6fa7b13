import { afterAll, beforeAll, expect, it } from "vitest";
import { readEvent } from "../../src/domain/github/events.ts";
import { triggers } from "../../src/domain/github/triggers.ts";
import { type GithubServer, startGithubServer } from "../setup/github-server.ts";

const repo = "acme/shop";
const sha = "a".repeat(40);
const branch = "countersign/t1";
let server: GithubServer;
beforeAll(async () => {
  server = await startGithubServer();
  server.owners.makeRepo({
    full_name: repo,
    private: true,
    branches: { main: sha, [branch]: "b".repeat(40) },
    people: { alice: "maintain" },
  });
});
afterAll(() => server.stop());

/** What the newest payload means to the product, with every trigger on. */
function read() {
  const [newest] = server.hooks.deliveries;
  if (newest === undefined) throw new Error("nothing was told");
  const { id: app_id, slug } = server.app;
  const all = triggers.parse({ review_comment: true, failed_check: true, bots: ["github-actions[bot]"] });
  const identity = { app_id, slug, bot_login: `${slug}[bot]` };
  const reading = readEvent(newest.event, JSON.parse(JSON.stringify(newest.payload)), identity, all);
  return reading.kind === "happening" ? { ...reading.happening, repository: reading.repository } : reading;
}

it("[GHA-23] what people do at the contract server is told in payloads that mean just that", async () => {
  const { people, owners } = server;
  const own = server.state.repo(repo);
  const installation_id = server.state.installationOf(own)?.id ?? 0;
  const number = await people.openIssue({ repo, by: "stranger", title: "Broken", body: "It is. <!-- hidden -->" });
  expect(read()).toMatchObject({ kind: "ignored" });
  const on = { repo, by: "alice", number };

  await people.label({ ...on, name: "countersign" });
  const wish = { kind: "wish", by: { login: "alice", is_bot: false } };
  expect(read()).toMatchObject({
    ...wish,
    trigger: "label",
    thread: { kind: "issue", number, title: "Broken", head: null },
    texts: [{ by: { login: "stranger" }, text: "It is. <!-- hidden -->" }],
    labels: ["countersign"],
    repository: { id: own.id, installation_id, full_name: repo, private: true, default_branch: "main" },
  });
  await people.unlabel({ ...on, name: "countersign" });
  expect(read()).toMatchObject({ kind: "changed", what: "unlabeled" });
  await people.assign({ ...on, to: `${server.app.slug}[bot]` });
  expect(read()).toMatchObject({ ...wish, trigger: "assignment" });

  const { id } = await people.comment({ ...on, body: "/countersign repair it" });
  expect(read()).toMatchObject({ ...wish, trigger: "comment", comment_id: id });
  await people.comment({ ...on, body: "/countersign approve 0123456789ab" });
  expect(read()).toMatchObject({ kind: "decision", what: "approve", hash: "0123456789ab", via: "comment" });
  await people.editComment({ ...on, id, body: "/countersign break it" });
  expect(read()).toMatchObject({ kind: "changed", what: "edited", comment_id: id });
  await people.deleteComment({ ...on, id });
  expect(read()).toMatchObject({ kind: "changed", what: "deleted", comment_id: id });
  await people.edit({ ...on, body: "other words" });
  expect(read()).toMatchObject({ kind: "changed", what: "edited", comment_id: null });
  await people.close(on);
  expect(read()).toMatchObject({ kind: "changed", what: "closed" });

  const pull = await people.openPull({ repo, by: "alice", title: "Change", body: "Yes.", head: branch });
  await people.requestReview({ ...on, number: pull, of: `${server.app.slug}[bot]` });
  expect(read()).toMatchObject({ ...wish, trigger: "review_request", thread: { kind: "pull", head: { branch } } });
  await people.reviewComment({ ...on, number: pull, body: "please rename it" });
  expect(read()).toMatchObject({ ...wish, trigger: "review_comment", follows: branch });
  const fork = await people.openPull({ repo, by: "stranger", title: "x", body: "y", head: branch, fork: true });
  await people.label({ ...on, number: fork, name: "countersign" });
  expect(read()).toMatchObject({ ...wish, thread: { kind: "pull", number: fork, head: null } });
  await people.comment({ ...on, number: pull, body: "/countersign go on" });
  expect(read()).toMatchObject({ ...wish, thread: { kind: "pull", number: pull } });

  await people.failCheck({ repo, branch, name: "tests" });
  expect(read()).toMatchObject({ kind: "wish", trigger: "failed_check", by: null, follows: branch });
  const check = server.state.repo(repo).checks[0];
  if (check !== undefined)
    own.checks.push({ ...check, id: 1, app_id: server.app.id, external_id: "task-1", conclusion: "action_required" });
  await people.clickAction({ repo, by: "alice", check: 1, identifier: "deny:0123456789ab" });
  expect(read()).toMatchObject({
    kind: "decision",
    what: "deny",
    hash: "0123456789ab",
    via: "button",
    task_id: "task-1",
  });

  const installation = (action: string) => ({ kind: "installation", installation: { action, installation_id } });
  await owners.installed(installation_id, "owner");
  expect(read()).toMatchObject(installation("created"));
  await owners.cover(installation_id, repo, "owner", false);
  expect(read()).toMatchObject(installation("removed"));
  await owners.cover(installation_id, repo, "owner");
  expect(read()).toMatchObject(installation("added"));
  await owners.rename(repo, "acme/store", "owner");
  expect(read()).toMatchObject(installation("renamed"));
  await owners.suspend(installation_id, "owner");
  expect(read()).toMatchObject(installation("suspend"));
  await owners.uninstall(installation_id, "owner");
  expect(read()).toMatchObject(installation("deleted"));
  expect(server.violations()).toEqual([]);
});

it("[GHA-23] what our App writes there is told too, as its own", async () => {
  server.owners.install("other");
  const made = server.owners.makeRepo({ full_name: "other/r", branches: { main: sha } });
  const thread = server.state.addThread(made, { title: "t", body: "b", by: server.state.bot, pull: null });
  const comment = { id: 5, by: server.state.bot, body: "/countersign do more", at: "2026-01-01T00:00:00Z" };
  await server.hooks.happened(
    { event: "issue_comment", action: "created", repo: made, thread, comment },
    server.state.bot,
  );
  expect(read()).toMatchObject({ kind: "ignored", why: "self" });
});
