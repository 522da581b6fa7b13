/**
 * Which words of a command may stand for a path that it changes: every word, and what stands in it behind an `=` or a
 * short option, unless the program is known to only read or the word is known to be text. [SH-57]
 */

import { gitOptions } from "./shell-git-options.ts";
import { onlyReads } from "./shell-known.ts";
import { optionTable } from "./shell-option-table.ts";
import { type Harmless, joinedValues, readOptions } from "./shell-options.ts";
import { installed, programName, setsOnly, withoutVersion } from "./shell-peeled.ts";
import { runnerOptions } from "./shell-runner-options.ts";
import { wrappers } from "./shell-wrapper-table.ts";

/** What they are told is a script, or what they name is told already. */
const apart =
  /^(?:sh|dash|ash|r?bash|zsh|ksh|ksh93|mksh|fish|csh|tcsh|eval|trap|\.|source|export|declare|typeset|local|readonly|set)$/;
/** The word after it is a program. */
const scripted = /^(?:python|pypy|node|nodejs|deno|bun|perl|ruby|php|lua|luajit|Rscript|[gmno]?awk|g?sed)$/;
const brings = /^(?:-[a-zA-Z]*[eEcprFv]|--(?:eval|print|expression))$/;

/** Of a command and what each wrapper in it runs. */
export function pathWords(runs: readonly (readonly string[])[]): string[] {
  return runs.flatMap((run, at) => candidates(ownWords(run, runs[at + 1])));
}
/** The words before those of the program behind it. */
function ownWords(run: readonly string[], next: readonly string[] | undefined): readonly string[] {
  if (next === undefined || next.length >= run.length) return run;
  const from = run.length - next.length;
  return next.every((word, at) => word === run[from + at]) ? run.slice(0, from) : run;
}

function candidates(run: readonly string[]): string[] {
  const name = programName(run[0] ?? "");
  const rest = run.slice(1);
  const here = installed.test(run[0] ?? "");
  if (rest.length === 0 || (here && (apart.test(name) || onlyReads(run)))) return [];
  if (Object.hasOwn(wrappers, name)) return rest.filter((word) => !setsOnly(word)).flatMap(pathsIn);
  const plain = withoutVersion(name);
  if (here && scripted.test(plain)) return optionsOf(plain, rest);
  const { harmless, at } = harmlessFor(name, rest);
  if (harmless === undefined) return rest.flatMap(pathsIn);
  const { text, odd, values } = readOptions(harmless, rest.slice(at));
  const files = values.filter(({ file }) => file).map(({ value }) => bare(value));
  const unread = (word: string, index: number) =>
    index < at || odd.includes(index - at) || !/^-[^-]/.test(word) || !values.some((one) => one.at === index - at);
  return [...files, ...rest.filter((word, index) => !text.has(index - at) && unread(word, index)).flatMap(pathsIn)];
}
/** What the program's options are read against, and from which of its words on. */
function harmlessFor(
  name: string,
  rest: readonly string[],
): { readonly harmless: Harmless | undefined; readonly at: number } {
  if (name !== "git") return { harmless: own(optionTable, name) ?? own(runnerOptions, withoutVersion(name)), at: 0 };
  const at = rest.findIndex((word) => Object.hasOwn(gitOptions, word)) + 1;
  return { harmless: at > 0 ? gitOptions[rest[at - 1] ?? ""] : undefined, at };
}
/** What options of the run take as values, where they are known; each word of an option that is not, may hold any. */
export function valuesOf(run: readonly string[]): { readonly option: string; readonly value: string }[] {
  const rest = run.slice(1);
  const { harmless, at } = harmlessFor(programName(run[0] ?? ""), rest);
  const { odd, values } = readOptions(harmless ?? {}, rest.slice(at));
  const unknown = [...rest.slice(0, at), ...odd.map((index) => rest[index + at] ?? "")];
  return [
    ...values.map(({ option, value }) => ({ option, value })),
    ...unknown.flatMap((word) =>
      joinedValues(word).map((value) => ({ option: `-${word.at(-value.length - 1) ?? ""}`, value })),
    ),
  ];
}
/** The files that a word of known options names behind its letters; null for any other word. */
export function knownBehind(run: readonly string[], word: string): readonly string[] | null {
  const rest = run.slice(1);
  const { harmless, at } = harmlessFor(programName(run[0] ?? ""), rest);
  const index = rest.indexOf(word) - at;
  if (harmless === undefined || index < 0 || !/^-[^-]/.test(word)) return null;
  const { odd, values } = readOptions(harmless, rest.slice(at));
  if (odd.includes(index)) return null;
  return values.flatMap((one) => (one.in === index && one.file ? [one.value] : []));
}
/** Behind more letters than two a leading `/` is more likely the inside of a path: `-Isub/x`. */
export function joinedPaths(word: string): string[] {
  return joinedValues(word).filter((value) => !/^[/~]/.test(value) || word.length - value.length <= 3);
}
function own(table: Readonly<Record<string, Harmless>>, name: string): Harmless | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
/** A program in a word holds signs of its own language: only files and options are paths. */
function optionsOf(name: string, rest: readonly string[]): string[] {
  const first = /^(?:[gmno]?awk|g?sed)$/.test(name) ? rest.findIndex((word) => !word.startsWith("-")) : -1;
  return rest.flatMap((word, at) => {
    if (brings.test(word) || brings.test(rest[at - 1] ?? "") || at === first) return [];
    if (/^-[a-zA-Z]*[eEF]./.test(word)) return [];
    // Of a program that reads its files, only what an option writes counts; `filesOf` tells what it changes in place.
    return first >= 0 && !word.startsWith("-") ? [] : pathsIn(word);
  });
}

/** The word, and what an option may take for a path in it: `--file=x`, `-ox`, `@x`. */
function pathsIn(word: string): readonly string[] {
  if (word.includes("://")) return [];
  const joined = /^-[a-zA-Z](.+)$/s.exec(word)?.[1] ?? word;
  const value = word.includes("=") ? word.slice(word.indexOf("=") + 1) : joined;
  return [...new Set([word, joined, value, ...joinedPaths(word)])]
    .filter((part) => part !== "" && !part.startsWith("-"))
    .map(bare);
}
function bare(path: string): string {
  return path.replace(/^@(?=[/~.])/, "");
}
