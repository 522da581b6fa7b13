/**
 * The judge behind the scanner: what the model is given of a text, its page shows, word for word and in that order; where
 * it does not, the model is given the page's own words, and where those are not certain, none. [GHI-53] [GHI-54] [GHI-55]
 */
import { pagesOf, unescaped } from "./text-page.ts";
import { shownOf } from "./text-shown.ts";
import { withoutUnseen } from "./text-unseen.ts";
import { inOrder, joined, sameWords, tellingOf, unshown, untagged, wordsOf } from "./text-words.ts";

export interface Shown {
  readonly shown: string;
  /** What of the source is not in it. */
  readonly hidden: readonly string[];
}

export const unread = "[This text was not read: what its page shows of it is not certain. It stands on GitHub.]";
/** Tags that end a word; others may stand within one. */
const apart =
  /<\/?(?:blockquote|br|d[dlt]|details|div|h[1-6r]|img|li|[op]l?|pre|summary|t[dhr]|table|tbody|ul)[ \t\n]*\/?>/gi;
/** Null where all that the scanner left is on the page. `taken`: what it took away. */
export function judged(text: string, scanned: string, taken: readonly string[]): Shown | null {
  const pages = readingsOf(text);
  if (pages === null) return { shown: unread, hidden: [text] };
  const readings = pages.map((page) => wordsOf(withoutUnseen(page).clean));
  const everywhere = (words: readonly string[]) => readings.every((reading) => inOrder(words, reading));
  const own = withoutUnseen(pages[0]).clean;
  const left = tellingOf(unescaped(untagged(scanned.replace(apart, " "), () => "")));
  if (everywhere(left) && (sameWords(left, tellingOf(own)) || !anyIn(left, taken))) return null;
  if (!everywhere(tellingOf(own))) return { shown: unread, hidden: [text] };
  return { shown: pages[0], hidden: unshown(text, withoutBlanks(text), wordsOf(own)) };
}
/** A blank that is written as a reference is no word to be told, and buries none. */
function withoutBlanks(text: string): string {
  return text.replace(/&[#\w]{1,33};/g, (one) => (wordsOf(unescaped(one)).length === 0 ? " ".repeat(one.length) : one));
}

/**
 * Whether a word that is left stands in what was taken away too. If that is on the page, the one that is left may be
 * hidden there, and the page's word not be the model's.
 */
function anyIn(left: readonly string[], taken: readonly string[]): boolean {
  const whole = withoutUnseen(unescaped(taken.join("\n"))).clean;
  const there = new Set([...wordsOf(whole), ...wordsOf(joined(whole.replace(/<[^<>]*>/g, "")))]);
  return left.some((one) => there.has(one));
}

/** A parser that gives up, for whatever reason, has shown nothing. */
function readingsOf(text: string): [string, ...string[]] | null {
  try {
    const [first, ...others] = pagesOf(text);
    return [shownOf(first), ...others.map(shownOf)];
  } catch {
    return null;
  }
}
