/**
 * The outer shape of a plan: front matter between two `---` lines, then one `## <id>` section per item
 * with its fenced blocks. Nothing a reader would not see may stand in it. [PLAN-1..]
 */
import { limits } from "../limits.ts";

/** Where in the whole document, both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}
export interface PlanProblem extends Position {
  readonly message: string;
}
export interface Fence {
  readonly line: number;
  /** First word after the fence. */
  readonly language: string;
  readonly text: string;
}
export interface Section {
  readonly id: string;
  readonly line: number;
  readonly markdown: string;
  readonly fences: readonly Fence[];
  /** Lines that a reader may take for a block of steps, and that are none. */
  readonly strays: readonly number[];
}
export interface PlanDocument {
  readonly frontMatter: { readonly text: string; readonly first_line: number } | null;
  readonly sections: readonly Section[];
  readonly problems: readonly PlanProblem[];
}

/** Formatting characters that are drawn, for they embrace digits: the signs of numbers in Arabic, Syriac and Kaithi. */
const drawn = String.raw`\u{600}-\u{605}\u{6dd}\u{70f}\u{890}\u{891}\u{8e2}\u{110bd}\u{110cd}`;
/** Scripts whose letters change their shape by a joiner between them. */
const joining = ["Arabic", "Syriac", "Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu"]
  .concat(["Kannada", "Malayalam", "Sinhala", "Khmer", "Myanmar"])
  .map((script) => String.raw`\p{Script=${script}}`)
  .join("");

/**
 * Control characters, direction overrides, fillers, invisible characters and lone surrogates: a person would
 * approve something else than what they see. Joiners and selectors pass where they belong: in an emoji, and joiners
 * between letters of scripts that need them.
 */
export const hiddenCharacter = new RegExp(
  [
    String.raw`[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}]--[\t\n\u{200c}\u{200d}\u{fe0e}\u{fe0f}${drawn}]]`,
    String.raw`(?<![\p{Emoji}--[0-9#*]])(?<![0-9#*](?=\u{fe0f}\u{20e3}))[\u{fe0e}\u{fe0f}]`,
    String.raw`(?<![${joining}])\u{200c}|\u{200c}(?![${joining}])`,
    String.raw`(?<![${joining}\p{Extended_Pictographic}\p{Emoji_Modifier}\u{fe0f}])\u{200d}|\u{200d}(?![${joining}\p{Extended_Pictographic}])`,
  ].join("|"),
  "v",
);
const maxHiddenReported = 20;

export function splitDocument(markdown: string): PlanDocument {
  const tooBig = sizeProblem(markdown);
  if (tooBig !== null) return { frontMatter: null, sections: [], problems: [tooBig] };
  const lines = markdown
    .replace(/^\ufeff/, "")
    .split("\n")
    .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  const problems = hiddenProblems(lines);
  if (lines[0]?.trimEnd() !== "---")
    return {
      frontMatter: null,
      sections: [],
      problems: [
        ...problems,
        { line: 1, column: 1, message: "a plan begins with a line ---, then YAML, then another line ---" },
      ],
    };
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---");
  if (end < 0)
    return {
      frontMatter: null,
      sections: [],
      problems: [...problems, { line: 1, column: 1, message: "the front matter never ends: close it with a line ---" }],
    };
  const body = new BodyReader();
  for (let index = end + 1; index < lines.length; index++) body.take(lines[index] ?? "", index + 1);
  body.finish();
  return {
    frontMatter: { text: lines.slice(1, end).join("\n"), first_line: 2 },
    sections: body.sections,
    problems: [...problems, ...body.problems],
  };
}

function sizeProblem(markdown: string): PlanProblem | null {
  // A string never has more UTF-16 units than UTF-8 bytes, so the first test spares encoding the huge.
  const tooBig = markdown.length > limits.plan_bytes || new TextEncoder().encode(markdown).length > limits.plan_bytes;
  return tooBig
    ? {
        line: 1,
        column: 1,
        message: `a plan has at most ${limits.plan_bytes / 1024} KB: move detail into files of the repository`,
      }
    : null;
}

function hiddenProblems(lines: readonly string[]): PlanProblem[] {
  const problems: PlanProblem[] = [];
  for (const [index, line] of lines.entries()) {
    const found = hiddenCharacter.exec(line);
    if (found === null) continue;
    const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    problems.push({
      line: index + 1,
      column: found.index + 1,
      message: `a character nobody can see (U+${code}): remove it`,
    });
    if (problems.length === maxHiddenReported) break;
  }
  return problems;
}

const heading = /^ {0,3}##(?!#)(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const fenceStart = /^( {0,3})(`{3,}|~{3,})[ \t]*(.*?)[ \t]*$/;
const strayFence = /^[\s>*+\-\d.)]*(?:`{3,}|~{3,})[ \t]*sh\b/;

/** Reads the body line by line; a heading counts only outside a fence. */
class BodyReader {
  readonly sections: Section[] = [];
  readonly problems: PlanProblem[] = [];
  #open: { id: string; line: number; lines: string[]; fences: Fence[]; strays: number[] } | null = null;
  #fence: { mark: string; indent: number; language: string; line: number; lines: string[] } | null = null;

  take(line: string, number: number): void {
    if (this.#fence !== null) this.#inFence(line);
    else {
      const title = heading.exec(line);
      if (title !== null) {
        this.#closeSection();
        this.#open = { id: title[1] ?? "", line: number, lines: [], fences: [], strays: [] };
        return;
      }
      this.#openFence(line, number);
      if (this.#fence === null && line.includes("<!--"))
        this.problems.push({
          line: number,
          column: line.indexOf("<!--") + 1,
          message: "a comment hides text from the person who approves: remove it",
        });
    }
    this.#open?.lines.push(line);
  }

  finish(): void {
    if (this.#fence !== null) {
      const message = `the block that opens here is never closed: end it with a line ${this.#fence.mark}`;
      this.problems.push({ line: this.#fence.line, column: 1, message });
      this.#closeFence(this.#fence);
    }
    this.#closeSection();
  }

  #openFence(line: string, number: number): void {
    const start = fenceStart.exec(line);
    const [, indent = "", mark = "", info = ""] = start ?? [];
    if (start !== null && !(mark.startsWith("`") && info.includes("`")))
      this.#fence = { mark, indent: indent.length, language: info.split(/[ \t]/)[0] ?? "", line: number, lines: [] };
    else if (strayFence.test(line)) this.#open?.strays.push(number);
  }

  /** A fence ends at a line of the same mark, at least as long; its content loses the indent it opened with. */
  #inFence(line: string): void {
    const fence = this.#fence;
    if (fence === null) return;
    const end = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
    if (end !== undefined && end[0] === fence.mark[0] && end.length >= fence.mark.length) {
      this.#closeFence(fence);
      return;
    }
    const indent = /^ */.exec(line)?.[0].length ?? 0;
    fence.lines.push(line.slice(Math.min(indent, fence.indent)));
  }

  #closeFence(fence: { line: number; language: string; lines: readonly string[] }): void {
    this.#open?.fences.push({ line: fence.line, language: fence.language, text: fence.lines.join("\n") });
    this.#fence = null;
  }

  #closeSection(): void {
    const open = this.#open;
    if (open === null) return;
    const markdown = open.lines
      .join("\n")
      .replace(/^(?:[ \t]*\n)+/, "")
      .trimEnd();
    this.sections.push({ id: open.id, line: open.line, markdown, fences: open.fences, strays: open.strays });
    this.#open = null;
  }
}
