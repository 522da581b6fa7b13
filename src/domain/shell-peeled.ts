/** What is found behind one layer of a command, and the small readings that several files share. [SH-6] */

/** Which shell reads a script: what one takes for words another may take for commands. */
export type ShellDialect = "bash" | "posix";

export interface InnerScript {
  readonly text: string;
  /** Null: the shell that runs the command reads it. */
  readonly dialect: ShellDialect | null;
}
export interface Peeled {
  /** The words of each program it would run. */
  readonly inner?: readonly (readonly string[])[];
  readonly scripts?: readonly InnerScript[];
  readonly opaque?: string;
  readonly code?: readonly string[];
  readonly open?: boolean;
  readonly dynamic?: boolean;
  readonly assigned?: readonly string[];
  readonly moves?: boolean;
  /** Where it moves to is the root of the workspace. */
  readonly home?: boolean;
}

/** A list of names, as a text. */
export function wordsIn(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

export function programName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
/** The same program with its version: `python3.11`, `perl5.36.0`, `gcc-12`. */
export function withoutVersion(name: string): string {
  return name.replace(/-?\d[\d.]*$/, "") || name;
}

/** A program of the workspace is whatever the agent wrote there. */
export const installed = /^(?:[^/]+|\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+)$/;

/** The input, where a program or a file of code is named: what comes from there no word shows. */
export function readsInputHere(words: readonly string[]): boolean {
  return words.some((word) => /^(?:-|\/dev\/(?:stdin|fd\/.*|tty)|\/proc\/.*\/fd\/.*)$/.test(word));
}

export function notHarmless(options: readonly string[]): string {
  return `"${(options[0] ?? "").slice(0, 40)}" is not known to be harmless`;
}

export function setsOnly(word: string): boolean {
  return /^[A-Za-z_]\w*=/.test(word);
}

/** The words of an `env -S` text; null when it has quotes, escapes or expansions of its own. */
export function splitString(text: string): readonly string[] | null {
  if (!/^[\w\s./=:,+@%^-]*$/.test(text)) return null;
  return text.split(/\s+/).filter((word) => word !== "");
}

const removers = /^(?:rm|find|git|rsync|shred|unlink|rmdir)$/;
const maxInner = 4;
/** Where the words of a program that is not known hold a program that removes: it is judged as if it ran. */
export function everyRemoval(words: readonly string[]): readonly (readonly string[])[] {
  return words.flatMap((word, at) => (at === 0 ? [] : removalFrom(words, word, at))).slice(0, maxInner);
}
/** The program may stand in a word of several: `-e 'rm -rf' x`, `--exec='rm -rf x'`. */
function removalFrom(words: readonly string[], word: string, at: number): readonly (readonly string[])[] {
  if (removers.test(programName(word))) return [words.slice(at)];
  if (!/[\s=]/.test(word)) return [];
  const [first = "", ...parts] = word
    .replace(/^-[^=\s]*=/, "")
    .trim()
    .split(/\s+/);
  return removers.test(programName(first)) ? [[first, ...parts, ...words.slice(at + 1)]] : [];
}

/** Names that no program reads to find code, a path or another program; any other name set changes what runs. */
export function isPlainName(name: string): boolean {
  if (/^(?:CI|NODE_ENV|FORCE_COLOR|NO_COLOR|TZ|LANG|LC_[A-Z]+)$/.test(name)) return true;
  return /^[a-z][a-z0-9_]*$/.test(name) && !/^npm_|^pnpm_|^yarn_|_proxy$|^histchars$|^auto_resume$/.test(name);
}
