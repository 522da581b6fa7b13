/** Work as agents do it, in the words that our tools say, in their fences: what is a circle, and what is only work. */
import { describe, expect, it } from "vitest";
import { openLoop } from "../../src/agents/loop.ts";
import { withResult } from "../../src/agents/loop-act.ts";
import type { LoopState } from "../../src/agents/mind.ts";
import { tellRun } from "../../src/agents/tools/results.ts";
import type { Told } from "../../src/agents/tools/tool.ts";
import { asData } from "../../src/domain/context.ts";
import { judge } from "../../src/domain/stuck.ts";

type Made = readonly [tool: string, args: object, told: Told];

/** After how many calls it is taken for looping; null when it never is. */
function loopsAfter(calls: readonly Made[]): number | null {
  let state: LoopState = { ...openLoop(0), steps: 1 };
  for (const [at, [tool, args, { text, is_error }]] of calls.entries()) {
    const pending = [{ call_id: `${at}-1`, tool, arguments: JSON.stringify(args) }];
    const fenced = asData(text, { taint: "member", source: tool });
    state = withResult({ ...state, at: "act", pending }, { text: fenced, is_error }, 0).state;
    if (judge({ ...state, max_steps: 1_000, thinks: true }, 0) !== null) return at + 1;
  }
  return null;
}

let runs = 0;
/** Each takes another time, as commands do. */
function ran(command: string, output = "", exit_code = 0): Made {
  const ended = { state: "exited", exit_code, signal: null, duration_ms: 100 + ((runs++ * 37) % 2_000) } as const;
  return ["shell_execute", { command }, tellRun("The command", { ended, output })];
}
function edit(at: number): Made {
  const args = { path: "src/a.ts", old_text: `old ${at}`, new_text: `new ${at}` };
  return ["file_edit", args, { text: "Edited src/a.ts in one place; there are now 1 line there.", is_error: false }];
}
const many = (count: number, make: (at: number) => Made): Made[] => Array.from({ length: count }, (_, at) => make(at));
const vitest = (failed: number) =>
  ` Test Files  1 failed (1)\n      Tests  ${failed} failed | ${100 - failed} passed (100)\n   Start at  10:00:0${failed % 10}\n   Duration  1.0${failed % 7}s`;

describe("work that gets on", () => {
  const work: Readonly<Record<string, readonly Made[]>> = {
    "files removed one at a time": many(14, (at) => ran(`rm old/file${at}.txt`)),
    "folders made one at a time": many(14, (at) => ran(`mkdir ${at}`)),
    "migrations moved one at a time": many(14, (at) => ran(`git mv migrations/${at}.sql db/${at}.sql`)),
    "lines replaced one at a time": many(14, (at) => ran(`sed -i '${at * 7}s/foo/bar/' src/a.ts`)),
    "tests of other files that say ok": many(14, (at) =>
      ran(`node --test test/case${at}.test.js > /dev/null && echo ok`, "ok"),
    ),
    "searches that find nothing": many(14, (at) => ran(`grep -rn 'TODO-${at}' src`, "", 1)),
    "a file that grows": [10, 40, 90, 140].map((lines) => ran("wc -l out.csv", `${lines} out.csv`)),
    "a build that gets on": [10, 40, 80].map((done) => ran("tail -1 build.log", `[${done}/100] compiling`)),
    "percents that grow": [10, 40, 90].map((done) => ran("cat progress", `${done} %`)),
    "fewer failing tests after each edit": [50, 40, 30, 20, 10, 2].flatMap((failed, at) => [
      edit(at),
      ran("npx vitest run 2>&1 | tail -4", vitest(failed), 1),
    ]),
    "fewer errors of the compiler after each edit": [50, 43, 38, 30, 22, 15, 9, 4, 2, 1].flatMap((errors, at) => [
      edit(at),
      ran("npx tsc --noEmit | tail -1", `Found ${errors} errors in ${Math.ceil(errors / 3)} files.`, 2),
    ]),
    "edits and a check that passes silently": many(40, (at) => (at % 2 === 0 ? edit(at) : ran("npm run -s check"))),
    "twenty files, each read again": many(40, (at) => ran(`cat src/${at % 20}.ts`, `text of ${at % 20}`)),
  };
  for (const [name, calls] of Object.entries(work))
    it(`[STUCK-6] ordinary work is no looping: ${name}`, () => {
      expect(loopsAfter(calls)).toBeNull();
    });
});

describe("work that goes in circles", () => {
  it("[STUCK-7] another edit each time and the very same check, failing silently or with a word, is looping at its sixth failure", () => {
    for (const output of ["", "FAIL", vitest(3), `${"a line of a long report\n".repeat(2_000)}1 failed`])
      expect(loopsAfter(many(90, (at) => (at % 2 === 0 ? edit(at) : ran("make check", output, 1))))).toBe(12);
  });
  it("[STUCK-2] five calls round and round are looping, and so is an edit that is made and taken back", () => {
    expect(loopsAfter(many(100, (at) => ran(`cat f${at % 5}`, `text of f${at % 5}`)))).toBe(17);
    const toggled = many(60, (at) => (at % 2 === 0 ? edit((at / 2) % 2) : ran("npm test", "1 passed in 0.3s")));
    expect(loopsAfter(toggled)).toBeLessThanOrEqual(16);
  });
  it("[STUCK-1] the very same command with the very same output, in another time each, is looping at the third", () => {
    expect(loopsAfter(many(9, () => ran("npm test", "1 failed in 0.3s", 1)))).toBe(3);
    expect(loopsAfter(many(9, () => ran("sleep 60; tail -1 build.log", "12:00:01 waiting")))).toBe(3);
  });
});
