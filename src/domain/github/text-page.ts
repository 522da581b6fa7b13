/**
 * A GitHub text as its page may have it: Markdown to HTML, and that read as a browser does. Where GitHub's own reading
 * is not certain there are several, and only what every one of them shows is surely shown. [GHI-53]
 */
import MarkdownIt, { type MarkdownIt as Markdown, type StateInline } from "markdown-it";
import footnotes from "markdown-it-footnote";
import { type DefaultTreeAdapterTypes, defaultTreeAdapter, html, parseFragment } from "parse5";
import { limits } from "../../limits.ts";
import { trimmedOf } from "./text-words.ts";

export type Node = DefaultTreeAdapterTypes.ChildNode;
export type Page = DefaultTreeAdapterTypes.DocumentFragment;

/** Escapes and references as the characters that they stand for; a number that stands for none as nothing. */
export function unescaped(text: string): string {
  return plain.utils.unescapeAll(text).replace(/&#(?:x[0-9a-f]{1,6}|\d{1,7});/gi, " ");
}

/** As GitHub takes it; as plain Markdown; with sums, and with tags that it may take for words. */
export function pagesOf(text: string): readonly [Page, ...Page[]] {
  if (text.length > limits.github_page_chars) throw new Error("too long");
  const marks = text.match(/[[\]*_~<>`&]/g)?.length ?? 0;
  if (marks > limits.github_page_marks) throw new Error("too many marks");
  return [pageOf(github.render(text)), pageOf(plain.render(text)), ...(doubted.test(text) ? [other(text)] : [])];
}
function other(text: string): Page {
  return pageOf(summed.render(text).replace(oddTags, "&lt;"));
}
/** What stands behind these is read in another way, if they are tags. */
const otherwise =
  "frameset iframe math noembed noframes noscript plaintext script select style svg template textarea title xmp";
const oddTags = new RegExp(`<(?=/?(?:${otherwise.replaceAll(" ", "|")})(?![a-z0-9-]))`, "gi");
const doubted = new RegExp(`\\$|${oddTags.source}`, "i");

/** An element's tags can be made again and again by what follows them: a page with too many nodes is none. */
function pageOf(source: string): Page {
  let nodes = 0;
  const counted = <Arguments extends unknown[], Made>(make: (...all: Arguments) => Made) => {
    return (...all: Arguments): Made => {
      if (++nodes > limits.github_page_nodes) throw new Error("too many nodes");
      return make(...all);
    };
  };
  const treeAdapter = { ...defaultTreeAdapter, createElement: counted(defaultTreeAdapter.createElement) };
  const context = defaultTreeAdapter.createElement("div", html.NS.HTML, []);
  return parseFragment(context, source, { treeAdapter, scriptingEnabled: false });
}

type Inline = (state: StateInline, silent: boolean) => boolean;

/** Words, up to a mark or to where an address may begin. */
const words = /(?:(?!https?:|ftp:|www\.)[^\n!#$%&*+\-:<=>@[\\\]^_`{}~])+|[hfw]/y;
const address = /(?:(?:https?|ftp):\/\/|www\.)[\p{L}\p{N}_-][^\s<]*/uy;
const sum = /\$\$[^$]+\$\$|\$`[^`\n]+`\$|\$(?![ \t\n])[^$\n]*[^ \t\n\\$]\$(?!\d)/y;

/** TeX has commands and comments that hide words: of a sum with one nothing is surely shown. */
const unsureSum: Inline = (state, silent) => {
  sum.lastIndex = state.pos;
  const found = sum.exec(state.src)?.[0] ?? "";
  if (!/[\\%]/.test(found) || state.pos + found.length > state.posMax) return false;
  if (!silent) state.pending += " ";
  state.pos += found.length;
  return true;
};

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
  const found = src.indexOf(close, pos + open.length);
  const end = short === undefined ? found + close.length : pos + short.length;
  if ((found === -1 && short === undefined) || end > state.posMax) return false;
  if (!silent) state.push("html_inline", "", 0).content = src.slice(pos, end);
  state.pos = end;
  return true;
};

/** In an issue a line's end is a break, elsewhere not. */
function markdown(breaks: boolean): Markdown {
  const made = new MarkdownIt({ html: true, breaks });
  // Every address is a link, as there; what of it is safe to follow is not asked here.
  made.validateLink = () => true;
  made.normalizeLink = (url) => url;
  made.normalizeLinkText = (url) => url;
  made.inline.ruler.at("text", taken(words));
  made.inline.ruler.before("html_inline", "special", special);
  return made;
}
function extended(): Markdown {
  const made = markdown(true).use(footnotes).disable(["footnote_inline"]);
  made.inline.ruler.before("text", "address", bareAddress);
  made.inline.ruler.before("escape", "unsure_sum", unsureSum);
  // Notes stand below everything else, and are hidden by the scanner too.
  made.core.ruler.after("footnote_tail", "no_notes", ({ tokens }) => {
    const at = tokens.findIndex(({ type }) => type === "footnote_block_open");
    if (at !== -1) tokens.length = at;
  });
  made.renderer.rules.footnote_ref = (tokens, at) => {
    // The plugin keeps the name as it was written.
    const name = (tokens[at]?.meta as { label?: string } | null)?.label ?? "";
    return /^\d{1,3}$/.test(name) ? `[^${name}]` : "";
  };
  return made;
}
function withSums(): Markdown {
  const made = extended();
  made.inline.ruler.before("escape", "sum", taken(sum));
  return made;
}
const plain = markdown(false);
const github = extended();
const summed = withSums();
