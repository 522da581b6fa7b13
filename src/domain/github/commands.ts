/**
 * `/countersign ...` in a comment: what its author asks for, if anything. What decides stands alone, first in its
 * comment, and one that could be read two ways decides nothing; a wish may follow plain text. [GHI-10] [GHI-11] [GHI-47]
 */
import { limits } from "../../limits.ts";
import { cleanText } from "./text.ts";

export type Command =
  | { readonly what: "wish" }
  | { readonly what: "approve"; readonly hash: string | null }
  | { readonly what: "deny"; readonly reason: string | null }
  /** Of one task, where it is named. */
  | { readonly what: "cancel"; readonly task: string | null }
  | { readonly what: "status" }
  /** It may be meant so, or as something else, or be somebody else's words. */
  | { readonly what: "unclear" };

/** Null when the comment asks nothing of us. */
export function readCommand(comment: string): Command | null {
  const text = comment.replace(/\r\n?/g, "\n").replace(/\p{Zs}/gu, " ");
  const { clean, hidden } = cleanText(text);
  const [seen] = commandsIn(clean);
  if (seen === undefined) return null;
  const [first, ...more] = commandsIn(text);
  if (first?.sure !== true) return { what: "unclear" };
  if (!decides(first)) return { what: more.some(decides) ? "unclear" : "wish" };
  if (more.length > 0 || text.slice(0, first.at).trim() !== "") return { what: "unclear" };
  const reason = denial.exec(clean.slice(seen.at))?.[1];
  if (reason !== undefined) return { what: "deny", reason: reasonOf(reason) };
  return hidden.length > 0 ? { what: "unclear" } : decisionOf(text.trim());
}

const denial = /^\/countersign[ \t]+deny(?![\p{L}\p{N}_-])[.!:,]*(.*)$/isu;
const approval = /^\/countersign[ \t]+approve(?:[ \t]+(`?)([0-9a-f]{8,64})\1)?[ \t]*\.?$/i;
const cancelling = /^\/countersign[ \t]+cancel(?:[ \t]+(`?)(t[a-z0-9]{8,63})\1)?[ \t]*\.?$/i;
const asking = /^\/countersign[ \t]+status[ \t]*\.?$/i;

/** Of all that is in the comment: nothing but the one line. */
function decisionOf(whole: string): Command {
  const approved = approval.exec(whole);
  if (approved !== null) return { what: "approve", hash: approved[2]?.toLowerCase() ?? null };
  const cancelled = cancelling.exec(whole);
  if (cancelled !== null) return { what: "cancel", task: cancelled[2]?.toLowerCase() ?? null };
  return { what: asking.test(whole) ? "status" : "unclear" };
}
function reasonOf(text: string): string | null {
  const reason = text.trim().slice(0, limits.github_reason_chars).toWellFormed();
  return reason === "" ? null : reason;
}

interface Found {
  /** Where its line begins, and what stands after the word. */
  readonly at: number;
  readonly rest: string;
  /** It is surely a line of a plain paragraph: whatever stands above it leads into nothing. */
  readonly sure: boolean;
}
function decides({ rest }: Found): boolean {
  return /^(?:approve|deny|cancel|status)(?![\p{L}\p{N}_-])/iu.test(rest);
}

const word = /^\/countersign(?=[ \t]|$)[ \t]*(.*)$/i;
const blank = /^[ \t]*$/;
const fenceStart = /^(`{3,}(?=[^`]*$)|~{3,})/;
const fenceEnd = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;
/** A line of words alone: no mark in it pairs with a later one, and no block begins with it. */
const plainLine = /^(?!\d{1,9}[.)])[\p{L}\p{N}@/][^`|~$<\\[\]]*$/u;
/** A raw tag holds what follows, over any number of lines; so may a fence or a sum that begins somewhere within. */
const opens = /<(?!https?:)[A-Za-z/!?]|\$\$|^ {1,3}(?:`{3}|~{3})/;

/** The lines that begin with the word at the margin, outside fences and quotations. */
function commandsIn(text: string): Found[] {
  const found: Found[] = [];
  let [fence, quoted, doubted, lost, at] = ["", false, false, false, 0];
  for (const line of text.split("\n")) {
    const begins = at;
    at += line.length + 1;
    if (fence !== "") {
      if (fenceEnd.exec(line)?.[1]?.startsWith(fence) === true) fence = "";
      continue;
    }
    const run = fenceStart.exec(line)?.[1];
    // A quotation and a list go on over lines that are not marked, until one is blank.
    if (run !== undefined || blank.test(line)) {
      [fence, quoted, doubted] = [run ?? "", false, false];
      continue;
    }
    quoted ||= /^ {0,3}>/.test(line);
    if (quoted) continue;
    const rest = word.exec(line)?.[1];
    if (rest !== undefined) found.push({ at: begins, rest, sure: !doubted && !lost });
    doubted ||= !plainLine.test(line);
    lost ||= opens.test(line);
  }
  return found;
}
