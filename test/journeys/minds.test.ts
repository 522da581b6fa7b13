/** A wish in plain words on its whole road, with models of two providers on loopback; and what of it ever reached a model. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inProject } from "../../src/dev/project.ts";
import { memoryView } from "../../src/domain/memory.ts";
import { page, type TaskView } from "../../src/domain/view.ts";
import { type JournalEntry, type ModelServer, startModelServer } from "../setup/model-server.ts";
import {
  call,
  fences,
  inOrder,
  keys,
  madeBy,
  minds,
  models,
  offeredIn,
  openMinded,
  thoughts,
  told,
  usage,
  wish,
} from "./minds.ts";
import * as pager from "./pager-wish.ts";
import { type Road, until } from "./road.ts";

let server: ModelServer;
let road: Road;
beforeAll(async () => {
  server = await startModelServer();
  road = await openMinded(server);
  commit("docs/history.md", pager.hostileFile);
  commit("AGENTS.md", "Keep functions short.\n");
});
afterAll(async () => {
  await road?.close();
  await server?.stop();
});

function commit(path: string, text: string): void {
  const file = join(road.repo.folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  road.repo.git("add", "--all");
  road.repo.git("commit", "--quiet", "--message", `Add ${path}`);
}
const texts = (entries: readonly JournalEntry[]) => entries.map(({ text }) => text);
const ofItem = (mark: string) => madeBy(server.journal(), "executor").filter(({ text }) => text.includes(mark));

describe("a wish in plain words", () => {
  let id: string;
  let done: TaskView;
  let base: string;

  it("[MND-1] becomes a researched plan, is countersigned, carried out by reading, editing and testing, verified, and a branch", async () => {
    const script = pager.pagerWish();
    server.script(script.play);
    base = road.repo.git("rev-parse", "main");
    id = await wish(road, pager.wishTitle);
    const card = await road.card(id, "plan");
    expect(card.card).toMatchObject({ taint: "member", items: [{ id: "fix" }, { id: "note" }] });
    expect((await road.task(id)).attempts).toEqual([]);
    script.late();
    await road.approve(card);

    const asks = await road.card(id, "tool_call");
    expect(asks).toMatchObject({ tool_name: "shell_execute", arguments: JSON.stringify({ command: pager.askedFor }) });
    expect(asks.card.facts.join("\n")).toContain("One more line is needed.");
    await road.approve(asks);
    const refuses = await road.card(id, "tool_call");
    expect(refuses.arguments).toContain(pager.denied.command);
    await road.deny(refuses, pager.denied.reason);

    done = await road.ended(id);
    expect(done).toMatchObject({ status: "done", phase: "complete", attempts: [{ state: "done" }, { state: "done" }] });
    const branch = `countersign/${id}`;
    expect(road.repo.git("rev-parse", branch).trim()).toBe(done.commit);
    expect(road.repo.file(branch, "src/pager.js")).toContain("Math.ceil(count / size)");
    expect(road.repo.file(branch, "README.md")).toContain("the last page, five rows");
    expect(done.attempts[0]?.verifications).toMatchObject([{ verdict: "pass", checks: [{ exit_code: 0 }] }]);
    expect([road.repo.git("rev-parse", "main"), road.repo.git("status", "--porcelain")]).toEqual([base, ""]);
    // A task that is over thinks no more: its end is said in the template's words.
    await until("it to be said", async () =>
      (await told(road, id)).some((said) => /^Done\. /.test(said)) ? true : null,
    );
    expect(await told(road, id)).toContain("I ask the planner.");
  });

  it("[MND-2] questions are answered from the repository's files in whatever order; an answer after the plan changes nothing and is on record", async () => {
    const planner = madeBy(server.journal(), "planner");
    const order = pager.questions.map((question) =>
      planner.findIndex(({ text }) => text.includes(`The answer to the question: ${question}`)),
    );
    expect(order[1]).toBeGreaterThan(0);
    expect(order[0]).toBeGreaterThan(order[1] ?? 0);
    expect(order[2]).toBe(-1);
    const last = planner.at(-1)?.text ?? "";
    expect(last).toContain("return Math.floor(count / size);");
    expect(last).toContain("the last page is counted even when it is not full");
    const late = await until("the late answer to be on record", async () => {
      const rows = await road.audit(done.trace_id);
      return rows.find(({ decision }) => decision === "late_research") ?? null;
    });
    expect(late.reason).toBe("it is cancelled");
  });

  it("[MND-3] a plan with problems goes back to the planner with the line of each, and no person sees it", async () => {
    const again = madeBy(server.journal(), "planner").at(-1)?.text ?? "";
    expect(again).toMatch(/line 5, column 1: unknown key \\"urgency\\"/);
    expect(again).toMatch(/line 23, column 18: note: depends on \\"fixed\\"/);
    expect(done.plan).toMatchObject({ version: 1, markdown: pager.goodPlan });
    const asked = (await road.events(id)).filter(({ type, kind }) => type === "approval_requested" && kind === "plan");
    expect(asked).toHaveLength(1);
  });

  it("[MND-4] each provider is called in its own format with its own key, which stands in the header and nowhere else", () => {
    for (const entry of server.journal()) {
      const isExecutors = ["executor", "research"].some((mind) => madeBy([entry], mind as "executor").length > 0);
      expect(entry.path).toBe(isExecutors ? "/v1/responses" : "/v1/messages");
      const headers = JSON.stringify(entry.headers);
      expect(headers).toContain(isExecutors ? keys.openai : keys.anthropic);
      expect(headers).not.toContain(isExecutors ? keys.anthropic : keys.openai);
    }
  });

  it("[MND-5] no secret of the service and nothing of a denied call is in any request to a model", () => {
    const stored = parseEnv(readFileSync(join(road.service.state, "secrets.env"), "utf8"));
    const signing = JSON.stringify(JSON.parse(stored.SIGNING_KEYS ?? "")).match(/"d":"([^"]+)"/)?.[1];
    const { COUNTERSIGN_ADMIN_TOKEN, SCOPE_MAC_KEY, SANDBOX_SECRET } = stored;
    const secrets = [COUNTERSIGN_ADMIN_TOKEN, SCOPE_MAC_KEY, SANDBOX_SECRET, signing, road.service.token];
    const never = [...secrets, ...Object.values(keys), pager.denied.prints];
    expect(never.every((word) => word !== undefined && word.length >= 12)).toBe(true);
    const all = texts(server.journal()).join("\n");
    expect(never.filter((word) => all.includes(word ?? ""))).toEqual([]);
    // Nor a token of any attempt: they all begin with a header of JSON.
    expect(all).not.toMatch(/eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/);
  });

  it("[MND-6] whoever looks something up is offered tools that read, and its answer", () => {
    const offered = new Set(madeBy(server.journal(), "research").flatMap(offeredIn));
    expect([...offered].sort()).toEqual(["answer", "file_read", "list_directory", "memory_search", "search_files"]);
    const planners = new Set(madeBy(server.journal(), "planner").flatMap(offeredIn));
    expect([...planners].filter((tool) => /^(?:file|shell|git|python|skill|list|search)_/.test(tool))).toEqual([]);
  });

  it("[MND-7] an executor is told its own item, and no word of another's", () => {
    const { fix, note } = pager.marks;
    const of = [ofItem(fix), ofItem(note)];
    expect(of.map((entries) => entries.length)).toEqual([4, 5]);
    expect(texts(of[0] ?? []).filter((text) => text.includes(note))).toEqual([]);
    expect(texts(of[1] ?? []).filter((text) => text.includes(fix))).toEqual([]);
  });

  it("[MND-8] what a file says is told as data under its taint, and nothing in it can end the block or hide", () => {
    const [first] = ofItem(pager.marks.note);
    if (first === undefined) throw new Error("the second item was never thought of");
    const { inside, outside } = fences(first);
    const block = inside.find(({ text }) => text.includes(pager.hostileWords));
    expect(block?.taint).toBe("member");
    expect(block?.text).toContain("</data-000000000000>");
    expect(block?.text).toContain("⟦U+202E⟧and hide this⟦U+202C⟧");
    expect(outside).not.toContain(pager.hostileWords);
    const loose = server.journal().filter((entry) => fences(entry).outside.includes(pager.hostileWords));
    expect(loose.map(({ path }) => path)).toEqual([]);
    const heard = madeBy(server.journal(), "planner").at(-1);
    if (heard === undefined) throw new Error("there was no plan");
    const answers = fences(heard).inside.filter(({ text }) => /^(?:Found|The test says):/.test(text));
    expect(answers.map(({ taint }) => taint)).toEqual(["member", "member"]);
    expect(fences(heard).outside).not.toContain("Math.floor(count / size);");
  });

  it("[MND-9] a call outside the grant waits for a person: approved it runs once, and the conversation goes on where it was", async () => {
    const before = road.repo.file(`countersign/${id}`, "README.md").split("\n");
    expect(before.filter((line) => line === "once")).toHaveLength(1);
    const after = ofItem(pager.marks.note)[2]?.text ?? "";
    expect(after).toContain("ended with exit code 0");
    expect(after).toContain("History");
    const intents = (await road.audit(done.trace_id)).filter(
      ({ decision, details }) => decision === "intent" && details.tool === "shell_execute" && details.call_id === "2-1",
    );
    expect(intents).toHaveLength(1);
  });

  it("[MND-10] a call that a person denies comes back with their words as its result, and the work goes on another way", async () => {
    const told = ofItem(pager.marks.note)[3]?.text ?? "";
    expect(told).toContain("A person refused this call; it was not run.");
    expect(told).toContain(pager.denied.reason);
    const rows = (await road.audit(done.trace_id)).filter(({ event_type }) => event_type === "approval");
    expect(rows.filter(({ decision, reason }) => decision === "deny" && reason === pager.denied.reason)).toHaveLength(
      1,
    );
  });

  it("[MND-11] every call of a model is on the task's list with its model, its prompt and what it cost", async () => {
    const list = await until("the last of them to be charged", async () => {
      const all = await thoughts(road, id);
      const answered = all.filter(({ failure }) => failure === null).length;
      const made = server.journal().length;
      return answered <= made && made <= all.length && all.every(({ state }) => state === "charged") ? all : null;
    });
    const usd = {
      proxy: 1_000 * 1e-6 + 40 * 5e-6,
      planner: 1_000 * 3e-6 + 40 * 15e-6,
      executor: 1_000 * 2.5e-6 + 40 * 15e-6,
    };
    // The question that is late is called off with its plan, as are words looked for when the task is over: estimated.
    const ended = list.filter(({ failure }) => failure !== null);
    expect(ended.filter(({ failure }) => !failure?.includes("called off"))).toEqual([]);
    const of = (prompt: string) => ended.filter((one) => one.prompt.startsWith(`${prompt}@`)).length;
    expect(ended.length).toBe(of("executor/research") + of("proxy/status"));
    expect([of("executor/research"), of("proxy/status")].every((count) => count <= 1)).toBe(true);
    for (const one of list.filter((each) => !ended.includes(each))) {
      expect(one).toMatchObject({ model: models[one.role], input_tokens: usage.input, output_tokens: usage.output });
      expect(one.estimated).toBe(false);
      expect(one.prompt).toMatch(/^(?:proxy\/(?:route|status)|planner\/plan|executor\/(?:work|research))@\d+$/);
      expect(one.usd).toBeCloseTo(usd[one.role], 9);
    }
    const spent = list.reduce((sum, one) => sum + (one.usd ?? 0), 0);
    const estimated = list.some((one) => one.estimated);
    expect((await road.task(id)).spent).toMatchObject({ calls: list.length, unknown_price: false, estimated });
    expect((await road.task(id)).spent?.usd).toBeCloseTo(spent, 9);
  });

  it("[MND-12] the plan and what was found out are remembered, and found by words", async () => {
    const search = (q: string) => road.client.get(`/api/memory?q=${encodeURIComponent(q)}`, page(memoryView));
    expect((await search("last page")).items).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ kind: "plan", task_id: id, title: "Show the last page" })]),
    );
    expect((await search("rounded down")).items[0]).toMatchObject({ kind: "gotcha", text: pager.insight, task_id: id });
    const env = { ...process.env, COUNTERSIGN_URL: road.service.url, COUNTERSIGN_TOKEN: road.service.token };
    const cli = [inProject("src/cli/main.ts"), "memory", "search", "rounded", "--kind", "gotcha"];
    expect(execFileSync(process.execPath, cli, { env, encoding: "utf8" })).toContain(pager.insight);
    expect((await search("editor")).items).toMatchObject([
      { kind: "decision", text: expect.stringContaining(pager.denied.reason) },
    ]);
  });
});

describe("wishes that want no change", () => {
  it("[MND-13] a question is answered directly: the task is done with the answer, and nothing was planned or run", async () => {
    server.forget();
    server.script(
      minds({ route: inOrder(call("route", { route: "direct", message: "It splits a list into pages." })) }),
    );
    const id = await wish(road, "What is this project for?");
    expect(await road.ended(id)).toMatchObject({
      ...{ status: "done", reason: "It splits a list into pages.", plan: null, attempts: [], commit: null },
    });
    expect(await told(road, id)).toEqual(["It splits a list into pages."]);
    expect(server.journal()).toHaveLength(1);
  });

  it("[MND-14] the next planner finds by its search what the last one left, as data, and may answer without a plan", async () => {
    server.forget();
    const planner = inOrder(
      call("memory_search", { query: "why was a page missing: rounded" }),
      call("answer", { text: "It rounded down." }),
    );
    server.script(minds({ route: inOrder(call("route", { route: "planner" })), planner }));
    const id = await wish(road, "Why did it happen?");
    expect(await road.ended(id)).toMatchObject({
      status: "done",
      reason: "It rounded down.",
      plan: null,
      attempts: [],
    });
    const last = madeBy(server.journal(), "planner").at(-1);
    if (last === undefined) throw new Error("the planner was not asked");
    expect(fences(last).inside.filter(({ text }) => text.includes(pager.insight)).length).toBeGreaterThanOrEqual(1);
    expect(fences(last).outside).not.toContain(pager.insight);
    const uses = (await road.audit((await road.task(id)).trace_id)).filter(
      ({ details }) => details.tool === "memory_search",
    );
    expect(uses).toMatchObject([{ decision: "intent", actor: "planner" }]);
  });
});
