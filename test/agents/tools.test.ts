import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Authorization } from "../../src/agents/bus.ts";
import type { WebSearch } from "../../src/agents/ports.ts";
import { ownTools } from "../../src/agents/tools/chain.ts";
import { attemptGuard, useGuard } from "../../src/agents/tools/guard.ts";
import { canonicalJson } from "../../src/domain/canonical.ts";
import { defaultPolicy, resolve } from "../../src/domain/policy.ts";
import { readingTools, touchOf } from "../../src/domain/policy-call.ts";
import { limits } from "../../src/limits.ts";
import { asker, full, good, mismatch, opened, ref } from "../fakes/toolboxes.ts";

describe("the tools of an agent", () => {
  it("[TOOL-1] nothing of a call reaches the sandbox, the memory or the web before the runtime said that it may", async () => {
    const answers: Authorization[] = [
      { answer: "run" },
      { answer: "wait" },
      { answer: "stale", reason: "gone" },
      { answer: "refused", error_code: "gate_blocked", reason: "no", scope: "call" },
      { answer: "refused", error_code: "gate_blocked", reason: "no", scope: "attempt" },
    ];
    let ran = 0;
    const names = fc.constantFrom(...Object.keys(good), "rm", "constructor");
    const step = fc.record({
      tool: names,
      answer: fc.oneof(fc.constant(answers[0]), fc.constantFrom(...answers)),
      call_id: fc.constantFrom("a", "b"),
      odd: fc.nat(9).map((die) => die === 0),
      /** The same call as before, with what was stored of it; or with that what is another call. */
      next: fc.constantFrom("again", "again", "again", "stored", "new"),
      research: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 10 }), async (steps) => {
        const w = await opened();
        const allowed = new Set<string>();
        let touched = 0;
        const outside = () => {
          touched++;
          return [];
        };
        w.minds.memories = outside;
        const search: WebSearch = { search: async () => outside() };
        interface Call {
          readonly call_id: string;
          readonly tool: string;
          readonly value: unknown;
        }
        const before: { call: Call; progress: unknown }[] = [];
        for (const each of steps) {
          const answer = each.answer ?? { answer: "run" };
          w.bus.authorizing = () => answer;
          w.minds.using = () =>
            answer.answer === "run" ? { answer: "run" } : { answer: "refused", rule: "r", reason: "no" };
          const research = useGuard(w.minds, { ...asker, run_id: "r", tools_allowed: null });
          const box = w.make(each.research ? research : attemptGuard(w.bus, ref), full, search);
          const value = each.odd || !Object.hasOwn(good, each.tool) ? { path: 1 } : good[each.tool];
          const own = { call_id: each.call_id, tool: each.tool, value };
          const last = before.at(-1) ?? null;
          const call: Call = each.next === "again" && last !== null ? last.call : own;
          const outsideBefore = w.asked.length + touched;
          const asked = w.bus.asked.length + w.minds.used.length;
          // The tame runtime lets two calls have one id, which the sandbox does not.
          const move = await box.run(call, each.next === "new" ? null : (last?.progress ?? null)).catch(mismatch);
          const which = canonicalJson(call);
          if (w.bus.asked.length + w.minds.used.length > asked && answer.answer === "run") allowed.add(which);
          const reached = w.asked.length + touched > outsideBefore;
          expect(reached && !allowed.has(which)).toBe(false);
          if (reached) ran++;
          if (move?.kind === "working") before.push({ call, progress: JSON.parse(canonicalJson(move.progress)) });
        }
      }),
      { numRuns: 120 },
    );
    expect(ran).toBeGreaterThan(30);
  });
  it("[TOOL-2] an object that dies before each commit runs nothing twice and tells the same", async () => {
    for (const [tool, value] of Object.entries(good)) {
      const [once, twice] = [await opened(), await opened()];
      const told = await once.call(tool, value, { call_id: "c" });
      expect(await twice.call(tool, value, { call_id: "c", dies: true }), tool).toEqual(told);
      expect(told.kind, tool).toBe("result");
      expect(twice.memory.begun.length, tool).toBe(once.memory.begun.length);
      expect(twice.memory.begun.length <= 1, tool).toBe(true);
      expect(once.bus.settled.length, tool).toBe(1);
      expect(await twice.content("src/a.txt")).toBe(await once.content("src/a.txt"));
    }
  });
  it("[TOOL-2] an edit is made once, though its own text can be edited again", async () => {
    const w = await opened();
    const edit = { path: "src/a.txt", old_text: "one", new_text: "one one", replace_all: true };
    expect(await w.call("file_edit", edit, { dies: true })).toMatchObject({ kind: "result", is_error: false });
    expect(await w.content("src/a.txt")).toBe("one one\ntwo\nthree\n");
  });
  it("[TOOL-3] a call that is refused is told why; a person's turn and the end of the attempt stop the loop", async () => {
    const w = await opened();
    const shell = { command: "speak" };
    w.bus.authorizing = () => ({ answer: "refused", error_code: "gate_blocked", reason: "tool:x: no", scope: "call" });
    const told = await w.call("shell_execute", shell);
    expect(told).toMatchObject({ kind: "result", is_error: true, text: expect.stringContaining("tool:x: no") });
    w.bus.authorizing = () => ({ answer: "wait" });
    expect(await w.call("shell_execute", shell)).toEqual({ kind: "asks" });
    for (const entry of [
      { answer: "stale", reason: "gone" },
      { answer: "refused", error_code: "approval_denied", reason: "no", scope: "attempt" },
    ] as const) {
      w.bus.authorizing = () => entry;
      expect(await w.call("shell_execute", shell)).toEqual({ kind: "stopped", entry });
    }
    expect(w.memory.begun).toEqual([]);
    expect(w.bus.settled).toEqual([]);
  });
  it("[TOOL-4] policy sees every path, folder and command of a call, takes no text for one, and finds nothing odd", async () => {
    const w = await opened();
    expect(
      w
        .make()
        .tools.map((tool) => tool.offer.name)
        .sort(),
    ).toEqual(Object.keys(good).sort());
    const seen = Object.fromEntries(
      Object.entries(good).map(([tool, args]) => {
        const touch = touchOf({ tool, args });
        expect([tool, touch.odd, touch.hosts]).toEqual([tool, null, []]);
        return [tool, { paths: touch.paths, cwd: touch.cwd, script: touch.script, writes: touch.writes }];
      }),
    );
    const none = { paths: [], cwd: ".", script: null };
    expect(seen).toEqual({
      file_read: { ...none, paths: ["src/a.txt"], writes: false },
      file_write: { ...none, paths: ["src/new.txt"], writes: true },
      file_edit: { ...none, paths: ["src/a.txt"], writes: true },
      list_directory: { ...none, paths: ["src"], writes: false },
      search_files: { ...none, paths: ["src"], writes: false },
      shell_execute: { ...none, cwd: "src", script: "speak", writes: true },
      python_execute: { ...none, cwd: "src", writes: true },
      skill_execute: { ...none, writes: true },
      git_status: { ...none, writes: false },
      git_diff: { ...none, paths: ["src"], writes: false },
      git_log: { ...none, paths: ["src/a.txt"], writes: false },
      git_blame: { ...none, paths: ["src/a.txt"], writes: false },
      git_add: { ...none, paths: ["src/a.txt", "README.md"], writes: true },
      git_commit: { ...none, writes: true },
      memory_search: { ...none, writes: false },
      web_search: { ...none, writes: false },
    });
  });
  it("[TOOL-4] which tools only read is the policy's word too, and a path that leads away is denied in each of them", async () => {
    const w = await opened();
    const research = useGuard(w.minds, { ...asker, run_id: "r", tools_allowed: null });
    for (const { offer } of w.make(research).tools) expect(readingTools).toContain(offer.name);
    for (const { name, reads_only } of ownTools({ searches_web: true }).values())
      expect([name, reads_only]).toEqual([name, readingTools.includes(name)]);
    const context = { role: "crew", taint: "owner", holds_secret: false, token: null } as const;
    for (const [tool, args] of Object.entries(good))
      for (const key of ["path", "paths", "cwd"].filter((name) => name in args)) {
        const away = key === "paths" ? ["../x"] : "../x";
        const resolved = resolve(defaultPolicy, { tool, args: { ...args, [key]: away } }, context);
        expect([tool, key, resolved.rule]).toEqual([tool, key, "argument:outside-workspace"]);
      }
  });
  it("[TOOL-5] arguments that are not a tool's are told so that they can be mended; null is taken for left out", async () => {
    const { make } = await opened();
    const read = (tool: string, args: unknown) =>
      make()
        .tools.find(({ offer }) => offer.name === tool)
        ?.read(args);
    expect(read("file_read", { file: "a" })).toMatchObject({
      ok: false,
      why: expect.stringMatching(/file_read.*"path".*It takes path, start_line, max_lines\./),
    });
    expect(read("file_read", { path: "a", start_line: null })).toEqual({ ok: true, value: { path: "a" } });
    expect(read("file_read", { path: null })).toMatchObject({ ok: false });
    for (const odd of [null, "x", [], 1]) expect(read("git_status", odd)).toMatchObject({ ok: false });
    expect(read("file_write", { path: "a", content: "\ud800" })).toMatchObject({
      ok: false,
      why: expect.stringContaining("broken character"),
    });
    const large = read("file_write", { path: "a", content: "x".repeat(limits.tool_file_bytes) });
    expect(large).toMatchObject({ ok: false, why: expect.stringContaining("parts") });
    expect(read("shell_execute", { command: "a\0b" })).toMatchObject({ ok: false });
    expect(read("shell_execute", { command: "x".repeat(limits.tool_command_bytes + 1) })).toMatchObject({ ok: false });
    for (const commit of ["--output=x", "", "a b", "$(x)"])
      expect(read("git_log", { commit }), commit).toMatchObject({ ok: false });
    expect(read("search_files", { pattern: "a\nb" })).toMatchObject({ ok: false });
    expect(read("search_files", { pattern: "a", include: "../*.ts" })).toMatchObject({ ok: false });
  });
  it("[TOOL-5] each tool is offered with a schema of its arguments that takes nothing besides", async () => {
    const { make } = await opened();
    for (const { offer, read, ends } of make().tools) {
      expect(offer.parameters).toMatchObject({ type: "object", additionalProperties: false });
      expect(offer.parameters).not.toHaveProperty("$schema");
      expect(offer.description.length).toBeGreaterThan(30);
      expect(read(good[offer.name])).toEqual({ ok: true, value: good[offer.name] });
      expect(read({ ...good[offer.name], also: 1 })).toMatchObject({ ok: false });
      expect(ends).toBe(false);
    }
  });
});
