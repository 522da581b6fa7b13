/**
 * Programs that run another program: what stands behind `sudo`, `env`, `timeout`, `xargs`, `sh -c` and their
 * like. What a program runs that its words do not show makes it opaque; a use that is not known here is
 * dynamic, never guessed. [SH-6] [SH-7] [SH-40] [SH-41]
 */
import { changesMeaning } from "./shell-builtins.ts";
import { hiddenCode } from "./shell-opaque.ts";
import type { InnerScript, Peeled } from "./shell-peeled.ts";
import { everyRemoval, programName, splitString } from "./shell-peeled.ts";
import { inShell } from "./shell-shells.ts";
import type { Wrapper } from "./shell-wrapper-table.ts";
import { wrappers } from "./shell-wrapper-table.ts";

export interface Unwrapped {
  /** The words as given, then those of each program inside. */
  readonly layers: readonly (readonly string[])[];
  /** Scripts that would be read as shell source. */
  readonly scripts: readonly InnerScript[];
  /** What it runs cannot be read from its words, although the words are known: why. */
  readonly opaque: string | null;
  /** The words that bring such code: a wildcard of a grant never stands for one. */
  readonly code: readonly string[];
  /** The programs inside may get further words when it runs. */
  readonly open: boolean;
  /** It is used in a way that is not known, or changes what later words mean. */
  readonly dynamic: boolean;
  /** Names it sets for what it runs. */
  readonly assigned: readonly string[];
  /** What it runs, or what follows, runs in another directory. */
  readonly moves: boolean;
  /** And not in the root of the workspace. */
  readonly strays: boolean;
}
interface Found {
  layers: (readonly string[])[];
  scripts: InnerScript[];
  opaque: string | null;
  code: string[];
  open: boolean;
  dynamic: boolean;
  assigned: string[];
  moves: boolean;
  strays: boolean;
}

const maxLayers = 8;

export function unwrap(argv: readonly string[]): Unwrapped {
  const found: Found = {
    ...{ layers: [], scripts: [], opaque: null, code: [], open: false },
    ...{ dynamic: false, assigned: [], moves: false, strays: false },
  };
  peelInto(argv, found);
  return found;
}

function peelInto(words: readonly string[], found: Found): void {
  if (found.layers.length > maxLayers) {
    found.dynamic = true;
    return;
  }
  found.layers.push(words);
  const peeled = peel(words);
  found.opaque ??= peeled.opaque ?? null;
  found.code.push(...(peeled.code ?? []));
  found.assigned.push(...(peeled.assigned ?? []));
  found.scripts.push(...(peeled.scripts ?? []));
  if (peeled.open === true) found.open = true;
  if (peeled.dynamic === true) found.dynamic = true;
  if (peeled.moves === true) found.moves = true;
  if (peeled.moves === true && peeled.home !== true) found.strays = true;
  for (const inner of peeled.inner ?? []) {
    if (inner.length > 0) peelInto(inner, found);
    // The program itself would come from the input.
    else if (found.open) found.dynamic = true;
  }
}

function peel(words: readonly string[]): Peeled {
  const name = programName(words[0] ?? "");
  const wrapper = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
  if (wrapper !== undefined) return behind(wrapper, words);
  const shell = inShell(name, words);
  if (shell !== null) return shell;
  const meaning = changesMeaning(name, words);
  if (meaning !== null) return meaning;
  const hidden = hiddenCode(name, words);
  if (hidden.opaque === undefined || hidden.inner !== undefined) return hidden;
  return { ...hidden, inner: everyRemoval(words) };
}

/** The words of the program behind a wrapper; dynamic when an option is not known. */
function behind(wrapper: Wrapper, words: readonly string[]): Peeled {
  const assigned: string[] = [];
  let at = 1;
  let moves = wrapper.moves === true;
  for (let word = words[at]; word?.startsWith("-") === true; word = words[at]) {
    at++;
    if (word === "--") {
      if (wrapper.dash === true && words[at] === "-") at++;
      break;
    }
    if (word === "-") {
      // `env -` is `env -i`, and the last of its options; for any other it is the program's name.
      if (wrapper.dash !== true) at--;
      break;
    }
    const option = optionOf(wrapper, word);
    if (option === null) return { dynamic: true, inner: everyRemoval(words) };
    if (option === "looks") return {};
    if (option.split !== null) {
      const rest = option.split === "" ? words.slice(at + 1) : words.slice(at);
      const split = splitString(option.split === "" ? (words[at] ?? "") : option.split);
      if (split === null) return { dynamic: true };
      // What the text holds is read like words of `env` itself.
      return { inner: [["env", ...split, ...rest]], moves };
    }
    if (option.moves) moves = true;
    if (option.replaces) return { dynamic: true, open: true, opaque: fromInput, inner: everyRemoval(words) };
    at += option.takes;
  }
  if (wrapper.sets === true)
    // Whatever stands before the `=`, it is no program to them: an odd name is told as one that is set.
    for (let word = words[at]; word?.includes("=") === true; word = words[at]) {
      assigned.push(word.slice(0, word.indexOf("=")));
      at++;
    }
  const inner = words.slice(at + (wrapper.operands ?? 0));
  return {
    inner: [inner],
    assigned,
    moves,
    ...(wrapper.open === true ? { open: true, opaque: fromInput } : {}),
    ...(wrapper.opaque === undefined ? {} : { opaque: wrapper.opaque }),
    // A wrapper without its program waits for one, or takes a default.
    ...(wrapper.open === true && inner.length === 0 ? { dynamic: true } : {}),
  };
}
const fromInput = "what it adds to the words comes from its input";

interface Option {
  readonly takes: number;
  readonly moves: boolean;
  readonly replaces: boolean;
  /** The text of `env -S`; "" when it is the next word. */
  readonly split: string | null;
}
/** How many further words the option takes, and what it means; null when it is not known. */
function optionOf(wrapper: Wrapper, word: string): Option | "looks" | null {
  const plain = { takes: 0, moves: false, replaces: false, split: null };
  if (word.startsWith("--")) {
    const name = word.split("=")[0] ?? word;
    if (name === "--split-string" && wrapper.split === true)
      return { ...plain, split: word.includes("=") ? word.slice(word.indexOf("=") + 1) : "" };
    if (wrapper.replacing?.includes(name) === true) return { ...plain, replaces: true };
    if (wrapper.long?.includes(name) === true) return plain;
    if (wrapper.longValued?.includes(name) === true)
      return { ...plain, takes: word.includes("=") ? 0 : 1, moves: name === "--chdir" };
    return null;
  }
  for (let index = 1; index < word.length; index++) {
    const letter = word[index] ?? "";
    const rest = word.slice(index + 1);
    if (wrapper.looks?.includes(letter) === true) return "looks";
    if (wrapper.replacing?.includes(`-${letter}`) === true) return { ...plain, replaces: true };
    if (letter === "S" && wrapper.split === true) return { ...plain, split: rest };
    // The rest of the word is the value; with nothing left it is the next word.
    if (wrapper.valued.includes(letter))
      return { ...plain, takes: rest === "" ? 1 : 0, moves: wrapper.movesBy?.includes(letter) === true };
    if (!wrapper.flags.includes(letter)) return null;
  }
  return plain;
}
