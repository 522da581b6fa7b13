import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { approvalText } from "../../src/cli/show.ts";
import { outputOf, wordsOf } from "../../src/cli/words.ts";
import { type Answer, approval, command, event, type Fake, fakeService, json, problem, summary, task } from "./fake.ts";

let fake: Fake;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-cli-"));
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await fake?.close();
});
async function serve(answer: Answer): Promise<string> {
  fake = await fakeService(answer);
  return fake.url;
}

describe("exit codes", () => {
  it("[CLI-4] what was asked wrongly ends with 2 and the usage, before anything is sent", async () => {
    const url = await serve((_, response) => json(response, 200, {}));
    const wrong = [
      [],
      ["task"],
      ["task", "dance"],
      ["task", "show"],
      ["task", "show", "a", "b"],
      ["task", "list", "--bogus"],
      ["constructor", "name"],
      ["task", "toString"],
      ["approvals", "deny", "x"],
      ["task", "create", "--repo", "r"],
    ];
    for (const argv of wrong) expect((await command(url, argv)).code, argv.join(" ")).toBe(2);
    expect(fake.asked).toEqual([]);
  });

  it("[CLI-4] --help ends with 0", async () => {
    expect(await command("http://127.0.0.1:1", ["task", "--help"])).toMatchObject({ code: 0, err: "" });
  });

  it("[CLI-4] a refusal ends with 1 and its sentence; with --json as one JSON line on stderr, stdout empty", async () => {
    const url = await serve((_, response) => problem(response, 404, "task_not_found", "There is no such task.\u202e"));
    expect(await command(url, ["task", "show", "x"])).toEqual({
      code: 1,
      out: "",
      err: "There is no such task.⟦U+202E⟧\n",
    });
    const asJson = await command(url, ["task", "show", "x", "--json"]);
    expect(asJson).toMatchObject({ code: 1, out: "" });
    expect(JSON.parse(asJson.err)).toMatchObject({ error: { code: "task_not_found", status: 404 } });
  });

  it("[CLI-4] nobody there ends with 1", async () => {
    const url = await serve(() => undefined);
    await fake.close();
    expect((await command(url, ["task", "list"])).code).toBe(1);
  });
});

describe("what events say", () => {
  it("[CLI-7] each kind has words, the detail is on one line, the bus's own talk is left out", () => {
    expect(wordsOf(event(1, "task_created"))).toBe("Task received");
    expect(wordsOf(event(1, "phase_start:qa"))).toMatch(/^Phase: verifying/);
    expect(wordsOf(event(1, "merge_result", { detail: "ok\nfake line" }))).toBe("Merge: ok⟦U+000A⟧fake line");
    expect(wordsOf(event(1, "something_new"))).toBe("something_new");
    for (const quiet of ["message", "state_changed", "phase_complete:qa"]) expect(wordsOf(event(1, quiet))).toBeNull();
  });

  it("[CLI-7] a sandbox's output cannot steer the terminal", () => {
    const output = event(1, "agent_output", { text: "\u001b[31mred\u001b[0m\r\n\u001b]0;title\u0007" });
    expect(outputOf(output)).toBe("red\n⟦U+001B⟧]0;title⟦U+0007⟧");
    expect(outputOf(event(1, "task_created"))).toBeNull();
  });
});

