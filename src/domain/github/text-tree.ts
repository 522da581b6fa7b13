/**
 * The blocks of a GitHub text, read line by line as GitHub's own parser reads them: which blocks go on, which begin, and
 * where the rest of the line goes. A library with its own order of questions ends tables, quotes and comments elsewhere,
 * and each such place hides words from people alone. [GHI-65]
 */
import { limits } from "../../limits.ts";
import { Line } from "./text-line.ts";
import {
  cellsOf,
  type Fence,
  fenceOf,
  type Html,
  headed,
  headingOf,
  htmlOf,
  isDelimiters,
  isEndOf,
  isRule,
  type Marker,
  markerOf,
  noteOf,
  unbarred,
  underlineOf,
} from "./text-starts.ts";

type What =
  | { readonly kind: "document" | "quote" | "paragraph" | "rule" }
  | { readonly kind: "list"; readonly marker: Marker }
  | { readonly kind: "item"; readonly width: number }
  | { readonly kind: "note"; readonly name: string }
  | { readonly kind: "heading"; readonly level: number }
  | { readonly kind: "code"; readonly fence: Fence | null }
  | { readonly kind: "html"; readonly html: Html }
  | { readonly kind: "table"; readonly columns: number }
  | { readonly kind: "row"; readonly cells: readonly string[] };

export interface Block {
  what: What;
  readonly parent: Block | null;
  readonly depth: number;
  readonly children: Block[];
  lines: string[];
  open: boolean;
  /** A line below it was no table's. */
  headless: boolean;
  readonly first: number;
  /** Its last line that is not blank. */
  last: number;
}

/** How many lines of a paragraph's beginning are definitions. */
export type Definitions = (lines: readonly string[]) => number;

const codeIndent = 4;

export function treeOf(text: string, definitions: Definitions): Block {
  const tree = new Tree(definitions);
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const line of lines) tree.take(line);
  return tree.end();
}

class Tree {
  readonly #definitions: Definitions;
  readonly #root: Block = made({ kind: "document" }, null, 0);
  /** The innermost block that the last line went to. */
  #current = this.#root;
  #number = -1;

  constructor(definitions: Definitions) {
    this.#definitions = definitions;
  }

  take(text: string): void {
    this.#number++;
    const line = new Line(text, this.#number === 0 && text.startsWith("\u{feff}") ? 1 : 0);
    const matched = this.#matched(line);
    if (matched !== null) this.#put(line, this.#begun(line, matched), matched);
  }
  end(): Block {
    while (this.#current !== this.#root) this.#current = this.#close(this.#current);
    return this.#root;
  }

  /** The innermost block that goes on in this line. Null: the line only ended one. */
  #matched(line: Line): Block | null {
    for (let block = this.#root; ; ) {
      const next = block.children.at(-1);
      if (next?.open !== true) return block;
      if (next.what.kind === "code" && next.what.fence !== null && this.#ends(next, next.what.fence, line)) return null;
      if (!goesOn(next, line)) return block;
      block = next;
    }
  }
  #ends(code: Block, fence: Fence, line: Line): boolean {
    if (line.indent >= codeIndent || !isEndOf(fence, line.rest)) return false;
    while (this.#current !== code) this.#current = this.#close(this.#current);
    code.last = this.#number;
    this.#current = this.#close(code);
    return true;
  }

  /** The innermost block after all that begins in this line. */
  #begun(line: Line, matched: Block): Block {
    let block = matched;
    let lazy = this.#current.what.kind === "paragraph";
    while (block.what.kind !== "code" && block.what.kind !== "html") {
      const next: Block | null = this.#begin(line, block, lazy);
      if (next === null) return block;
      if (next.what.kind === "paragraph" || next.what.kind === "heading") return next;
      block = next;
      lazy = false;
    }
    return block;
  }
  #begin(line: Line, block: Block, lazy: boolean): Block | null {
    if (line.blank) return null;
    if (line.indent >= codeIndent) {
      if (lazy) return null;
      line.takeBlanks(codeIndent);
      return this.#add(block, { kind: "code", fence: null });
    }
    const { rest } = line;
    const within = block.what.kind === "paragraph";
    if (rest.startsWith(">")) {
      line.take(1);
      line.takeBlanks(1);
      return this.#add(block, { kind: "quote" });
    }
    const level = headingOf(rest);
    if (level > 0) {
      line.take(level);
      return this.#add(block, { kind: "heading", level });
    }
    const fence = fenceOf(rest, line.indent);
    if (fence !== null) {
      line.take(fence.length);
      return this.#add(block, { kind: "code", fence });
    }
    const html = htmlOf(rest, within);
    if (html !== null) return this.#add(block, { kind: "html", html });
    const underline = within ? underlineOf(rest) : 0;
    if (underline > 0) return this.#underlined(line, block, underline);
    if (isRule(rest)) {
      line.takeAll();
      return this.#add(block, { kind: "rule" });
    }
    const name = noteOf(rest);
    if (name !== null) {
      line.take(name.length);
      line.takeBlanks(Number.POSITIVE_INFINITY);
      return this.#add(block, { kind: "note", name: name.slice(2, -2) });
    }
    const marker = markerOf(rest, within);
    if (marker !== null) return this.#item(line, block, marker);
    if (within) return this.#head(line, block);
    return block.what.kind === "table" ? this.#row(line, block, block.what.columns) : null;
  }

