/** A service joined to GitHub whose power fails between the webhook and the pull request, and that was away for a while. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GithubRoad, install, label, openGithubRoad, repo } from "./github-road.ts";
import { strangersWish } from "./github-wish.ts";
import { until } from "./road.ts";

const wish = strangersWish();
wish.begin();
let at: GithubRoad;
beforeAll(async () => {
  at = await openGithubRoad({ play: wish.play });
  await install(at);
}, 240_000);
afterAll(() => at?.close(), 60_000);

const makes = {
  check: "POST /repos/{owner}/{repo}/check-runs",
  comment: "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
  pull: "POST /repos/{owner}/{repo}/pulls",
} as const;
const made = (operation: string) =>
  at.github.journal().filter((asked) => asked.operation === operation && asked.status < 300).length;
async function cut(): Promise<void> {
  await at.road.service.kill();
  await at.road.service.restart();
}

describe("a service whose power fails", () => {
  it("[JGH-20] at any point between webhook and pull request leaves one comment, one check run and one pull request of a task that is done", async () => {
    const { github, git, road } = at;
    // GitHub does each of these at once and says so only when nobody listens any more.
    for (const only of Object.values(makes)) github.fault({ kind: "slow", only, ms: 30_000 });
    const held = async (operation: string) => {
      await until(operation, async () => (made(operation) > 0 ? true : null));
      await cut();
    };
    const title = "The cobalt line of the list";
    const number = await github.people.openIssue({ repo, by: "mallory", title, body: "It is broken." });
    const { guid, status } = await github.people.label({ repo, number, by: "alice", name: label });
    expect(status).toBe(202);
    await cut();
    const { id } = await at.taskNamed(title);
    await cut();
    await held(makes.check);
    await held(makes.comment);

    const asked = { number, guid, id };
    const { check } = await at.shows(asked, "the plan", ({ check }) => check.actions.length > 0);
    git.slow = { what: "push", at: "half", ms: 30_000 };
    expect(await at.press(check, "Approve")).toBe(202);
    await cut();
    await until("the push", async () => (git.waiting > 0 ? true : null));
    await road.service.kill();
    git.slow = null;
    await road.service.restart();
    await held(makes.pull);

    expect(await road.ended(id)).toMatchObject({ status: "done", phase: "complete" });
    await at.shows(asked, "the end", ({ check, comment }) => {
      return check.conclusion === "success" && comment.body.includes("/pull/");
    });
    expect(at.counts(asked)).toEqual({ comments: 1, checks: 1, pulls: 1 });
    expect(Object.values(makes).map(made)).toEqual([1, 1, 1]);
    expect(at.file(`countersign/${id}`, "src/cobalt.txt").split("\n")).toHaveLength(7);
    expect((await road.events(id)).filter(({ type }) => type === "task_complete")).toHaveLength(1);
    expect(github.violations()).toEqual([]);
  }, 900_000);
});

describe("a service that was away", () => {
  it("[JGH-21] asks for what GitHub could not bring: a wish and a decision come in, each once, though they are brought again", async () => {
    const { github, road } = at;
    const waiting = await at.ask({ title: "The plain word of the list" });
    const { check } = await at.shows(waiting, "the plan", ({ check }) => check.actions.length > 0);
    await road.service.kill();
    const title = "The plain verse of the list";
    const number = await github.people.openIssue({ repo, by: "alice", title, body: "" });
    expect((await github.people.label({ repo, number, by: "alice", name: label })).status).toBe(502);
    expect(await at.press(check, "Approve")).toBe(502);
    const lost = github.hooks.deliveries.filter(({ status }) => status === 502);
    minutesPass(road.service.state, lost);
    await road.service.restart();

    const { id } = await at.taskNamed(title);
    expect(await road.ended(waiting.id)).toMatchObject({ status: "done" });
    const asked = { number, guid: "", id };
    const shown = await at.shows(asked, "the plan", ({ check }) => check.actions.length > 0);
    const again = github.hooks.deliveries.filter(({ redelivery }) => redelivery);
    expect(again.map(({ guid }) => guid).toSorted()).toEqual(lost.map(({ guid }) => guid).toSorted());
    // The others begin nothing here: an issue that was opened, and what the App itself wrote.
    const counted = again.filter(({ action }) => action === "labeled" || action === "requested_action");
    expect(counted.map(({ status }) => status)).toEqual([202, 202]);
    for (const one of again) github.hooks.redeliver(one.id);
    await github.hooks.settled();
    expect(github.hooks.deliveries.filter(({ redelivery }) => redelivery).slice(0, again.length)).toMatchObject(
      again.map(() => ({ status: 200 })),
    );
    expect(await at.press(shown.check, "Deny")).toBe(202);
    expect(await road.ended(id)).toMatchObject({ status: "denied" });
    await at.shows(waiting, "the end", ({ check }) => check.conclusion === "success");
    expect([at.counts(waiting), at.counts(asked)]).toEqual([
      { comments: 1, checks: 1, pulls: 1 },
      { comments: 1, checks: 1, pulls: 0 },
    ]);
  }, 400_000);
});

/** While the service is away, ten minutes pass for GitHub and for the object that asks it. */
function minutesPass(state: string, lost: readonly { readonly delivered_at: string }[]): void {
  for (const one of lost)
    Object.assign(one, { delivered_at: new Date(Date.parse(one.delivered_at) - 600_000).toISOString() });
  for (const path of readdirSync(join(state, "persist"), { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(".sqlite")) continue;
    const db = new DatabaseSync(join(state, "persist", path));
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE name = 'redelivery'").all();
    if (tables.length > 0) db.exec("UPDATE redelivery SET at = at - 600000");
    db.close();
  }
}
