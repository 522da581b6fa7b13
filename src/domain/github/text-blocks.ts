/**
 * Which lines of a GitHub text are surely inside a fence, where a page shows them as they are, and which may be raw
 * HTML. Where Markdown is not certain from here (lists, quotes, stray tags), all readings are followed at once, and only
 * what they agree on is sure: a doubt hides more, never less. [GHI-41]
 */

export interface Line {
  readonly text: string;
  /** Inside a fence in every reading. */
  readonly code: boolean;
  /** It opens or ends a fence, or may: what stands after the marks, which no page shows. */
  readonly info: string | null;
  /** A tag in it may be raw HTML in some reading. */
  readonly html: boolean;
}

type Open =
  | { readonly in: "fence"; readonly mark: string; readonly length: number; readonly loose: boolean }
  | { readonly in: "html"; readonly end: RegExp | null; readonly loose: boolean }
  | null;

/** What may stand before a block: indentation, quotes, list markers, a footnote's name. */
export const before = /^(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|\[\^[^\]]{1,100}\]:)*/;
const fence = /^(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
const blockTags =
  "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul";
/** Starts of raw HTML: until its end, or a blank line where it has none. `sure`: whatever stands around it. */
const starts: readonly { readonly start: RegExp; readonly end: RegExp | null; readonly sure: boolean }[] = [
  { start: /^<(?:script|pre|style)(?:[ \t>]|$)/i, end: /<\/(?:script|pre|style|textarea)>/i, sure: true },
  { start: /^<textarea(?:[ \t>]|$)/i, end: /<\/(?:script|pre|style|textarea)>/i, sure: false },
  { start: /^<!--/, end: /-->/, sure: true },
  { start: /^<\?/, end: /\?>/, sure: true },
  { start: /^<!\[CDATA\[/, end: /\]\]>/, sure: true },
  { start: /^<![A-Za-z]/, end: />/, sure: false },
  { start: new RegExp(`^</?(?:${blockTags})(?:[ \\t]|/?>|$)`, "i"), end: null, sure: true },
  { start: /^<\/?[A-Za-z](?![A-Za-z0-9+.-]*:)/, end: null, sure: false },
];

/** `text` has no carriage returns. Only `\n` ends a line, as on GitHub. */
export function linesOf(text: string): Line[] {
  let readings: readonly Open[] = [null];
  let listed = false;
  return text.split("\n").map((line) => {
    const lead = before.exec(line)?.[0] ?? "";
    const rest = line.slice(lead.length);
    const top = /^ {0,3}$/.test(lead);
    // Indented a little, it may belong to a list above; at the margin it never does.
    const firm = lead === "" || (top && !listed);
    if (!/^[ \t]*$/.test(lead)) listed = true;
    const marks = fence.exec(rest);
    const next = unique(readings.flatMap((one) => advance(one, line, rest, marks, firm, top)));
    const code = next.every((one) => one?.in === "fence") && readings.every((one) => next.some((at) => same(at, one)));
    const html =
      /^<(?![A-Za-z][A-Za-z0-9+.-]*:)/.test(rest) || [...readings, ...next].some((one) => one?.in === "html");
    readings = next;
    return { text: line, code, info: marks !== null && !code ? (marks[2] ?? "") : null, html };
  });
}

function advance(
  one: Open,
  line: string,
  rest: string,
  marks: RegExpExecArray | null,
  firm: boolean,
  top: boolean,
): Open[] {
  // What a list or a quote holds ends with it, and where that is is not followed here.
  if (one?.loose) return [...stays(one, line, rest, top), ...advance(null, line, rest, marks, firm, top)];
  if (one !== null) return stays(one, line, rest, top);
  const made = marks !== null ? fenceOf(marks, !firm) : htmlOf(line, rest, firm);
  return made === null ? [null] : made;
}

function fenceOf(marks: RegExpExecArray, loose: boolean): Open[] {
  const run = marks[1] ?? "";
  const open: Open = { in: "fence", mark: run.charAt(0), length: run.length, loose };
  return loose ? [null, open] : [open];
}

function htmlOf(line: string, rest: string, firm: boolean): Open[] | null {
  const found = starts.find(({ start }) => start.test(rest));
  if (found === undefined) return null;
  const open: Open = { in: "html", end: found.end, loose: !firm };
  if (found.end?.test(line)) return null;
  return firm && found.sure ? [open] : [null, open];
}

function stays(one: NonNullable<Open>, line: string, rest: string, top: boolean): Open[] {
  if (one.in === "html") return (one.end === null ? /^[ \t]*$/ : one.end).test(line) ? [null] : [one];
  const run = /^(`{3,}|~{3,})[ \t]*$/.exec(rest)?.[1] ?? "";
  const closes = run.startsWith(one.mark) && run.length >= one.length;
  if (!closes) return [one];
  if (one.loose) return [one, null];
  return top ? [null] : [one];
}

function same(a: Open, b: Open): boolean {
  if (a === null || b === null) return a === b;
  if (a.in === "fence") return b.in === "fence" && a.mark === b.mark && a.length === b.length && a.loose === b.loose;
  return b.in === "html" && a.end === b.end && a.loose === b.loose;
}
const readingsKept = 16;
/** Nothing is sure any more. */
const lost: Open = { in: "html", end: /(?!)/, loose: false };
function unique(all: readonly Open[]): readonly Open[] {
  const kept: Open[] = [];
  for (const one of all) if (!kept.some((known) => same(known, one))) kept.push(one);
  return kept.length > readingsKept ? [lost] : kept;
}
