/** What a scope remembers: written in the commit that makes it, found by words, bounded, and forgotten for an admin. */
import { describe, expect, it } from "vitest";
import { MemoryDoor } from "../../durable-objects/runtime/doors-memory.ts";
import { recall, remember, rememberInsights } from "../../durable-objects/runtime/memory.ts";
import { MemoryRows, memorySchema } from "../../durable-objects/runtime/memory-rows.ts";
import { applySchema } from "../../durable-objects/sql.ts";
import { memoryPieces } from "../../src/agents/memory-pieces.ts";
import { byteLength } from "../../src/domain/canonical.ts";
import { type MemoryKind, matchOf, memoryTexts, searchWords } from "../../src/domain/memory.ts";
import type { Taint } from "../../src/domain/message.ts";
import { limits } from "../../src/limits.ts";
import { must } from "../fakes/held-scope.ts";
import { nodeSql } from "../fakes/node-sql.ts";
import { openRuntime, planOf } from "../fakes/scope-runtime.ts";

type Runtime = ReturnType<typeof openRuntime>;
const plan = planOf(["echo hi"]);
function search(run: Runtime, query: string, kind: MemoryKind | null = null) {
  return run.scope.stores.memory.search({ query, kind, limit: 100, offset: 0 });
}
function learned(run: Runtime, id: string, text: string, more: { taint?: Taint; cause?: string } = {}): void {
  const { cause = text, ...rest } = more;
  run.scope.commit((tx) =>
    remember(tx, { cause, kind: "discovery", title: text.slice(0, 20), text, task: run.taskRow(id), ...rest }),
  );
}
function asks(run: Runtime, id: string, query: string, limit = 10) {
  return run.scope.commit((tx) => recall(tx, { task_id: id }, query, limit));
}
async function aTask(): Promise<[Runtime, string]> {
  const run = openRuntime();
  return [run, must(await run.ask(run.ada, { plan }))];
}

