/** Where the words of a run stand that are text to its program, and no path: a pattern, a script, a message. [GR-72] */

import { gitOptions } from "./shell-git-options.ts";
import { findValued, optionTable } from "./shell-option-table.ts";
import { type Harmless, readOptions } from "./shell-options.ts";
import { programName } from "./shell-peeled.ts";
import { sedTexts } from "./shell-text-programs.ts";

/** All their words are text; `date -r` and its like are told by the table. */
const talkers = /^(?:echo|printf|seq|tr|true|false|:|basename|dirname|expr|sleep)$/;
const searchers = /^(?:e|f)?grep$|^rg$/;
const pattern = /^(?:-e|--regexp|-f|--file)$/;
/** Of `find`, what is compared with a file and not with a text. */
const comparing = /^-(?:samefile|newer|anewer|cnewer|i?lname)$/;

/** The places in the run. */
export function textsOf(run: readonly string[]): ReadonlySet<number> {
  const name = programName(run[0] ?? "");
  const rest = run.slice(1);
  return new Set([...textsIn(name, rest)].map((at) => at + 1));
}
function textsIn(name: string, rest: readonly string[]): ReadonlySet<number> {
  if (talkers.test(name)) return new Set(rest.keys());
  if (name === "sed" || name === "gsed") return sedTexts(rest);
  if (name === "find")
    return new Set(rest.flatMap((word, at) => (findValued.includes(word) && !comparing.test(word) ? [at + 1] : [])));
  if (name === "git") return gitTexts(rest);
  if (searchers.test(name)) return withPattern(optionTable[name] ?? {}, rest, 0, !rest.includes("--files"));
  if (name === "jq") return withPattern(optionTable.jq ?? {}, rest, 0, true);
  if (name === "test" || name === "[") return new Set([...rest.keys()].filter((at) => isCompared(rest, at)));
  if (name === "date") return new Set([...readOptions(optionTable.date ?? {}, rest).text, ...formatAt(rest)]);
  return Object.hasOwn(optionTable, name) ? readOptions(optionTable[name] ?? {}, rest).text : new Set();
}
/** Beside a comparison of texts, or an option. */
function isCompared(rest: readonly string[], at: number): boolean {
  const [before = "", after = ""] = [rest[at - 1], rest[at + 1]];
  return /^-/.test(rest[at] ?? "") || /^(?:[=!]?=|-[nz])$/.test(before) || /^[=!]?=$/.test(after);
}
function formatAt(rest: readonly string[]): readonly number[] {
  return rest.flatMap((word, at) => (word.startsWith("+") ? [at] : []));
}
function gitTexts(rest: readonly string[]): ReadonlySet<number> {
  const from = rest.findIndex((word) => Object.hasOwn(gitOptions, word)) + 1;
  return from === 0
    ? new Set()
    : withPattern(gitOptions[rest[from - 1] ?? ""] ?? {}, rest, from, rest[from - 1] === "grep");
}
/** The values that are text, and the first operand where it is a pattern that no option brought. */
function withPattern(harmless: Harmless, rest: readonly string[], from: number, takes: boolean): ReadonlySet<number> {
  const own = rest.slice(from);
  const { text, values } = readOptions(harmless, own);
  const found = new Set(text);
  if (takes && !values.some(({ option }) => pattern.test(option))) {
    const taken = new Set(values.map((one) => one.in));
    const end = own.indexOf("--");
    const first = own.findIndex(
      (word, at) => at !== end && (!/^-./.test(word) || (end >= 0 && at > end)) && !taken.has(at),
    );
    if (first >= 0) found.add(first);
  }
  return new Set([...found].map((at) => at + from));
}
