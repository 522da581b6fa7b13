/** GitHub on the road: an issue becomes a task, its plan is decided there or on the page, its result is a pull request. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { AuditView } from "../../src/domain/record-view.ts";
import { type Asked, type GithubRoad, install, label, openGithubRoad, repo } from "./github-road.ts";
import { cleanPlaces, fixPlan, hiddenComment, seen, stranger, strangersWish } from "./github-wish.ts";
import { fences } from "./minds.ts";
import { until } from "./road.ts";

const wish = strangersWish();
let at: GithubRoad;
beforeAll(async () => {
  at = await openGithubRoad({ play: wish.play, thinks: true });
}, 240_000);
afterAll(() => at?.close(), 60_000);

const one = { comments: 1, checks: 1, pulls: 1 };
const waits = { status: "completed", conclusion: "action_required" };
const dropped = (rows: readonly AuditView[], by: string) =>
  rows.filter(({ decision, details }) => decision === "github_dropped" && details.by === by);
/** GitHub's clock counts whole seconds: what is written in the second in which a card was shown came before it. */
const nextSecond = () => sleep(1_100);

it("[JGH-1] the App is installed, its installation belongs to the scope, and its repository is linked to it", async () => {
  await install(at);
  const linked = (await at.road.audit("scope")).filter(({ decision }) => decision === "github_linked");
  expect(linked).toMatchObject([{ details: { repository: repo, private: true } }]);
});

describe("an issue of a stranger, labelled by a maintainer", () => {
  let asked: Asked;

  it("[JGH-2] becomes a task, a plan that is approved by the check's button, and a draft pull request with its proof", async () => {
    const { github, road } = at;
    asked = await at.ask(stranger);
    const first = await at.shows(asked, "that it is planned", ({ check }) => check.status === "in_progress");
    expect(first.comment.body).toContain("Planning");
    wish.begin();

    const shown = await at.shows(asked, "the plan", ({ check, comment }) => {
      return check.conclusion === "action_required" && comment.body.includes("To decide");
    });
    expect(shown.check).toMatchObject(waits);
    expect(shown.check.actions.map((button) => button.label)).toEqual(["Approve", "Deny", "Cancel"]);
    const card = await road.card(asked.id, "plan");
    expect(card.card).toMatchObject({
      ...{
        taint: "outsider",
        asked_by: { by: "github:alice", where: expect.stringContaining(`/issues/${asked.number}`) },
      },
    });
    const hidden = card.card.hidden?.join("\n");
    expect(hidden).toContain(hiddenComment);
    expect(hidden).toContain("saffron");
    expect(shown.comment.body).toContain(card.content_hash.slice(0, 12));
    // What is decided there is shown there: nothing of it only on the page.
    const all = shown.check.output.text?.replaceAll("\n⟦…⟧ ", "");
    for (const words of [hiddenComment, fixPlan, "github:mallory", "  - src/**", "npm test"])
      expect(all).toContain(words);
    expect((await road.task(asked.id)).attempts).toEqual([]);

    expect(await at.press(shown.check, "Approve")).toBe(202);
    const task = await road.ended(asked.id);
    expect(task).toMatchObject({ status: "done", phase: "complete", created_by: "github:alice" });
    const last = await at.shows(asked, "the end", ({ check, comment }) => {
      return check.conclusion === "success" && comment.body.includes("/pull/");
    });
    expect([last.comment.id, last.check.id]).toEqual([first.comment.id, first.check.id]);
    expect(last.comment.body).toContain("Verified and published");
    expect(at.counts(asked)).toEqual(one);
    expect(at.file(`countersign/${asked.id}`, "src/pager.js")).toContain("Math.ceil(count / size)");

    const [pull] = github.ownPulls(repo);
    expect(pull).toMatchObject({ draft: true, head: `countersign/${asked.id}` });
    for (const words of [
      `For #${asked.number}.`,
      `Plan hash \`${task.plan?.plan_hash}\``,
      "npm test",
      "exit code 0",
      "Audit head",
    ])
      expect(pull?.body).toContain(words);
    expect(pull?.body).toMatch(/Co-authored-by: alice <\d+\+alice@users\.noreply\.github\.com>/);
    expect(github.violations()).toEqual([]);
  });

  it("[JGH-3] what its author hid reached no model, and what they wrote reached one as data alone", () => {
    const journal = at.models.journal();
    expect(journal.filter(({ text }) => /periwinkle|saffron|[\u{e0000}-\u{e007f}]/u.test(text))).toEqual([]);
    for (const words of [seen, stranger.title]) {
      const told = journal.map(fences);
      expect(told.filter(({ outside }) => outside.includes(words))).toEqual([]);
      const inside = told.flatMap((entry) => entry.inside).filter(({ text }) => text.includes(words));
      expect([...new Set(inside.map(({ taint }) => taint))]).toEqual(["outsider"]);
    }
  });
});

