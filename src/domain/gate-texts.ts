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
  #bare: SearchedText | null = null;
  #gaps: Gapped | null = null;
  #foundInGaps: ReadonlySet<string> | null = null;
  #plain: string | null = null;
  #raw: string | null = null;

  /** `lists`: all that will be asked for. */
  constructor(text: string, lists: readonly (readonly string[])[] = []) {
    this.#text = text;
    this.#lists = lists;
  }

  /**
   * The first of the words that the text holds, however it is written: case, width and marks do not count, every run of
   * blanks is one, and what nobody sees counts as nothing and as a blank, whichever finds the word.
   */
  wordIn(words: readonly string[]): string | null {
    this.#plain ??= plainly(this.#text);
    const plainText = this.#plain;
    const atOnce = this.#foundAtOnce(plainText);
    const holds = (plain: string) => (atOnce === null ? plainText.includes(plain) : atOnce.has(plain));
    const found = comparedWords(words).find(({ word, plain }) =>
      plain === null ? this.#rawText().includes(word.toLowerCase()) : holds(plain) || this.#holdsUnseen(plain),
    );
    return found?.word ?? this.#withoutColours()?.wordIn(words) ?? null;
  }
  /** A terminal shows the words without its control sequences. */
  #withoutColours(): SearchedText | null {
    if (!controlSequence.test(this.#text)) return null;
    this.#bare ??= new SearchedText(overstruck(this.#text.replace(controlSequences, sequenceGap)), this.#lists);
    return this.#bare;
  }
  /** Word by word is quicker as long as there are few of them, or little text. */
  #foundAtOnce(plainText: string): ReadonlySet<string> | null {
    const count = this.#lists.reduce((sum, { length }) => sum + length, 0);
    if (count * plainText.length <= limits.gate_word_by_word) return null;
    this.#found ??= wordsIn(plainText, this.#allPlain());
    return this.#found;
  }
  /** Where something unseen stands in the text: whether the word is there if each of them may be a blank or nothing. */
  #holdsUnseen(plain: string): boolean {
    if (!hidden.test(this.#text)) return false;
    this.#gaps ??= gapsOf(this.#text);
    const { letters, gaps, unseen } = this.#gaps;
    if (!unseen) return false;
    const word = gapsOf(plain);
    if (this.#lists.length > 0) {
      this.#foundInGaps ??= wordsIn(
        letters,
        this.#allPlain().map((one) => gapsOf(one).letters),
      );
      if (!this.#foundInGaps.has(word.letters)) return false;
    }
    for (let at = letters.indexOf(word.letters); at >= 0; at = letters.indexOf(word.letters, at + 1))
      if (word.gaps.every((gap, index) => fitsGap(gap, gaps[at + index], index > 0 && index < word.letters.length)))
        return true;
    return false;
  }
  #allPlain(): string[] {
    return this.#lists.flatMap((list) => comparedWords(list).flatMap(({ plain }) => plain ?? []));
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

/** Whether nothing is left of the word once it is made plain. */
export function saysNothing(word: string): boolean {
  return plainly(word).trim() === "";
}

/**
 * ECMA-48, with its marks of one and of two characters: colours and moves of the cursor, texts for the terminal itself
 * (titles, links), sets of characters, and single commands. A step back is struck over.
 */
const sequenceGap = "\u{200b}";
const endOfText = "(?:\\u{7}|\\u{9c}|\\u{1b}\\\\)";
const sequences = [
  "(?:\\u{1b}\\[|\\u{9b})[0-?]*[ -/]*[@-~]",
  `(?:\\u{1b}[\\]PX^_]|[\\u{90}\\u{98}\\u{9d}-\\u{9f}])[^\\u{7}\\u{1b}\\u{80}-\\u{9f}]*${endOfText}`,
  "\\u{1b}[ -/]+[0-~]",
  "\\u{1b}[0-OQ-WYZ\\\\`-~]",
].join("|");
const controlSequence = new RegExp(`${sequences}|\\u{8}`, "u");
const controlSequences = new RegExp(sequences, "gu");
const stepBack = "\u{8}";
/** What a terminal shows once the character after a step back has taken the place of the one before it. */
function overstruck(text: string): string {
  if (!text.includes(stepBack)) return text;
  const shown: string[] = [];
  for (const sign of text)
    if (sign !== stepBack) shown.push(sign);
    else while (shown.length > 0 && shown.pop() === sequenceGap);
  return shown.join("");
}
/** With the next-line control and the empty braille cell, and without the mark of byte order, which nobody sees. */
const blanks = /[[\s\u{85}\u{2800}]--\u{feff}]+/gv;
/** What only changes the letter before it. */
const marks = /[\p{M}--\p{Default_Ignorable_Code_Point}]/gv;
/** A quick look: what is neither a letter, a mark, a blank nor a sign of plain text. */
const hidden =
  /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cs}\p{Co}\p{Noncharacter_Code_Point}\u{fffc}\u{fffd}[\p{Cc}--[\t-\r]]]/v;
/** Halves of characters, private ones and the signs that stand for none are shown as nothing or as a box. */
const unseen =
  /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Cs}\p{Co}\p{Noncharacter_Code_Point}\u{fffc}\u{fffd}]+/gu;
/** No character of plain ASCII has another form. */
const onlyAscii = /^[\t-\r\x20-\x7e]*$/;
/** Letters of other scripts that look alike stay what they are. `as` is what stands for what nobody sees. */
function plainly(text: string, as = ""): string {
  if (onlyAscii.test(text)) return text.replace(blanks, " ").toLowerCase();
  return text
    .normalize("NFKD")
    .replace(blanks, " ")
    .replace(marks, "")
    .replace(unseen, as)
    .replace(/ {2,}/g, " ")
    .toLowerCase()
    .replaceAll("ς", "σ")
    .replaceAll("ı", "i")
    .normalize("NFC");
}

/** A text without its gaps, and before each letter, and at the end, what gap there was: 0 none, 1 unseen, 2 a blank. */
interface Gapped {
  readonly letters: string;
  readonly gaps: Uint8Array;
  readonly unseen: boolean;
}
function gapsOf(text: string): Gapped {
  const plain = plainly(text, "\u{1}");
  const unseen = plain.includes("\u{1}");
  const gaps = new Uint8Array(plain.length + 1);
  const letters: string[] = [];
  let count = 0;
  for (let at = 0; at < plain.length; at++) {
    const sign = plain.charAt(at);
    const gap = sign === " " ? 2 : sign === "\u{1}" ? 1 : 0;
    if (gap === 0) {
      letters.push(sign);
      count++;
    } else gaps[count] = Math.max(gaps[count] ?? 0, gap);
  }
  return { letters: letters.join(""), gaps: gaps.subarray(0, count + 1), unseen };
}
/** A blank of the word needs one, or something unseen; where the word has none inside, the text has no blank either. */
function fitsGap(wanted: number, there = 0, inside: boolean): boolean {
  return wanted === 0 ? !inside || there < 2 : there > 0;
}
