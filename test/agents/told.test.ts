/** What a person is shown of what models are told, and what models are told of what a person gave: both whole. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { shownItem } from "../../durable-objects/runtime/shown-item.ts";
import { searchScript } from "../../src/agents/tools/search.ts";
import { besideAsked, besideDefault, givenWords } from "../../src/domain/asked-budget.ts";
import { parsePlan } from "../../src/domain/plan.ts";
import { contentHash } from "../../src/domain/token.ts";
import { limits } from "../../src/limits.ts";
import { must } from "../fakes/held-scope.ts";
import { fails, item, merges, open, planOf } from "../fakes/ladders.ts";
import { only, sample } from "../fakes/orders.ts";
import {
  calling,
  goodPlan,
  lastRequest,
  planMessage,
  replanMessage,
  runPlanner,
  script,
  texts,
} from "../fakes/planning.ts";

const costly = goodPlan.replace("goal:", "budget: { tokens: 900000000 }\ngoal:");

describe("what a task is told as", () => {
  it("[TASK-6] its title stands above its words, alone where there are none, on the task and in the list", async () => {
    const run = open();
    const title = "Mend the pager";
    for (const [description, content] of [
      ["It shows page 0 last.", `${title}\n\nIt shows page 0 last.`],
      ["", title],
      [" \n", title],
    ] as const) {
      const id = must(await run.ask(run.ada, { title, description }));
      expect(run.sent("user_message").find(({ task_id }) => task_id === id)?.content).toBe(content);
      expect(must(await run.tasks.task(run.ada, id))).toMatchObject({ title, description });
      expect(must(await run.tasks.tasks(run.ada, { status: null, cursor: null, limit: 1 })).items[0]?.title).toBe(
        title,
      );
    }
  });
});

describe("what a card shows of what is told", () => {
  it("[MNB-11] the goal and the files stand on it under its hash, and how long each check may take", async () => {
    const run = open();
    const thinks = `{ id: a, runner: loop, verify: [{ run: [npm, test], timeout_s: 90 }], touches: { paths: [src/x.ts] } }`;
    const plan = planOf("P", thinks)
      .replace("goal:", "budget: { tokens: 1000 }\ngoal:")
      .replace("A goal", "SECRET goal");
    const id = must(await run.ask(run.ada, { plan }));
    await run.observe(run.planResult(id, plan));
    const { card, content_hash } = await run.onlyCard(id);
    expect(card).toMatchObject({ goal: "SECRET goal", items: [{ touches: ["src/x.ts"], verify_timeouts_s: [90] }] });
    expect(contentHash(card)).toBe(content_hash);
    expect(contentHash({ ...card, goal: "another" })).not.toBe(content_hash);
    expect(card.facts.filter((fact) => fact.includes("gave this task"))).toEqual([]);
    expect(must(await run.tasks.task(run.ada, id)).budget).toBeNull();
  });
  it("[MNB-6] a section stored before longer ones were refused is cut on the next card, and says so", () => {
    const read = parsePlan(planOf("P", "{ id: a, runner: loop, verify: none }"));
    const spec = read.ok ? read.plan.items[0] : undefined;
    if (spec === undefined) throw new Error("the plan is good");
    const section = "x".repeat(limits.card_section_chars + 1);
    const shown = shownItem({ item_hash: "h", spec: { ...spec, section } }).section ?? "";
    expect(shown.length).toBeLessThan(limits.card_section_chars + 200);
    expect(shown).toMatch(/\[cut: the first 32000 of 32001 characters are here; read the rest in the plan\]$/);
  });
  it("[MNB-13] what the asker gave stands beside what the plan asks for, on the card and on the task", async () => {
    const run = open();
    const repo = { url: run.taskRow(must(await run.ask(run.ada))).repo, ref: "HEAD" };
    const budget = { tokens: 20_000, usd: 0.01 };
    const asked = { title: "x", description: "", repo, labels: [], register_repo: true, budget };
    const { id } = must(await run.tasks.createTask(run.ada, asked, null)).body;
    expect(must(await run.tasks.task(run.ada, id)).budget).toEqual(budget);
    expect(run.sent("user_message").at(-1)?.payload).toMatchObject({ budget });
    const plan = planOf("P").replace("goal:", "budget: { tokens: 900000000 }\ngoal:");
    await run.observe(run.planResult(id, plan));
    const card = await run.onlyCard(id);
    expect(card.card.facts).toContain(
      "ada gave this task 20,000 tokens and $0.01; this plan asks for 900,000,000 tokens and no limit in dollars: more than was given.",
    );
    must(await run.approve(card));
  });
  it("[MNB-14] where the asker gave none, what a task has by default stands beside what the plan asks for", async () => {
    const run = open();
    const id = must(await run.ask(run.ada));
    await run.observe(run.planResult(id, planOf("P").replace("goal:", "budget: { tokens: 900000000 }\ngoal:")));
    const { card } = await run.onlyCard(id);
    expect(card.facts).toContain(
      "ada stated no budget, and a task has 500,000 tokens and $5 by default; this plan asks for 900,000,000 tokens and no limit in dollars.",
    );
    const asked = { tokens: 7, usd: 2, minutes: 4 };
    expect(besideDefault({}, asked)).toContain("asks for 7 tokens, $2 and 4 minutes.");
    expect([besideDefault({ usd: 1 }, asked), besideDefault(null, { ...asked, tokens: 0 })]).toEqual([null, null]);
  });
  it("[MNB-13] more is more in any unit that was stated; a plan without tokens is paid from what was given", () => {
    const over = (given: object, asked: object) =>
      besideAsked(given, { tokens: 100, usd: 1, minutes: null, ...asked })?.over ?? null;
    expect([
      over({ minutes: 30 }, {}),
      over({ minutes: 5 }, { tokens: 0 }),
      over({ minutes: 5 }, { minutes: 5 }),
    ]).toEqual([false, true, false]);
    expect(besideAsked({ minutes: 5 }, { tokens: 0, usd: 0, minutes: null })?.words).toBe(
      "gave this task 5 minutes; this plan asks for no tokens of its own and 30 minutes an attempt, which it leaves as they are: more than was given.",
    );
    expect(besideAsked(null, { tokens: 1, usd: 0, minutes: null })).toBeNull();
    expect([over({}, {}), over({ tokens: 100, usd: 1 }, {})]).toEqual([null, false]);
    expect([over({ tokens: 99 }, {}), over({ usd: 0.5 }, {}), over({ usd: 5 }, { usd: 0 })]).toEqual([
      true,
      true,
      true,
    ]);
    expect([over({ usd: 5 }, { tokens: 0, usd: 0 }), over({ minutes: 50 }, {})]).toEqual([false, false]);
    expect(over({ minutes: 5 }, { tokens: 0, minutes: 6 })).toBe(true);
    expect(besideAsked({ tokens: 5 }, { tokens: 0, usd: 0, minutes: null })?.words).toBe(
      "gave this task 5 tokens; this plan asks for no tokens of its own.",
    );
    expect([givenWords(null), givenWords({}), givenWords({ usd: 0, minutes: 2 })]).toEqual([
      null,
      null,
      "$0 and 2 minutes",
    ]);
  });
});

describe("what a planner is told of a budget", () => {
  const payload = { repo: "r", ref: "HEAD", budget: { tokens: 20_000, usd: 0.01 } };
  it("[PLR-19] what the task was given stands in its brief, at a wish, a revision and another plan", async () => {
    const given = "Whoever asked gave this task 20,000 tokens and $0.01.";
    const told = async (message: ReturnType<typeof planMessage>) => {
      const w = sample();
      script(w, calling(["give_up", { reason: "no" }]));
      await runPlanner(w, message);
      return texts(lastRequest(w).turns)[0];
    };
    const { payload: wish } = planMessage();
    const { payload: again } = replanMessage(goodPlan, "c0ffee");
    const { budget } = payload;
    expect(await told(planMessage({ payload: { ...wish, budget } }))).toContain(given);
    expect(await told(planMessage({ payload: { ...wish, budget, revise: true } }))).toContain(given);
    expect(await told(replanMessage(goodPlan, "c0ffee", { payload: { ...again, budget } }))).toContain(given);
    expect(await told(planMessage())).not.toContain("gave this task");
    expect(await told(planMessage({ payload: { ...wish, budget } }))).toContain("What planning takes is paid from it");
    const spent = { tokens: 18_000, usd: 0.009 };
    expect(await told(replanMessage(goodPlan, "c0ffee", { payload: { ...again, budget, spent } }))).toContain(
      "18,000 of 20,000 tokens and $0.009 of $0.01; left: 2,000 tokens and $0.001.",
    );
  });
  it("[PLR-20] a plan over it comes back once, by its check or when it is handed in; the next one goes to a person", async () => {
    for (const first of ["validate_plan", "submit_plan"]) {
      const w = sample();
      const { payload: wish } = planMessage();
      script(w, calling([first, { plan_markdown: costly }]), calling(["submit_plan", { plan_markdown: costly }]));
      const { out } = await runPlanner(w, planMessage({ payload: { ...wish, budget: payload.budget } }), {
        dies: true,
      });
      expect(only(out).plan_markdown).toBe(costly);
      expect(w.models.requests.length).toBeGreaterThanOrEqual(2);
      expect(texts(lastRequest(w).turns).join("\n")).toContain(
        "no limit in dollars: more than was given. Stay within it.",
      );
    }
    const w = sample();
    script(w, calling(["submit_plan", { plan_markdown: costly }]));
    await runPlanner(w, planMessage());
    expect(w.models.requests).toHaveLength(1);
  });
});

describe("what an attempt found out", () => {
  const insights = [
    { kind: "gotcha", text: "Build twice." },
    { kind: "discovery", text: "There is a cache." },
  ] as const;
  const remembered = (run: ReturnType<typeof open>) =>
    run.scope.stores.memory
      .search({ query: "", kind: null, limit: 100, offset: 0 })
      .filter(({ kind }) => kind !== "plan")
      .map(({ text }) => text);
  it("[MEM-24] of one that failed nothing is remembered; what it warned of is told to its item's next attempt", async () => {
    const run = open();
    const id = await run.going(planOf("P", item("a", "max_attempts: 2")));
    await fails(run, id, { insights: [...insights] });
    expect(remembered(run)).toEqual([]);
    const [row] = run.rows.items.ofTask(id);
    expect(row?.guidance).toEqual(["Attempt 1 ended: it broke\nIt warned of: Build twice."]);
  });
  it("[MEM-24] of one whose work is merged it is remembered, once", async () => {
    const run = open();
    const id = await run.going(planOf("P", item("b")));
    const held = await run.begun();
    const put = run.rows.attempts.get(held.ref.attempt_id);
    await merges(run, id, held, "c".repeat(40), "src/b/x.txt", [...insights]);
    expect(put?.insights).toBeUndefined();
    expect(remembered(run).sort()).toEqual(["Build twice.", "There is a cache."]);
    expect(run.audit("transition").filter(({ decision }) => decision === "insights_kept")).toHaveLength(1);
  });
});

describe("a search of files", () => {
  it("[TOOL-22] follows no link out of the workspace, given or met; one that stays inside is searched", async () => {
    const home = await mkdtemp(join(tmpdir(), "told-"));
    try {
      await mkdir(join(home, "work/src"), { recursive: true });
      await mkdir(join(home, "work-else"));
      await writeFile(join(home, "work/src/a.txt"), "root: inside\n");
      await writeFile(join(home, "work-else/p.txt"), "root: outside\n");
      await symlink("../work-else", join(home, "work/out"));
      await symlink("../../work-else/p.txt", join(home, "work/src/p.txt"));
      await symlink("src", join(home, "work/in"));
      const search = (path: string) =>
        new Promise<string>((done) => {
          const argv = ["-c", searchScript, "bash", "root:", path, "100"];
          const ran = execFile("bash", argv, { cwd: join(home, "work") }, (_, printed) =>
            done(`${ran.exitCode} ${printed}`),
          );
        });
      const outside = [
        "out",
        "out/p.txt",
        "src/p.txt",
        "..",
        "../work-else",
        "/etc",
        "src/../out/",
        "in/../../work-else",
      ];
      expect(await Promise.all(outside.map(search))).toEqual(outside.map(() => "3 "));
      expect(await search(".")).toBe("0 ./src/a.txt:1:root: inside\n");
      expect(await search("in")).toBe("0 in/a.txt:1:root: inside\n");
      expect(await search("none")).toMatch(/^2 /);
    } finally {
      await rm(home, { recursive: true });
    }
    // A dozen processes, on a machine that may be busy.
  }, 30_000);
});
