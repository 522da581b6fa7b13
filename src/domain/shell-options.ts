/**
 * Reads the options of a call against those known to be harmless: they run no program, read no code and write no file
 * that is not told. Whatever else begins with a dash is odd, and so is every abbreviation. [SH-54] [SH-55]
 */

/** A program's harmless options. */
export interface Harmless {
  /**
   * Letters that may be joined. After one that takes a value stands `:` (text), `@` (a file), `?` (text that may
   * follow in the same word) or `*` (all words up to the next option). `#` stands for any digit.
   */
  readonly short?: string;
  /** Long options as they are written in full: `name`, `name=` (text), `name=@` (a file), `name?=` (only after `=`). */
  readonly long?: string;
  /** Options known as whole words. */
  readonly like?: RegExp;
  /** Long options may stand behind one dash. */
  readonly single?: boolean;
  /** No letter is joined to another or to its value: each reader of options joins them by rules of its own. */
  readonly alone?: boolean;
  /** The first word holds letters without a dash: `tar cf x`. */
  readonly bundled?: boolean;
}
export interface Options {
  /** Those not known to be harmless. */
  readonly odd: readonly number[];
  /** Words that are no path: harmless options, and what they take as text. */
  readonly text: ReadonlySet<number>;
  /** What each option takes, as it is written: `-o`, `--output`. */
  readonly values: readonly OptionValue[];
}
export interface OptionValue {
  readonly option: string;
  readonly value: string;
  /** Whether it names a file. */
  readonly file: boolean;
  /** Where the option stands, and where its value. */
  readonly at: number;
  readonly in: number;
}

type Kind = "flag" | "text" | "file" | "joined" | "many";
const marks: Readonly<Record<string, Kind>> = { ":": "text", "@": "file", "?": "joined", "*": "many" };
interface Read {
  readonly letters: ReadonlyMap<string, Kind>;
  readonly names: ReadonlyMap<string, Kind>;
}
const known = new WeakMap<Harmless, Read>();
function read(harmless: Harmless): Read {
  const found = known.get(harmless) ?? {
    letters: lettersOf(harmless.short ?? ""),
    names: namesOf(harmless.long ?? ""),
  };
  known.set(harmless, found);
  return found;
}
function lettersOf(short: string): Map<string, Kind> {
  const found = new Map<string, Kind>();
  for (let at = 0; at < short.length; at++) {
    const kind = marks[short[at + 1] ?? ""];
    if (short[at] === "#") for (const digit of "0123456789") found.set(digit, "flag");
    else found.set(short[at] ?? "", kind ?? "flag");
    if (kind !== undefined) at++;
  }
  return found;
}
function namesOf(long: string): Map<string, Kind> {
  const entries = long.split(/\s+/).filter((entry) => entry !== "");
  return new Map(
    entries.map((entry) => {
      const name = entry.replace(/\??=.*$/, "");
      const takes = entry.slice(name.length);
      return [name, takes === "" ? "flag" : takes === "?=" ? "joined" : takes === "=@" ? "file" : "text"];
    }),
  );
}

export function readOptions(harmless: Harmless, words: readonly string[]): Options {
  const { letters, names } = read(harmless);
  const odd: number[] = [];
  const text = new Set<number>();
  const values: OptionValue[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") break;
    const bundle = at === 0 && harmless.bundled === true && /^[a-zA-Z]+$/.test(word);
    if (!bundle && (!word.startsWith("-") || word === "-")) continue;
    if (harmless.like?.test(word) === true) {
      text.add(at);
      continue;
    }
    const taken = bundle
      ? joinedLetters(letters, word, true)
      : word.startsWith("--") || harmless.single === true
        ? longOption(names, word.replace(/^--?/, ""))
        : harmless.alone === true && word.length > 2
          ? null
          : joinedLetters(letters, word.slice(1), false);
    if (taken === null) {
      odd.push(at);
      continue;
    }
    if (!taken.file) text.add(at);
    if (taken.many) while (/^[^-]/.test(words[at + 1] ?? "")) text.add(++at);
    const from = at;
    if (taken.joined !== null) values.push({ ...taken.joined, file: taken.file, at, in: at });
    for (const { option, kind } of taken.next) {
      at++;
      if (kind === "text") text.add(at);
      const value = words[at];
      if (value !== undefined) values.push({ option, value, file: kind === "file", at: from, in: at });
    }
  }
  return { odd, text, values };
}
interface Taken {
  /** What it takes of the next words, in their order. */
  readonly next: readonly { readonly option: string; readonly kind: Kind }[];
  readonly many: boolean;
  /** The word itself holds a file's name. */
  readonly file: boolean;
  /** The value that stands in the word itself. */
  readonly joined: { readonly option: string; readonly value: string } | null;
}
const plain: Taken = { next: [], many: false, file: false, joined: null };

function longOption(names: Read["names"], word: string): Taken | null {
  const at = word.indexOf("=");
  const name = at < 0 ? word : word.slice(0, at);
  const kind = names.get(name);
  const option = `--${name}`;
  if (kind === undefined || (kind === "flag" && at >= 0)) return null;
  if (at >= 0) return { ...plain, file: kind === "file", joined: { option, value: word.slice(at + 1) } };
  return kind === "text" || kind === "file" ? { ...plain, next: [{ option, kind }] } : plain;
}
/** In a bundle without a dash each letter takes its value from the words that follow. */
function joinedLetters(letters: Read["letters"], word: string, bundle: boolean): Taken | null {
  const next: Taken["next"][number][] = [];
  for (let at = 0; at < word.length; at++) {
    const option = `-${word[at] ?? ""}`;
    const kind = letters.get(word[at] ?? "");
    if (kind === undefined) return null;
    if (kind === "flag") continue;
    const value = word.slice(at + 1);
    if (kind === "many") {
      if (value !== "") continue;
      return { ...plain, many: true };
    }
    if (kind === "joined") return { ...plain, next };
    if (bundle) next.push({ option, kind });
    else if (value !== "") return { ...plain, file: kind === "file", joined: { option, value } };
    else return { ...plain, next: [{ option, kind }] };
  }
  return { ...plain, next };
}

const maxLetters = 64;
/**
 * What a word may hold as a value behind joined letters, whichever of them takes one: `-czf.git/x`. Of very many
 * letters only the first and the last are tried: no name is as long.
 */
export function joinedValues(word: string): string[] {
  const letters = /^-(?!-)[^/.~=@]*/.exec(word)?.[0].length ?? 0;
  const values: string[] = [];
  for (let at = 2; at <= letters; at++) if (at <= maxLetters || at > letters - maxLetters) values.push(word.slice(at));
  return values.filter((value) => value !== "");
}