  #underlined(line: Line, block: Block, level: number): Block {
    block.lines.splice(0, this.#definitions(block.lines));
    if (block.lines.length === 0) return block;
    block.what = { kind: "heading", level };
    block.last = this.#number;
    line.takeAll();
    return block;
  }
  #item(line: Line, block: Block, marker: Marker): Block {
    const before = line.indent;
    line.take(marker.length);
    const behind = line.blank || line.indent > codeIndent ? Math.min(line.indent, 1) : line.indent;
    line.takeBlanks(behind);
    const { what } = block;
    const same = what.kind === "list" && what.marker.mark === marker.mark && what.marker.ordered === marker.ordered;
    const list = same ? block : this.#add(block, { kind: "list", marker });
    return this.#add(list, { kind: "item", width: before + marker.length + Math.max(behind, 1) });
  }
  /** The last line of a paragraph and this one may begin a table. */
  #head(line: Line, block: Block): Block | null {
    if (!isDelimiters(line.rest)) return null;
    const cells = cellsOf(block.lines.at(-1) ?? "");
    if (cells === null || cells.length !== cellsOf(line.rest)?.length) {
      block.headless = true;
      return null;
    }
    // Some of GitHub's versions ask again, others do not.
    if (block.headless) throw new Error("a table or none");
    const above = block.lines.slice(0, -1);
    block.what = { kind: "table", columns: cells.length };
    block.lines = [];
    if (above.length > 0 && block.parent !== null) {
      const paragraph = made({ kind: "paragraph" }, block.parent, block.first);
      // Definitions in it are words there.
      paragraph.lines = above.map(unbarred);
      paragraph.open = false;
      paragraph.last = this.#number - 2;
      block.parent.children.splice(-1, 0, paragraph);
    }
    this.#add(block, { kind: "row", cells });
    line.takeAll();
    return block;
  }
  #row(line: Line, block: Block, columns: number): Block | null {
    const cells = cellsOf(line.rest);
    if (cells === null) return null;
    line.takeAll();
    return this.#add(block, { kind: "row", cells: cells.slice(0, columns) });
  }

  /** What is left of the line. */
  #put(line: Line, begun: Block, matched: Block): void {
    const current = this.#current;
    if (current !== matched && begun === matched && !line.blank && current.what.kind === "paragraph") {
      this.#write(current, line.left);
      return;
    }
    while (this.#current !== matched) this.#current = this.#close(this.#current);
    const { what } = begun;
    this.#current = begun;
    if (what.kind === "code") this.#write(begun, line.left, !line.blank);
    else if (what.kind === "html") {
      this.#write(begun, line.left, !line.blank);
      if (what.html.end?.test(line.rest) === true) this.#current = this.#close(begun);
    } else if (line.blank) return;
    else if (what.kind === "heading") this.#write(begun, headed(line.rest));
    else if (what.kind === "paragraph") this.#write(begun, line.rest);
    else {
      this.#current = this.#add(begun, { kind: "paragraph" });
      this.#write(this.#current, line.rest);
    }
  }
  #write(block: Block, text: string, told = true): void {
    block.lines.push(text);
    if (told) block.last = this.#number;
  }

  #add(above: Block, what: What): Block {
    let parent = above;
    while (!mayHold(parent, what)) parent = this.#close(parent);
    const child = made(what, parent, this.#number);
    parent.children.push(child);
    return child;
  }
  #close(block: Block): Block {
    block.open = false;
    if (block.what.kind === "paragraph") {
      block.lines.splice(0, this.#definitions(block.lines));
      if (block.lines.length === 0) block.parent?.children.pop();
    }
    return block.parent ?? block;
  }
}

function made(what: What, parent: Block | null, first: number): Block {
  const depth = (parent?.depth ?? -1) + 1;
  if (depth > limits.github_page_depth) throw new Error("too deep");
  return { what, parent, depth, children: [], lines: [], open: true, headless: false, first, last: first };
}
function mayHold({ what: { kind } }: Block, { kind: child }: What): boolean {
  if (kind === "list") return child === "item";
  if (kind === "table") return child === "row";
  return child !== "item" && child !== "row" && /^(?:document|quote|item|note)$/.test(kind);
}

/** Whether a block goes on in this line, of which it takes what is its own. */
function goesOn({ what, children }: Block, line: Line): boolean {
  switch (what.kind) {
    case "quote":
      if (line.indent >= codeIndent || !line.starts(">")) return false;
      line.take(1);
      line.takeBlanks(1);
      return true;
    case "item":
      if (line.indent < what.width && !(line.blank && children.length > 0)) return false;
      line.takeBlanks(line.indent < what.width ? line.indent : what.width);
      return true;
    case "note":
      if (line.indent >= codeIndent) line.takeBlanks(codeIndent);
      else if (line.text !== "") return false;
      return true;
    case "code":
      if (what.fence !== null) line.takeBlanks(what.fence.indent);
      else if (line.indent < codeIndent && !line.blank) return false;
      else line.takeBlanks(codeIndent);
      return true;
    case "html":
      return what.html.end !== null || !line.blank;
    case "paragraph":
      return !line.blank;
    case "table":
      return cellsOf(line.rest) !== null;
    default:
      return what.kind !== "heading" && what.kind !== "row";
  }
}
