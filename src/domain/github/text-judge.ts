/**
 * The judge behind the scanner: what the model is given of a text, its page shows, word for word and in that order; where
 * it does not, the model is given the page's own words, and where those are not certain, none. [GHI-53] [GHI-54] [GHI-55]
 */
import { pagesOf, unescaped } from "./text-page.ts";
import { shownOf } from "./text-shown.ts";
import { withoutUnseen } from "./text-unseen.ts";
import { inOrder, tellingOf, unshown, untagged, wordsOf } from "./text-words.ts";

export interface Shown {
  readonly shown: string;
  /** What of the source is not in it. */
  readonly hidden: readonly string[];
}

const unread = "[This text was not read: what its page shows of it is not certain. It stands on GitHub.]";
/** Tags that end a word; others may stand within one. */
const apart =
  /<\/?(?:blockquote|br|d[dlt]|details|div|h[1-6r]|img|li|[op]l?|pre|summary|t[dhr]|table|tbody|ul)[ \t\n]*\/?>/gi;
/** Null where all that the scanner left is on the page. */
export function judged(text: string, scanned: string): Shown | null {
  const pages = readingsOf(text);
  if (pages === null) return { shown: unread, hidden: [text] };
  const readings = pages.map((page) => wordsOf(withoutUnseen(page).clean));
  const everywhere = (words: readonly string[]) => readings.every((reading) => inOrder(words, reading));
  if (everywhere(tellingOf(unescaped(untagged(scanned.replace(apart, " "), () => ""))))) return null;
  const own = withoutUnseen(pages[0]).clean;
  if (!everywhere(tellingOf(own))) return { shown: unread, hidden: [text] };
  return { shown: pages[0], hidden: unshown(text, wordsOf(own)) };
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