describe("the card", () => {
  it("[CLI-8] shows everything that is granted and bound, words quoted where they need it", () => {
    const text = approvalText(approval());
    for (const part of [
      "hash-of-the-card",
      "plan-hash",
      "item-hash",
      "policy-hash",
      "src/**",
      "test/**",
      "shell_execute",
      "no network",
      "npm ci",
      "countersign/task-1",
      "10 tokens, no limit in dollars, 5 minutes",
      "npm test -- 'a b'",
      "| npm test || true",
      "| sed -i s/a/b/ x",
    ])
      expect(text).toContain(part);
  });

  it("[MNB-6] shows what an item's model is told, word for word, and what it may spend; a card of before has none of it", () => {
    const seen = approval();
    const [item] = seen.card.items;
    if (item === undefined) throw new Error("the fixture has an item");
    const budget = { tokens: 77, usd: null, minutes: null };
    const thinks = { ...item, section: "Mend it\u202e.\nThen rest.", skills: ["paging"], on_stuck: "replan", budget };
    const text = approvalText({ ...seen, card: { ...seen.card, items: [thinks] } });
    for (const part of ["    | Mend it⟦U+202E⟧.\n    | Then rest.", "77 tokens", "paging", "replan"])
      expect(text).toContain(part);
    expect(approvalText(seen)).not.toContain("its model is told");
  });
  it("[MNB-12] a plan's goal, the files it is given and how long checks may take stand on it; no dollars are no limit", () => {
    const seen = approval();
    const [item] = seen.card.items;
    if (item === undefined) throw new Error("the fixture has an item");
    const budget = { tokens: 77, usd: 0, minutes: null };
    const more = { section: "x", touches: ["src/a.ts"], budget, verify: [["npm", "test"]], verify_timeouts_s: [90] };
    const card = { ...seen.card, goal: "List all.\nhash  x", budget: { tokens: 900, usd: 0, minutes: null } };
    const text = approvalText({ ...seen, card: { ...card, items: [{ ...item, ...more }] } });
    for (const part of [
      "goal\n    | List all.\n    | hash  x",
      "src/a.ts",
      "npm test (at most 90 s)",
      "900 tokens, no limit in dollars",
      "77 tokens, no limit in dollars",
    ])
      expect(text).toContain(part);
    expect(text).not.toContain("0 USD");
    expect(approvalText(seen)).toContain(`see countersign task show ${seen.task_id} --json`);
    const none = { ...card, budget: { tokens: 0, usd: 0, minutes: 3 } };
    expect(approvalText({ ...seen, card: none })).toContain("no tokens of its own, 3 minutes");
    const asks = { ...card, kind: "budget" as const, budget: { tokens: 5, usd: 0, minutes: null } };
    expect(approvalText({ ...seen, kind: "budget", card: asks })).toContain("5 tokens, 0 USD");
  });
  it("[MNB-10] says which holds where a file is protected and may be changed", () => {
    const seen = approval();
    const [item] = seen.card.items;
    if (item === undefined) throw new Error("the fixture has an item");
    const items = [{ ...item, protect: ["**/package.json", "!package.json"] }];
    const text = approvalText({ ...seen, card: { ...seen.card, items } });
    expect(text).toMatch(
      /protected +\*\*\/package\.json\n.*holds over what it may change.*\n +but not +package\.json\n/,
    );
  });
  it("[CLI-8] a value cannot pose as a line of the card", () => {
    const hostile = approval();
    const [item] = hostile.card.items;
    if (item === undefined) throw new Error("the fixture has an item");
    const card = { ...hostile.card, items: [{ ...item, title: "x\nhash        other", steps: ["a\u202eb"] }] };
    const text = approvalText({ ...hostile, card });
    expect(text.split("\n").filter((line) => line.startsWith("hash"))).toHaveLength(1);
    expect(text).toContain("a⟦U+202E⟧b");
  });
});

describe("task create", () => {
  it("[CLI-9] takes the title from the plan, the repository from a path, and sends the plan as it is", async () => {
    const plan = "---\ntitle: Mend it\n---\n## a\n\u00e9\n";
    writeFileSync(join(folder, "plan.md"), plan);
    const url = await serve((_, response) => json(response, 202, task()));
    const said = await command(
      url,
      ["task", "create", "--plan", "plan.md", "--repo", "./r", "--label", "a", "--label", "b"],
      null,
      folder,
    );
    expect(said.code).toBe(0);
    expect(fake.asked[0]).toMatchObject({ method: "POST", path: "/api/tasks" });
    expect(fake.asked[0]?.body).toEqual({
      title: "Mend it",
      description: "",
      repo: { url: `file://${folder}/r` },
      plan,
      labels: ["a", "b"],
    });
    expect(said.out).toContain("task watch task-1");
  });

  it("[MNB-9] without a plan it asks a wish in words, which needs a title", async () => {
    const url = await serve((_, response) => json(response, 202, task()));
    const said = await command(url, ["task", "create", "--title", "Mend the pager", "--repo", "https://x.test/r"]);
    expect(said.code).toBe(0);
    expect(fake.asked[0]?.body).toEqual({
      ...{ title: "Mend the pager", description: "", repo: { url: "https://x.test/r" }, labels: [] },
    });
    expect((await command(url, ["task", "create", "--repo", "https://x.test/r"])).err).toContain("--title");
  });

  it("[TASK-6] a title and a description are both sent", async () => {
    const url = await serve((_, response) => json(response, 202, task()));
    const words = ["--title", "Mend the pager", "--description", "It shows page 0 last."];
    expect((await command(url, ["task", "create", ...words, "--repo", "https://x.test/r"])).code).toBe(0);
    expect(fake.asked[0]?.body).toMatchObject({ title: "Mend the pager", description: "It shows page 0 last." });
  });

  it("[CLI-9] a plan without title, or none at all, is a usage error", async () => {
    writeFileSync(join(folder, "plan.md"), "no front matter");
    for (const name of ["plan.md", "missing.md"])
      expect(
        (await command("http://127.0.0.1:1", ["task", "create", "--plan", name, "--repo", "/r"], null, folder)).code,
      ).toBe(2);
  });

  it("[CLI-9] a refused plan names every line", async () => {
    writeFileSync(join(folder, "plan.md"), "---\ntitle: T\n---\n");
    const problems = [
      { line: 3, column: 5, message: "cycle" },
      { line: 9, column: 1, message: "unknown key" },
    ];
    const url = await serve((_, response) =>
      problem(response, 422, "invalid_plan", "The plan has 2 problems.", { problems }),
    );
    const said = await command(url, ["task", "create", "--plan", "plan.md", "--repo", "/r"], null, folder);
    expect(said.code).toBe(1);
    expect(said.err).toContain("line 3, column 5: cycle\n  line 9, column 1: unknown key");
  });
});

