/** `find`: what it runs on what it finds, and what it removes or writes by itself. [SH-6] [SH-44] */
import { findFlags, findValued, optionTable } from "./shell-option-table.ts";
import { readOptions } from "./shell-options.ts";
import { notHarmless, type Peeled, programName } from "./shell-peeled.ts";

const running: readonly string[] = ["-exec", "-execdir", "-ok", "-okdir"];
const fromTree = "what it adds to the words are the files it finds";

export function findWords(name: string, words: readonly string[]): Peeled {
  if (name === "fd") {
    const at = words.findIndex((word) => /^-[a-zA-Z]*[xX]|^--exec/.test(word));
    const odd = readOptions(optionTable.fd ?? {}, words.slice(1)).odd.map((index) => words[index + 1] ?? "");
    if (at < 0) return odd.length === 0 ? {} : { opaque: notHarmless(odd), code: odd };
    return {
      inner: [words.slice(at + 1)],
      open: true,
      opaque: fromTree,
      code: [...new Set([...words.slice(at, at + 1), ...odd])],
    };
  }
  const inner: (readonly string[])[] = [];
  const odd: string[] = [];
  let dynamic = false;
  let code: readonly string[] = [];
  for (let at = 1; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "-files0-from") dynamic = true;
    if (findValued.includes(word)) at++;
    else if (!running.includes(word) && /^-[^\d]/.test(word) && !isFlag(word)) odd.push(word);
    if (!running.includes(word)) continue;
    code = [...code, word];
    const end = endOf(words, at + 1);
    const run = words.slice(at + 1, end);
    // A word with {} is a file's name, and what follows it is known no better.
    const known = run.findIndex((one) => one.includes("{}"));
    if (known === 0) dynamic = true;
    inner.push(known < 0 ? run : run.slice(0, known));
    at = end;
  }
  const removes = words.includes("-delete");
  code = [...code, ...odd];
  const why = removes ? "it removes what it finds" : notHarmless(odd);
  if (inner.length === 0) return { code, dynamic, ...(odd.length > 0 ? { opaque: why } : {}) };
  return { inner: inner.filter((run) => run.length > 0), open: true, opaque: fromTree, code, dynamic };
}

function isFlag(word: string): boolean {
  return findFlags.includes(word) || /^-(?:O\d|newer[aBcm][aBcmt])$/.test(word);
}

/** `;`, or `+` after `{}`. */
function endOf(words: readonly string[], from: number): number {
  for (let at = from; at < words.length; at++)
    if (words[at] === ";" || (words[at] === "+" && words[at - 1] === "{}")) return at;
  return words.length;
}

/** Whether it goes down a tree; with a depth of one at most it does not. */
export function findsDeep(words: readonly string[]): boolean {
  const at = words.indexOf("-maxdepth");
  return at < 0 || !/^[01]$/.test(words[at + 1] ?? "");
}

/** Where it starts: the words before the first of its own language. */
export function startsOf(run: readonly string[]): readonly string[] {
  const rest = run.slice(1);
  let at = 0;
  while (/^-(?:[HLP]|O\d?|D)$/.test(rest[at] ?? "")) at += rest[at] === "-D" ? 2 : 1;
  const end = rest.findIndex((word, index) => index >= at && /^[-(!),]/.test(word));
  const starts = rest.slice(at, end < 0 ? undefined : end);
  return starts.length === 0 ? ["."] : starts;
}
/** Whether it removes what it finds, or runs on it what does not only read. */
export function findChanges(run: readonly string[]): boolean {
  if (run.includes("-delete")) return true;
  return (findWords("find", run).inner ?? []).some((inner) => !plainReader.test(programName(inner[0] ?? "")));
}
const plainReader =
  /^(?:e|f)?grep$|^(?:cat|head|tail|wc|ls|file|stat|echo|printf|basename|dirname|md5sum|sha256sum|du|test|cmp|diff|nl|cut)$/;
