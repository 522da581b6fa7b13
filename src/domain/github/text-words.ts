/** Texts compared by their words: what stands among others in order, and what of a text does not. [GHI-53] [GHI-54] */
import { limits } from "../../limits.ts";
import { drawn, languages, pictured } from "./text-tags.ts";

/** All that may be read as a letter: anything but blanks, what cannot be seen, and the marks that Markdown may take away. */
const mark = "\\s\\p{Z}\\p{C}\\u{FFFD}!-\\/:-@\\[-`\\{-~";
const word = new RegExp(`[^${mark}]+`, "gu");
const marks = new RegExp(`[${mark}]`, "gu");
const number = /(?<![\p{L}\p{N}])\d{1,9}[.)](?=\s|$)/gu;

const tag = new RegExp(`</?(?:${[...drawn].join("|")})[ \\t\\n]*/?>`, "gi");

/** Tags that a page draws say nothing. */
export function untagged(text: string, instead: (mark: string) => string): string {
  return text.replace(tag, instead);
}
/** Marks within a word do not part it on the page. */
export function joined(text: string): string {
  return text.replace(marks, (one) => (/\s/.test(one) ? one : ""));
}
export function wordsOf(text: string): string[] {
  return text.match(word) ?? [];
}
/** Without what says nothing and a page writes otherwise, or not at all: an item's number, a fence's language. */
export function tellingOf(text: string): string[] {
  const told = text.split("\n").map(withoutLanguage).join("\n");
  return wordsOf(told.replace(number, " "));
}

/** By places, not by a pattern: a stranger chooses how many marks stand in a line. */
function withoutLanguage(line: string): string {
  const end = Math.max(line.lastIndexOf("```"), line.lastIndexOf("~~~")) + 3;
  const name = end < 3 ? "" : line.slice(end).trim().toLowerCase();
  return languages.has(name) || pictured.has(name) ? line.slice(0, end) : line;
}
/** `text` without those of `marks` that end it. */
export function trimmedOf(text: string, marks: string): string {
  let end = text.length;
  while (end > 0 && marks.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

export function sameWords(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && inOrder(one, other);
}
export function inOrder(some: readonly string[], all: readonly string[]): boolean {
  let at = 0;
  for (const one of all) if (one === some[at]) at++;
  return at >= some.length;
}

/**
 * The parts of `source` whose words are not among the `shown`, each written as it stands; a few seen words do not part
 * two. `bare`: the source, as long, with blanks for what is no word.
 */
export function unshown(source: string, bare: string, shown: readonly string[]): string[] {
  const all = [...untagged(bare, (mark) => " ".repeat(mark.length)).matchAll(word)];
  const missing = missed(
    all.map(([one]) => one),
    shown,
  );
  const parts: { from: number; to: number; last: number }[] = [];
  for (const at of missing) {
    const found = all[at];
    if (found === undefined) continue;
    const part = parts.at(-1);
    const to = found.index + found[0].length;
    if (part !== undefined && at - part.last <= limits.github_page_gap) {
      part.to = to;
      part.last = at;
    } else parts.push({ from: found.index, to, last: at });
  }
  return parts.map(({ from, to }) => source.slice(from, to));
}

/** Where they part, both go on at the nearest place where two words meet again; what is passed over is missing. */
function missed(source: readonly string[], shown: readonly string[]): number[] {
  const places = new Map<string, number[]>();
  source.forEach((one, at) => {
    const key = `${one} ${source[at + 1] ?? ""}`;
    const known = places.get(key);
    if (known === undefined) places.set(key, [at]);
    else known.push(at);
  });
  const meets = shown.map((one, at) => places.get(`${one} ${shown[at + 1] ?? ""}`));
  const missing: number[] = [];
  let [at, seen] = [0, 0];
  while (at < source.length) {
    if (source[at] === shown[seen]) {
      at++;
      seen++;
      continue;
    }
    const next = meeting(meets, at, seen) ?? { at: at + 1, seen };
    for (; at < next.at; at++) missing.push(at);
    seen = next.seen;
  }
  return missing;
}
/** `meets`: of each seen word, the places of the source where it stands before its next. */
function meeting(meets: readonly (readonly number[] | undefined)[], at: number, seen: number) {
  let best: { at: number; seen: number; far: number } | null = null;
  const most = Math.min(limits.github_page_search, meets.length - seen);
  for (let ahead = 0; ahead < most && (best === null || ahead < best.far); ahead++) {
    const found = firstFrom(meets[seen + ahead] ?? [], at);
    if (found !== undefined && (best === null || found - at + ahead < best.far))
      best = { at: found, seen: seen + ahead, far: found - at + ahead };
  }
  return best;
}
function firstFrom(places: readonly number[], from: number): number | undefined {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return places[low];
}
