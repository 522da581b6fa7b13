/**
 * Whether one grant lies inside another: everything the inner one could match, the outer one matches too. The inner
 * pattern is read as a text whose wild signs only a wild sign can swallow, so a yes is certain; what only several
 * outer patterns together would cover is answered with no. [STA-2] [STA-3]
 */
import { matchList, segmentsOf } from "./glob.ts";

/** Of two globs as `glob.ts` reads them. */
export function globContains(outer: string, inner: string): boolean {
  return matchList(segmentsOf(outer), segmentsOf(inner), (sign) => sign === "**", nameContains);
}

/** Of two commands as `grant.ts` reads them: `*` inside one word, a last `**` any further words. */
export function commandContains(outer: string, inner: string): boolean {
  const out = wordsOf(outer);
  const within = wordsOf(inner);
  if (within.open && !out.open) return false;
  const lengthFits = out.open ? within.fixed.length >= out.fixed.length : within.fixed.length === out.fixed.length;
  return lengthFits && out.fixed.every((word, index) => wordContains(word, within.fixed[index] ?? ""));
}

function nameContains(outer: string, inner: string): boolean {
  // `**` stands for many names, and no one name swallows it.
  if (inner === "**") return false;
  return matchList([...outer], [...inner], isStar, (sign, one) => one !== "*" && (sign === "?" || sign === one));
}

function wordContains(outer: string, inner: string): boolean {
  return matchList([...outer], [...inner], isStar, (sign, one) => one !== "*" && sign === one);
}

function isStar(sign: string): boolean {
  return sign === "*";
}

function wordsOf(command: string): { fixed: readonly string[]; open: boolean } {
  const words = command.trim().split(/\s+/);
  const open = words.at(-1) === "**";
  return { fixed: open ? words.slice(0, -1) : words, open };
}