describe("what is remembered", () => {
  it("[MEM-1] an approved plan: title, goal and items, once; a plan that waits or was denied is not", async () => {
    const [run, id] = await aTask();
    await run.observe(run.planResult(id, plan));
    expect(search(run, "")).toEqual([]);
    must(await run.approve(await run.onlyCard(id)));
    expect(search(run, "")).toMatchObject([
      {
        kind: "plan",
        title: "A plan",
        text: "Task: A task\nGoal: A goal\nItems:\n- a: a",
        task_id: id,
        taint: "owner",
      },
    ]);
    const [other, denied] = await aTask();
    await other.observe(other.planResult(denied, plan));
    must(await other.deny(await other.onlyCard(denied), "Not on a Friday."));
    expect(search(other, "").map(({ kind }) => kind)).toEqual(["decision"]);
  });
  it("[MEM-2] a decision with what was said; one without a word is not", async () => {
    const [run, id] = await aTask();
    await run.observe(run.planResult(id, plan));
    must(await run.changes(await run.onlyCard(id), "Use the old parser."));
    expect(search(run, "parser")).toMatchObject([
      {
        kind: "decision",
        text: expect.stringMatching(/^request changes: Use the old parser\.\nDecided about: .+\nTask: A task$/),
      },
    ]);
    expect(search(run, "", "decision")).toHaveLength(1);
  });
  it("[MEM-3] insights, each once, on record, with the taint of the task that made them", async () => {
    const [run, id] = await aTask();
    run.rows.tasks.put({ ...run.taskRow(id), taint: "web" });
    const insights = [
      { kind: "gotcha", text: "Build twice.\nThe first build writes a cache." },
      { kind: "pattern", text: " " },
    ] as const;
    for (const _ of [1, 2])
      run.scope.commit((tx) =>
        rememberInsights(tx, { ...run.taskRow(id), taint: "owner" }, "attempt-1.0", [...insights]),
      );
    expect(search(run, "")).toMatchObject([{ kind: "gotcha", title: "Build twice.", taint: "web", task_id: id }]);
    expect(run.audit("transition").filter(({ decision }) => decision === "insights_kept")).toMatchObject([
      { details: { cause: "attempt-1.0", count: 2 } },
      {},
    ]);
    const many = Array.from({ length: 60 }, (_, at) => ({ kind: "discovery", text: `found ${at}` }) as const);
    run.scope.commit((tx) => rememberInsights(tx, run.taskRow(id), "attempt-2.0", many));
    expect(search(run, "", "discovery")).toHaveLength(limits.memory_insights_at_once);
    run.scope.commit((tx) => rememberInsights(tx, run.taskRow(id), "attempt-3.0", undefined));
  });
  it("[MEM-4] it is one commit with what made it: what is undone is not remembered", async () => {
    const [run, id] = await aTask();
    expect(() =>
      run.scope.commit((tx) => {
        remember(tx, { cause: "c", kind: "gotcha", title: "t", text: "words", task: run.taskRow(id) });
        throw new Error("undone");
      }),
    ).toThrow("undone");
    expect(search(run, "words")).toEqual([]);
    learned(run, id, "words");
    expect(search(openRuntime(run.sql), "words")).toHaveLength(1);
  });
  it("[MEM-5] a title is one line and a text has at most 8 KB, and says that it was cut", () => {
    const { title, text } = memoryTexts(`a\n\t${"b".repeat(500)}`, "é".repeat(10_000));
    expect([title.length, title.slice(0, 4)]).toEqual([limits.memory_title_chars, "a bb"]);
    expect(byteLength(text)).toBeLessThanOrEqual(limits.memory_text_bytes);
    expect(text.endsWith("é\n[cut]")).toBe(true);
    expect(memoryTexts("t", " whole ")).toEqual({ title: "t", text: "whole" });
  });
  it("[MEM-6] of too many what was forgotten makes room first, then the oldest insights, then the oldest", () => {
    const sql = nodeSql();
    applySchema(sql, "memory", memorySchema);
    const rows = new MemoryRows(sql, 4);
    const add = (id: string, kind: MemoryKind) =>
      rows.add({
        id,
        kind,
        title: id,
        text: `word ${id}`,
        task_id: null,
        taint: "owner",
        at: "2026-01-01T00:00:00.000Z",
      });
    const left = () => rows.search({ query: "", kind: null, limit: 10, offset: 0 }).map(({ id }) => id);
    for (const [id, kind] of [
      ["p1", "plan"],
      ["g1", "gotcha"],
      ["d1", "decision"],
      ["g2", "gotcha"],
    ] as const)
      expect(add(id, kind)).toBe(0);
    rows.forget("d1");
    expect(add("p2", "plan")).toBe(1);
    expect([rows.has("d1"), left()]).toEqual([false, ["p2", "g2", "g1", "p1"]]);
    add("p3", "plan");
    expect(left()).toEqual(["p3", "p2", "g2", "p1"]);
    add("p4", "plan");
    add("p5", "plan");
    expect(left()).toEqual(["p5", "p4", "p3", "p2"]);
    expect(rows.search({ query: "word", kind: null, limit: 10, offset: 0 })).toHaveLength(4);
  });
});

describe("searching it", () => {
  it("[MEM-7] any of the words will do, in any form; the best fit stands first, with the part that fits", async () => {
    const [run, id] = await aTask();
    learned(
      run,
      id,
      `${"Other things. ".repeat(60)}The pager rounds down in src/pager.ts. ${"More of it. ".repeat(60)}`,
    );
    learned(run, id, "Pager tests need a café.");
    learned(run, id, "Nothing to see.");
    const found = search(run, "PAGERS rounded");
    expect(found.map(({ title }) => title)).toEqual(["Other things. Other", "Pager tests need a c"]);
    expect(found[0]?.excerpt).toContain("The pager rounds down in src/pager.ts.");
    expect(found[0]?.excerpt.length).toBeLessThan(600);
    expect(search(run, "cafe")).toHaveLength(1);
    expect(search(run, "src/pager.ts")[0]?.title).toBe("Other things. Other");
    expect(search(run, "pager", "gotcha")).toEqual([]);
    expect(search(run, "").map(({ title }) => title)).toEqual([
      "Nothing to see.",
      "Pager tests need a c",
      "Other things. Other",
    ]);
  });
  it("[MEM-8] nothing of the search engine's own language comes from outside", async () => {
    const [run, id] = await aTask();
    learned(run, id, "alpha beta");
    const hostile = [
      ...[
        '"',
        "'",
        "*",
        "alpha*",
        "title:alpha",
        "alpha AND gamma",
        "NOT alpha",
        "alpha NEAR(beta)",
        '"alpha',
        "^alpha",
      ],
      ...["alpha) OR (beta", "-alpha", "alpha + beta", "\0", "{title text}: alpha", "x' UNION SELECT 1 --", "\u0300"],
    ];
    for (const query of hostile)
      expect([query, search(run, query).length]).toEqual([query, query.includes("alpha") ? 1 : 0]);
    expect(matchOf("title:NEAR(a)")).toBe('"title" OR "near" OR "a"');
    expect(matchOf(" -*- ")).toBe(null);
    const words = Array.from({ length: 100 }, (_, at) => "w".repeat(at + 1));
    expect(searchWords(words.join(" "))).toHaveLength(limits.memory_words);
    expect(searchWords("a the pagination")[0]).toBe("pagination");
    expect(search(run, "x".repeat(100_000))).toEqual([]);
  });
});

