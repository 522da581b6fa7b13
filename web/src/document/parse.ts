/**
 * A small markdown reader for plans. It knows headings, paragraphs, lists, quotes, rules, fenced code,
 * inline code and emphasis; everything else, HTML and links included, stays the text it is, so nothing
 * a plan says can hide in its rendering. Pure. [WEB-4]
 */
export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong"; readonly children: readonly Inline[] }
  | { readonly kind: "em"; readonly children: readonly Inline[] };

export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly children: readonly Inline[] }
  | { readonly kind: "paragraph"; readonly children: readonly Inline[] }
  | { readonly kind: "code"; readonly info: string; readonly text: string }
  | { readonly kind: "quote"; readonly blocks: readonly Block[] }
  | {
      readonly kind: "list";
      readonly ordered: boolean;
      readonly start: number;
      readonly items: readonly (readonly Block[])[];
    }
  | { readonly kind: "rule" };

const maxDepth = 8;

/** Splits a plan into its front matter (verbatim, without the fences) and its body. */
export function splitFrontMatter(document: string): { front: string | null; body: string } {
  const match = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(document);
  if (match === null) return { front: null, body: document };
  return { front: match[1] ?? "", body: document.slice(match[0].length) };
}

export function parseBlocks(markdown: string, depth = 0): Block[] {
  const lines = markdown.split(/\r?\n/);
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "") {
      at += 1;
      continue;
    }
    const [block, next] = blockAt(lines, at, depth);
    blocks.push(block);
    at = next;
  }
  return blocks;
}

const fence = /^ {0,3}(`{3,}|~{3,})[ \t]*(.*)$/;
const heading = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$/;
const rule = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const quote = /^ {0,3}> ?(.*)$/;
const item = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+)(.*)$/;

function blockAt(lines: readonly string[], at: number, depth: number): [Block, number] {
  const line = lines[at] ?? "";
  const fenced = fence.exec(line);
  if (fenced !== null) return codeAt(lines, at, fenced[1] ?? "```", fenced[2] ?? "");
  const head = heading.exec(line);
  if (head !== null)
    return [{ kind: "heading", level: (head[1] ?? "#").length, children: parseInline(head[2] ?? "") }, at + 1];
  if (rule.test(line)) return [{ kind: "rule" }, at + 1];
  if (depth < maxDepth && quote.test(line)) return quoteAt(lines, at, depth);
  if (depth < maxDepth && item.test(line)) return listAt(lines, at, depth);
  return paragraphAt(lines, at);
}

/** A fence that is never closed runs to the end, as in CommonMark: its text is still shown. */
function codeAt(lines: readonly string[], at: number, open: string, info: string): [Block, number] {
  const text: string[] = [];
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? "";
    const close = fence.exec(line);
    if (close !== null && close[2] === "" && (close[1] ?? "").startsWith(open)) {
      next += 1;
      break;
    }
    text.push(line);
  }
  return [{ kind: "code", info: info.trim(), text: text.join("\n") }, next];
}

function quoteAt(lines: readonly string[], at: number, depth: number): [Block, number] {
  const inner: string[] = [];
  let next = at;
  for (; next < lines.length; next += 1) {
    const match = quote.exec(lines[next] ?? "");
    if (match === null) break;
    inner.push(match[1] ?? "");
  }
  return [{ kind: "quote", blocks: parseBlocks(inner.join("\n"), depth + 1) }, next];
}

function listAt(lines: readonly string[], at: number, depth: number): [Block, number] {
  const first = item.exec(lines[at] ?? "");
  const marker = first?.[2] ?? "-";
  const ordered = /\d/.test(marker);
  const items: Block[][] = [];
  let next = at;
  while (next < lines.length) {
    const match = item.exec(lines[next] ?? "");
    if (match === null || /\d/.test(match[2] ?? "") !== ordered || rule.test(lines[next] ?? "")) break;
    const indent = (match[1] ?? "").length + (match[2] ?? "").length + Math.min((match[3] ?? " ").length, 4);
    const inner = [match[4] ?? ""];
    next += 1;
    for (; next < lines.length; next += 1) {
      const line = lines[next] ?? "";
      const blank = line.trim() === "";
      const inside = line.startsWith(" ".repeat(Math.min(indent, 2)));
      if (blank && !(lines[next + 1] ?? "").startsWith(" ".repeat(Math.min(indent, 2)))) break;
      if (!blank && !inside && (startsBlock(line) || (lines[next - 1] ?? "").trim() === "")) break;
      inner.push(line.slice(Math.min(indent, line.length - line.trimStart().length)));
    }
    items.push(parseBlocks(inner.join("\n"), depth + 1));
    while ((lines[next] ?? "x").trim() === "" && item.test(lines[next + 1] ?? "")) next += 1;
  }
  return [{ kind: "list", ordered, start: ordered ? Number.parseInt(marker, 10) : 1, items }, next];
}

function startsBlock(line: string): boolean {
  return fence.test(line) || heading.test(line) || rule.test(line) || quote.test(line) || item.test(line);
}

function paragraphAt(lines: readonly string[], at: number): [Block, number] {
  const text: string[] = [(lines[at] ?? "").trimStart()];
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? "";
    if (line.trim() === "" || startsBlock(line)) break;
    text.push(line.trim());
  }
  return [{ kind: "paragraph", children: parseInline(text.join("\n")) }, next];
}

const token =
  /(`+)([\s\S]*?[^`])\1(?!`)|(\*\*|__)(?=\S)([\s\S]*?\S)\3|(\*|(?<![A-Za-z0-9])_)(?=\S)([\s\S]*?\S)\5(?![A-Za-z0-9])/;

/** Emphasis and code; a mark without its partner is the character it is. */
export function parseInline(text: string, depth = 0): Inline[] {
  const found: Inline[] = [];
  let rest = text;
  while (rest !== "") {
    const match = depth < maxDepth ? token.exec(rest) : null;
    if (match === null) break;
    if (match.index > 0) found.push({ kind: "text", text: rest.slice(0, match.index) });
    if (match[2] !== undefined) found.push({ kind: "code", text: match[2] });
    else if (match[4] !== undefined) found.push({ kind: "strong", children: parseInline(match[4], depth + 1) });
    else found.push({ kind: "em", children: parseInline(match[6] ?? "", depth + 1) });
    rest = rest.slice(match.index + match[0].length);
  }
  if (rest !== "") found.push({ kind: "text", text: rest });
  return found;
}
