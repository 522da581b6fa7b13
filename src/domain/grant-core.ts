/**
 * The small closed core for which a wildcard of a command grant speaks: programs of which the words show all they do,
 * in strict forms, and runners of a project's own code by subcommands that are known. Whatever is not here is granted
 * word for word only. [GR-70]
 */
import { findWords } from "./shell-find.ts";
import { gitKeepsFiles, gitWords } from "./shell-git.ts";
import { harmlessOf } from "./shell-known.ts";
import { readOptions } from "./shell-options.ts";
import { installed, programName, withoutVersion, wordsIn } from "./shell-peeled.ts";
import { programOf } from "./shell-runner-code.ts";
import { inShell } from "./shell-shells.ts";
import { isCoreSed } from "./shell-text-programs.ts";
import { unwrap } from "./shell-wrappers.ts";

/** They only read, print or test, by any operand, with the options that the tables list. */
const readers = new Set(
  wordsIn(`
    : [ basename cat cd cmp comm cut diff dirname du echo egrep false fgrep grep head id join ls nl paste popd printf
    pushd pwd readlink realpath rg seq sleep stat tac tail test tr true type uname wc which
  `),
);
/** They change what their operands name and nothing else. */
const writers = new Set(wordsIn("ln mkdir rm rmdir tee touch"));
/** They run, as they are, the program behind them, which is granted by itself. */
const carriers = new Set(wordsIn("command cross-env env ionice nice nohup setsid stdbuf time timeout"));
/** They run the project's own code, or look at it; which options and subcommands they may have stands in their tables. */
const runners = new Set(
  wordsIn(`
    npm npx yarn pnpm bun bunx deno go cargo make gmake pytest vitest jest mocha eslint prettier biome tsc gradle
    gradlew mvn mvnw cmake ctest
  `),
);
const plainCopy =
  /^(?:-[finpTuv]+|-[finpTuv]*t.*|--(?:force|interactive|no-clobber|verbose|no-target-directory)|--target-directory(?:=.*)?)$/;
/** By these it runs, removes or writes, or takes its folders from a file. */
const findsMore = /^-(?:exec|ok|delete$|fprint|fls|files0)/;
const readingGit = /^(?:rm|mv|restore|checkout|switch)$/;

/** Whether a wildcard may stand for words of this run, as far as its program and its form go. */
export function isCore(run: readonly string[]): boolean {
  const name = programName(run[0] ?? "");
  const rest = run.slice(1);
  if (runners.has(withoutVersion(name))) return runsKnown(name, rest);
  if (!installed.test(run[0] ?? "")) return false;
  if (/^(?:ba|da)?sh$/.test(name))
    return (inShell(name, run)?.scripts?.length ?? 0) > 0 && unwrap(run).code.length === 0;
  if (carriers.has(name)) return true;
  if (name === "git") return isCoreGit(rest);
  if (name === "sed") return isCoreSed(rest);
  if (/^python[\d.]*$/.test(name)) return rest[0] === "-m" && rest[1] === "pytest";
  if (name === "find") return findWords(name, run).opaque === undefined && !rest.some((word) => findsMore.test(word));
  return readOptions(harmlessOf(name) ?? {}, rest).odd.length === 0 && hasForm(name, rest);
}

/** `npx vitest`: the package is one of them too. */
function runsKnown(name: string, rest: readonly string[]): boolean {
  if (name !== "npx" && name !== "bunx") return true;
  const inner = programOf(rest.find((word) => !word.startsWith("-")) ?? "");
  return inner !== name && runners.has(inner);
}

function isCoreGit(rest: readonly string[]): boolean {
  const { opaque, moves } = gitWords(rest);
  if (opaque !== undefined || moves === true) return false;
  return gitKeepsFiles(rest) || rest.some((word) => readingGit.test(word));
}

function hasForm(name: string, rest: readonly string[]): boolean {
  if (readers.has(name) || writers.has(name)) return true;
  const { values, text } = readOptions(harmlessOf(name) ?? {}, rest);
  const operands = rest.filter((word, at) => !/^-./.test(word) && !text.has(at));
  switch (name) {
    case "cp":
    case "mv":
      return rest.every((word) => !/^-./.test(word) || plainCopy.test(word)) && !rest.includes("--");
    case "date":
      // A time without `+` in front sets the clock.
      return operands.every((word, at) => word.startsWith("+") || values.some((one) => rest[one.in] === operands[at]));
    case "sort":
      return values.every(({ option }) => !/^(?:-o|--output|-T|--temporary-directory)$/.test(option));
    case "uniq":
      return operands.length < 2;
    default:
      return false;
  }
}
