/**
 * What a wildcard stands for beside the name of a script: whoever reads the words behind it is a program of the project,
 * which nobody here knows. So none is handed on, but the file of a test to what tests. [GR-95] [GR-96] [GR-97] [GR-101]
 */
import { goesUp } from "./grant-paths.ts";
import { readOptions } from "./shell-options.ts";
import { wordsIn } from "./shell-peeled.ts";
import { knowsCommand } from "./shell-runner-code.ts";
import { runnerOptions } from "./shell-runner-options.ts";

const packages = /^(?:npm|yarn|pnpm|bun)$/;
/** By these it does its work in another folder than the words say. */
const elsewhere =
  /^(?:-[CwF].*|-r|--(?:prefix|workspaces?|workspace-root|include-workspace-root|cwd|dir|directory|root|chdir|filter|filter-prod|recursive)(?:=.*)?)$/;
const tools = /^(?:deno|cargo|go)$/;
/** Commands that run a script, by its name behind them or by their own. */
const starting = /^(?:run|test|t|tst|start|stop|restart)$/;
/** Commands that read, or take away: behind any other a name brings a stranger's package, whose scripts run at once. */
const bringingNothing = /^(?:ls|list|la|ll|outdated|why|explain|view|info|show|v|uninstall|remove|rm|un)$/;
/** Names of scripts that only test: `test:clean` and `test:types` remove and compile. */
const testing = new Set(
  wordsIn(`
    unit integration int e2e func functional node browser web api ui core server client watch ci fast slow all once run
    only coverage cov debug smoke acceptance component components
  `),
);
/** A package as the registry knows it, with its version. */
const registered = /^(?:@[\w-][\w.-]*\/)?\w[\w.-]*(?:@[\w.+~-]+)?$/;
const scriptName = /^\w[\w-]*(?::[\w-]+)*$/;
/** Where package.json has no such script, npm runs the program of that name, with the words behind it. */
const brought = /^env$/;
const firstWords: Readonly<Record<string, RegExp>> = {
  vitest: /^(?:run|watch|dev|bench|related|list)$/,
  mocha: /^(?!)/,
  ctest: /^(?!)/,
};

/** Whether some option has it work in another folder, whoever wrote it: there no word says what is read or written. */
export function worksElsewhere(run: readonly string[]): boolean {
  return run.some((word) => elsewhere.test(word));
}
/** A file or folder below the workspace, which no program takes for an option, a command or an answer. */
export function isPlainPath(word: string): boolean {
  return /^(?:\.\/)?\w[\w./+-]*$/.test(word) && /\/|\.[a-zA-Z]\w*$/.test(word) && !goesUp(word);
}
const file = /[^/.]\.[a-zA-Z]\w*$/;
const code = /\.(?:[cm]?[jt]sx?|py|go|rs|java|kts?|rb|php|cs|fs|swift|scala|exs?|clj|dart|lua|c|cc|cpp|vue|svelte)$/;
const testFile = /(?:\.test|\.spec|_test)\.[^/]+$|(?:^|\/)test_[^/]+$/;
const testFolder = /(?:^|\/)(?:tests?|__tests__|spec|e2e)\//;
/** A file of the item or of a test. A folder is handed on to nobody: what removes it, removes what no word names. */
function isTestFile(word: string, inPaths: (path: string) => boolean): boolean {
  if (!isPlainPath(word) || !file.test(word)) return false;
  const tests = code.test(word) && !/(?:^|\/)node_modules\//.test(word);
  return inPaths(word) || (tests && (testFile.test(word) || testFolder.test(word)));
}
function isTest(script: string): boolean {
  const [first, ...kinds] = script.split(":");
  return first === "test" && kinds.every((kind) => testing.has(kind));
}

