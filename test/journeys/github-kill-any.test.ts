/**
 * A service joined to GitHub whose power fails again and again, at moments that nobody chose, from the webhook to the pull
 * request. COUNTERSIGN_SEED=<seed> draws the same moments again; how far the work has come by then is the machine's.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isFinal } from "../../src/domain/task.ts";
import { page, taskSummary } from "../../src/domain/view.ts";
import { random } from "../simulation/random.ts";
import { type GithubRoad, install, label, openGithubRoad, repo } from "./github-road.ts";
import { strangersWish } from "./github-wish.ts";
import { until } from "./road.ts";

const seed = process.env.COUNTERSIGN_SEED || String(Date.now() % 1_000_000);
const kills = 8;
/** From one start to the next cut: what is undisturbed takes about three times that. */
const longest_ms = 2_500;
/** For what all the cuts may come before. */
const patience_ms = 300_000;

const wish = strangersWish();
wish.begin();
let at: GithubRoad;
beforeAll(async () => {
  at = await openGithubRoad({ play: wish.play });
  await install(at);
}, 240_000);
afterAll(() => at?.close(), 60_000);

const makes = [
  "POST /repos/{owner}/{repo}/check-runs",
  "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
  "POST /repos/{owner}/{repo}/pulls",
];
const tasks = async () => (await at.road.client.get("/api/tasks?limit=100", page(taskSummary))).items;
const made = (operation: string) =>
  at.github.journal().filter((asked) => asked.operation === operation && asked.status < 300).length;

/** Brought until it is answered, as GitHub does when it is asked to. */
async function brought(guid: string): Promise<void> {
  const of = () => at.github.hooks.deliveries.filter((one) => one.guid === guid);
  await until("the delivery to come", async () => {
    if (of().some(({ status }) => status === 202 || status === 200)) return true;
    at.github.hooks.redeliver(of()[0]?.id ?? "");
    await at.github.hooks.settled();
    return null;
  });
}

describe("a service whose power fails at any moment", () => {
  it(`[JGH-22] makes one task, one comment, one check run and one pull request of a label (COUNTERSIGN_SEED=${seed})`, async () => {
    const { github, road } = at;
    const draw = random(seed);
    // GitHub does each at once and takes its time to say so: a cut falls in between more often than not.
    for (const only of makes) github.fault({ kind: "slow", only, ms: draw.int(1_000, 3_000) });
    const title = "The cobalt line of the list";
    const number = await github.people.openIssue({ repo, by: "mallory", title, body: "It is broken." });
    const cuts: string[] = [];
    let ended = false;
    const power = async (): Promise<void> => {
      for (let cut = 0; cut < kills && !ended; cut++) {
        const ms = draw.int(0, longest_ms);
        await sleep(ms);
        await road.service.kill();
        cuts.push(`${ms} ms (${github.journal().length} calls, ${github.hooks.deliveries.length} deliveries)`);
        await road.service.restart();
      }
    };
    // What waits for a thing to look as it should waits in vain for one that stands there twice.
    const once = async (): Promise<void> => {
      for (; !ended; await sleep(200)) expect(Math.max(...makes.map(made)), "made twice").toBeLessThan(2);
    };
    const person = async (): Promise<void> => {
      const { guid } = await github.people.label({ repo, number, by: "alice", name: label });
      await brought(guid);
      const { id } = await at.taskNamed(title);
      const asked = { number, guid, id };
      let pressed = false;
      await until(
        "a button to be heard",
        async () => {
          const check = github
            .ownChecks(repo)
            .find(({ external_id, actions }) => external_id === id && actions.length > 0);
          // One that was cut off may have been heard all the same.
          if (check === undefined) return pressed && (await road.task(id)).pending_approvals.length === 0 ? true : null;
          pressed = true;
          return (await at.press(check, "Approve")) === 202 ? true : null;
        },
        patience_ms,
      );
      const look = async () => {
        const task = await road.task(id);
        // So many cuts may use up every way to recover: then a person is asked, and allows one more attempt.
        if (task.waiting_on === "escalation") await road.approve(await road.card(id, "escalation"));
        return isFinal(task.status) ? task : null;
      };
      expect(await until("the task to end", look, patience_ms)).toMatchObject({ status: "done", phase: "complete" });
      ended = true;
      await at.shows(asked, "the end", ({ check, comment }) => {
        return check.conclusion === "success" && comment.body.includes("/pull/");
      });
      expect(at.counts(asked)).toEqual({ comments: 1, checks: 1, pulls: 1 });
    };
    const cutting = power();
    await Promise.all([cutting, person(), once()]).finally(async () => {
      ended = true;
      await cutting.catch(() => null);
      console.log(`COUNTERSIGN_SEED=${seed}: ${cuts.join(", ")}`);
    });

    expect((await tasks()).map((task) => task.title)).toEqual([title]);
    expect(makes.map(made)).toEqual([1, 1, 1]);
    const [{ id } = { id: "" }] = await tasks();
    expect((await road.events(id)).filter(({ type }) => type === "task_complete")).toHaveLength(1);
    expect(at.file(`countersign/${id}`, "src/cobalt.txt").split("\n")).toHaveLength(7);
    expect(github.violations()).toEqual([]);
  }, 600_000);
});
