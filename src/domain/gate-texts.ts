/**
 * What gates look for in a text: words, characters that nobody sees, and secrets by their known shapes. Each pattern
 * takes time in proportion to the text. [GATE-*]
 */
import { limits } from "../limits.ts";
import { wordsIn } from "./word-search.ts";

/** Formatting that has no mark of its own: it reorders, hides or carries text. Joiners and variation selectors stand apart. */
const invisible =
  /[\u{ad}\u{61c}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{180e}\u{200b}\u{200e}\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{3164}\u{feff}\u{ffa0}\u{fff9}-\u{fffb}\u{e0000}-\u{e01ef}]/u;
/** Emoji and some scripts need single joiners and selectors; rows of them, or one inside a plain word, say something else. */
const rowOfJoiners = /(?:\u{200c}|\u{200d}|[\u{fe00}-\u{fe0f}]){3}|[!-~](?:\u{200c}|\u{200d})[!-~]/u;

/** The first character that nobody sees, by its code point; null when there is none. */
export function invisibleIn(text: string): string | null {
  const found = invisible.exec(text) ?? rowOfJoiners.exec(text);
  if (found === null) return null;
  const mark = [...found[0]].find((one) => (one.codePointAt(0) ?? 0) > 0x7e) ?? "";
  return `U+${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

const secrets: readonly (readonly [kind: string, shape: RegExp])[] = [
  ["a private key", /-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY-----/],
  ["a GitHub token", /(?:gh[opsur]_[A-Za-z0-9]{30}|github_pat_[A-Za-z0-9_]{30})/],
  ["a GitLab token", /glpat-[A-Za-z0-9_-]{20}/],
  ["an API key", /\bsk-[A-Za-z0-9_-]{20}/],
  ["an AWS access key", /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/],
  ["a Google API key", /\bAIza[A-Za-z0-9_-]{35}/],
  ["a Slack token", /\bxox[abeoprs]-[A-Za-z0-9-]{10}/],
  ["an npm token", /\bnpm_[A-Za-z0-9]{36}/],
  ["a token of this service", /\bcs_[a-z0-9]{16}[A-Za-z0-9]*_[A-Za-z0-9_-]{20}/],
];

/** Which kind of secret the text seems to hold; never the secret itself. */
export function secretIn(text: string): string | null {
  return secrets.find(([, shape]) => shape.test(text))?.[0] ?? null;
}

/** Words of a gate as they are compared, made once for a list of them. */
const compared = new WeakMap<readonly string[], readonly Compared[]>();
interface Compared {
  readonly word: string;
  /** Null when nothing of the word is left: it is looked for as it is written. */
  readonly plain: string | null;
}

/** A text in which many gates look for words: it is made plain once, when the first of them asks. */
export class SearchedText {
  readonly #text: string;
  readonly #lists: readonly (readonly string[])[];
  #found: ReadonlySet<string> | null = null;
  #plain: string | null = null;
  #raw: string | null = null;

  /** `lists`: all that will be asked for. */
  constructor(text: string, lists: readonly (readonly string[])[] = []) {
    this.#text = text;
    this.#lists = lists;
  }

  /** The first of the words that the text holds, however it is written: case, width, marks, blanks and characters that nobody sees do not count. */
  wordIn(words: readonly string[]): string | null {
    this.#plain ??= plainly(this.#text);
    const plainText = this.#plain;
    const atOnce = this.#foundAtOnce(plainText);
    const holds = (plain: string) => (atOnce === null ? plainText.includes(plain) : atOnce.has(plain));
    const found = comparedWords(words).find(({ word, plain }) =>
      plain === null ? this.#rawText().includes(word.toLowerCase()) : holds(plain),
    );
    return found?.word ?? null;
  }
  /** Word by word is quicker as long as there are few of them, or little text. */
  #foundAtOnce(plainText: string): ReadonlySet<string> | null {
    const count = this.#lists.reduce((sum, { length }) => sum + length, 0);
    if (count * plainText.length <= limits.gate_word_by_word) return null;
    this.#found ??= wordsIn(
      plainText,
      this.#lists.flatMap((list) => comparedWords(list).flatMap(({ plain }) => plain ?? [])),
    );
    return this.#found;
  }

  #rawText(): string {
    this.#raw ??= this.#text.toLowerCase();
    return this.#raw;
  }
}

function comparedWords(words: readonly string[]): readonly Compared[] {
  const known = compared.get(words);
  if (known !== undefined) return known;
  const made = words.map((word) => {
    const plain = plainly(word);
    return { word, plain: plain.trim() === "" ? null : plain };
  });
  compared.set(words, made);
  return made;
}

/** Blanks that a pattern's `\s` does not know: the next-line control and the empty braille cell. */
const blanks = /[\s\u{85}\u{2800}]+/gu;
/** What nobody sees, and what only changes the letter before it. */
const noLetters = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{M}]/gu;
/** Letters of other scripts that look alike stay what they are. */
function plainly(text: string): string {
  // No character of plain ASCII has another form.
  if (/^[\t-\r\x20-\x7e]*$/.test(text)) return text.replace(blanks, " ").toLowerCase();
  return text
    .normalize("NFKD")
    .replace(blanks, " ")
    .replace(noLetters, "")
    .replace(/ {2,}/g, " ")
    .toLowerCase()
    .replaceAll("ς", "σ")
    .normalize("NFC");
}
