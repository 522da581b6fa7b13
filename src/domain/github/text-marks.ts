/**
 * Takes out of a GitHub text what its page does not show: comments, tags' attributes, images' words, links' titles,
 * definitions, a fence's further words, what some elements hold. All of it is handed back as hidden; in doubt a thing is
 * hidden. [GHI-40] [GHI-41] [GHI-44]
 */
import { limits } from "../../limits.ts";
import { before, linesOf } from "./text-blocks.ts";
import { unseenReferences } from "./text-references.ts";
import { drawn, endOf, languages, pictured, unread } from "./text-tags.ts";

export interface Parted {
  readonly shown: string;
  readonly hidden: readonly string[];
}

/** A tag as Markdown takes it within a line. */
const inlineTag =
  /<\/?[A-Za-z][A-Za-z0-9-]*(?:[ \t\n]+[A-Za-z_:][\w.:-]*(?:[ \t\n]*=[ \t\n]*(?:"[^"]*"|'[^']*'|[^ \t\n"'=<>`]+))?)*[ \t\n]*\/?>/y;
const definition =
  /\[(?!\^)(?:[^[\]\\]|\\.){1,999}\]:[ \t]*(?:\n[ \t>]*)?(?:<[^<>\n]*>|[^ \t\n]+)(?:(?:[ \t]+|[ \t]*\n[ \t>]*)(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?[ \t]*(?=\n|$)/y;
const footnote = /\[\^[^\]\n]{1,100}\]:/y;
const blank = /^[ \t]*$/;

/** The first run of as many backticks: those behind it are not looked at. */
function sameRun(text: string, length: number): RegExpExecArray | undefined {
  for (const found of text.matchAll(/`+/g)) if (found[0].length === length) return found;
  return undefined;
}

/** `text` has no carriage returns. */
export function withoutMarks(text: string): Parted {
  return new Scan(text).run();
}

class Scan {
  readonly #text: string;
  readonly #lines: ReturnType<typeof linesOf>;
  readonly #starts: number[] = [];
  readonly #shown: string[] = [];
  readonly #hidden: string[] = [];
  #at = 0;
  #line = 0;
  /** No mark so far in this paragraph could pair with a later one, so a code span within a line is one. */
  #calm = true;
  #work = 0;

  constructor(text: string) {
    this.#text = text;
    this.#lines = linesOf(text);
    let start = 0;
    for (const line of this.#lines) {
      this.#starts.push(start);
      start += line.text.length + 1;
    }
  }

  run(): Parted {
    while (this.#at < this.#text.length) {
      if (this.#work > limits.github_scan_chars) this.#hide(this.#text.length);
      else if (this.#at !== this.#starts[this.#line] || !this.#wholeLine()) this.#mark();
    }
    return { shown: this.#shown.join(""), hidden: this.#hidden };
  }

  /** At a line's start: code, a fence, a definition. */
  #wholeLine(): boolean {
    const line = this.#lines[this.#line];
    if (line === undefined) return false;
    const end = this.#at + line.text.length;
    if (line.code) {
      this.#keep(end);
      return this.#newline(true);
    }
    if (line.info !== null) {
      this.#keep(end - line.info.length);
      const [word = ""] = /^[ \t]*[\w+#.-]{1,30}(?=[ \t]|$)/.exec(line.info) ?? [];
      const language = word.trim().toLowerCase();
      if (pictured.has(language) || languages.has(language)) this.#keep(this.#at + word.length);
      this.#hide(end);
      return this.#newline(true);
    }
    const lead = before.exec(line.text)?.[0] ?? "";
    const at = this.#at + (lead.endsWith("]:") ? 0 : lead.length);
    const note = this.#match(footnote, this.#at + lead.lastIndexOf("[^"));
    const length = note !== null ? this.#noteEnd() - at : (this.#match(definition, at)?.length ?? 0);
    if (length === 0) {
      if (blank.test(line.text)) this.#calm = true;
      return false;
    }
    this.#keep(note === null ? at : this.#at);
    this.#hide(at + length);
    return true;
  }

  /** A footnote goes on over what is indented, and over further lines of its paragraphs. */
  #noteEnd(): number {
    let next = this.#line + 1;
    for (; next < this.#lines.length; next++) {
      const line = this.#lines[next];
      if (line === undefined || line.code || line.info !== null) break;
      if (/^[^ \t]/.test(line.text) && blank.test(this.#lines[next - 1]?.text ?? "")) break;
    }
    return (this.#starts[next] ?? this.#text.length + 1) - 1;
  }

  #mark(): void {
    const from = this.#at;
    switch (this.#text.charAt(from)) {
      case "\n":
        this.#newline(false);
        return;
      case "<":
        this.#angle();
        return this.#passed(from, this.#at > from + 1 || !/[A-Za-z/!?]/.test(this.#text.charAt(from + 1)));
      case "`":
        return this.#span();
      case "\\":
        if (this.#text.charAt(from + 1) === "`") this.#calm = false;
        return this.#keep(from + 1);
      case "!":
        return this.#image();
      case "]":
        return this.#passed(from, this.#link());
      case "&":
        return this.#reference();
      default:
        this.#keep(from + (this.#match(/[^\n<`\\!\]&]+/y, from)?.length ?? 1));
    }
  }
  /** Of what is whole and holds no mark of code, no later mark can be a part. */
  #passed(from: number, whole: boolean): void {
    if (!whole || this.#text.slice(from, this.#at).includes("`")) this.#calm = false;
  }

  /** A code span that opens and ends in its line, and that nothing before it can take apart. */
  #span(): void {
    const run = this.#match(/`+/y, this.#at) ?? "`";
    const line = this.#lines[this.#line];
    const rest = line?.text.slice(this.#at - (this.#starts[this.#line] ?? 0) + run.length) ?? "";
    this.#work += rest.length;
    let length = run.length;
    if (this.#calm && line?.html === false) {
      const end = sameRun(rest, run.length);
      // Of a table, only what stands in one cell.
      if (end !== undefined && !rest.slice(0, end.index).includes("|")) length += end.index + run.length;
    }
    if (length === run.length) this.#calm = false;
    this.#keep(this.#at + length);
  }

  #angle(): void {
    const from = this.#at;
    const html = this.#lines[this.#line]?.html === true;
    const [, second = "", third = ""] = this.#text.slice(from, from + 3);
    if (this.#text.startsWith("<!--", from)) return this.#until(["-->"], from + 4, html);
    if (this.#text.startsWith("<![CDATA[", from)) return this.#until(["]]>", ">"], from + 9, html);
    if (second === "?") return this.#until(["?>", ">"], from + 2, html);
    if (second === "!" && (html || /[A-Za-z]/.test(third))) return this.#until([">"], from + 2, html);
    if (html && second === "/" && !/[A-Za-z]/.test(third)) return this.#until([">"], from + 2, html);
    const tag = html ? this.#looseTag() : this.#match(inlineTag, from);
    if (tag === null) return this.#keep(from + 1);
    this.#work += tag.length;
    const [, slash = "", name = "", rest = ""] = /^<(\/?)([^ \t\n/>]*)([\s\S]*?)\/?>?$/.exec(tag) ?? [];
    if (slash === "" && unread.has(name.toLowerCase()))
      return this.#hide(endOf(this.#text, from + tag.length, name) ?? this.#text.length);
    if (!drawn.has(name.toLowerCase())) return this.#hide(from + tag.length);
    if (blank.test(rest)) return this.#keep(from + tag.length);
    this.#shown.push(`<${slash}${name}>`);
    this.#hide(from + tag.length);
  }

  /** As a browser takes it: up to the first `>` outside quotes, or to the end of everything. */
  #looseTag(): string | null {
    if (!/[A-Za-z]/.test(this.#text.charAt(this.#at + (this.#text.charAt(this.#at + 1) === "/" ? 2 : 1)))) return null;
    return this.#match(/<(?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^'">])*>?/y, this.#at);
  }

  /** What runs to the first of the ends that is there. In raw HTML it else runs to the end of everything. */
  #until(ends: readonly string[], from: number, html: boolean): void {
    const most = html ? this.#text.length : this.#paragraphEnd();
    for (const end of ends) {
      const at = this.#find(end, from, most);
      if (at !== null) return this.#hide(at + end.length);
    }
    if (html) return this.#hide(this.#text.length);
    this.#keep(this.#at + 1);
  }
  /** Not in code, where a page writes it out. */
  #find(end: string, from: number, most: number): number | null {
    let at = from;
    for (;;) {
      const found = this.#text.indexOf(end, at);
      this.#work += (found === -1 ? most : Math.min(found, most)) - at + 1;
      if (found === -1 || found + end.length > most) return null;
      const line = this.#lineOf(found);
      if (this.#lines[line]?.code !== true || this.#work > limits.github_scan_chars) return found;
      at = found + 1;
    }
  }

  #image(): void {
    const from = this.#at;
    if (this.#text.charAt(from + 1) !== "[") return this.#keep(from + 1);
    const end = this.#closing(from + 2, "[", "]");
    this.#keep(from + 2);
    if (end !== null) this.#hide(end);
    this.#passed(from, end !== null);
  }

  /** Whether it is certain where it ends. */
  #link(): boolean {
    const from = this.#at;
    this.#keep(from + 1);
    if (this.#text.charAt(from + 1) !== "(") return true;
    this.#keep(from + 2 + (this.#match(/[ \t\n]*/y, from + 2)?.length ?? 0));
    const url = this.#match(/<[^<>\n]*>/y, this.#at) ?? this.#bareUrl();
    if (/[ \t]/.test(url) || url.length > limits.github_address_chars) this.#hide(this.#at + url.length);
    else this.#keep(this.#at + url.length);
    const space = this.#match(/[ \t\n]+/y, this.#at)?.length ?? 0;
    const open = this.#text.charAt(this.#at + space);
    const titled = space > 0 && /["'(]/.test(open);
    const end = titled ? this.#closing(this.#at + space + 1, "", open === "(" ? ")" : open) : null;
    if (end !== null) this.#hide(end + 1);
    return titled === (end !== null) && !url.slice(1).includes("<");
  }
  /** What it stands for goes the way of every character that nobody sees. */
  #reference(): void {
    const unseen = unseenReferences(this.#text, this.#at);
    if (unseen === null) return this.#keep(this.#at + 1);
    this.#shown.push(unseen.characters);
    this.#hide(unseen.end);
  }
  /** Up to a space, or to the `)` that ends the link. */
  #bareUrl(): string {
    const whole = this.#match(/[^ \t\n]+/y, this.#at) ?? "";
    this.#work += whole.length;
    let depth = 0;
    for (let at = 0; at < whole.length; at++) {
      if (whole[at] === "\\") at++;
      else if (whole[at] === "(") depth++;
      else if (whole[at] === ")" && --depth < 0) return whole.slice(0, at);
    }
    return whole;
  }

  /** Where the mark stands that closes what is open, within the paragraph. */
  #closing(from: number, open: string, close: string): number | null {
    const most = this.#paragraphEnd();
    let depth = 0;
    for (let at = from; at < most; at++, this.#work++) {
      const mark = this.#text.charAt(at);
      if (mark === "\\") at++;
      else if (mark === close && depth-- === 0) return at;
      else if (mark === open) depth++;
    }
    return null;
  }

  #paragraphEnd(): number {
    let next = this.#line + 1;
    for (; next < this.#lines.length; next++, this.#work++) {
      const line = this.#lines[next];
      if (line === undefined || line.code || line.info !== null || blank.test(line.text)) break;
    }
    return (this.#starts[next] ?? this.#text.length + 1) - 1;
  }
  #lineOf(at: number): number {
    let line = this.#line;
    while ((this.#starts[line + 1] ?? Number.POSITIVE_INFINITY) <= at) line++;
    this.#work += line - this.#line;
    return line;
  }
  #match(pattern: RegExp, at: number): string | null {
    pattern.lastIndex = at;
    const [found] = pattern.exec(this.#text) ?? [];
    this.#work += found?.length ?? 1;
    return found ?? null;
  }
  #newline(calm: boolean): true {
    if (this.#at < this.#text.length) this.#keep(this.#at + 1);
    if (calm) this.#calm = true;
    return true;
  }
  #keep(to: number): void {
    this.#shown.push(this.#text.slice(this.#at, to));
    this.#go(to);
  }
  #hide(to: number): void {
    const part = this.#text.slice(this.#at, to);
    if (part.trim() !== "") this.#hidden.push(part);
    this.#go(to);
  }
  #go(to: number): void {
    this.#at = to;
    this.#line = this.#lineOf(to);
  }
}
