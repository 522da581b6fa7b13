/**
 * Where a link's address ends. The library ends it at a bracket that stays open, or at a control character; GitHub's parser
 * goes on, in some versions. What stands behind it is then a title, which no page shows, or words. [GHI-67]
 */
import type { MarkdownIt as Markdown } from "markdown-it";

type Destination = Markdown["helpers"]["parseLinkDestination"];

/** An address whose end is not certain, with more behind it that could be a link's, makes a text unread. `always`: whatever. */
export function certainAddress(own: Destination, always = false): Destination {
  return (text, start, max) => {
    const found = own(text, start, max);
    if (text.charAt(start) === "<") return found;
    const end = furthest(text, start, max);
    // Whether these are blanks or the address's own is not certain either.
    if (end < max && /[\v\f]/.test(text.charAt(end))) throw new Error("an address or none");
    if (end === start || (found.ok && found.pos === end)) return found;
    const next = /[^\s]|$/.exec(text.slice(end, max))?.[0] ?? "";
    if (always || (next !== "" && `"'()`.includes(next))) throw new Error("an address or none");
    return found;
  };
}
const mostBrackets = 32;
const plain = /(?:[^\t-\r ()\\]|\\[!-/:-@[-`{-~]?)*/y;
/** Up to a blank, or to the `)` that ends the link. */
function furthest(text: string, start: number, max: number): number {
  let depth = 0;
  for (let at = start; at < max; at++) {
    plain.lastIndex = at;
    at += plain.exec(text)?.[0].length ?? 0;
    if (at >= max) break;
    const mark = text.charAt(at);
    // In more brackets than these no version has one.
    if (mark === "(" && ++depth > mostBrackets) return start;
    if (mark !== "(" && (mark !== ")" || --depth < 0)) return at;
  }
  return max;
}
