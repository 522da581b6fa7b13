/**
 * Words of people and models as GitHub is to show them: as data. No mention, reference, link, image, HTML or keyword in
 * them does anything there, what a screen would hide is written out, and what is too long is cut and says so. [GHO-*]
 */
import { limits } from "../../limits.ts";
import { byteLength } from "../canonical.ts";
import { visible, visibleLine } from "../visible.ts";

/** By this a comment is found again. No text that is shown can hold one: see `unmarked`. */
export function marker(task_id: string): string {
  return `<!-- countersign:task:${task_id} -->`;
}
function unmarked(text: string): string {
  return text.replaceAll("<!--", "<! --");
}

/** Letters and digits with plain punctuation: nothing to Markdown, wherever in a line it stands but at its beginning. */
const plainWord = /^["'(./]*[\p{L}\p{N}][\p{L}\p{N}\p{M}.,;:?!'"()/%+=–—…-]*$/u;
const plainDash = /^[-–—…/+=]{1,3}$/u;
/** Yet GitHub makes something of it: an address, a commit, a reference like GH-1, an emoji. */
const meantWord = /:\/\/|www\.|\b[0-9a-f]{7,64}\b|\b\p{L}+-\p{N}|:[\p{L}\p{N}+-]+:/iu;
/** At the beginning of a line it would make a list. */
const listWord = /^\p{N}+[.)]+$/u;

const cut = "… (cut)";

/** One line. Each word that could do anything stands in a code span, where it does nothing. */
export function line(text: string, most_bytes: number = limits.github_line_bytes): string {
  const words = visibleLine(unmarked(beginning(text, most_bytes + 1)))
    .split(" ")
    .filter((word) => word !== "");
  const shown: string[] = [];
  let left = most_bytes - byteLength(` ${cut}`);
  for (const [index, word] of words.entries()) {
    const safe = safely(word, index === 0);
    left -= byteLength(safe) + 1;
    if (left < 0) {
      const part = index === 0 ? beginning(word, most_bytes >> 4) : "";
      return [...shown, ...(part === "" ? [] : [code(part)]), cut].join(" ");
    }
    shown.push(safe);
  }
  return text.length > most_bytes + 1 ? [...shown, cut].join(" ") : shown.join(" ");
}
function safely(word: string, first: boolean): string {
  const plain = (plainWord.test(word) && !(first && listWord.test(word))) || (!first && plainDash.test(word));
  return plain && !meantWord.test(word) ? word : code(word);
}
function code(text: string): string {
  const fence = "`".repeat(longestRun(text) + 1);
  const inside = text.startsWith("`") || text.endsWith("`") ? ` ${text} ` : text;
  return `${fence}${inside}${fence}`;
}
function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}

/** Several lines, as a quotation. */
export function quoted(text: string, most_bytes: number = limits.github_paragraph_bytes): string {
  const all = text.trim().replaceAll(/\r\n?/g, "\n").replaceAll("\t", " ").split("\n");
  const shown: string[] = [];
  let left = most_bytes - byteLength(`> ${cut}\n`);
  for (const each of all) {
    const quote = `> ${line(each, Math.max(left - 3, 0))}`.trimEnd();
    left -= byteLength(quote) + 1;
    if (left < 0 || shown.length >= limits.github_paragraph_lines) return [...shown, `> ${cut}`].join("\n");
    shown.push(quote);
  }
  return shown.join("\n");
}

