/**
 * A text from GitHub, parted: `clean` is what its page shows and a model may read, `hidden` what a person on the page
 * does not see, written out for the approver. Nothing is in neither. [GHI-40] to [GHI-46] [GHI-53] [GHI-54]
 */
import { limits } from "../../limits.ts";
import { visible } from "../visible.ts";
import { judged, unread } from "./text-judge.ts";
import { withoutMarks } from "./text-marks.ts";
import { isTooMuch } from "./text-page.ts";
import { withoutUnseen } from "./text-unseen.ts";

/** The scanner keeps a text as it was written; the judge has the last word. */
export function cleanText(source: string): { clean: string; hidden: string[] } {
  const text = source.replace(/\r\n?/g, "\n");
  if (isTooMuch(text)) return { clean: unread, hidden: bounded([written(text)]) };
  const parted = withoutMarks(text);
  const scanned = withoutUnseen(parted.shown);
  const found = judged(text, scanned.clean, parted.hidden);
  const { clean, runs } = found === null ? scanned : withoutUnseen(found.shown);
  const parts = found === null ? parted.hidden : found.hidden;
  return { clean, hidden: bounded([...parts.map(written), ...runs]) };
}

/** A title is no Markdown: its page writes out every mark of it that can be seen. */
export function cleanTitle(title: string): { clean: string; hidden: string[] } {
  const { clean, runs } = withoutUnseen(title);
  return { clean, hidden: bounded(runs) };
}

/** No more of it is escaped than can be shown: that takes long, and makes it longer. */
function written(part: string): string {
  const chars = limits.github_hidden_chars;
  return visible(part.slice(0, chars)) + part.slice(chars);
}
function bounded(parts: readonly string[]): string[] {
  const { github_hidden_parts: most, github_hidden_chars: chars } = limits;
  const kept = parts.slice(0, parts.length > most ? most - 1 : most);
  const cut = kept.map((part) =>
    part.length > chars ? `${part.slice(0, chars).toWellFormed()} … and ${part.length - chars} more characters` : part,
  );
  return parts.length > most ? [...cut, `and ${parts.length - kept.length} more hidden parts`] : cut;
}
