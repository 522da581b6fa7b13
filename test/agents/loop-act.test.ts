/** What a loop does with the calls of an answer: right, wrong, misnamed, under way, and too many. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ToolMove } from "../../src/agents/mind.ts";
import { byteLength } from "../../src/domain/canonical.ts";
import { limits } from "../../src/limits.ts";
import { ends, finish, loopWorld, reader, says, shell, tool } from "../fakes/loops.ts";

const then = (first: ReturnType<typeof says>) => (_: unknown, at: number) => (at === 0 ? first : ends);

describe("the calls of an answer", () => {
  it("[MODEL-38] one that held a key of the deployment is not run, and the model is told why", async () => {
    const seen: unknown[] = [];
    const asked = says([["shell_execute", { command: "curl -H [key]" }]]);
    const w = loopWorld({
      script: then({ ...asked, calls: asked.calls.map((call) => ({ ...call, holds_key: true as const })) }),
      run: (call) => {
        seen.push(call);
        return { kind: "result", text: "ran", is_error: false };
      },
    });
    for (let step = 0; step < 2; step++) w.commit(await w.take());
    const { turns } = await w.take();
    expect(turns).toMatchObject([
      { kind: "result", is_error: true, text: expect.stringContaining("a key of this deployment stood in it") },
    ]);
    expect([seen, w.row.state.repairs]).toEqual([[], 0]);
  });
  it("[LOOP-6] one under way is looked at with what was stored of it, until it has its result", async () => {
    const seen: unknown[] = [];
    const moves: ToolMove[] = [
      {
        kind: "working",
        progress: { offset: 0 },
        wait_ms: 5,
        effects: [{ decision: "intent", reason: "tool_call", details: { id: "x" } }],
      },
      { kind: "working", progress: { offset: 3 }, wait_ms: 7, output: new TextEncoder().encode("abc") },
      { kind: "result", text: "abc", is_error: false, output: new TextEncoder().encode("d") },
    ];
    const w = loopWorld({
      script: then(says([["shell_execute", { command: "x" }]])),
      run: (_, progress) => {
        seen.push(progress);
        return moves[seen.length - 1] ?? { kind: "lost", detail: "none" };
      },
    });
    for (let step = 0; step < 2; step++) w.commit(await w.take());
    const first = await w.take();
    expect(first).toMatchObject({
      kind: "on",
      wait_ms: 5,
      turns: [],
      effects: [{ reason: "tool_call" }],
      state: { progress: { offset: 0 } },
    });
    w.commit(first);
    w.clock.at += 50;
    const second = await w.take();
    expect(second).toMatchObject({ wait_ms: 7, output: moves[1]?.kind === "working" ? moves[1].output : null });
    expect(second.state.moved_at).toBe(w.clock.at);
    expect(first.state.moved_at).toBe(w.clock.at - 50);
    w.commit(second);
    expect(await w.take()).toMatchObject({
      output: new TextEncoder().encode("d"),
      turns: [{ kind: "result", text: "abc" }],
      state: { at: "think", progress: null },
    });
    expect(seen).toEqual([null, { offset: 0 }, { offset: 3 }]);
  });
  it("[LOOP-6] what stops the run, asks, or is lost is told as it came, and nothing is added to the conversation", async () => {
    const moves: ToolMove[] = [
      { kind: "asks" },
      { kind: "stopped", entry: { answer: "stale", reason: "gone" } },
      { kind: "lost", detail: "the sandbox is gone" },
    ];
    for (const move of moves) {
      const w = loopWorld({
        script: then(
          says([
            ["shell_execute", { command: "x" }],
            ["file_read", { path: "a" }],
          ]),
        ),
        run: () => move,
      });
      expect(await w.toTheEnd()).toMatchObject({ ...move, turns: [] });
      expect(w.row.state.pending.map(({ call_id }) => call_id)).toEqual(["1-1", "1-2"]);
    }
  });
  it("[LOOP-6] a failure of the role's world is the role's to judge, and changes nothing", async () => {
    const w = loopWorld({
      script: then(says([["shell_execute", { command: "x" }]])),
      run: () => {
        throw new Error("the sandbox is away");
      },
    });
    for (let step = 0; step < 2; step++) w.commit(await w.take());
    await expect(w.take()).rejects.toThrow("away");
  });
  it("[LOOP-7] arguments that are not JSON, or not the tool's, go back with what is wrong and how they should look", async () => {
    for (const [args, why] of [
      ['{"command": "ls', "not JSON"],
      ['{"order":"ls"}', "not what it takes"],
      ["[]", "not what it takes"],
    ] as const) {
      const w = loopWorld({ script: then(says([["shell_execute", args]])) });
      await w.toTheEnd();
      expect(w.ran).toEqual([]);
      const [result] = w.results();
      expect(result).toMatchObject({ call_id: "1-1", is_error: true });
      expect(result?.text).toContain(why);
      expect(result?.text).toContain('"command":{"type":"string"}');
      expect(w.row.state).toMatchObject({ repairs: 0, tool_errors: 1 });
    }
  });
  it("[LOOP-7] the second such answer in a row is the end; one good answer between them and it is not", async () => {
    const bad = says([
      ["file_read", "{"],
      ["shell_execute", { command: "x" }],
    ]);
    const good = says([["file_read", { path: "a" }]]);
    const w = loopWorld({ script: () => bad });
    expect(await w.toTheEnd()).toMatchObject({ kind: "failed", error_code: "tool_failure", retryable: true });
    // What was good in the first of them was run.
    expect(w.ran.map(({ call_id }) => call_id)).toEqual(["1-2"]);
    expect(w.models.requests).toHaveLength(2);
    const mended = loopWorld({ script: (_, at) => [bad, good, bad, ends][at] ?? ends });
    expect(await mended.toTheEnd()).toMatchObject({ kind: "answered" });
  });
  it("[LOOP-8] words without a call are sent back once with the names of the tools, then are the end", async () => {
    const w = loopWorld({ script: () => says([], { text: "I think that is all." }) });
    expect(await w.toTheEnd()).toMatchObject({ kind: "failed", retryable: true });
    expect(w.row.turns.map(({ kind }) => kind)).toEqual(["told", "said", "told", "said"]);
    expect(w.row.turns[2]).toMatchObject({
      text: expect.stringContaining("Call one of: shell_execute, file_read, finish."),
    });
    const cut = loopWorld({ script: then(says([], { text: "so", finish: "length" })) });
    await cut.toTheEnd();
    expect(cut.row.turns[2]).toMatchObject({ text: expect.stringContaining("cut off after 1000 tokens") });
  });
  it("[LOOP-9] the tool that ends counts only when nothing that was called with it failed; what comes after it is not run", async () => {
    const w = loopWorld({
      script: (_, at) =>
        at === 0
          ? says([
              ["shell_execute", { command: "x" }],
              ["finish", { summary: "s" }],
            ])
          : ends,
      run: () => ({ kind: "result", text: "exit code 1", is_error: true }),
    });
    expect(await w.toTheEnd()).toMatchObject({ kind: "answered", call_id: "2-1" });
    expect(w.results()[1]).toMatchObject({
      tool: "finish",
      is_error: true,
      text: expect.stringContaining("1 call made together with it failed"),
    });
    const late = loopWorld({
      script: () =>
        says([
          ["finish", { summary: "s" }],
          ["shell_execute", { command: "x" }],
        ]),
    });
    expect(await late.toTheEnd()).toMatchObject({
      kind: "answered",
      turns: [{ call_id: "1-2", is_error: true, text: "not run: finish came before it" }],
    });
    expect(late.ran).toEqual([]);
  });
  it("[LOOP-12] a result is no longer than the limit: first and last part are kept, and how much is missing is said", async () => {
    for (const filler of ["a line of a log\n", "\u{1f600}", "ü"]) {
      const text = `FIRST${filler.repeat(Math.ceil(limits.tool_result_bytes / filler.length))}LAST`;
      const w = loopWorld({
        script: then(says([["file_read", { path: "a" }]])),
        run: () => ({ kind: "result", text, is_error: false }),
      });
      await w.toTheEnd();
      const said = w.results()[0]?.text ?? "";
      expect(byteLength(said)).toBeLessThanOrEqual(limits.tool_result_bytes);
      expect(byteLength(said)).toBeGreaterThan(limits.tool_result_bytes / 4);
      expect(said.startsWith("FIRST") && said.endsWith("LAST")).toBe(true);
      const gone = Number(/\[\.\.\. (\d+) of/.exec(said)?.[1]);
      expect(said).toContain(`${gone} of ${byteLength(text)} bytes left out`);
      expect(said.isWellFormed()).toBe(true);
    }
  });
  it("[LOOP-13] calls are named by their step and place, whatever the provider calls them; too many of one answer are not run", async () => {
    const many = Array.from(
      { length: limits.answer_calls + 2 },
      (_, at) => ["file_read", { path: `f${at}` }] as [string, unknown],
    );
    const w = loopWorld({
      script: (_, at) => (at < 2 ? says(many) : ends),
      run: ({ call_id, value }) => ({
        kind: "result",
        text: `${call_id} ${JSON.stringify(value)} told at length so that it says something of its own`,
        is_error: false,
      }),
    });
    await w.toTheEnd();
    expect(new Set(w.ran.map(({ call_id }) => call_id)).size).toBe(2 * limits.answer_calls);
    expect(w.results().filter(({ text }) => text.startsWith("not run: at most"))).toHaveLength(4);
    // Every call that the model sees has exactly one result.
    const asked = w.row.turns.flatMap((one) => (one.kind === "said" ? one.calls.map(({ call_id }) => call_id) : []));
    expect(
      w
        .results()
        .map(({ call_id }) => call_id)
        .sort(),
    ).toEqual(asked.filter((id) => id !== "3-1").sort());
  });
  it("[LOOP-13] arguments too long to be stored are left out and sent back", async () => {
    const w = loopWorld({
      script: then(says([["shell_execute", { command: "x".repeat(limits.answer_argument_bytes) }]])),
    });
    await w.toTheEnd();
    expect(w.ran).toEqual([]);
    expect(w.results()[0]).toMatchObject({ is_error: true, text: expect.stringContaining("not JSON") });
    expect(JSON.stringify(w.row.turns).length).toBeLessThan(10_000);
  });
  it("[LOOP-14] the log has the model's words, its calls and what went wrong, a line of each and no longer", async () => {
    const w = loopWorld({
      script: then(says([["shell_execute", { command: "y".repeat(9_000) }]], { text: "I begin" })),
    });
    let log = "";
    for (let steps = 0; steps < 4; steps++) {
      const move = await w.take();
      log += new TextDecoder().decode(move.output);
      w.commit(move);
    }
    expect(log).toContain("I begin\nshell_execute {");
    expect(log.length).toBeLessThan(2 * limits.loop_line_chars);
  });
});

describe("tools by another name", () => {
  it("[FALL-1] a name that can only mean one tool, with arguments that tool takes, is run as that tool, and the model is told", async () => {
    for (const [name, args, ran] of [
      ["Bash", { command: "ls" }, { tool: "shell_execute", value: { command: "ls" } }],
      ["functions.run_command", { cmd: "ls" }, { tool: "shell_execute", value: { command: "ls" } }],
      ["ReadFile", { file_path: "a" }, { tool: "file_read", value: { path: "a" } }],
      ["Shell_Execute", { command: "ls" }, { tool: "shell_execute", value: { command: "ls" } }],
    ] as const) {
      const w = loopWorld({ script: then(says([[name, args]])) });
      await w.toTheEnd();
      expect(w.ran).toMatchObject([ran]);
      expect(w.results()[0]).toMatchObject({ is_error: false, tool: name });
      expect(w.results()[0]?.text).toContain(`There is no tool "${name}": "${ran.tool}" was taken instead`);
    }
  });
  it("[FALL-1] names of arguments learned elsewhere are taken for the tool's own", async () => {
    const w = loopWorld({ script: then(says([["file_read", { file_path: "a" }]])) });
    await w.toTheEnd();
    expect(w.ran).toMatchObject([{ tool: "file_read", value: { path: "a" } }]);
    expect(w.results()[0]?.text).toContain("taken as path");
  });
  it("[FALL-2] what may mean several, does not fit, or would end the work is not run: the model is told which to use", async () => {
    const files = tool("search_files", z.strictObject({ pattern: z.string() }));
    const web = tool("web_search", z.strictObject({ pattern: z.string() }));
    const tools = [shell, reader, finish, files, web];
    for (const [name, args, hint] of [
      ["search", { pattern: "x" }, "Use search_files or web_search."],
      ["Bash", { commands: ["ls"] }, "Use shell_execute. shell_execute takes: "],
      ["Bash", "{", "Use shell_execute."],
      ["task_complete", { summary: "s" }, "Use finish."],
    ] as const) {
      const w = loopWorld({ tools, script: then(says([[name, args]])) });
      await w.toTheEnd();
      expect(w.ran).toEqual([]);
      expect(w.results()[0]).toMatchObject({ is_error: true });
      expect(w.results()[0]?.text).toContain(hint);
      expect(w.row.state.repairs).toBe(0);
    }
  });
  it("[FALL-2] a tool that nothing here replaces is skipped with the reason and the names there are", async () => {
    for (const name of ["browser_click", "__proto__", "constructor", ""]) {
      const w = loopWorld({
        script: then(
          says([
            [name, {}],
            ["file_read", { path: "a" }],
          ]),
        ),
      });
      await w.toTheEnd();
      expect(w.results()[0]?.text).toContain("the call was skipped. Call one of: shell_execute, file_read, finish.");
      expect(w.ran.map(({ tool: called }) => called)).toEqual(["file_read"]);
    }
  });
  it("[FALL-3] an error told in tags is understood: in words it is answered with the right name, in a result it is an error", async () => {
    const words = "<tool_use_error>Error: No such tool available: Bash</tool_use_error>";
    const w = loopWorld({ script: then(says([], { text: words })) });
    await w.toTheEnd();
    expect(w.row.turns[2]).toMatchObject({ kind: "told", text: expect.stringContaining("no tool was called") });
    expect(w.row.state.tool_errors).toBe(1);
    const named = loopWorld({
      script: then(says([], { text: '<tool_use_error>The tool "Bash" is not there</tool_use_error>' })),
    });
    await named.toTheEnd();
    expect(named.row.turns[2]).toMatchObject({ text: expect.stringContaining("Use shell_execute") });
    const told = loopWorld({
      script: then(says([["shell_execute", { command: "x" }]])),
      run: () => ({ kind: "result", text: words, is_error: false }),
    });
    await told.toTheEnd();
    expect(told.results()[0]).toMatchObject({ is_error: true });
    expect(told.row.state.tool_errors).toBe(1);
    expect(w.row.turns[2]).toMatchObject({ text: expect.stringContaining("Use shell_execute") });
  });
});
