/**
 * The lines of a comment that the page shows as beginning with `/countersign`, outside fences, quotations and comments,
 * and of each whether something above may hold it: code or a formula that did not end, an HTML block, a table. [GHI-11]
 */
import { limits } from "../../limits.ts";
import { drawn, unread } from "./text-tags.ts";
import { sameName } from "./triggers.ts";

export interface Line {
  /** Where its line begins, and what stands after the word. */
  readonly at: number;
  readonly rest: string;
  /** It may be code, a quotation or a cell: somebody else's words, or an example. */
  readonly held: boolean;
  /** Written as nothing that we take: `/countersign: ...`, or with our name before it. */
  readonly odd: boolean;
  /** Not at the very margin: up to three spaces, which no page shows. */
  readonly indented: boolean;
}

const word = /^( {0,3})\/countersign(?=[ \t]|$)[ \t]*(.*)$/i;
const oddWord = /^\/countersign(?:[:;,!?]|\.(?=[ \t]|$))/i;
const called = /^@([A-Za-z0-9-]+)(?:\[bot\])?[:,]?[ \t]+\/countersign(?![\p{L}\p{N}_-])/iu;

/** Marked as an item, emphasis, code, a heading or as plain text, or indented: the page shows the command in it. */
const dressed = /^[ \t]*(?:(?:[-+*]|\d{1,9}[.)]|#{1,6})[ \t]+)?[*_`]{0,3}\\?\/countersign(?![\p{L}\p{N}_/-])/iu;
const mentioned = /^[ \t]*@([A-Za-z0-9-]+)(?:\[bot\])?[:,]?[ \t]+[^ \t]/;

const blank = /^[ \t]*$/;
const fenceStart = /^(`{3,}(?=[^`]*$)|~{3,})/;
const fenceEnd = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;
/** Not at the margin it may be a list's, which ends with it, or not. */
const innerStart = /^[ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})/;
const innerEnd = /^[ \t]*(`{3,}|~{3,})[ \t]*$/;

const span = /(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g;
/** Not a rule, which is made of the same marks. */
const listItem = /^(?! {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,})$) {0,3}(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/;
/** Each pairs with the next of its like in the same paragraph. */
const pairs = /`+|~~|\$\$/g;
/** A block of its own: nothing before it reaches into it. */
const blockStart = /^ {0,3}(?:#{1,6}(?:[ \t]|$)|[-+*][ \t]|\d{1,9}[.)][ \t])/;
const heading = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const quoteInList = /^[ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)+>/;
const tag = /<(\/?)([A-Za-z][A-Za-z0-9-]*)(?=[\s/>])[^<>]*>?/g;
const htmlStart = /^ {0,3}<\/?([A-Za-z][A-Za-z0-9-]*)(?=[\s/>]|$)/;

/** Tags that change nothing of whose words those between them are. */
const light: ReadonlySet<string> = new Set(
  "a b br dd div dl dt em h1 h2 h3 h4 h5 h6 hr i img ins kbd li ol p picture samp source span strong sub summary sup tbody td tfoot th thead tr tt ul var".split(
    " ",
  ),
);
function isHtml(name: string): boolean {
  return drawn.has(name) || unread.has(name);
}

/** A plain look: in some line no word stands before one, but for tags and a name that is called. */
export function couldCommand(text: string): boolean {
  return text.split(/[\n\r]/).some((line) => {
    const at = line.search(/\/countersign/i);
    const before = line.slice(0, at).replace(/<[^<>]*>/g, "");
    return at !== -1 && !/[\p{L}\p{N}]/u.test(before.replace(/^[ \t]*@[A-Za-z0-9-]+(?:\[bot\])?/, ""));
  });
}

export function commandLines(text: string, slug: string): Line[] {
  const found: Line[] = [];
  const above = new Above();
  let [fence, quoted, at] = ["", false, 0];
  // What is indented below an item is the item's, as in a list of what to do: nobody's order.
  let [listed, parted] = [false, true];
  for (const line of text.split("\n")) {
    const begins = at;
    at += line.length + 1;
    if (above.inComment) {
      above.inComment = !line.includes("-->");
      continue;
    }
    if (fence !== "") {
      if (fenceEnd.exec(line)?.[1]?.startsWith(fence) === true) fence = "";
      continue;
    }
    const run = above.inFence ? undefined : fenceStart.exec(line)?.[1];
    // A quotation goes on over lines that are not marked, until one is blank.
    if (run !== undefined || blank.test(line)) {
      [fence, quoted, parted] = [run ?? "", false, true];
      above.paragraphEnds();
      continue;
    }
    quoted ||= /^ {0,3}>/.test(line);
    if (quoted) continue;
    listed = listItem.test(line) || (listed && !(parted && /^[^ \t]/.test(line)));
    parted = false;
    const [, indent = "", rest] = word.exec(line) ?? [];
    const [odd, held, indented] = [rest === undefined && isOdd(line, slug), above.holds(), indent !== ""];
    const counts = indented ? !held && !listed : rest !== undefined || odd;
    if (counts) found.push({ at: begins, rest: rest ?? "", held, odd, indented });
    above.take(line);
  }
  return found;
}
/** The whole comment is one line that a person plainly meant for us, and wrote so that it is no command. */
export function isMeant(comment: string, slug: string): boolean {
  const line = comment.trimEnd().replace(/^\s*\n/, "");
  if (line.length > limits.github_meant_chars || /[\r\n]/.test(line)) return false;
  const name = mentioned.exec(line)?.[1];
  return dressed.test(line) || (name !== undefined && slug !== "" && sameName(name, slug));
}
function isOdd(line: string, slug: string): boolean {
  const name = called.exec(line)?.[1];
  return oddWord.test(line) || (name !== undefined && slug !== "" && sameName(name, slug));
}

/** What stands above a line, as far as it may reach down to it. */
class Above {
  inComment = false;
  #inner = "";
  #held = false;
  readonly #open = new Set<string>();
  readonly #tags = new Map<string, number>();

  get inFence(): boolean {
    return this.#inner !== "";
  }
  holds(): boolean {
    return this.#held || this.#inner !== "" || this.#open.size > 0 || this.#tags.size > 0;
  }
  paragraphEnds(): void {
    this.#held = false;
    this.#open.clear();
  }

  take(line: string): void {
    if (this.#inner !== "") {
      if (innerEnd.exec(line)?.[1]?.startsWith(this.#inner) === true) this.#inner = "";
      return;
    }
    const run = innerStart.exec(line)?.[1];
    if (run !== undefined) {
      this.#inner = run;
      return;
    }
    if (blockStart.test(line)) this.#open.clear();
    const plain = this.#withoutComments(line.replace(span, " ").replace(/\\[`~$<]/g, " "));
    for (const [mark] of plain.matchAll(pairs)) if (!this.#open.delete(mark)) this.#open.add(mark);
    if (heading.test(line)) this.#open.clear();
    const isTable = /^[ \t|:-]+$/.test(line) && line.includes("|") && line.includes("-");
    const html = htmlStart.exec(plain)?.[1]?.toLowerCase();
    this.#held ||= isTable || quoteInList.test(line) || (html !== undefined && isHtml(html));
    this.#countTags(plain);
  }

  #withoutComments(line: string): string {
    let kept = "";
    for (let from = 0; ; ) {
      const start = line.indexOf("<!--", from);
      if (start === -1) return kept + line.slice(from);
      kept += line.slice(from, start);
      // `<!-->` is a whole one.
      const end = line.indexOf("-->", start + 2);
      this.inComment = end === -1;
      if (end === -1) return kept;
      from = end + 3;
    }
  }
  #countTags(line: string): void {
    for (const [, slash, given = ""] of line.matchAll(tag)) {
      const name = given.toLowerCase();
      if (light.has(name) || !isHtml(name)) continue;
      const depth = (this.#tags.get(name) ?? 0) + (slash === "" ? 1 : -1);
      if (depth > 0) this.#tags.set(name, depth);
      else this.#tags.delete(name);
    }
  }
}
