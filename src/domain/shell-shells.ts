/** Shells and what reads a text as shell source: `sh -c`, `eval`, `trap`, `source`, a script file. [SH-6] [SH-7] [SH-40] */
import { type Peeled, readsInputHere, type ShellDialect } from "./shell-peeled.ts";

/** What each reads as: for `other` the words are read as bash, but they may mean something else. */
const shells: Readonly<Record<string, ShellDialect | "other">> = {
  ...{ sh: "posix", dash: "posix", ash: "posix", bash: "bash", rbash: "bash" },
  ...{ zsh: "other", ksh: "other", ksh93: "other", mksh: "other", fish: "other", csh: "other", tcsh: "other" },
};
/** Options of a shell after which a script means the same. Others read more files, or read it otherwise. */
const plainLetters = /^-[euxvnfabcCTE]+$|^[-+][euxvnfabCTE]*o$|^\+[euxvfabCTE]+$/;
const plainOptions: readonly string[] = [
  "errexit",
  "nounset",
  "pipefail",
  "xtrace",
  "verbose",
  "noclobber",
  "errtrace",
];

/** Null when the program is none of these. */
export function inShell(name: string, words: readonly string[]): Peeled | null {
  if (Object.hasOwn(shells, name)) return shellOf(shells[name] ?? "other", words);
  switch (name) {
    case "eval": {
      const text = (words[1] === "--" ? words.slice(2) : words.slice(1)).join(" ");
      return { scripts: [{ text, dialect: null }] };
    }
    case "trap":
      return trapped(words);
    case ".":
    case "source":
      return readsInputHere(words.slice(1, 3))
        ? { dynamic: true }
        : { opaque: "it runs what a file holds", code: words.slice(1, 2) };
    default:
      return null;
  }
}

/** `trap script SIGNAL...`: the script runs some time later. */
function trapped(words: readonly string[]): Peeled {
  const rest = words[1] === "--" ? words.slice(2) : words.slice(1);
  const script = rest[0];
  if (script === undefined || /^-[lp]+$/.test(script) || script === "-" || script === "" || rest.length === 1)
    return {};
  if (script.startsWith("-")) return { dynamic: true };
  return { scripts: [{ text: script, dialect: null }] };
}

/** `sh -c script`: its script, the first word that is no option. A bare `sh` runs what cannot be read here. */
function shellOf(dialect: ShellDialect | "other", words: readonly string[]): Peeled {
  let at = 1;
  let fromWord = false;
  for (let word = words[at]; word !== undefined && /^[-+]./.test(word); word = words[at]) {
    at++;
    if (word === "--") break;
    // `-oe pipefail` as much as `-o pipefail`.
    const letters = word.replace(/o/g, "");
    if (word.startsWith("--") || (letters.length > 1 && !plainLetters.test(letters))) return { dynamic: true };
    const names = word.length - letters.length;
    for (const option of words.slice(at, at + names)) if (!plainOptions.includes(option)) return { dynamic: true };
    at += names;
    if (word.startsWith("-") && word.includes("c")) fromWord = true;
  }
  const next = words[at];
  // A sign alone is stepped over.
  if (next === undefined || next === "-" || next === "+" || (!fromWord && readsInputHere([next])))
    return { dynamic: true };
  // The file is code as much as a program of the workspace is: a grant names it.
  if (!fromWord) return { opaque: "it runs what a file holds", code: [next] };
  const script = { text: next, dialect: dialect === "other" ? ("bash" as const) : dialect };
  return dialect === "other"
    ? { scripts: [script], opaque: "another shell reads the script", code: [next] }
    : { scripts: [script] };
}
