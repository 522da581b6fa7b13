/** What is stored: rows that are parsed when read, pages of them, and data of newer code, which is left alone. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { AgentObject } from "../../durable-objects/agent-object.ts";
import { RuntimeObject } from "../../durable-objects/runtime-object.ts";
import { NewerData } from "../../durable-objects/sql.ts";
import { asked, countersigned, heldScope, planned } from "./driven.ts";
import { agentStub, inRuntime, makeScope, missing, must, refusalOf, task } from "./scope.ts";

describe("rows", () => {
  it("[ROW-1] come in pages, newest first, each once, by status too; an invented cursor ends the list", async () => {
    const scope = await heldScope();
    const made: string[] = [];
    for (let number = 0; number < 5; number++)
      made.unshift(must(await asked(scope, { title: `Task ${number}` })).body.id);
    must(await scope.runtime.cancelTask(scope.admin, made[0] ?? "", "x"));
    const page = async (cursor: string | null, status: string | null = null) =>
      must(await scope.runtime.tasks(scope.admin, { limit: 2, cursor, status }));
    const seen: string[] = [];
    for (let cursor: string | null = null; ; ) {
      const { items, next_cursor } = await page(cursor);
      seen.push(...items.map((each) => each.id));
      cursor = next_cursor;
      if (cursor === null) break;
    }
    expect(seen).toEqual(made);
    expect((await page(null, "cancelled")).items.map((each) => each.id)).toEqual([made[0]]);
    expect(await page("invented")).toEqual({ items: [], next_cursor: null });
  });

  it("[ROW-2] what is not there is refused by its own name", async () => {
    const scope = await makeScope();
    const { runtime, admin } = scope;
    const answers = await Promise.all([
      runtime.task(admin, "t-x"),
      runtime.taskEvents(admin, "t-x", { limit: 1, cursor: null }),
      runtime.patchKeys(admin, "t-x"),
      runtime.cancelTask(admin, "t-x", "x"),
      runtime.addMessage(admin, "t-x", "x"),
      runtime.approval(admin, "a-x"),
      runtime.agent(admin, "zoe"),
      runtime.attemptAgent(admin, "x"),
      runtime.removeRepo(admin, "https://example.com/x"),
    ]);
    const tasks = Array.from({ length: 5 }, () => "task_not_found");
    expect(answers.map((answer) => refusalOf(answer).code)).toEqual([
      ...tasks,
      "approval_not_found",
      "agent_not_found",
      "attempt_not_found",
      "repo_not_found",
    ]);
  });

  it("[ROW-3] a row that does not fit its schema is an error where it is read, never a guess", async () => {
    const { scope, task_id } = await countersigned();
    await inRuntime(scope, ({ sql, rows }) => {
      sql.run("UPDATE tasks SET doc = json_set(doc, '$.status', 'great')");
      expect(() => rows.tasks.get(task_id)).toThrow(/status/);
      sql.run("UPDATE tasks SET doc = json_set(doc, '$.status', 'active')");
    });
    expect(await task(scope, task_id)).toMatchObject({ status: "active" });
  });

  it("[ROW-4] a transaction that fails leaves nothing of itself: no row, no event, no audit, no message", async () => {
    const { scope, task_id } = await planned();
    const all = () =>
      inRuntime(scope, ({ sql, rows, audit, events, outbox }) => [
        rows.tasks.all(),
        audit.head(),
        events.newest(),
        outbox.waiting(),
        sql.all("SELECT * FROM sqlite_sequence"),
      ]);
    const before = await all();
    await inRuntime(scope, ({ sql, rows, events }) => {
      const row = rows.tasks.get(task_id) ?? missing("task");
      const failing = () =>
        sql.transaction(() => {
          rows.tasks.put({ ...row, title: "Half done" });
          events.append(
            "task_failed",
            { scope_id: scope.id, task_id, trace_id: null, actor: "x", surfaces: [], detail: null },
            0,
          );
          throw new Error("in the middle");
        });
      expect(failing).toThrow("in the middle");
    });
    expect(await all()).toEqual(before);
  });
});

describe("data of newer code", () => {
  it("[ROW-5] is refused as such by the runtime's object and an agent's, and nothing of it is written", async () => {
    const { scope } = await planned();
    const newer =
      (make: (state: DurableObjectState) => unknown) => async (_object: unknown, state: DurableObjectState) => {
        const { sql } = state.storage;
        const dump = () =>
          JSON.stringify([
            sql.exec("SELECT * FROM schema_versions").toArray(),
            sql.exec("SELECT name, sql FROM sqlite_master").toArray(),
            sql.exec("SELECT * FROM outbox").toArray(),
            sql.exec("SELECT * FROM audit_chain").toArray(),
          ]);
        sql.exec("UPDATE schema_versions SET version = 99 WHERE part = 'audit'");
        const before = dump();
        expect(() => make(state)).toThrow(NewerData);
        expect(dump()).toBe(before);
        sql.exec("UPDATE schema_versions SET version = 1 WHERE part = 'audit'");
        expect(() => make(state)).not.toThrow();
      };
    await runInDurableObject(
      scope.stub,
      newer((state) => new RuntimeObject(state, env)),
    );
    await runInDurableObject(
      agentStub(scope, "planner"),
      newer((state) => new AgentObject(state, env)),
    );
  });
});
