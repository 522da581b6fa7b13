/**
 * Whether a call touches a gated path, and what a call says in words. A gate on paths that cannot tell what a call
 * touches holds it: it never passes for want of knowledge. [GATE-40] [GATE-41] [GATE-42]
 */
import { limits } from "../limits.ts";
import { globMatches, globsOverlap, segmentsOf } from "./glob.ts";
import type { JsonValue } from "./message.ts";
import type { CallTouch } from "./policy-call.ts";
import { harmlessTargets } from "./shell.ts";
import { changesOperands, changesUnnamed, filesOf } from "./shell-files.ts";
import { joinedValues } from "./shell-options.ts";
import { programName } from "./shell-peeled.ts";
import { foldName, insideWorkspace, workspaceRoot } from "./workspace-path.ts";

/** How much of the workspace a path stands for. */
type Reach =
  /** A word that may be a path, or a folder that is only entered. */
  | "itself"
  /** What lies above a gated path counts too. */
  | "folder"
  /** All that is below it changes or moves. */
  | "tree";

/** What a call touches, read once for all the gates that ask. */
interface Touched {
  readonly paths: readonly TouchedPath[];
  readonly unknown: string | null;
}
interface TouchedPath {
  readonly path: string;
  readonly reach: Reach;
  /** Null when it leads out of the workspace. */
  readonly inside: string | null;
}
const known = new WeakMap<CallTouch, Touched>();
function touchedBy(touch: CallTouch): Touched {
  const found = known.get(touch) ?? { paths: pathsOf(touch), unknown: unknownPaths(touch) };
  known.set(touch, found);
  return found;
}

/** Why the call touches one of the gated paths, or why that cannot be told; null when it touches none. */
export function gatedPath(gated: readonly string[], touch: CallTouch): string | null {
  const { paths, unknown } = touchedBy(touch);
  if (paths.length > limits.gate_words) return `the call has more than ${limits.gate_words} words that may be paths`;
  const globs = withBelow(gated).map((glob) => ({ glob, fixed: fixedFolder(glob) }));
  for (const path of paths) {
    const why = whyGated(globs, path);
    if (why !== null) return why;
  }
  return unknown;
}
/** Whatever lies in a gated folder is gated, however the folder is named. */
function withBelow(gated: readonly string[]): string[] {
  return gated.map(folded).flatMap((glob) => (glob.endsWith("**") ? [glob] : [glob, `${glob}/**`]));
}
/** A gated path is gated in every spelling that some file system takes for the same. */
function folded(path: string): string {
  return path.split("/").map(foldName).join("/");
}
/** Of files as a patch names them. */
export function gatedFile(gated: readonly string[], files: readonly string[]): string | null {
  const globs = withBelow(gated);
  const found = files.find((file) => globs.some((glob) => globMatches(glob, folded(file))));
  return found === undefined ? null : `the result changes "${shown(found)}", which is gated`;
}

/** Each path once, as far as it reaches by any of its uses. */
function pathsOf(touch: CallTouch): TouchedPath[] {
  const found = new Map<string, Reach>();
  const order: readonly Reach[] = ["itself", "folder", "tree"];
  const add = (path: string, reach: Reach) => {
    const known = found.get(path);
    if (known === undefined || order.indexOf(known) < order.indexOf(reach)) found.set(path, reach);
  };
  for (const path of touch.paths) add(path, touch.writes ? "tree" : "itself");
  for (const path of [...(touch.shell?.reads ?? []), ...(touch.shell?.writes ?? [])]) add(path, "folder");
  for (const run of touch.shell?.commands.flatMap((command) => command.runs) ?? []) {
    for (const word of run.slice(1).flatMap(pathsInWord)) add(word, "itself");
    const { named, written } = filesOf(run);
    const reach = reachOf(run);
    for (const path of [...named, ...written]) add(path, reach);
  }
  for (const path of ["", ...harmlessTargets]) found.delete(path);
  const named = [...found].map(([path, reach]) => ({ path, reach, inside: insideWorkspace(path, touch.cwd) }));
  // The folder it runs in is entered.
  return touch.cwd === "."
    ? named
    : [...named, { path: touch.cwd, reach: "itself", inside: insideWorkspace(touch.cwd) }];
}
/** The word, and what an option takes for a path in it: `--file=x`, `-ox`, `@x`. */
function pathsInWord(word: string): readonly string[] {
  const joined = /^-[a-zA-Z](.+)$/s.exec(word)?.[1] ?? word;
  return [...new Set([word, joined, ...joined.split(/[=@<,:]/), ...joinedValues(word)])].filter(
    (part) => !part.startsWith("-"),
  );
}

