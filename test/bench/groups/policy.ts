/** How many tool calls a policy judges a second, by what has to be read for it, beside the bare parser on the same text. */
import { parse } from "unbash";
import { defaultPolicy, resolve } from "../../../src/domain/policy.ts";
import type { CallContext, ToolCall } from "../../../src/domain/policy-call.ts";
import { maxScriptBytes, readShell } from "../../../src/domain/shell.ts";
import { median, medianRatio, type Runner, takeTurns } from "../stats.ts";
import type { Row, Table } from "../table.ts";
import type { Group, World } from "../world.ts";

const nothing = "nothing: it is decided in memory";
const tenLines = `set -euo pipefail
cd packages/app
npm ci --ignore-scripts
npx vitest run --reporter=dot > out/log.txt 2>&1
if [ -f out/log.txt ]; then
  grep -c "passed" out/log.txt
  sed -n '1,20p' out/log.txt
fi
git status --short && git diff --stat
timeout 60 node scripts/report.js --format json | tee out/report.json`;
const line = "grep -n \"a word\" src/file.ts | head -3 && echo 'done with it' > out/file.txt\n";
/** As long, and with as many commands, as a script may be. */
const longest = [
  ...Array.from({ length: 66 }, () => line),
  `echo '${"a".repeat(maxScriptBytes - 66 * line.length - 8)}'`,
].join("");

const scripts: Readonly<Record<string, string>> = {
  "a short command": "npm test",
  "a script of 10 lines": tenLines,
  "16 KB, 199 commands": longest,
};
const context: CallContext = {
  ...{ role: "crew", taint: "member", holds_secret: false },
  token: {
    allow: {
      tools: ["file_write", "shell_execute"],
      paths: ["src/**"],
      commands: ["npm test"],
      hosts: [],
      secrets: [],
    },
    steps: [],
  },
};

export const policy: Group = {
  name: "policy",
  about: "policy decisions a second, with and without shell, beside the bare parser",
  run: async (world) => [await measure(world)],
};

async function measure({ sizes, say }: World): Promise<Table> {
  const write: ToolCall = {
    tool: "file_write",
    args: { path: "src/pager/last-page.ts", content: "export const x = 1;\n" },
  };
  const decide = (call: ToolCall) => () => resolve(defaultPolicy, call, context);
  const works = Object.entries(scripts).flatMap(([what, command]) => [
    {
      name: `decided: ${what}`,
      against: `parsed: ${what}`,
      work: decide({ tool: "shell_execute", args: { command } }),
    },
    { name: `read: ${what}`, against: `parsed: ${what}`, work: () => readShell(command) },
    { name: `parsed: ${what}`, against: `parsed: ${what}`, work: () => parse(command) },
  ]);
  const all = [{ name: "decided: file_write, no shell", against: null, work: decide(write) }, ...works];
  const runners = all.map(({ name, work }): Runner => ({ name, run: async () => perSecond(work, sizes.cycles) }));
  const seen = await takeTurns(runners, sizes.rounds, say);
  const of = (name: string): number[] => seen.get(name) ?? [];
  const rows = all.map(
    ({ name, against }): Row => ({
      what: name,
      figures: {
        per_s: median(of(name)),
        each_us: 1e6 / median(of(name)),
        "of_bare_parsing_%": against === null ? null : 100 * medianRatio(of(name), of(against)),
      },
      durable: nothing,
    }),
  );
  return {
    title: "policy: tool calls judged by the default policy under a plan's grant",
    how: `One thread of Node, no I/O. Decided: all rules, gates and the grant. Read: what the script would do. Parsed: unbash alone. ${longest.length} bytes at most.`,
    rows,
    targets: [],
  };
}

/** As often as it takes to fill a good part of a second on any machine, in steps that look at the clock seldom. */
function perSecond(work: () => unknown, cycles: number): number {
  const enough_ms = cycles / 4;
  const step = 20;
  let done = 0;
  const began = performance.now();
  let passed = 0;
  while (passed < enough_ms) {
    for (let at = 0; at < step; at++) work();
    done += step;
    passed = performance.now() - began;
  }
  return (1_000 * done) / passed;
}
