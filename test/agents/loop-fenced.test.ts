/** What a loop makes of results that come in fences, as all of them do: of their words, and of their sameness. */
import { describe, expect, it } from "vitest";
import { openLoop } from "../../src/agents/loop.ts";
import { withResult } from "../../src/agents/loop-act.ts";
import type { LoopState } from "../../src/agents/mind.ts";
import { asData } from "../../src/domain/context.ts";
import { judge } from "../../src/domain/stuck.ts";
import { limits } from "../../src/limits.ts";
import { loopWorld, says } from "../fakes/loops.ts";

type Made = readonly [tool: string, args: object, text: string, is_error?: boolean];
const data = (text: string, source = "file_read") => asData(text, { taint: "member", source });
const four = (make: (at: number) => Made): Made[] => [1, 2, 3, 4].map(make);

/** After how many calls it is taken for looping; null when it never is. */
function loopsAfter(calls: readonly Made[], wrapped = data): number | null {
  let state: LoopState = { ...openLoop(0), steps: 1 };
  for (const [at, [tool, args, text, is_error = false]] of calls.entries()) {
    const pending = [{ call_id: `${at}-1`, tool, arguments: JSON.stringify(args) }];
    state = withResult({ ...state, at: "act", pending }, { text: wrapped(text, tool), is_error }, 0).state;
    if (judge({ ...state, max_steps: 100, thinks: true }, 0) !== null) return at + 1;
  }
  return null;
}

describe("results in their fences", () => {
  const silent = (at: number) => `The command ended with exit code 0, after 0.${at} s.\nIt printed nothing.`;
  const long = "packages/some-service/src/features/checkout/components/summary/server.ts";
  const ordinary: Record<string, Made[]> = {
    "edits of one file": four((at) => [
      "file_edit",
      { path: "a.ts", old_text: `old${at}`, new_text: "x" },
      `Edited a.ts in one place; there are now ${at} lines there.`,
    ]),
    "edits of a file far down": four((at) => [
      "file_edit",
      { path: long, old_text: `old${at}`, new_text: "x" },
      `Edited ${long} in one place; there are now ${at} lines there.`,
    ]),
    "silent commands": ["mkdir -p src/a", "cp src/x src/a/x", "sed -i s/a/b/ src/a/x", "git mv src/q src/r"].map(
      (command, at) => ["shell_execute", { command }, silent(at)],
    ),
    "numbered files": four((at) => [
      "file_write",
      { path: `${long}/${at}.sql`, content: "x".repeat(at) },
      `Created ${long}/${at}.sql: ${at} lines.`,
    ]),
    "pages of a table": four((at) => [
      "file_read",
      { path: "data.csv", start_line: at * 400 },
      Array.from({ length: 60 }, (_, row) => `${row * at},${row + at}`).join("\n"),
    ]),
  };
  const words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
  const each = (make: (word: string, at: number) => Made): Made[] => words.map(make);
  const none = "The command ended with exit code 1, after 0.2 s.\nIt printed nothing.";
  Object.assign(ordinary, {
    "greps that find nothing": each((word) => ["shell_execute", { command: `grep -rn ${word} src` }, none, true]),
    "questions answered by a code": each((word) => [
      "shell_execute",
      { command: `test -f src/${word}.ts` },
      none,
      true,
    ]),
    "passing tests of other files": each((word, at) => [
      "shell_execute",
      { command: `npx vitest run test/${word}.test.ts` },
      `✓ test/${word}.test.ts (3 tests) ${at} ms\nTest Files 1 passed (1)\nTests 3 passed (3)\nDuration ${at}.2s`,
    ]),
    "pages of numbers": each((_, at) => [
      "shell_execute",
      { command: `sed -n '${at * 50},${at * 50 + 49}p' data.csv` },
      Array.from({ length: 50 }, (_row, row) => `${at * 50 + row},${row * at}`).join("\n"),
    ]),
    "reads of names that are not there": each((word) => [
      "file_read",
      { path: `src/${word}` },
      `There is no src/${word}.`,
      true,
    ]),
  } satisfies Record<string, Made[]>);
  for (const [name, calls] of Object.entries(ordinary))
    it(`[STUCK-6] ordinary work is no looping: ${name}`, () => {
      expect(
        loopsAfter([...calls, ...calls.map(([tool, args, text]): Made => [tool, { ...args, more: 1 }, text])]),
      ).toBeNull();
      // A word of ours beside the fence makes no short result a long one.
      const noticed = (text: string, source?: string) =>
        `There is no tool "Bash": another was taken instead. Call it so.\n${data(text, source)}`;
      expect(loopsAfter(calls, noticed)).toBeNull();
    });
  it("[STUCK-6] the same call with the same result still is, in a fence too", () => {
    expect(
      loopsAfter(four(() => ["file_edit", { path: "a.ts" }, "Edited a.ts in one place; there are now 3 lines there."])),
    ).toBe(3);
    const clock = (at: number) => `${"a line that stays as it is\n".repeat(4)}at 12:00:0${at}`;
    expect(loopsAfter(four((at) => ["file_read", { path: "log.txt" }, clock(at)]))).toBe(3);
    expect(
      loopsAfter(four((at) => ["file_read", { path: `${at}` }, "the very same words of a long file ".repeat(5)])),
    ).toBeNull();
  });
  it("[FALL-4] an error's tag in data that was read is a line like any other, however much of it was cut", async () => {
    const tag = "<tool_use_error>Error: No such tool available: Bash</tool_use_error>";
    const cut = `${tag}\n${"a line of the file\n".repeat(limits.tool_result_bytes / 10)}${tag}`;
    const two = `${data(cut)}\n\n${data(`${cut} `)}`;
    for (const text of [data(tag), `Found.\n\n${data("a")}\n\n${data(tag)}`, data(cut), two]) {
      const both = says([
        ["shell_execute", { command: "x" }],
        ["finish", { summary: "done" }],
      ]);
      const w = loopWorld({ script: () => both, run: () => ({ kind: "result", text, is_error: false }) });
      expect(await w.toTheEnd()).toMatchObject({ kind: "answered", state: { tool_errors: 0 } });
      expect(w.models.requests).toHaveLength(1);
    }
  });
});