describe("decisions", () => {
  const planned = async (title: string, by = "mallory") => {
    const asked = await at.ask({ title, by });
    const shown = await at.shows(asked, "the plan", ({ check, comment }) => {
      return check.conclusion === "action_required" && comment.body.includes("To decide");
    });
    return { asked, shown };
  };

  it("[JGH-4] on the page decide the same card, and GitHub shows what became of it; no sandbox could see a token", async () => {
    const { asked } = await planned("The lookout of the list", "carol");
    await at.road.approve(await at.road.card(asked.id, "plan"));
    expect(await at.road.ended(asked.id)).toMatchObject({ status: "done" });
    const { comment } = await at.shows(asked, "the end", ({ check, comment }) => {
      return check.conclusion === "success" && comment.body.includes("/pull/");
    });
    expect(comment.body).not.toContain("To decide");
    expect(at.counts(asked)).toEqual(one);
    const said = (await at.road.events(asked.id)).filter(({ type }) => type === "agent_output");
    const stages = new Set(said.map(({ stage }) => stage));
    for (const stage of stages) {
      const text = said
        .filter((event) => event.stage === stage)
        .map((event) => String(event.text))
        .join("");
      if (stage === "execute" || stage === "verify") for (const place of cleanPlaces) expect(text).toContain(place);
      expect(text).not.toMatch(/^\w+: A TOKEN$/m);
    }
    expect([...stages]).toEqual(expect.arrayContaining(["execute", "verify"]));
  });

  it("[JGH-5] of a stranger change nothing, and a maintainer's `/countersign deny` ends it with its reason", async () => {
    const { asked, shown } = await planned("The plain page of the list");
    const before = { comment: shown.comment.body, check: { ...shown.check } };
    await nextSecond();
    const { number } = asked;
    const stranger = await at.github.people.comment({ repo, number, by: "mallory", body: "/countersign approve" });
    expect(stranger.status).toBe(202);
    await until("it to be dropped", async () => (dropped(await at.road.audit(), "mallory").length > 0 ? true : null));
    expect(await at.road.task(asked.id)).toMatchObject({ status: "waiting", attempts: [] });
    expect([shown.comment.body, shown.check]).toEqual([before.comment, before.check]);

    await at.github.people.comment({ repo, number, by: "alice", body: "/countersign deny Not before the release" });
    expect(await at.road.ended(asked.id)).toMatchObject({ status: "denied" });
    const last = await at.shows(asked, "the end", ({ check, comment }) => {
      return check.conclusion === "failure" && comment.body.includes("Denied");
    });
    expect(last.comment.body).toContain("Not before the release");
    expect(at.counts(asked)).toEqual({ comments: 1, checks: 1, pulls: 0 });
  });

  it("[JGH-6] by a button of a card that has changed since are refused, and GitHub says so; the card that stands there decides", async () => {
    const { asked, shown } = await planned("The plain list of the page");
    const old = structuredClone(shown.check);
    await at.github.people.edit({ repo, number: asked.number, by: "mallory", body: "I meant another page." });
    await at.shows(asked, "another card", ({ check }) => {
      const [button] = check.actions;
      return button !== undefined && button.identifier !== old.actions[0]?.identifier;
    });
    expect(await at.press(old, "Approve")).toBe(202);
    const refused = await at.shows(asked, "why not", ({ comment }) => comment.body.includes("was not taken"));
    expect(refused.comment.body).toContain("what waits has changed since");
    expect(await at.road.task(asked.id)).toMatchObject({ status: "waiting", attempts: [] });
    expect(await at.press(refused.check, "Approve")).toBe(202);
    expect(await at.road.ended(asked.id)).toMatchObject({ status: "done" });
  });

  it("[JGH-7] about files under .github are the page's: no button to approve is shown, one that is forged is refused, and the page decides", async () => {
    const { asked, shown } = await planned("The workflow of the list");
    const card = await at.road.card(asked.id, "plan");
    expect(shown.check.actions.map((button) => button.label)).toEqual(["Deny", "Cancel"]);
    expect(shown.comment.body).toContain("not here");
    const identifier = `approve:${card.content_hash.slice(0, 12)}`;
    await at.github.people.clickAction({ repo, by: "carol", check: shown.check.id, identifier });
    const told = await at.shows(asked, "why not", ({ comment }) => comment.body.includes("was not taken"));
    expect(told.comment.body).toContain("this needs the page");
    expect(await at.road.task(asked.id)).toMatchObject({ status: "waiting", attempts: [] });
    await at.road.approve(card);
    expect(await at.road.ended(asked.id)).toMatchObject({ status: "done" });
  });

  it("[JGH-8] the same label once more while the task is open makes no second one", async () => {
    const { asked } = await planned("The plain row of the list");
    const { number } = asked;
    expect((await at.github.people.label({ repo, number, by: "alice", name: label })).status).toBe(202);
    await at.shows(asked, "that it is under way", ({ comment }) => comment.body.includes("still under way"));
    await at.github.people.comment({ repo, number, by: "alice", body: "/countersign cancel" });
    expect(await at.road.ended(asked.id)).toMatchObject({ status: "cancelled" });
    await at.shows(asked, "the end", ({ check }) => check.conclusion === "cancelled");
    expect(at.github.ownComments(repo, number)).toHaveLength(1);
  });
});

