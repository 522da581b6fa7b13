/**
 * Sums in a page's text: TeX has commands and comments that hide words, so of what may be a sum and holds one nothing is
 * surely shown. Where a sum ends is not certain either: the furthest end that anybody could take counts. [GHI-53]
 */
import type { DefaultTreeAdapterTypes } from "parse5";
import { limits } from "../../limits.ts";
import type { Node, Page } from "./text-page.ts";

/** What stands in the place of what is not shown: no word, so that it is not taken for one of the page's. */
export const gone = "[...]";
const blocks: ReadonlySet<string> = new Set(
  "address article aside blockquote body caption center col colgroup dd details dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li listing main menu nav ol p search section summary table tbody td tfoot th thead tr ul".split(
    " ",
  ),
);

type Element = DefaultTreeAdapterTypes.Element;
interface Piece {
  readonly node: DefaultTreeAdapterTypes.TextNode | Element;
  readonly from: number;
  readonly to: number;
}

/** Takes them out of it. `plainly`: no reference stands beside a `$`. */
export function withoutSums(page: Page, plainly: boolean): void {
  const run = new Run(plainly);
  gather(page.childNodes, run, false, 0);
  run.end();
}
function gather(nodes: readonly Node[], run: Run, code: boolean, depth: number): void {
  // No deeper is anything shown.
  if (depth > limits.github_page_depth) return;
  for (const node of nodes) {
    if ("value" in node) run.take(node, code ? node.value.replaceAll("$", " ") : node.value);
    else if ("tagName" in node) {
      if (node.tagName === "img") run.take(node, "");
      const apart = node.tagName === "pre" || blocks.has(node.tagName);
      if (apart) run.end();
      if (node.tagName !== "pre") gather(node.childNodes, run, code || node.tagName === "code", depth + 1);
      if (apart) run.end();
    }
  }
}

/** The text of one block, over its lines and through all that stands within a line. In code no sum begins or ends. */
class Run {
  readonly #plainly: boolean;
  #pieces: Piece[] = [];
  #texts: string[] = [];
  #length = 0;
  #dollars = false;

  constructor(plainly: boolean) {
    this.#plainly = plainly;
  }
  take(node: Piece["node"], text: string): void {
    this.#pieces.push({ node, from: this.#length, to: this.#length + text.length });
    this.#texts.push(text);
    this.#length += text.length;
    this.#dollars ||= text.includes("$");
  }
  end(): void {
    if (this.#dollars) {
      const sums = unsureIn(this.#texts.join(""), this.#plainly);
      let first = 0;
      for (const { node, from, to } of this.#pieces) {
        while ((sums[first]?.to ?? Number.POSITIVE_INFINITY) <= from) first++;
        if ("value" in node) node.value = without(node.value, from, sums, first);
        else if ((sums[first]?.from ?? to) < to || inside(sums[first], from)) node.attrs = [];
      }
    }
    [this.#pieces, this.#texts, this.#length, this.#dollars] = [[], [], 0, false];
  }
}
interface Part {
  readonly from: number;
  readonly to: number;
}
function inside(part: Part | undefined, at: number): boolean {
  return part !== undefined && part.from <= at && at < part.to;
}
/** `text` begins at `start`; of `sums` those from `first` on may reach into it. */
function without(text: string, start: number, sums: readonly Part[], first: number): string {
  let left = "";
  let at = 0;
  for (let next = first; ; next++) {
    const sum = sums[next];
    if (sum === undefined || sum.from >= start + text.length) return left + text.slice(at);
    const from = Math.max(sum.from - start, 0);
    left += text.slice(at, from) + (sum.from >= start ? gone : "");
    at = Math.min(sum.to - start, text.length);
    if (sum.to > start + text.length) return left;
  }
}

interface Dollar {
  readonly at: number;
  readonly escaped: boolean;
  readonly double: boolean;
  /** Not before a blank; not behind a blank or before a digit, unless two stand there. So prices and prompts are none. */
  readonly begins: boolean;
  readonly ends: boolean;
  /** Braces that are open. */
  readonly depth: number;
}
const telling = /\\[\s\S]?|[$%{}]/g;
/** Not what only looks like one, as a wide blank does. */
const blank = /^[ \t\n]?$/;
const command = /^\\[A-Za-z]{2}/;

/**
 * Where TeX's words may hide others. By a command anything may be the sum that holds it; by another mark what readers of
 * sums agree on, if it is known what stands `plainly` beside each `$`.
 */
export function unsureIn(text: string, plainly: boolean): Part[] {
  const dollars: Dollar[] = [];
  const marks: number[] = [];
  let depth = 0;
  for (const { 0: found, index } of text.matchAll(telling)) {
    const escaped = found === "\\$";
    if (found === "{") depth++;
    else if (found === "}") depth--;
    else if (found !== "$") marks.push(index);
    if (escaped || found === "$") {
      const at = index + found.length - 1;
      const [before, after] = [escaped ? found : text.charAt(at - 1), text.charAt(at + 1)];
      const double = after === "$";
      const begins = before === "$" || !blank.test(after);
      const ends = double || before === "$" || !(blank.test(before) || /[0-9]/.test(after));
      dollars.push({ at, escaped, double, begins, ends, depth });
    }
  }
  const commands = marks.filter((at) => command.test(text.slice(at, at + 3)));
  const any = dollars.map((dollar) => ({ ...dollar, begins: true, ends: true }));
  const parts = plainly
    ? [...partsOf(text, any, commands), ...partsOf(text, dollars, marks)]
    : partsOf(text, any, marks);
  return merged(parts.sort((a, b) => a.from - b.from));
}

/** Of each that begins one: it ends at the next, at the next that is not escaped, that is double, or that no brace holds. */
function partsOf(text: string, dollars: readonly Dollar[], marks: readonly number[]): Part[] {
  const parts: Part[] = [];
  let mark = marks.length - 1;
  // From the last one on: what is next of each kind, and the first mark behind.
  let [next, free, double, near] = [-1, -1, -1, Number.POSITIVE_INFINITY];
  const open: Dollar[] = [];
  const last = dollars.findLast(({ ends }) => ends)?.at ?? -1;
  for (const dollar of dollars.toReversed()) {
    const { at } = dollar;
    for (; (marks[mark] ?? -1) > at; mark--) near = marks[mark] ?? near;
    while ((open.at(-1)?.depth ?? dollar.depth) > dollar.depth) open.pop();
    // In braces that do not end, anything may be the end.
    const outside = open.at(-1)?.at ?? last;
    const end = Math.max(next, free, dollar.double ? double : -1, outside);
    // A backslash of the end's own says nothing.
    const unsure = near < end - 1 || (near === end - 1 && text.charAt(near) === "%");
    if (dollar.begins && unsure) parts.push({ from: at, to: end + 1 });
    if (!dollar.ends) continue;
    next = at;
    if (!dollar.escaped) free = at;
    if (dollar.double) double = at + 1;
    open.push(dollar);
  }
  return parts;
}
function merged(parts: readonly Part[]): Part[] {
  const all: { from: number; to: number }[] = [];
  for (const { from, to } of parts) {
    const last = all.at(-1);
    if (last !== undefined && from < last.to) last.to = Math.max(last.to, to);
    else all.push({ from, to });
  }
  return all;
}
