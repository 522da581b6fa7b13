/** Words of bash itself that change what later words mean, set variables, or evaluate a text as code. [SH-42] */
import type { Peeled } from "./shell-peeled.ts";
import { isPlainName } from "./shell-peeled.ts";
import { workspaceRoot } from "./workspace-path.ts";

/** They give names another meaning, or run a text that is handed to them in ways not followed here. */
const changing: readonly string[] = [
  ...["alias", "enable", "hash", "shopt", "bind", "complete", "compopt", "compgen", "fc", "history", "let"],
  ...["read", "mapfile", "readarray", "getopts", "unset", "unalias", "coproc", "function", "newgrp", "login"],
];
const declaring: readonly string[] = ["export", "declare", "typeset", "local", "readonly"];
const plainSet = /^[-+][euxCv]+$/;
const plainSetOptions: readonly string[] = ["errexit", "nounset", "pipefail", "xtrace", "noclobber", "verbose"];
/** An array index is evaluated, and what it holds in `$(...)` runs: `test -v 'a[$(x)]'`. */
const indexed = /[[$`]/;

/** `%n`, behind any flags and widths, sets the variable that the next word names: `PATH` too. */
const counts = /%[-+ #'\d.*hjlLqtzZ$]*n/;

/** Null when the word changes nothing. */
export function changesMeaning(name: string, words: readonly string[]): Peeled | null {
  const rest = words.slice(1);
  if (changing.includes(name)) return { dynamic: true };
  if (declaring.includes(name)) return declared(rest);
  switch (name) {
    case "cd":
      if (rest.length !== 1) return { moves: true };
      return rest[0] === "." ? {} : { moves: true, home: rest[0] === workspaceRoot };
    case "pushd":
    case "popd":
      return { moves: true };
    case "set":
      return isPlainSet(rest) ? {} : { dynamic: true };
    case "printf":
      // A word that the shell would read as an option may stand for `-v` in no other spelling.
      return rest[0]?.startsWith("-v") === true || counts.test(rest[rest[0] === "--" ? 1 : 0] ?? "")
        ? { dynamic: true }
        : {};
    case "test":
    case "[":
      return rest.includes("-v") || rest.includes("-R") ? { dynamic: true } : {};
    case "wait":
      return rest.some((word) => word.startsWith("-") && word.includes("p")) ? { dynamic: true } : {};
    case "jobs":
      return rest.some((word) => word.startsWith("-") && word.includes("x")) ? { dynamic: true } : {};
    default:
      return null;
  }
}

/** `export A=b`: the name is set. Attributes and indexes evaluate the value. */
function declared(rest: readonly string[]): Peeled {
  if (
    rest.some((word) => (word.startsWith("-") && word !== "--") || word.startsWith("+") || indexed.test(nameOf(word)))
  )
    return { dynamic: true };
  const assigned = rest.filter((word) => word !== "--").map(nameOf);
  return { assigned, ...(assigned.every(isPlainName) ? {} : { dynamic: true }) };
}
function nameOf(word: string): string {
  return word.split(/\+?=/)[0] ?? word;
}

/** `set -euo pipefail` and its like; anything else changes how the rest is read, or the positional words. */
function isPlainSet(rest: readonly string[]): boolean {
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? "";
    const letters = word.replace(/o/g, "");
    const names = word.length - letters.length;
    if (!/^[-+]/.test(word) || (letters.length > 1 && !plainSet.test(letters))) return false;
    for (const option of rest.slice(at + 1, at + 1 + names)) if (!plainSetOptions.includes(option)) return false;
    at += names;
  }
  return true;
}
