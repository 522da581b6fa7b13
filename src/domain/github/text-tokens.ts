/**
 * What is held of a text while Markdown reads it: how much may come of it, whatever it is written with, and sums that tags,
 * links or pictures cut in pieces before a page could show where they end. [GHI-53] [GHI-55]
 */
import type { MarkdownIt as Markdown, Token } from "markdown-it";
import { limits } from "../../limits.ts";
import { unsureIn } from "./text-sums.ts";

/** Few signs can make many tokens: a table's short rows are filled up, each mark of a list may nest another. */
export function bounded(markdown: Markdown): void {
  const made = new WeakMap<object, number>();
  const count = (env: object): void => {
    const tokens = (made.get(env) ?? 0) + 1;
    if (tokens > limits.github_page_tokens) throw new Error("too many tokens");
    made.set(env, tokens);
  };
  const { State: Block } = markdown.block;
  markdown.block.State = class extends Block {
    override push(...token: Parameters<InstanceType<typeof Block>["push"]>): Token {
      count(this.env);
      return super.push(...token);
    }
  };
  const { State: Inline } = markdown.inline;
  markdown.inline.State = class extends Inline {
    override push(...token: Parameters<InstanceType<typeof Inline>["push"]>): Token {
      count(this.env);
      return super.push(...token);
    }
  };
}

/** One reference is few signs, and its whole address and title are written out at each place that names it. */
export function rendered(markdown: Markdown, text: string): string {
  const env = {};
  const tokens = markdown.parse(text, env);
  if (sizeOf(tokens) > limits.github_page_html_chars) throw new Error("too long a page");
  return markdown.renderer.render(tokens, markdown.options, env);
}
function sizeOf(tokens: readonly Token[]): number {
  let size = 0;
  for (const { content, attrs, children } of tokens) {
    // What is within a line is written once, by its parts.
    size += children === null ? content.length : sizeOf(children);
    for (const [name, value] of attrs ?? []) size += name.length + String(value).length;
  }
  return size;
}

/** A tag, a link or a picture may hold a sum's beginning or part it into blocks: of one with them nothing is read. */
export function withoutCutSums(markdown: Markdown): void {
  markdown.core.ruler.after("block", "cut_sums", ({ tokens }) => {
    let run: Token[] = [];
    for (const token of tokens) {
      if (token.type !== "inline" && token.type !== "html_block") continue;
      if (!joins(run.at(-1), token)) {
        cut(run);
        run = [];
      }
      run.push(token);
    }
    cut(run);
  });
}
/** Raw HTML begins without a blank line: what stands on the lines beside it may be the same sum. */
function joins(last: Token | undefined, next: Token): boolean {
  if (last === undefined || (last.type !== "html_block" && next.type !== "html_block")) return false;
  return (last.map?.[1] ?? -1) >= (next.map?.[0] ?? 0);
}
function cut(run: readonly Token[]): void {
  const text = run.map(({ content }) => content).join("\n");
  const parts = text.includes("$") && /[<[\]]/.test(text) ? unsureIn(text, true) : [];
  if (parts.length === 0) return;
  let start = 0;
  for (const token of run) {
    const end = start + token.content.length;
    let [left, at] = ["", start];
    for (const { from, to } of parts) {
      left += text.slice(at, Math.max(at, Math.min(from, end)));
      at = Math.max(at, Math.min(to, end));
    }
    token.content = left + text.slice(at, end);
    start = end + 1;
  }
}
