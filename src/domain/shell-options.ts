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
  /** The first word holds letters without a dash: `tar cf x`. */
  readonly bundled?: boolean;
}
export interface Options {
  /** Those not known to be harmless. */
  readonly odd: readonly number[];
  /** Words that are no path: harmless options, and what they take as text. */
  readonly text: ReadonlySet<number>;
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
      const [name = "", takes] = entry.split(/(?=\?=|=)/);
      return [name, takes === undefined ? "flag" : takes === "?=" ? "joined" : takes === "=@" ? "file" : "text"];
    }),
  );
}

export function readOptions(harmless: Harmless, words: readonly string[]): Options {
  const { letters, names } = read(harmless);
  const odd: number[] = [];
  const text = new Set<number>();
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
        : joinedLetters(letters, word.slice(1), false);
    if (taken === null) {
      odd.push(at);
      continue;
    }
    if (!taken.file) text.add(at);
    if (taken.many) while (/^[^-]/.test(words[at + 1] ?? "")) text.add(++at);
    for (const kind of taken.next) {
      at++;
      if (kind === "text") text.add(at);
    }
  }
  return { odd, text };
}
interface Taken {
  /** What it takes of the next words, in their order. */
  readonly next: readonly Kind[];
  readonly many: boolean;
  /** The word itself holds a file's name. */
  readonly file: boolean;
}
const plain: Taken = { next: [], many: false, file: false };

function longOption(names: Read["names"], word: string): Taken | null {
  const at = word.indexOf("=");
  const kind = names.get(at < 0 ? word : word.slice(0, at));
  if (kind === undefined || (kind === "flag" && at >= 0)) return null;
  if (at >= 0) return { ...plain, file: kind === "file" };
  return kind === "text" || kind === "file" ? { ...plain, next: [kind] } : plain;
}
/** In a bundle without a dash each letter takes its value from the words that follow. */
function joinedLetters(letters: Read["letters"], word: string, bundle: boolean): Taken | null {
  const next: Kind[] = [];
  for (let at = 0; at < word.length; at++) {
    const kind = letters.get(word[at] ?? "");
    if (kind === undefined) return null;
    if (kind === "flag") continue;
    if (kind === "many") {
      if (at + 1 < word.length) continue;
      return { ...plain, many: true };
    }
    if (kind === "joined") return { ...plain, next };
    if (bundle) next.push(kind);
    else if (at + 1 < word.length) return { ...plain, file: kind === "file" };
    else return { ...plain, next: [kind] };
  }
  return { ...plain, next };
}