describe("task list, show, cancel", () => {
  it("[CLI-10] lists with filters, and says when there is more", async () => {
    const url = await serve((_, response) => json(response, 200, { items: [summary], next_cursor: "c2" }));
    const said = await command(url, ["task", "list", "--status", "active", "--limit", "1"]);
    expect(fake.asked[0]?.path).toBe("/api/tasks?status=active&limit=1");
    expect(said.out).toContain("task-1  active");
    expect(said.err).toContain("--cursor c2");
  });

  it("[CLI-10] --json is the API's own answer, and an id cannot leave its place in the path", async () => {
    const url = await serve((_, response) => json(response, 200, task()));
    const said = await command(url, ["task", "show", "../tokens?x=1", "--json"]);
    expect(fake.asked[0]?.path).toBe("/api/tasks/..%2Ftokens%3Fx%3D1");
    expect(JSON.parse(said.out)).toEqual(task());
  });

  it("[CLI-10] cancel sends the reason", async () => {
    const url = await serve((_, response) => json(response, 200, task({ status: "cancelled" })));
    const said = await command(url, ["task", "cancel", "task-1", "--reason", "enough"]);
    expect(fake.asked[0]).toMatchObject({
      method: "POST",
      path: "/api/tasks/task-1/cancel",
      body: { reason: "enough" },
    });
    expect(said).toMatchObject({ code: 0, out: "Task task-1: cancelled\n" });
  });
});

describe("task watch", () => {
  /** The task stands as `states` says, one after another for each time it is read; the feed sends `feed`. */
  const created = event(1, "task_created");
  function watched(states: readonly ReturnType<typeof task>[], feed: readonly ReturnType<typeof event>[]): Answer {
    let reads = 0;
    let histories = 0;
    return (asked, response) => {
      if (asked.path.startsWith("/api/tasks/task-1/events"))
        return json(response, 200, {
          items: ++histories === 1 ? [created] : [created, ...feed.filter((one) => one.task_id === "task-1")],
          next_cursor: null,
        });
      if (asked.path === "/api/tasks/task-1") return json(response, 200, states[Math.min(reads++, states.length - 1)]);
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const one of feed) response.write(`data: ${JSON.stringify(one)}\n\n`);
    };
  }

  it("[CLI-11] follows to the end: done is 0, and what stands in the feed of other tasks is left out", async () => {
    const feed = [
      event(2, "phase_start:coding"),
      event(3, "task_failed", { task_id: "other" }),
      event(4, "task_complete"),
    ];
    const url = await serve(watched([task(), task({ status: "done", branch: "countersign/task-1" })], feed));
    const said = await command(url, ["task", "watch", "task-1"]);
    expect(said.code).toBe(0);
    expect(said.out).toMatch(/Task received[\s\S]*Phase: working[\s\S]*Task complete[\s\S]*countersign\/task-1/);
    expect(said.out).not.toContain("Task failed");
    expect(fake.asked.find((one) => one.path === "/api/events")?.headers["last-event-id"]).toBe("1");
  });

  it("[CLI-11] a task that comes to wait for a person is 3, and says whose word it waits for", async () => {
    const waiting = task({ status: "waiting", waiting_on: "tool_call", pending_approvals: ["ap-9"] });
    const url = await serve(watched([task(), waiting], [event(2, "tool_approval_pending")]));
    const said = await command(url, ["task", "watch", "task-1"]);
    expect(said.code).toBe(3);
    expect(said.out).toContain("countersign approvals show ap-9");
  });

  it("[CLI-11] a task that is over already is told at once: failed, denied and cancelled are 1", async () => {
    for (const status of ["failed", "denied", "cancelled"] as const) {
      const url = await serve(watched([task({ status })], []));
      expect((await command(url, ["task", "watch", "task-1"])).code).toBe(1);
      expect(fake.asked.some((one) => one.path === "/api/events")).toBe(false);
      await fake.close();
    }
  });

  it("[CLI-11] with --json each event is a line and the task is the last one", async () => {
    const url = await serve(watched([task({ status: "done" })], []));
    const lines = (await command(url, ["task", "watch", "task-1", "--json"])).out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([{ seq: 1 }, { task: { id: "task-1", status: "done" } }]);
  });
});