/** Colours of a terminal; every other control character is written out. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what begins a colour is one.
const colour = /\u001b\[[0-9;]*m/g;
/** Where a description becomes a commit's message, a fence is no fence any more: what would close an issue is broken. */
const closing = /\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)(:?\s+)(?=\S{0,200}?(?:#|GH-|issues\/|pull\/)\d)/gi;

/** The end of an output, in a fence that no text inside can close. */
export function fenced(text: string, most_bytes: number = limits.github_output_bytes): string {
  const tidy = text
    .slice(-2 * most_bytes)
    .replaceAll("\r\n", "\n")
    .replaceAll(colour, "");
  const all = withoutSkips(unmarked(visible(tidy)).replaceAll(closing, "$1 ·$2"));
  const shown = ending(all, most_bytes);
  const fence = "`".repeat(Math.max(3, longestRun(shown) + 1));
  const whole = text.length <= 2 * most_bytes && shown === all;
  return `${whole ? "" : "Its beginning is cut:\n\n"}${fence}text\n${shown.trimEnd()}\n${fence}`;
}

/**
 * All of a text: not a character is left out, nothing in it closes its fence, and no line runs off the page, where it
 * would have to be looked for.
 */
export function verbatim(text: string): string {
  const shown = text
    .split("\n")
    .map((each) => folded(visibleLine(each)))
    .join("\n");
  const fence = "`".repeat(Math.max(3, longestRun(shown) + 1));
  return `${fence}text\n${shown}\n${fence}`;
}
const goesOn = "⟦…⟧ ";
function folded(text: string): string {
  const most = limits.github_plan_columns;
  if (text.length * 2 <= most) return text;
  let shown = "";
  let width = 0;
  for (const mark of text) {
    // What is not plain may take the room of two.
    const room = mark <= "~" ? 1 : 2;
    width += room;
    if (width > most) {
      shown += `\n${goesOn}`;
      width = goesOn.length + room;
    }
    shown += mark;
  }
  return shown;
}

/** What keeps checks from running on the commit whose message it stands in, however it is written. */
const skips = /\[(?=[^[\]\n]{0,60}?(?:skip|\bci\b|no[-_ ]?ci))|(?:skip|request)-(?=checks?)|\*\*(?=\*)/gi;
export function withoutSkips(text: string): string {
  return text.replaceAll(skips, "$& ");
}

/** A title without any Markdown, which becomes a commit's message too: what would do something is parted by a space. */
export function plainTitle(text: string): string {
  const plain = withoutSkips(visibleLine(text.trim()))
    .replaceAll("@", "@ ")
    .replaceAll(/#(?=\d)/g, "# ")
    .replaceAll(/GH-(?=\d)/gi, "GH- ")
    .replaceAll("://", ": //");
  const most = limits.github_pull_title_chars;
  return plain.length <= most ? plain : `${beginning(plain, most - cut.length - 1)} ${cut}`;
}

/** `label` is ours. An address of another form is shown and leads nowhere. */
export function link(label: string, url: string): string {
  const good = url.length <= 2_048 && /^https?:\/\/[\w.~:/?#!$&*+,;=%-]+$/.test(url);
  return good ? `[${label}](${url})` : `${label}: ${line(url)}`;
}

export interface Block {
  readonly text: string;
  /** Left out where all together are too long, the last of them first. */
  readonly optional?: boolean;
}
/** What there is, one block below the other. */
export function blocks(
  given: readonly (Block | string | null)[],
  most_bytes: number = limits.github_text_bytes,
): string {
  let kept = given.flatMap((each) => (each === null ? [] : [typeof each === "string" ? { text: each } : each]));
  let end: readonly Block[] = [];
  const joined = () => [...kept, ...end].map(({ text }) => text).join("\n\n");
  while (byteLength(joined()) > most_bytes && kept.length > 1) {
    const optional = kept.findLastIndex((each) => each.optional === true);
    const gone = optional === -1 ? kept.length - 1 : optional;
    kept = kept.filter((_, at) => at !== gone);
    end = [{ text: "Some of it is cut: it is longer than GitHub takes." }];
  }
  return joined();
}

function beginning(text: string, most_characters: number): string {
  if (text.length <= most_characters) return text;
  // A pair of surrogates is not parted: its half would be shown as what is hidden.
  return text.slice(0, most_characters).replace(/[\uD800-\uDBFF]$/, "");
}
function ending(text: string, most_bytes: number): string {
  let shown = text.slice(-most_bytes);
  while (byteLength(shown) > most_bytes) shown = shown.slice(Math.ceil((byteLength(shown) - most_bytes) / 3));
  return shown.replace(/^[\uDC00-\uDFFF]/, "");
}

/** 1,234,567 */
export function counted(number: number): string {
  return String(Math.round(number)).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}
