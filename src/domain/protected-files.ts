/**
 * Files through which a change takes power later: what runs in CI, at commit, at install, at build, when a folder is
 * opened, or what an agent takes for instructions. A write to one asks, even inside a grant, unless the grant names
 * it: the very file, or a glob that begins with its protected folder. [POL-62] [GR-40] [STA-10]
 */
import { globMatches, isLiteralGlob } from "./glob.ts";
import { checkDefinitions, setupInputs } from "./plan-protect.ts";
import {
  exactNames,
  fileNames,
  folderNames,
  innerFiles,
  innerFolders,
  type Kinds,
  laterNames,
  rootNames,
} from "./protected-names.ts";
import { foldName } from "./workspace-path.ts";

/** What defines the checks and what setup reads, by the last name. */
const defining = [...checkDefinitions, ...setupInputs]
  .filter((glob) => !glob.endsWith("/**"))
  .map((glob) => glob.replace(/^.*\//, "").toLowerCase());
const folders = tableOf(folderNames);
const files = tableOf([...fileNames, ["what its checks or its setup are made of", defining.join(" ")], ...laterNames]);
const rootFiles = tableOf(rootNames);

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
  const parts = partsIn(path);
  for (let at = 0; at < parts.length; at++) {
    const what = folderKind(parts, at);
    if (what !== undefined) return { what, folder: parts.slice(0, at + 1).join("/") };
    if (shortName.test(folded(parts[at] ?? "")))
      return { what: "a short name that may stand for a protected one", folder: null };
  }
  const what = fileKind(parts);
  return what === undefined ? null : { what, folder: null };
}
function partsIn(path: string): string[] {
  return path.split(/[/\\]/).filter((part) => part !== "" && part !== ".");
}

/** What the folder is by its name, its parent, and what is asked for in it. */
function folderKind(parts: readonly string[], at: number): string | undefined {
  const name = folded(parts[at] ?? "");
  const parent = at === 0 ? "" : folded(parts[at - 1] ?? "");
  const what = whatIs(folders, name) ?? innerFolders.get(`${parent}/${name}`);
  // Of lists of packages only; a last part without an ending may be one.
  return name === "requirements" && otherThanList.test(folded(parts.at(-1) ?? "")) ? undefined : what;
}
const otherThanList = /\.(?!(?:txt|in|pip)$)[^.*?]+$/;

/** What the file is by its name; some names are ordinary below the root of a project, or by their ending. */
function fileKind(parts: readonly string[]): string | undefined {
  const written = parts.at(-1) ?? "";
  const exact = exactNames.find(([, names]) => names.includes(written));
  if (exact !== undefined) return exact[0];
  const name = folded(written);
  if (innerFiles.test(`${folded(parts.at(-2) ?? "")}/${name}`)) return "read by build tools";
  const atRoot = isProjectRoot(parts);
  if (/^\.env\.(?:example|sample|template|dist)$/.test(name)) return undefined;
  if (!atRoot && (sourceOf.test(name) || (lowerDocuments.test(name) && written === written.toLowerCase())))
    return undefined;
  return whatIs(files, name) ?? (atRoot ? whatIs(rootFiles, name) : undefined);
}
/** Source files called after a build file: `makefile.test.ts`. */
const sourceOf =
  /^(?:makefile|procfile|lefthook(?:-[^.]*)?|dangerfile)\..*\b(?:[cm]?[jt]sx?|py|go|rs|rb|java|kt|cs|css|html|md)$/;
/** Agents look for these in any folder, written in capitals; in small letters they are a project's own documents. */
const lowerDocuments = /^(?:agents|agent|claude|gemini|qwen|skill|warp|crush|grok|replit|conventions|memory)\.md$/;
/** The workspace itself, or a package of it. */
function isProjectRoot(parts: readonly string[]): boolean {
  const groups = /^(?:apps|crates|libs|modules|packages|plugins|projects|services|tools)$/;
  return parts.length === 1 || (parts.length === 3 && groups.test(folded(parts[0] ?? "")));
}

/** Whether a grant of these paths names that file, and does not merely cover it: what is wild names nothing. */
export function namesProtected(globs: readonly string[], path: string, found: ProtectedFile): boolean {
  if (globs.includes(path) && isLiteralGlob(path)) return true;
  const { folder } = found;
  if (folder === null || !isLiteralGlob(folder)) return false;
  return globs.some((glob) => glob.startsWith(`${folder}/`) && globMatches(glob, path));
}

/**
 * Whether the glob goes after a protected file: a part of it with nothing wild in it is the name of a protected
 * folder, or its last one of a protected file. A part that is wild only covers, and what is covered still asks.
 */
export function mayNameProtected(glob: string): boolean {
  const parts = partsIn(glob);
  const inFolder = parts.some((part, at) => {
    const name = folded(part);
    if (shortName.test(name) || /^git~|^\.git(?::|$)/.test(name)) return true;
    return isLiteralGlob(part) && folderKind(parts, at) !== undefined;
  });
  return inFolder || (isLiteralGlob(parts.at(-1) ?? "") && fileKind(asRooted(parts)) !== undefined);
}
/** Where a folder is wild it may stand for none, so that the file lies at the root. */
function asRooted(parts: readonly string[]): readonly string[] {
  return parts.slice(0, -1).every(isLiteralGlob) ? parts : parts.slice(-1);
}
