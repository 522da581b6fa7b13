/** GitHub as it is on a bad day: limits, failures before and after the effect, an installation that is taken away. */
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

const installation = () => {
  const [first] = at.github.state.installations.values();
  if (first === undefined) throw new Error("nobody installed the App");
  return first.id;
};
const linkedAgain = () =>
  until("the repository to be linked again", async () => {
    const rows = await at.road.audit("scope");
    return rows.filter(({ decision }) => decision === "github_linked").length > 1 ? true : null;
  });

describe("limits and failures of GitHub's", () => {
  it("[JGH-30] delay what is shown, and make nothing twice and lose nothing", async () => {
    const { github, road } = at;
    const faults = [
      { kind: "5xx_before", only: "POST /app/installations/{installation_id}/access_tokens" },
      { kind: "secondary_limit", only: "GET /repos/{owner}/{repo}/collaborators/{username}/permission", seconds: 2 },
      { kind: "5xx_before", only: "POST /repos/{owner}/{repo}/check-runs" },
      { kind: "5xx_after", only: "POST /repos/{owner}/{repo}/check-runs" },
      { kind: "cut_after", only: "POST /repos/{owner}/{repo}/issues/{issue_number}/comments" },
      { kind: "primary_limit", only: "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}", seconds: 3 },
      { kind: "too_many", only: "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}", seconds: 1 },
      { kind: "5xx_after", only: "POST /repos/{owner}/{repo}/pulls" },
    ] as const;
    for (const fault of faults) github.fault(fault);
    const asked = await at.ask({ title: "The plain day of the list" });
    const { check } = await at.shows(asked, "the plan", ({ check }) => check.actions.length > 0);
    expect(await at.press(check, "Approve")).toBe(202);
    expect(await road.ended(asked.id)).toMatchObject({ status: "done" });
    await at.shows(asked, "the end", ({ check, comment }) => {
      return check.conclusion === "success" && comment.body.includes("/pull/");
    });
    expect(at.counts(asked)).toEqual({ comments: 1, checks: 1, pulls: 1 });
    const met = github.journal().filter(({ status }) => status === 403 || status === 429);
    expect(met).toHaveLength(3);
    expect(github.journal().filter(({ status }) => status === 502)).toHaveLength(2);
    expect(github.violations()).toEqual([]);
  });
});

describe("an installation that is taken away", () => {
  it("[JGH-31] suspended, its work ends in words that say so, and nothing begins; given back, GitHub is shown the end and work goes on", async () => {
    const { github, road } = at;
    const asked = await at.ask({ title: "The plain night of the list" });
    await at.shows(asked, "the plan", ({ check }) => check.actions.length > 0);
    const id = installation();
    expect((await github.owners.suspend(id, "alice")).status).toBe(202);
    const task = await road.ended(asked.id);
    expect([task.status, task.reason]).toEqual(["cancelled", expect.stringContaining("was suspended")]);
    const number = await github.people.openIssue({ repo, by: "alice", title: "The plain dusk", body: "" });
    expect((await github.people.label({ repo, number, by: "alice", name: label })).status).toBe(200);

    expect((await github.owners.suspend(id, "alice", false)).status).toBe(202);
    await linkedAgain();
    await at.shows(asked, "the end", ({ check, comment }) => {
      return check.conclusion === "cancelled" && comment.body.includes("was suspended");
    });
    expect(at.counts(asked)).toEqual({ comments: 1, checks: 1, pulls: 0 });
    expect(github.ownComments(repo, number)).toEqual([]);
  });

  it("[JGH-32] removed, a task at work is cancelled, in its sandbox too, and its branch never appears", async () => {
    const { github, road } = at;
    const asked = await at.ask({ title: "The cobalt dawn of the list" });
    const { check } = await at.shows(asked, "the plan", ({ check }) => check.actions.length > 0);
    expect(await at.press(check, "Approve")).toBe(202);
    await road.happens(0, "it to be at work", (event) => event.task_id === asked.id && event.type === "agent_output");
    expect((await github.owners.uninstall(installation(), "alice")).status).toBe(202);
    const task = await road.ended(asked.id);
    expect([task.status, task.reason]).toEqual(["cancelled", expect.stringContaining("has no access")]);
    expect(() => at.file(`countersign/${asked.id}`, "src/cobalt.txt")).toThrow();
    expect(github.violations()).toEqual([]);
  });
});
