/** What runners write by their words: what formatters mend, and what a compiler is told to make. [GR-79] */
import { readOptions } from "./shell-options.ts";
import { programName, wordsIn } from "./shell-peeled.ts";
import { programOf } from "./shell-runner-code.ts";
import { runnerOptions } from "./shell-runner-options.ts";

/** Each writes into the files and folders it is given, by one of these options. */
const formatters: Readonly<Record<string, RegExp>> = {
  prettier: /^(?:--write|-(?!-)\w*w\w*)$/,
  eslint: /^--fix(?:=true)?$/,
  biome: /^--(?:write|fix|unsafe)(?:=true)?$/,
};
/** Words before the files. */
const subcommands = wordsIn("check lint format ci");

function behindRunner(run: readonly string[]): readonly string[] {
  if (!/^(?:npx|bunx)$/.test(programName(run[0] ?? ""))) return run;
  const at = run.findIndex((word, index) => index > 0 && !word.startsWith("-"));
  return at < 0 ? run : run.slice(at);
}
/** Whether it mends the files it is given. */
export function formats(run: readonly string[]): boolean {
  const [first = "", ...rest] = behindRunner(run);
  const name = programOf(programName(first));
  return Object.hasOwn(formatters, name) && rest.some((word) => formatters[name]?.test(word) === true);
}
/** What a runner writes beside what its options name. */
export function runnerWrites(run: readonly string[]): readonly string[] {
  return programName(run[0] ?? "") === "go" ? builtBy(run.slice(1)) : formattedBy(run);
}
/** What each program that `go build` makes would be called, in the folder it runs in or in the one that `-o` names. */
function builtBy(rest: readonly string[]): readonly string[] {
  const { values } = readOptions(runnerOptions.go ?? {}, rest);
  const taken = new Set(values.flatMap((one) => (one.in === one.at ? [] : [one.in])));
  const [command, ...packages] = rest.filter((word, at) => !word.startsWith("-") && !taken.has(at));
  if (command !== "build") return [];
  const folder = values.find(({ option }) => option === "--o")?.value ?? ".";
  return packages.flatMap((path) => {
    const made = programName(path.replace(/\/+$/, "")).replace(/\.go$/, "");
    return /^\.*$/.test(made) ? [] : [`${folder}/${made}`];
  });
}
/** The files and folders that a formatter mends; without any it is the one it runs in. */
function formattedBy(run: readonly string[]): readonly string[] {
  if (!formats(run)) return [];
  const [first = "", ...rest] = behindRunner(run);
  const name = programOf(programName(first));
  const { values } = readOptions(runnerOptions[name] ?? {}, rest);
  const taken = new Set(values.flatMap((one) => (one.in === one.at ? [] : [one.in])));
  const end = rest.indexOf("--");
  const operands = rest.filter((word, at) => (!word.startsWith("-") || (end >= 0 && at > end)) && !taken.has(at));
  const files = name === "biome" && subcommands.includes(operands[0] ?? "") ? operands.slice(1) : operands;
  return files.length === 0 ? ["."] : files;
}
