/** What begins a block on GitHub, and what ends one: read at a line's first character that is no blank. [GHI-65] */
import { trimmedOf } from "./text-words.ts";

/** In the order that GitHub's parser asks in. The last may not end a paragraph. */
const tags =
  "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|section|source|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul";
const value = `[^ \\t\\v\\f"'=<>\`]+|'[^']*'|"[^"]*"`;
const attribute = `[ \\t\\v\\f]+[A-Za-z_:][\\w.:-]*(?:[ \\t\\v\\f]*=[ \\t\\v\\f]*(?:${value}))?`;
const alone = new RegExp(
  `^<(?:[A-Za-z][A-Za-z0-9-]*(?:${attribute})*[ \\t\\v\\f]*/?|/[A-Za-z][A-Za-z0-9-]*[ \\t\\v\\f]*)>[ \\t\\f]*$`,
);
export interface Html {
  /** Null: a blank line ends it. */
  readonly end: RegExp | null;
}
const html: readonly { readonly start: RegExp; readonly html: Html }[] = [
  { start: /^<(?:script|pre|style)(?:[ \t\v\f>]|$)/i, html: { end: /<\/(?:script|pre|style)>/i } },
  { start: /^<!--/, html: { end: /-->/ } },
  { start: /^<\?/, html: { end: /\?>/ } },
  { start: /^<![A-Z]/, html: { end: />/ } },
  { start: /^<!\[CDATA\[/i, html: { end: /\]\]>/ } },
  { start: new RegExp(`^</?(?:${tags})(?:[ \\t\\v\\f]|/?>|$)`, "i"), html: { end: null } },
];
/** `within`: a paragraph stands above it, of which a tag alone on its line may be a part. */
export function htmlOf(rest: string, within: boolean): Html | null {
  if (!rest.startsWith("<")) return null;
  const found = html.find(({ start }) => start.test(rest));
  return found?.html ?? (!within && alone.test(rest) ? { end: null } : null);
}

/** How many characters its mark has. */
export function headingOf(rest: string): number {
  return /^#{1,6}(?=[ \t]|$)/.exec(rest)?.[0].length ?? 0;
}
export function underlineOf(rest: string): number {
  return /^=+[ \t]*$/.test(rest) ? 1 : /^-+[ \t]*$/.test(rest) ? 2 : 0;
}
/** Without the marks that close it. */
export function headed(rest: string): string {
  const text = trimmedOf(rest, blanks);
  const open = trimmedOf(text, "#");
  return open === text || !/[ \t]$/.test(open) ? (open === "" ? "" : text) : trimmedOf(open, blanks);
}
export const blanks = " \t\n\v\f\r";

export function isRule(rest: string): boolean {
  return /^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(rest);
}
export interface Fence {
  readonly mark: string;
  readonly length: number;
  /** How far it stands in: as much is taken from each of its lines. */
  readonly indent: number;
}
export function fenceOf(rest: string, indent: number): Fence | null {
  const run = /^(?:`{3,}(?=[^`]*$)|~{3,})/.exec(rest)?.[0];
  return run === undefined ? null : { mark: run.charAt(0), length: run.length, indent };
}
export function isEndOf(fence: Fence, rest: string): boolean {
  const run = /^(?:`{3,}|~{3,})(?=[ \t]*$)/.exec(rest)?.[0] ?? "";
  return run.startsWith(fence.mark) && run.length >= fence.length;
}

/** A footnote's name with its marks. */
export function noteOf(rest: string): string | null {
  return /^\[\^[^\] \t]+\]:/.exec(rest)?.[0] ?? null;
}
export interface Marker {
  readonly ordered: boolean;
  /** What items of one list share. */
  readonly mark: string;
  readonly length: number;
}
/** `within` a paragraph only what has words, and begins with one, is an item. */
export function markerOf(rest: string, within: boolean): Marker | null {
  const found = /^(?:([-*+])|(\d{1,9})([.)]))(?=[ \t]|$)/.exec(rest);
  if (found === null) return null;
  const [whole, bullet, number, point = ""] = found;
  if (within && (/^[ \t]*$/.test(rest.slice(whole.length)) || (number !== undefined && Number(number) !== 1)))
    return null;
  return { ordered: bullet === undefined, mark: bullet ?? point, length: whole.length };
}

const cell = "[ \\t\\v\\f]*:?-+:?[ \\t\\v\\f]*";
const delimiters = new RegExp(`^\\|?${cell}(?:\\|${cell})*\\|?$`);
/** The line that makes the one above it a table's head. */
export function isDelimiters(rest: string): boolean {
  return delimiters.test(trimmedOf(rest, " \t\v\f"));
}
/** A bar is part of a cell where a backslash stands right before it, however many. */
const inCell = /(?:[^|\\]|\\\|?)*/y;
const bar = /\|[ \t\v\f]*/y;
/** A row's cells; null if it has none. */
export function cellsOf(row: string): string[] | null {
  const cells: string[] = [];
  let at = taken(bar, row, 0).length;
  while (at < row.length) {
    const text = taken(inCell, row, at);
    at += text.length;
    const end = taken(bar, row, at);
    at += end.length;
    cells.push(trimmedOf(unbarred(text), blanks).replace(/^[ \t\v\f]+/, ""));
    if (end === "") break;
  }
  return cells.length === 0 ? null : cells;
}
export function unbarred(text: string): string {
  return text.replaceAll("\\|", "|");
}
function taken(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}
