/** `find`: what it runs on what it finds, and what it removes or writes by itself. [SH-6] [SH-44] */
import type { Peeled } from "./shell-peeled.ts";

const running: readonly string[] = ["-exec", "-execdir", "-ok", "-okdir"];
const fromTree = "what it adds to the words are the files it finds";

export function findWords(name: string, words: readonly string[]): Peeled {
  if (name === "fd") {
    const at = words.findIndex((word) => /^-[a-zA-Z]*[xX]|^--exec/.test(word));
    if (at < 0) return {};
    return { inner: [words.slice(at + 1)], open: true, opaque: fromTree, code: words.slice(at, at + 1) };
  }
  const inner: (readonly string[])[] = [];
  let dynamic = false;
  let code: readonly string[] = [];
  for (let at = 1; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "-files0-from") dynamic = true;
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
  if (removes) code = [...code, "-delete"];
  if (inner.length === 0) return { code, dynamic, ...(removes ? { opaque: "it removes what it finds" } : {}) };
  return { inner: inner.filter((run) => run.length > 0), open: true, opaque: fromTree, code, dynamic };
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
