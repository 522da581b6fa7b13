/**
 * Markdown that takes a text's blocks as GitHub's own parser does, for the library that reads what stands in each. What
 * footnotes say is left out, and their names where they are named. [GHI-53] [GHI-65]
 */
import MarkdownIt, { type Env, type MarkdownIt as Markdown, type StateBlock, type StateInline } from "markdown-it";
import { certainAddress } from "./text-addresses.ts";
import { blanks } from "./text-starts.ts";
import { type Block, treeOf } from "./text-tree.ts";
import { trimmedOf } from "./text-words.ts";

/** The names of a text's footnotes. */
const notes = new WeakMap<object, Set<string>>();

export function asGithub(markdown: Markdown): void {
  const { block, inline } = markdown;
  const definitions = definitionsOf();
  block.parse = (text, _, env, tokens) => {
    const state = new block.State("", markdown, env, tokens);
    const root = treeOf(text, (lines) => definitions(lines, env));
    const names = new Set<string>();
    notes.set(env, names);
    writeNotes(root, names, markdown);
    lastOf(root);
    new Writer(state).writeAll(root.children);
  };
  inline.ruler.after("image", "note", (state, silent) => {
    const [whole, name = ""] = noteIn(state) ?? [];
    if (whole === undefined) return false;
    // A number is what the page may show.
    if (!silent) state.pending += /^\d{1,3}$/.test(name) ? `[^${name}]` : "";
    state.pos += whole.length;
    return true;
  });
}

const note = /\[\^([^\]\s[]+)\]/y;
function noteIn(state: StateInline): RegExpExecArray | null {
  const names = notes.get(state.env);
  if (names === undefined || names.size === 0) return null;
  note.lastIndex = state.pos;
  const found = note.exec(state.src);
  return found !== null && names.has(state.md.utils.normalizeReference(found[1] ?? "")) ? found : null;
}
function writeNotes(block: Block, names: Set<string>, markdown: Markdown): void {
  if (block.what.kind === "note") names.add(markdown.utils.normalizeReference(block.what.name));
  for (const child of block.children) writeNotes(child, names, markdown);
}

/** How many of a paragraph's first lines are definitions, which are kept for what names them. */
function definitionsOf(): (lines: readonly string[], env: Env) => number {
  const alone = new MarkdownIt();
  alone.helpers.parseLinkDestination = certainAddress(alone.helpers.parseLinkDestination, true);
  alone.validateLink = () => true;
  alone.normalizeLink = (url) => url;
  alone.block.ruler.enableOnly(["reference"]);
  const [definition] = alone.block.ruler.getRules("");
  if (definition === undefined) throw new Error("no rule for definitions");
  return (lines, env) => {
    if (lines[0]?.startsWith("[") !== true) return 0;
    const state = new alone.block.State(lines.join("\n"), alone, env, []);
    while (lines[state.line]?.startsWith("[") === true) if (!definition(state, state.line, state.lineMax, false)) break;
    return state.line;
  };
}

/** A block ends where the last in it does. */
function lastOf(block: Block): number {
  for (const child of block.children) block.last = Math.max(block.last, lastOf(child));
  return block.last;
}
/** Whether a blank line stands between two of its items, or in one of them. */
function isLoose(list: Block): boolean {
  const apart = (blocks: readonly Block[]) =>
    blocks.some(({ first }, at) => at > 0 && first > (blocks[at - 1]?.last ?? first) + 1);
  return apart(list.children) || list.children.some((item) => apart(item.children));
}

class Writer {
  readonly #state: StateBlock;
  constructor(state: StateBlock) {
    this.#state = state;
  }

  writeAll(blocks: readonly Block[], tight = false): void {
    for (const block of blocks) this.#write(block, tight);
  }
  #write(block: Block, tight: boolean): void {
    const { what, children, lines } = block;
    switch (what.kind) {
      case "quote":
        return this.#within("blockquote", "blockquote", () => this.writeAll(children));
      case "list": {
        const [name, tag] = what.marker.ordered ? ["ordered_list", "ol"] : ["bullet_list", "ul"];
        const inside = !isLoose(block);
        return this.#within(name, tag, () => {
          for (const item of children) this.#within("list_item", "li", () => this.writeAll(item.children, inside));
        });
      }
      case "paragraph":
        return this.#words("paragraph", "p", lines.join("\n"), block, tight);
      case "heading":
        return this.#words("heading", `h${what.level}`, lines.join("\n"), block);
      case "code":
        return this.#code(block, what.fence === null);
      case "html": {
        const token = this.#state.push("html_block", "", 0);
        token.content = `${lines.join("\n")}\n`;
        token.map = mapOf(block);
        return;
      }
      case "rule":
        this.#state.push("hr", "hr", 0);
        return;
      case "table":
        return this.#within("table", "table", () => this.#rows(children, what.columns));
      default:
        // What a footnote says stands elsewhere, or nowhere.
        return;
    }
  }
  #code({ lines }: Block, plain: boolean): void {
    if (plain) {
      const end = lines.findLastIndex((line) => /[^ \t]/.test(line)) + 1;
      this.#state.push("code_block", "code", 0).content = `${lines.slice(0, end).join("\n")}\n`;
      return;
    }
    const [info = "", ...rest] = lines;
    const token = this.#state.push("fence", "code", 0);
    token.info = info;
    token.content = rest.map((line) => `${line}\n`).join("");
  }
  #rows(rows: readonly Block[], columns: number): void {
    for (const [at, row] of rows.entries()) {
      const { what } = row;
      if (what.kind !== "row") continue;
      const [name, tag, part] = at === 0 ? ["th", "th", "thead"] : ["td", "td", "tbody"];
      if (at < 2) this.#state.push(`${part}_open`, part, 1);
      this.#within("tr", "tr", () => {
        for (let cell = 0; cell < columns; cell++) this.#words(name, tag, what.cells[cell] ?? "", row);
      });
      if (at === 0 || at === rows.length - 1) this.#state.push(`${part}_close`, part, -1);
    }
  }
  #within(name: string, tag: string, write: () => void): void {
    this.#state.push(`${name}_open`, tag, 1);
    write();
    this.#state.push(`${name}_close`, tag, -1);
  }
  #words(name: string, tag: string, text: string, block: Block, hidden = false): void {
    this.#state.push(`${name}_open`, tag, 1).hidden = hidden;
    const token = this.#state.push("inline", "", 0);
    token.content = trimmedOf(text, blanks).replace(/^[ \t\n\v\f\r]+/, "");
    token.map = mapOf(block);
    token.children = [];
    this.#state.push(`${name}_close`, tag, -1).hidden = hidden;
  }
}
function mapOf({ first, last }: Block): [number, number] {
  return [first, last + 1];
}
