/**
 * Runners of a project's own code under a wildcard: each by its own options as they are spelled, its subcommands, and
 * what it makes. A word that may be read as the value of another is none of them. [GR-71] [GR-79] [GR-85] [GR-87] [GR-91]
 */
import { scriptHolds } from "./grant-scripts.ts";
import { readOptions } from "./shell-options.ts";
import { programName, wordsIn } from "./shell-peeled.ts";
import { codeWords, programOf } from "./shell-runner-code.ts";
import { runnerOptions } from "./shell-runner-options.ts";

/** They run the project's own code, or look at it. */
const runners = new Set(
  wordsIn(`
    npm npx yarn pnpm bun bunx deno go cargo make gmake pytest vitest jest mocha eslint prettier biome tsc gradle
    gradlew mvn mvnw ctest
  `),
);
const launching = /^(?:npx|bunx)$/;
export function isProjectRunner(word: string): boolean {
  return runners.has(programName(word));
}

/** The program and its words, behind `npx` too; null for a package that is none of them. */
function runnerOf(run: readonly string[]): { readonly name: string; readonly at: number } | null {
  const name = programName(run[0] ?? "");
  if (!launching.test(name)) return { name, at: 1 };
  const at = run.findIndex((word, index) => index > 0 && !word.startsWith("-"));
  const inner = programOf(run[at] ?? "");
  return runners.has(inner) && !launching.test(inner) ? { name: inner, at: at + 1 } : null;
}

/** Whether a wildcard may stand for the words at those places. */
export function runnerHolds(
  run: readonly string[],
  wild: ReadonlySet<number>,
  inPaths: (path: string) => boolean,
): boolean {
  const runner = runnerOf(run);
  if (runner === null) return false;
  // A program that lies in the workspace is read like the one of its name.
  const code = new Set(codeWords(programName(run[0] ?? ""), run.slice(1)));
  if ([...wild].some((at) => code.has(run[at] ?? ""))) return false;
  const words = run.slice(runner.at);
  const own = [...wild].map((at) => at - runner.at).filter((at) => at >= 0);
  if (!scriptHolds(runner.name, words, own, inPaths)) return false;
  const { values } = readOptions(runnerOptions[runner.name] ?? {}, words);
  const taken = new Set(values.flatMap((one) => (one.in === one.at ? [] : [one.in])));
  if (words.some((word, at) => answers.test(word) && isOption(words[at - 1]) && !taken.has(at))) return false;
  const places = [...words.keys()].filter((at) => !isOption(words[at]) && !taken.has(at));
  const only = Object.hasOwn(named, runner.name) ? named[runner.name] : undefined;
  // What the grant spells beside them a person has read.
  if (only !== undefined) return places.every((at) => !wild.has(at + runner.at) || only.test(words[at] ?? ""));
  return hasForm(
    runner.name,
    words,
    places.map((at) => words[at] ?? ""),
    new Set(values.map(({ option }) => option)),
  );
}
function isOption(word: string | undefined): boolean {
  return word?.startsWith("-") === true;
}
/** Behind an option that stands alone they turn it off, for some readers of options. */
const answers = /^(?:true|false|null|undefined)$/i;

/** Subcommands that make files of their own choosing without running the project. */
const making: Readonly<Record<string, RegExp>> = {
  npm: /^(?:version|pack)$/,
  yarn: /^version$/,
  vitest: /^init$/,
  mocha: /^init$/,
  go: /^(?:mod|fmt)$/,
  deno: /^fmt$/,
  cargo: /^fmt$/,
};
/** Of those that have it, what makes them only look. */
const looking: Readonly<Record<string, string>> = { deno: "--check", cargo: "--check" };
const goals = /^(?:clean|validate|compile|test-compile|test|package|verify)$/;
/** Only the names of tasks in full: a shortened one may be any other. */
const tasks = /^(?:assemble|build|check|classes|clean|compile(?:Test)?(?:Java|Kotlin)|jar|test|testClasses)$/;
const named: Readonly<Record<string, RegExp>> = { mvn: goals, mvnw: goals, gradle: tasks, gradlew: tasks };

function hasForm(
  name: string,
  words: readonly string[],
  operands: readonly string[],
  options: ReadonlySet<string>,
): boolean {
  if (name === "tsc") return isCoreTsc(words);
  // Without a name it writes one that it makes up, into the folder it runs in; so it does of packages that no word names.
  if (name === "go" && operands.includes("build"))
    return options.has("--o") && !operands.some((word) => word.includes("..."));
  const makes = Object.hasOwn(making, name) ? making[name] : undefined;
  if (makes === undefined || !operands.some((word) => makes.test(word))) return true;
  const end = words.indexOf("--");
  const own = end < 0 ? words : words.slice(0, end);
  return Object.hasOwn(looking, name) && own.includes(looking[name] ?? "");
}

const project = /^(?:-p|--project|-b|--build)$/;
const source = /^[\w@][^:]*\.[cm]?[jt]sx?$/;
/** It writes what its project says; with `--noEmit` nothing, whatever files it is given. */
function isCoreTsc(words: readonly string[]): boolean {
  const looks = words.includes("--noEmit") && !words.some((word) => /^(?:-b|--build)$/.test(word));
  return words.every((word, at) => {
    if (word.startsWith("-")) return word !== "--";
    return project.test(words[at - 1] ?? "") || (looks && source.test(word));
  });
}