describe("recalling it", () => {
  it("[MEM-9] what is less trusted than the task that recalls it raises the task, on record; what is not does not", async () => {
    const [run, id] = await aTask();
    learned(run, id, "owner words");
    learned(run, id, "secret web words", { taint: "web" });
    const other = must(await run.ask(run.ada, { plan, title: "Another" }));
    expect(asks(run, other, "owner", 1)).toMatchObject([
      { kind: "discovery", taint: "owner", excerpt: "owner words", task_id: id },
    ]);
    expect(run.taskRow(other).taint).toBe("owner");
    const [found] = asks(run, other, "secret");
    expect(run.taskRow(other)).toMatchObject({ taint: "web" });
    expect(run.taskRow(other).taint_sources.at(-1)?.source).toBe(`memory ${found?.id}`);
    expect(run.audit("transition").filter(({ decision }) => decision === "taint_raised")).toHaveLength(1);
    expect(run.taskRow(id).taint).toBe("owner");
    expect(memoryPieces(found === undefined ? [] : [found])).toMatchObject([
      {
        kind: "memory",
        title: "discovery, secret web words",
        taint: "web",
        source: `memory ${found?.id} of ${found?.at.slice(0, 10)}`,
      },
    ]);
  });
  it("[MEM-10] it gives so many at most, and nothing to a task that is not there or a search without words", async () => {
    const [run, id] = await aTask();
    for (let at = 0; at < limits.memory_found + 5; at++) learned(run, id, `same words ${at}`);
    expect(asks(run, id, "same", 3)).toHaveLength(3);
    expect(asks(run, id, "same", 1_000)).toHaveLength(limits.memory_found);
    expect(asks(run, id, "same", -1)).toHaveLength(1);
    expect([asks(run, "none", "same"), asks(run, id, " "), asks(run, id, "***")]).toEqual([[], [], []]);
  });
});

describe("asked for another task's memories only", () => {
  it("[MEM-25] what the task itself has left is left out, before others are counted", async () => {
    const [run, id] = await aTask();
    for (let at = 0; at < 5; at++) learned(run, id, `same words of its own ${at}`);
    const other = must(await run.ask(run.ada, { plan }));
    learned(run, other, "same");
    const found = run.scope.commit((tx) => recall(tx, { task_id: id, others_only: true }, "same words own", 2));
    expect(found).toMatchObject([{ task_id: other }]);
    expect(asks(run, id, "same words own", 2).map(({ task_id }) => task_id)).toEqual([id, id]);
  });
});

describe("recalled when nobody asked for it", () => {
  const unasked = (run: Runtime, id: string, limit = 2) =>
    run.scope.commit((tx) => recall(tx, { task_id: id, unasked: true }, "same words", limit));
  it("[MEM-26] what strangers wrote is left out for whom it would taint, and takes no other's place", async () => {
    const [run, id] = await aTask();
    for (let at = 0; at < limits.memory_found + 5; at++) learned(run, id, `same words ${at}`, { taint: "outsider" });
    learned(run, id, "a member's, about something else; same", { taint: "member" });
    const other = must(await run.ask(run.ada, { plan, title: "Another" }));
    expect(unasked(run, other)).toMatchObject([{ taint: "member" }]);
    expect(run.taskRow(other).taint).toBe("member");
    expect(unasked(run, id)).toHaveLength(1);
    // Asked for by a tool it is given, and taints.
    expect(asks(run, other, "same words", 1)).toMatchObject([{ taint: "outsider" }]);
    expect(run.taskRow(other).taint).toBe("outsider");
    // To whom it taints no more than they are, it is told.
    expect(unasked(run, other)).toMatchObject([{ taint: "outsider" }, { taint: "outsider" }]);
  });
});

