/**
 * Files through which a change takes power later: what runs in CI, at commit, at install, at build, when a folder is
 * opened, or what an agent takes for instructions. A write to one asks, even inside a grant, unless the grant names
 * it: the very file, or a glob that begins with its protected folder. [POL-62] [GR-40] [STA-10]
 */
import { globMatches, globsOverlap } from "./glob.ts";
import { checkDefinitions, setupInputs } from "./plan-protect.ts";
import { exactNames, fileNames, folderNames, type Kinds, laterNames } from "./protected-names.ts";
import { foldName } from "./workspace-path.ts";

/** What defines the checks and what setup reads, by the last name. */
const defining = [...checkDefinitions, ...setupInputs]
  .filter((glob) => !glob.endsWith("/**"))
  .map((glob) => glob.replace(/^.*\//, "").toLowerCase());
const folders = tableOf(folderNames);
const files = tableOf([...fileNames, ["what its checks or its setup are made of", defining.join(" ")], ...laterNames]);

interface Named {
  readonly what: string;
  /** Of which list it is: the first that holds a name says what it is. */
  readonly list: number;
}
interface Table {
  readonly plain: ReadonlyMap<string, Named>;
  readonly wild: readonly (Named & { readonly glob: string })[];
  /** Any of the wild ones. */
  readonly any: RegExp;
  /** The plain ones, then the wild ones. */
  readonly ends: readonly Ends[];
}
function tableOf(kinds: Kinds): Table {
  const all = kinds.flatMap(([what, names], list) => names.split(" ").map((glob) => ({ glob, what, list })));
  const wild = all.filter(({ glob }) => glob.includes("*"));
  const pattern = wild.map(({ glob }) => glob.replace(/[.+?^$()[\]{}|\\]/g, "\\$&").replaceAll("*", ".*"));
  const plain = all.filter(({ glob }) => !glob.includes("*")).reverse();
  return {
    plain: new Map(plain.map(({ glob, ...named }) => [glob, named])),
    wild,
    any: new RegExp(`^(?:${pattern.join("|")})$`, "s"),
    ends: all.map(({ glob }) => endsOf(glob)),
  };
}
function whatIs({ plain, wild, any }: Table, name: string): string | undefined {
  const exact = plain.get(name);
  const kind = any.test(name) ? wild.find(({ glob }) => globMatches(glob, name)) : undefined;
  return exact !== undefined && (kind === undefined || exact.list <= kind.list) ? exact.what : kind?.what;
}

/** As a name may be looked up: the stream that some file system takes for the same file is left out. */
function folded(name: string): string {
  const plain = foldName(name);
  return plain.includes(":") ? foldName(plain.replace(/:.*$/s, "")) : plain;
}
/** A name that some file system makes up for a longer one: nobody can tell for which. */
const shortName = /^[^.]{1,6}~\d+(?:\.[^.]{0,3})?$/;

export interface ProtectedFile {
  /** What it is, for a sentence: "a CI file". */
  readonly what: string;
  /** The protected folder it lies in, as written; null when the file itself is protected. */
  readonly folder: string | null;
}

/** Null when the path, relative to the workspace, is not protected. */
export function protectedFile(path: string): ProtectedFile | null {
  const parts = path.split(/[/\\]/).filter((part) => part !== "" && part !== ".");
  for (let at = 0; at < parts.length; at++) {
    const name = folded(parts[at] ?? "");
    const what = whatIs(folders, name);
    if (what !== undefined) return { what, folder: parts.slice(0, at + 1).join("/") };
    if (shortName.test(name)) return { what: "a short name that may stand for a protected one", folder: null };
  }
  const written = parts.at(-1) ?? "";
  if (exactNames.includes(written)) return { what: "read by build tools", folder: null };
  const what = whatIs(files, folded(written));
  return what === undefined ? null : { what, folder: null };
}

/** Whether a grant of these paths names that file, and does not merely cover it: `**` and `*` name nothing. */
export function namesProtected(globs: readonly string[], path: string, found: ProtectedFile): boolean {
  if (globs.includes(path)) return true;
  const { folder } = found;
  return folder !== null && globs.some((glob) => glob.startsWith(`${folder}/`) && globMatches(glob, path));
}

/**
 * Whether the glob goes after a protected file: some part of it that is not wild all through could be the name of one.
 * `**` and `*` only cover, and what is merely covered still asks.
 */
export function mayNameProtected(glob: string): boolean {
  const parts = glob.split("/");
  const last = parts.at(-1) ?? "";
  return (
    parts.some(
      (part) => couldBe(part, folders) || /^git~|^\.git(?::|$)/.test(folded(part)) || shortName.test(folded(part)),
    ) ||
    couldBe(last, files) ||
    (!allWild.test(last) && exactNames.some((name) => globsOverlap(last, name)))
  );
}
const allWild = /^[*?]*$/;
function couldBe(written: string, { plain, any, ends }: Table): boolean {
  // One sign may stand for a character that is folded to several, or to none.
  const part = folded(written).replace(/[*?]+/g, "*");
  if (allWild.test(written) || allWild.test(part)) return false;
  if (!part.includes("*")) return plain.has(part) || any.test(part);
  const { first, last } = endsOf(part);
  return ends.some(
    (name) =>
      (first.startsWith(name.first) || name.first.startsWith(first)) &&
      (last.endsWith(name.last) || name.last.endsWith(last)) &&
      globsOverlap(part, name.glob),
  );
}

/** What stands before the first and behind the last star: it cannot differ in two patterns that share a text. */
interface Ends {
  readonly glob: string;
  readonly first: string;
  readonly last: string;
}
function endsOf(glob: string): Ends {
  const star = glob.indexOf("*");
  return { glob, first: star < 0 ? glob : glob.slice(0, star), last: glob.slice(glob.lastIndexOf("*") + 1) };
}
