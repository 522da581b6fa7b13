/**
 * The words that a page of GitHub shows, as plain text with its paragraphs, lists and code: no attribute, no comment, no
 * picture's words, nothing too small or too far aside to be read. [GHI-53]
 */
import type { DefaultTreeAdapterTypes } from "parse5";
import { limits } from "../../limits.ts";
import type { Node, Page } from "./text-page.ts";
import { gone } from "./text-sums.ts";
import { languages, pictured, unread } from "./text-tags.ts";
import { trimmedOf } from "./text-words.ts";

type Element = DefaultTreeAdapterTypes.Element;

interface Place {
  readonly depth: number;
  /** How often what stands here was made smaller, or moved aside. */
  readonly small: number;
  readonly aside: number;
  readonly code: boolean;
}

const set = (names: string): ReadonlySet<string> => new Set(names.split(" "));
const smaller = set("sub sup small rt rtc rb code tt samp kbd var pre h5 h6 big font");
const asides = set("ul ol dl dd blockquote menu dir table");
const blocks = set(
  "address article aside blockquote center dd details dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend listing main menu nav ol p pre section summary table ul",
);

export function shownOf(page: Page): string {
  const text = inside(page.childNodes, { depth: 0, small: 0, aside: 0, code: false });
  return text
    .split("\n")
    .map((line) => trimmedOf(line, " \t"))
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

function inside(nodes: readonly Node[], place: Place): string {
  const parts: string[] = [];
  let begun = false;
  for (const node of nodes) {
    const next = shown(node, place);
    // What begins a line has no space before it.
    const part: string = begun && !place.code ? next.replace(/^ +/, "") : next;
    if (part === "") continue;
    parts.push(part);
    begun = part.endsWith("\n");
  }
  return parts.join("");
}
function shown(node: Node, place: Place): string {
  if ("value" in node) return place.code ? node.value : node.value.replace(/[ \t\n\f\r]+/g, " ");
  if (!("tagName" in node) || unread.has(node.tagName)) return "";
  const name = node.tagName;
  const within: Place = {
    depth: place.depth + 1,
    small: place.small + (smaller.has(name) ? 1 : 0),
    aside: place.aside + (asides.has(name) ? 1 : 0),
    code: place.code || name === "pre",
  };
  // A `code` in a `pre` is of its size.
  const small = within.small - (name === "code" && place.code ? 1 : 0);
  if (within.depth > limits.github_page_depth || small > limits.github_page_small) return "";
  if (within.aside > limits.github_page_aside) return "";
  const text = written(node, name, { ...within, small });
  return blocks.has(name) && !place.code ? `\n\n${text}\n\n` : text;
}

function written(node: Element, name: string, within: Place): string {
  if (name === "br") return "\n";
  if (name === "hr") return "---";
  if (name === "img") return imageOf(node);
  if (name === "pre") return fenceOf(node, within);
  const text = inside(node.childNodes, within);
  if (name === "a") return linkOf(text, addressOf(node, "href"));
  if (/^h[1-6]$/.test(name)) return `${"#".repeat(Number(name.charAt(1)))} ${oneLine(text)}`;
  if (name === "blockquote") return led(text, "> ", "> ");
  if (name === "li") return `\n${led(text, itemOf(node), "  ")}`;
  if (name === "tr") return `\n| ${oneLine(text)}`;
  if (name === "td" || name === "th") return `${oneLine(text)} | `;
  return text;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
function led(text: string, first: string, next: string): string {
  const lines = text
    .replace(/\n{3,}/g, "\n\n")
    .trim()
    .split("\n");
  return lines.map((line, at) => (at === 0 ? first : next) + line).join("\n");
}
function itemOf(node: Element): string {
  return node.parentNode !== null && "tagName" in node.parentNode && node.parentNode.tagName === "ol" ? "1. " : "- ";
}
function linkOf(text: string, address: string): string {
  return address === "" || address === text || text.trim() === "" ? text : `[${text}](${address})`;
}
function imageOf(node: Element): string {
  return `![](${addressOf(node, "src")})`;
}
/** Addresses are not searched, but one with words in it, or a long one, is none. */
function addressOf(node: Element, name: string): string {
  const value = node.attrs.find((one) => one.name === name)?.value ?? "";
  return /[\s\p{Zs}]/u.test(value) || value.length > limits.github_address_chars ? "" : value;
}

/** Code does not wrap: what stands far to the right behind nothing but blanks has to be looked for. */
function inSight(code: string): string {
  return code.split("\n").map(lineInSight).join("\n");
}
const blanks = /[\s\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u{2800}]+/gu;
function lineInSight(line: string): string {
  let [column, read] = [0, 0];
  for (const { 0: run, index } of line.matchAll(blanks)) {
    const from = column + widthOf(line.slice(read, index));
    column = endOfBlanks(run, from);
    read = index + run.length;
    const aside = column - from >= limits.github_code_blanks && column >= limits.github_code_columns;
    if (aside && read < line.length) return `${line.slice(0, index)} ${gone}`;
  }
  return line;
}
/** What is not plain may take the room of two. */
function widthOf(text: string): number {
  return text.length + (text.match(/[^ -~]/g)?.length ?? 0);
}
function endOfBlanks(run: string, from: number): number {
  let column = from;
  for (const one of run) column = one === "\t" ? (Math.floor(column / 8) + 1) * 8 : column + 1;
  return column;
}

/** GitHub draws some languages' code as a picture, and knows the language by either attribute. */
function fenceOf(node: Element, within: Place): string {
  const [first] = node.childNodes;
  const named = [node, ...(first !== undefined && "tagName" in first ? [first] : [])].flatMap(({ attrs }) =>
    attrs.flatMap(({ name, value }) => (name === "lang" || name === "class" ? value.toLowerCase().split(/\s+/) : [])),
  );
  const languagesNamed = named.map((one) => one.replace(/^language-/, ""));
  const language = languagesNamed.find((one) => languages.has(one)) ?? "";
  // Where GitHub takes a name to end is not certain: `math;x` may be one.
  const drawn = languagesNamed.flatMap((one) => /^[a-z]+/.exec(one) ?? []).find((one) => pictured.has(one));
  const code = drawn === undefined ? inSight(inside(node.childNodes, within)) : "";
  const runs = code.match(/`{3,}/g) ?? [];
  const fence = "`".repeat(Math.max(2, ...runs.map(({ length }) => length)) + 1);
  return `${fence}${drawn ?? language}\n${code.replace(/\n$/, "")}\n${fence}`;
}