describe("having it forgotten", () => {
  it("[MEM-27] an insight goes from the attempt that told it, too, and the others stay in their places", async () => {
    const run = openRuntime(nodeSql(), () => true);
    const id = await run.going(plan);
    await run.begun();
    const [attempt] = run.attempts(id);
    if (attempt === undefined) throw new Error("there is no attempt");
    const insights = [
      { kind: "gotcha", text: ` the password is hunter2${" again".repeat(2_000)}` },
      { kind: "discovery", text: "there is a cache" },
    ] as const;
    run.rows.attempts.put({ ...attempt, insights: [...insights] });
    run.scope.commit((tx) => rememberInsights(tx, run.taskRow(id), `${attempt.id}.0`, [...insights]));
    const door = new MemoryDoor(run.scope, async () => {});
    const [memory] = search(run, "hunter2");
    must(await door.forgetMemory(run.as("root", "admin"), memory?.id ?? "", "a password"));
    expect(run.attempts(id)[0]?.insights).toEqual([{ kind: "gotcha", text: "" }, insights[1]]);
    expect(JSON.stringify(run.sql.all("SELECT * FROM attempts"))).not.toContain("hunter2");
    run.scope.commit((tx) => rememberInsights(tx, run.taskRow(id), `${attempt.id}.0`, run.attempts(id)[0]?.insights));
    expect(search(run, "", "gotcha")).toEqual([]);
    expect(search(run, "", "discovery")).toHaveLength(1);
  });
  it("[MEM-12] wipes title and text, in the index too; it is on record, is never recalled, and stays forgotten", async () => {
    const [run, id] = await aTask();
    const text = "the xylophone password is hunter2";
    learned(run, id, text, { cause: "c" });
    learned(run, id, "a xylophone");
    const door = new MemoryDoor(run.scope, async () => {});
    const admin = run.as("root", "admin");
    const [memory] = search(run, "password");
    for (const role of ["viewer", "submitter", "approver"] as const)
      expect(await door.forgetMemory(run.as("x", role), memory?.id ?? "", "no")).toMatchObject({
        refusal: { code: "forbidden" },
      });
    expect(await door.forgetMemory(admin, "none", "no")).toMatchObject({ refusal: { code: "memory_not_found" } });
    for (const reason of ["a password", "again"])
      expect(must(await door.forgetMemory(admin, memory?.id ?? "", reason))).toMatchObject({
        ...{ id: memory?.id, forgotten: true, title: "", text: "", excerpt: "" },
      });
    expect(run.audit("transition").filter(({ decision }) => decision === "memory_forgotten")).toMatchObject([
      { reason: "a password", details: { memory_id: memory?.id, kind: "discovery", by: "root" } },
    ]);
    expect([search(run, "password"), asks(run, id, "hunter2")]).toEqual([[], []]);
    expect(search(run, "xylophone")).toHaveLength(1);
    learned(run, id, text, { cause: "c" });
    expect(search(run, "password")).toEqual([]);
    const kept = run.sql.all<{ block: Uint8Array }>("SELECT block FROM memory_text_data");
    expect(kept.map(({ block }) => Buffer.from(block).toString("latin1")).join()).not.toContain("hunter2");
  });
  it("[MEM-13] people list it a page at a time", async () => {
    const [run, id] = await aTask();
    for (let at = 0; at < 5; at++) learned(run, id, `same words ${at}`);
    const door = new MemoryDoor(run.scope, async () => {});
    const seen: string[] = [];
    for (let offset = 0; offset < 6; offset += 2) {
      const page = must(await door.memories(run.ada, { query: "same", kind: null, limit: 2, offset }));
      seen.push(...page.items.map((memory) => memory.id));
      expect(page.next_cursor).toBe(offset < 4 ? String(offset + 2) : null);
    }
    expect([seen.length, new Set(seen).size]).toEqual([5, 5]);
  });
});