it("[JGH-9] every token was one operation's or stayed in memory: it stands in no file, log, event, row, prompt or answer, and what git had is revoked", async () => {
  const { road, github, tokens } = at;
  expect(tokens.length).toBeGreaterThan(5);
  const git = at.gitTokens();
  expect(git.length).toBeGreaterThanOrEqual(6);
  const look = { repository: repo, access: "read" as const };
  for (const token of git) expect(github.gitAccess(token, look.repository, look.access)).toBe(false);
  expect(at.git.journal.filter(({ status, shown }) => status === 200 && shown === null)).toEqual([]);

  const secrets = [...tokens, github.app.webhook_secret, github.app.pem.split("\n")[3] ?? ""];
  expect(secrets.every((secret) => secret.length >= 36)).toBe(true);
  const answers = [
    await road.client.get("/api/tasks?limit=100", z.unknown()),
    await road.client.get("/api/approvals?limit=100", z.unknown()),
    await road.audit(),
    at.models.journal().map(({ text, headers }) => [text, headers]),
    [...github.state.repo(repo).threads.values()],
    github.state.repo(repo).checks,
  ];
  const { items } = z.object({ items: z.array(z.object({ id: z.string() })) }).parse(answers[0]);
  for (const { id } of items) answers.push(await road.events(id));
  const told = JSON.stringify(answers);
  expect(secrets.filter((secret) => told.includes(secret))).toEqual([]);

  await road.service.stop();
  const found: string[] = [];
  for (const path of readdirSync(road.service.state, { recursive: true, encoding: "utf8" })) {
    const bytes = read(join(road.service.state, path));
    for (const secret of secrets) if (bytes?.includes(secret)) found.push(path);
  }
  expect(found).toEqual([]);
  expect(github.violations()).toEqual([]);
});
/** Null for what is no file (any more). */
function read(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}
