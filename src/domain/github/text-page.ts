/**
 * A GitHub text as its page may have it: Markdown to HTML, and that read as a browser does. Where GitHub's own reading
 * is not certain there are several, and only what every one of them shows is surely shown. [GHI-53]
 */
import MarkdownIt, { type MarkdownIt as Markdown, type StateInline } from "markdown-it";
import { type DefaultTreeAdapterTypes, defaultTreeAdapter, html, parseFragment } from "parse5";
import { limits } from "../../limits.ts";
import { certainAddress } from "./text-addresses.ts";
import { linesOf } from "./text-blocks.ts";
import { asGithub } from "./text-github.ts";
import { withoutSums } from "./text-sums.ts";
import { bounded, rendered, withoutCutSums } from "./text-tokens.ts";
import { trimmedOf } from "./text-words.ts";

export type Node = DefaultTreeAdapterTypes.ChildNode;
export type Page = DefaultTreeAdapterTypes.DocumentFragment;

/** Escapes and references as the characters that they stand for; a number that stands for none as nothing. */
export function unescaped(text: string): string {
  return plain.utils.unescapeAll(text).replace(/&#(?:x[0-9a-f]{1,6}|\d{1,7});/gi, " ");
}

/** A line may be a block of its own: as dear as so many marks. */
const lineCosts = 2;
/** Whether its page would take long, or its text could be anything. What is dear is what may begin something, and a line. */
export function isTooMuch(text: string): boolean {
  if (text.length > limits.github_page_chars) return true;
  if ((text.match(/\n/g)?.length ?? 0) > limits.github_page_lines) return true;
  let [marks, inCode] = [0, 0];
  // In a fence they are cheap, and a log has many; but who knows that it is one.
  for (const { text: line, code } of linesOf(text)) {
    // What may open a link costs twice what others do, and a picture four times.
    const found = (line.match(/[[\]*_~<>`&$\\]/g)?.length ?? 0) + (line.match(/!?\[/g)?.join("").length ?? 0);
    if (code) inCode += found;
    else marks += found + lineCosts;
  }
  return marks > limits.github_page_marks || inCode > limits.github_page_code_marks;
}

/** As GitHub takes it; as plain Markdown; with sums, and with tags that it may take for words. Equal ones are made once. */
export function pagesOf(text: string): readonly [Page, ...Page[]] {
  const all = [rendered(github, text)];
  // Without any of these the two differ in nothing but breaks.
  if (/\[\^|<[A-Za-z/!?]/.test(text) || text.split(/\s+/).some(hasOddAddress)) all.push(rendered(plain, text));
  const sums = text.indexOf("$") !== text.lastIndexOf("$");
  if (sums || oddTag.test(text)) all.push((sums ? rendered(summed, text) : (all[0] ?? "")).replace(oddTags, "&lt;"));
  // In small letters, or with no blank behind its name, it is a declaration in some versions, words in others.
  if (oddDeclaration.test(text)) all.push(rendered(github, text.replace(oddDeclarations, "&lt;!")));
  // They are blanks to GitHub's parser, and marks to the library.
  if (/[\v\f]/.test(text)) all.push(rendered(github, text.replace(/[\v\f]/g, " ")));
  const [first = "", ...others] = all;
  // What stands beside a `$` is known only where it is written as it is.
  const plainly = !/\$&|;\$/.test(text);
  return [pageOf(first, plainly), ...others.filter((one) => one !== first).map((one) => pageOf(one, plainly))];
}
/** Marks in a bare address may be of it, or not. */
function hasOddAddress(word: string): boolean {
  const at = word.search(/https?:\/\/|ftp:\/\/|www\./);
  return at !== -1 && /[*_`~[\]!&\\$|<]/.test(word.slice(at));
}
const oddDeclaration = /<!(?=[A-Za-z])(?![A-Z]+[ \t\n\v\f])/;
const oddDeclarations = new RegExp(oddDeclaration.source, "g");
/** What stands behind these is read in another way, if they are tags. */
const otherwise =
  "frameset iframe math noembed noframes noscript plaintext script select style svg template textarea title xmp";
const oddTag = new RegExp(`<(?=/?(?:${otherwise.replaceAll(" ", "|")})(?![a-z0-9-]))`, "i");
const oddTags = new RegExp(oddTag.source, "gi");

/** An element's tags can be made again and again by what follows them: a page with too many nodes is none. */
function pageOf(source: string, plainly: boolean): Page {
  let nodes = 0;
  const counted = <Arguments extends unknown[], Made>(make: (...all: Arguments) => Made) => {
    return (...all: Arguments): Made => {
      if (++nodes > limits.github_page_nodes) throw new Error("too many nodes");
      return make(...all);
    };
  };
  const treeAdapter = { ...defaultTreeAdapter, createElement: counted(defaultTreeAdapter.createElement) };
  const context = defaultTreeAdapter.createElement("div", html.NS.HTML, []);
  const page = parseFragment(context, source, { treeAdapter, scriptingEnabled: false });
  withoutSums(page, plainly);
  return page;
}

type Inline = (state: StateInline, silent: boolean) => boolean;

/** Words, up to a mark that a rule begins with or to where an address may begin. */
const words = /(?:(?!https?:|ftp:|www\.)[^\n!$&*<[\\\]_`~])+|[hfw]/y;
const address = /(?:(?:https?|ftp):\/\/|www\.)[\p{L}\p{N}_-][^\s<]*/uy;
const sum = /\$\$[^$]+\$\$|\$`[^`\n]+`\$|\$(?![ \t\n])[^$\n]*[^ \t\n\\$]\$(?!\d)/y;

function taken(pattern: RegExp, end: (found: string) => string = (found) => found): Inline {
  return (state, silent) => {
    pattern.lastIndex = state.pos;
    const found = pattern.exec(state.src)?.[0];
    const part = found === undefined ? "" : end(found);
    if (part === "" || state.pos + part.length > state.posMax) return false;
    if (!silent) state.pending += part;
    state.pos += part.length;
    return true;
  };
}
/** An escape stays as it was written: whether it is one in a sum is seen on the page. */
const escaped: Inline = taken(/\\[!-/:-@[-`{-~]/y);
/** A bare address goes on over marks, so that none in it opens anything; not over those at its end, nor in brackets. */
const bareAddress: Inline = (state, silent) => {
  const before = state.src.slice(Math.max(0, state.pos - limits.github_address_chars), state.pos);
  return before.lastIndexOf("[") <= before.lastIndexOf("]") && wholeAddress(state, silent);
};
const wholeAddress: Inline = taken(address, (found) => {
  const whole = trimmedOf(found, "?!.,:*_~'\"");
  return whole.includes("(") ? whole : trimmedOf(whole, ")");
});

const specials = [
  ["<!--", "-->"],
  ["<![CDATA[", "]]>"],
  ["<?", "?>"],
  ["<!", ">"],
] as const;
/** The library's own looks for none of these any more behind one that does not end. */
const special: Inline = (state, silent) => {
  const { src, pos } = state;
  const [open, close] = specials.find(([start]) => src.startsWith(start, pos)) ?? ["", ""];
  if (open === "" || (open === "<!" && !/[A-Za-z]/.test(src.charAt(pos + 2)))) return false;
  const [short] = /^<!---?>/.exec(src.slice(pos, pos + 6)) ?? [];
  const found = nextOf(state, close, pos + open.length);
  const end = short === undefined ? found + close.length : pos + short.length;
  if ((found === -1 && short === undefined) || end > state.posMax) return false;
  if (!silent) state.push("html_inline", "", 0).content = src.slice(pos, end);
  state.pos = end;
  return true;
};

/** As older versions have it: a comment holds no two hyphens and does not begin with its end; a declaration is in capitals. */
const olderSpecial: Inline = (state, silent) => {
  const { src, pos } = state;
  if (!src.startsWith("<!", pos)) return special(state, silent);
  const end = src.startsWith("<!--", pos) ? nextOf(state, "--", pos + 4) : -1;
  const comment = end !== -1 && src.charAt(end + 2) === ">" && !/^-?>/.test(src.slice(pos + 4, pos + 6));
  if (comment || /^<!(?:[A-Z]|\[CDATA\[)/.test(src.slice(pos, pos + 9))) return special(state, silent);
  if (!silent) state.pending += "<";
  state.pos++;
  return true;
};

/** Of each text, where what was looked for last stands, and from where on it is the next: nothing is looked for twice. */
const ends = new WeakMap<StateInline, Map<string, { readonly from: number; readonly at: number }>>();
function nextOf(state: StateInline, close: string, from: number): number {
  const known = ends.get(state) ?? new Map<string, { from: number; at: number }>();
  ends.set(state, known);
  const last = known.get(close);
  if (last !== undefined && last.from <= from && (last.at === -1 || from <= last.at)) return last.at;
  const at = state.src.indexOf(close, from);
  known.set(close, { from, at });
  return at;
}

/** In an issue a line's end is a break, elsewhere not. */
function markdown(breaks: boolean): Markdown {
  const made = new MarkdownIt({ html: true, breaks });
  bounded(made);
  // Every address is a link, as there; what of it is safe to follow is not asked here.
  made.validateLink = () => true;
  // Nor does a quotation mark in it end what raw HTML has left open, on any page.
  made.normalizeLink = (url) => url.replaceAll("'", "%27");
  made.helpers.parseLinkDestination = certainAddress(made.helpers.parseLinkDestination);
  made.normalizeLinkText = (url) => url;
  made.inline.ruler.at("text", taken(words));
  made.inline.ruler.before("html_inline", "special", special);
  made.inline.ruler.before("escape", "escaped", escaped);
  return made;
}
function extended(): Markdown {
  const made = markdown(true);
  asGithub(made);
  made.inline.ruler.before("text", "address", bareAddress);
  return made;
}
function withSums(): Markdown {
  const made = extended();
  made.inline.ruler.before("escape", "sum", taken(sum));
  withoutCutSums(made);
  return made;
}
const plain = markdown(false);
plain.inline.ruler.at("special", olderSpecial);
const github = extended();
const summed = withSums();