/** Whether wildcards may stand for the words at those places, of the words behind the runner's name. */
export function scriptHolds(
  name: string,
  words: readonly string[],
  wild: readonly number[],
  inPaths: (path: string) => boolean,
): boolean {
  const at = operandFrom(name, words, 0);
  if (Object.hasOwn(firstWords, name)) return namesTests(name, words, wild, at);
  if (!packages.test(name) && !tools.test(name)) return true;
  if (at < 0) return at === none || wild.every((place) => words[place]?.startsWith("-") === true);
  const command = words[at] ?? "";
  if (tools.test(name)) return handsOnNothing(name, words, wild, at);
  if (command === "run") {
    const script = operandFrom(name, words, at + 1);
    if (script < 0) return script === none || wild.every((place) => place <= at);
    return behindScript(name, words, wild, { at: script, tests: isTest(words[script] ?? "") }, inPaths);
  }
  if (knowsCommand(name, command) && !starting.test(command)) return namesNoPackage(words, wild, at);
  // What is neither is spelled by the grant, and runs whatever it runs. `t` is a test as a command of npm only.
  const tests = isTest(command) || (name === "npm" && /^t(?:st)?$/.test(command));
  return behindScript(name, words, wild, { at, tests }, inPaths);
}
/** What brings packages takes none by a wildcard; nor one that the grant spells, where it does not say what for. */
function namesNoPackage(words: readonly string[], wild: readonly number[], at: number): boolean {
  // An address is asked for what it names: so is `git@host:x`, or `owner/name` at GitHub.
  if (bringingNothing.test(words[at] ?? ""))
    return wild.every((place) => place <= at || words[place]?.startsWith("-") || registered.test(words[place] ?? ""));
  const end = words.indexOf("--");
  return [...words.keys()].every((place) => {
    const isOption = words[place]?.startsWith("-") === true && (end < 0 || place <= end);
    return place <= at || isOption || !(wild.includes(at) || wild.includes(place));
  });
}
function behindScript(
  runner: string,
  words: readonly string[],
  wild: readonly number[],
  script: { readonly at: number; readonly tests: boolean },
  inPaths: (path: string) => boolean,
): boolean {
  const name = words[script.at] ?? "";
  if (wild.includes(script.at) && (!scriptName.test(name) || brought.test(name))) return false;
  // Only npm keeps its first `--` to itself: any other says to the script's program that no option follows.
  const kept = runner === "npm" ? words.indexOf("--") : -1;
  return wild.every((at) => at <= script.at || (script.tests && (at === kept || isTestFile(words[at] ?? "", inPaths))));
}
/** Behind `--`, and behind a command that runs what the grant spells, stand words of another program. */
function handsOnNothing(name: string, words: readonly string[], wild: readonly number[], at: number): boolean {
  const command = words[at] ?? "";
  const end = words.indexOf("--");
  const own = end < 0 ? words.length : end;
  if (!knowsCommand(name, command) && wild.some((place) => place > at)) return false;
  // `go test` hands on what follows an option behind the packages.
  const last = name === "go" && command === "test" ? packagesEnd(words, at) : own;
  return wild.every((place) => {
    const word = words[place] ?? "";
    if (place > own) return name === "cargo" && /^(?:test|t)$/.test(command) && word === "--nocapture";
    return place < last || word.startsWith("-") || isValue(name, words, place);
  });
}
function packagesEnd(words: readonly string[], command: number): number {
  const first = operandFrom("go", words, command + 1);
  if (first < 0) return words.length;
  const after = words.findIndex((word, at) => at > first && word.startsWith("-"));
  return after < 0 ? words.length : after;
}
function isValue(name: string, words: readonly string[], place: number): boolean {
  return readOptions(runnerOptions[name] ?? {}, words).values.some((one) => one.in === place && one.in !== one.at);
}
/** A runner with commands of its own takes a bare word for one: under a wildcard it is listed, or a path. */
function namesTests(name: string, words: readonly string[], wild: readonly number[], first: number): boolean {
  const listed = firstWords[name]?.test(words[first] ?? "") === true;
  return wild.every((at) => {
    const word = words[at] ?? "";
    if (word.startsWith("-") || isValue(name, words, at) || isPlainPath(word)) return true;
    return listed && at >= first;
  });
}

const none = -1;
const unsure = -2;
/** The next word that is no option and no value; `unsure` behind an option that may take it for its value. */
function operandFrom(name: string, words: readonly string[], from: number): number {
  const { odd, values } = readOptions(runnerOptions[name] ?? {}, words);
  const end = words.indexOf("--");
  for (const [at, word] of words.entries()) {
    if (at < from || at === end || values.some((one) => one.in === at && one.in !== one.at)) continue;
    if (!word.startsWith("-") || (end >= 0 && at > end)) return at;
    if (odd.includes(at) && !word.includes("=")) return unsure;
  }
  return none;
}
