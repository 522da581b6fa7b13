/**
 * The small closed core for which a wildcard of a command grant speaks: programs of which the words show all they do,
 * in strict forms, and runners of a project's own code. Whatever is not here is granted word for word only: `mv` and
 * `ln` too, whose words do not say whether a folder comes with them, or what a link will lead to. [GR-70]
 */
import { isCoreGit, stagesNamed } from "./grant-git.ts";
import { isProjectRunner, runnerHolds } from "./grant-runners.ts";
import { findWords } from "./shell-find.ts";
import { harmlessOf } from "./shell-known.ts";
import { readOptions } from "./shell-options.ts";
import { installed, programName, wordsIn } from "./shell-peeled.ts";
import { inShell } from "./shell-shells.ts";
import { isCoreSed } from "./shell-text-programs.ts";
import { unwrap } from "./shell-wrappers.ts";

/** They only read, print or test, by any operand, with the options that the tables list. */
const readers = new Set(
  wordsIn(`
    : [ basename cat cmp column comm cut df diff dirname du echo egrep false fgrep file grep head id join ls nl od paste
    printf pwd readlink realpath rg seq sleep stat tac tail test tr true type uname wc which
  `),
);
/** They change what their operands name and nothing else. */
const writers = new Set(wordsIn("mkdir rm rmdir tee touch"));
/**
 * They run, as they are and until it ends, the program behind them, which is granted by itself; each with the words of
 * its own for which a wildcard may stand. No letter is joined to another: one may take the next word for a file. [GR-98]
 */
const carriers: Readonly<Record<string, RegExp>> = {
  command: /^-[vV]$|^[^-]/,
  "cross-env": /^[A-Z_]+=/,
  // Without its settings a program may find other code, or git another configuration.
  env: /^-C$|^--chdir(?:=|$)|^[^-]/,
  ionice: /^(?:-[cnt]|-c[0-3]|-n[0-7]|[0-7]|idle|best-effort|realtime|--ignore)$/,
  nice: /^(?:-n|-{0,2}\d{1,2}|-n-?\d{1,2}|--adjustment=-?\d{1,2})$/,
  nohup: /^(?!)/,
  stdbuf: /^(?:-[ioe][0L]?|[0L]|--(?:input|output|error)=[0L])$/,
  time: /^(?:-[pv]|--(?:portability|verbose))$/,
  timeout:
    /^(?:-[vks]|--(?:foreground|preserve-status|verbose)|(?:--kill-after=)?\d+(?:\.\d+)?[smhd]?|(?:--signal=)?(?:[A-Z]{3,9}|\d{1,2}))$/,
};
/** `-` is their input, and no program and no file. */
const reading = new Set(
  wordsIn("cat cmp column comm cut diff egrep fgrep file grep head join nl od paste rg sort tac tail uniq wc"),
);
const plainCopy =
  /^(?:-[finpTuv]+|-[finpTuv]*t.*|--(?:force|interactive|no-clobber|verbose|no-target-directory)|--target-directory(?:=.*)?)$/;
/** By these it runs, removes or writes, or takes its folders from a file. */
const findsMore = /^-(?:exec|ok|delete$|fprint|fls|files0)/;
/** A list of sums names files of its own. */
const sums = /^(?:md5|sha\d+|b2)sum$/;
const filtering =
  /^(?:-[nrjaSCMcse]+|--(?:null-input|raw-output|join-output|ascii-output|sort-keys|color-output|monochrome-output|compact-output|slurp|exit-status|tab))$/;
/** A filter that names no variable, no module and no file. */
const coreFilter =
  /^(?!.*\b(?:import|include|env|modulemeta|input_filename|get_search_list)\b)[\w .,:|?()[\]"'+*/<>=!-]*$/;

/** Whether wildcards may stand for the words at those places, as far as the program and its form go; `inPaths` of a path. */
export function isCore(run: readonly string[], wild: ReadonlySet<number>, inPaths: (path: string) => boolean): boolean {
  const name = programName(run[0] ?? "");
  const rest = run.slice(1);
  if (isProjectRunner(name)) return runnerHolds(run, wild, inPaths);
  if (!installed.test(run[0] ?? "")) return false;
  if (/^(?:ba|da)?sh$/.test(name))
    return (inShell(name, run)?.scripts?.length ?? 0) > 0 && unwrap(run).code.length === 0;
  const carries = Object.hasOwn(carriers, name) ? carriers[name] : undefined;
  // What the grant spells of `env` and `command` too may leave a program without its settings.
  if (carries !== undefined)
    return rest.every((word, at) => (!wild.has(at + 1) && !/^(?:env|command)$/.test(name)) || carries.test(word));
  if (name === "git") return isCoreGit(rest) && stagesNamed(rest, (at) => wild.has(at + 1));
  if (name === "sed") return isCoreSed(rest);
  if (/^(?:node|python[\d.]*)$/.test(name) && rest.length === 1 && rest[0] === "--version") return true;
  if (/^python[\d.]*$/.test(name)) return rest[0] === "-m" && rest[1] === "pytest";
  if (name === "find") return findWords(name, run).opaque === undefined && !rest.some((word) => findsMore.test(word));
  return readOptions(harmlessOf(name) ?? {}, rest).odd.length === 0 && hasForm(name, rest);
}

/** Whether that word is the input of a program that may run it, or take it for a file. */
export function isOddInput(run: readonly string[], at: number): boolean {
  return run[at] === "-" && !reading.has(run[0] ?? "");
}
function hasForm(name: string, rest: readonly string[]): boolean {
  // What lies in a folder its name does not say.
  if (name === "rm") return !rest.some((word) => /^-(?!-)\w*[rR]|^--r/.test(word));
  if (readers.has(name) || writers.has(name)) return true;
  if (sums.test(name)) return !rest.some((word) => /^-(?!-)\w*c|^--check$/.test(word));
  const { values, text } = readOptions(harmlessOf(name) ?? {}, rest);
  const operands = rest.filter((word, at) => !/^-./.test(word) && !text.has(at));
  switch (name) {
    case "cp":
      return rest.every(
        (word, at) => !/^-./.test(word) || plainCopy.test(word) || (word === "--" && isLastDash(rest, at)),
      );
    case "cd":
      return operands.length === 1 && operands[0] !== "-" && !rest.includes("--");
    case "jq":
      return coreFilter.test(operands[0] ?? "!") && rest.every((word) => !/^-./.test(word) || filtering.test(word));
    case "date":
      // A time without `+` in front sets the clock.
      return rest.every(
        (word, at) => /^[-+]/.test(word) || text.has(at) || values.some((one) => one.in === at && one.file),
      );
    case "sort":
      return values.every(({ option }) => !/^(?:-o|--output|-T|--temporary-directory)$/.test(option));
    case "uniq":
      return operands.length < 2;
    default:
      return false;
  }
}
/** Whether no word behind that `--` looks like an option. */
function isLastDash(rest: readonly string[], at: number): boolean {
  return rest.slice(at + 1).every((word) => !word.startsWith("-"));
}