function reachOf(run: readonly string[]): Reach {
  const name = programName(run[0] ?? "");
  if (/^(?:cd|pushd)$/.test(name)) return "itself";
  if (/^(?:mv|ln|rsync|git|tar|bsdtar|unzip|patch)$/.test(name)) return "tree";
  return run.some((word) => /^-[a-zA-Z]*[rRa]|^--(?:rec|arch)/.test(word)) ? "tree" : "folder";
}

interface GatedGlob {
  readonly glob: string;
  readonly fixed: string;
}
/** What of the glob comes before its first wildcard. */
function fixedFolder(glob: string): string {
  const segments = segmentsOf(glob);
  const wild = segments.findIndex((segment) => /[*?]/.test(segment));
  return segments.slice(0, wild < 0 ? undefined : wild).join("/");
}

function whyGated(gated: readonly GatedGlob[], { path, reach, inside }: TouchedPath): string | null {
  if (inside === null)
    return reach === "itself" || isElsewhere(path) ? null : `it cannot be told where "${shown(path)}" leads`;
  const name = folded(inside);
  if (gated.some(({ glob }) => globMatches(glob, name))) return `the path "${shown(inside)}" is gated`;
  if (gated.some((one) => holds(one, name, reach))) return `gated paths may lie in "${shown(inside)}"`;
  return null;
}
/** A path that plainly lies beside the workspace, and neither above it nor on a way back. */
function isElsewhere(path: string): boolean {
  if (!path.startsWith("/") || path.includes("/..") || path.includes("\0")) return false;
  return !`${workspaceRoot}/`.startsWith(`${path.replace(/\/+$/, "")}/`);
}
/** Whether the folder is the one that is gated, or one above it; for a tree, whether it could hold a gated path at all. */
function holds({ glob, fixed }: GatedGlob, folder: string, reach: Reach): boolean {
  if (fixed === folder) return true;
  if (reach === "itself") return false;
  if (folder === "." || fixed.startsWith(`${folder}/`)) return true;
  return reach === "tree" && globsOverlap(glob, `${folder}/**`);
}

/** Why it cannot be told which paths the call touches; null when it can. */
function unknownPaths(touch: CallTouch): string | null {
  const unknown = (why: string) => `it cannot be told whether the call touches a gated path: ${why}`;
  if (touch.odd !== null) return unknown(touch.odd);
  const { shell } = touch;
  if (shell === null) {
    if (/_execute$/.test(touch.tool)) return unknown("it runs code");
    const blind = touch.writes && touch.tool.startsWith("file_") && touch.paths.length === 0;
    return blind ? unknown("it names no file") : null;
  }
  if (shell.parse_error !== null) return unknown(shell.parse_error);
  if (shell.dynamic) return unknown("what the command does is only known when it runs");
  const opaque = shell.commands.find((command) => command.opaque !== null);
  if (opaque !== undefined) return unknown(`"${shown(opaque.argv.join(" "))}": ${opaque.opaque}`);
  const open = shell.commands.find((command) => command.open && command.runs.some(changesOperands));
  if (open !== undefined) return unknown(`"${shown(open.argv.join(" "))}" takes the files it changes from its input`);
  const odd = shell.commands.find(({ runs }) => runs.some(changesUnnamed));
  if (odd !== undefined) return unknown(`"${shown(odd.argv.join(" "))}" changes files that its words do not name`);
  const written = shell.commands.flatMap(({ runs }) => runs.flatMap((run) => filesOf(run).written));
  const moved = shell.moves && [...shell.reads, ...shell.writes, ...written].some((path) => !path.startsWith("/"));
  return moved ? unknown("it names files after a change of directory") : null;
}

/** What a call says in words: its values as they are, not as JSON escapes them, and its commands as programs get them. */
export function wordsOfCall(args: JsonValue, touch: CallTouch): string {
  const commands = touch.shell?.commands.flatMap(({ runs }) => runs.map((run) => run.join(" "))) ?? [];
  return [...valuesIn(args), ...commands].join("\n");
}
/** Arguments nested deeper than may be judged are denied before any gate. */
function valuesIn(value: JsonValue): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(valuesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...valuesIn(inner)]);
}

function shown(text: string): string {
  return text.slice(0, 80);
}
