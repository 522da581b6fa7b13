/**
 * What a wildcard of a command grant may stand for: words of the closed core, which lead nowhere out of the workspace,
 * and write only what `paths` grants, by a redirect or not. [GR-41] [GR-70] [GR-71] [SH-59]
 */
import { isCore } from "./grant-core.ts";
import { isUnnamedProtected, wholeGranted, writeGranted } from "./grant-paths.ts";
import { linkStaysInside } from "./grant-place.ts";
import type { Grant } from "./plan-shape.ts";
import { harmlessTargets } from "./shell.ts";
import { changesUnnamed, filesOf } from "./shell-files.ts";
import { broughtFolders, mayBringProtected } from "./shell-folders.ts";
import { onlyReads } from "./shell-known.ts";
import { joinedPaths, knownBehind } from "./shell-path-words.ts";
import { textsOf } from "./shell-text-words.ts";
import { inGitDirectory, insideWorkspace } from "./workspace-path.ts";

/** Whether wildcards may stand for the words at those places of one program's run, its wrappers left aside. */
export function wildcardsHold(run: readonly string[], wild: ReadonlySet<number>, allow: Grant, cwd: string): boolean {
  if (!isCore(run) || changesUnnamed(run) || !linkStaysInside(run, allow, cwd)) return false;
  const literal = new Set(run.filter((_, at) => !wild.has(at)));
  const texts = textsOf(run);
  const isText = (path: string) => run.every((word, at) => word !== path || texts.has(at));
  const all = filesOf(run).written;
  const written = all.filter((path) => !run.includes(path) || !isText(path));
  const removes = /^(?:rm|rmdir|mkdir|touch)$/.test(run[0] ?? "");
  const may = (path: string) =>
    literal.has(path) ||
    harmlessTargets.includes(path) ||
    writeGranted(path, allow, cwd) ||
    (removes && wholeGranted(path, allow, cwd) && !isGuarded(path, allow, cwd));
  // The workspace itself is a place to bring something to, and nothing to remove or to move.
  const gone = removes ? written : run[0] === "mv" ? written.slice(1) : [];
  if (gone.some((path) => insideWorkspace(path, cwd) === ".")) return false;
  if (!landings(written).every(may)) return false;
  if (broughtFolders(run).some((folder) => mayBringProtected(insideWorkspace(folder, cwd) ?? "."))) return false;
  const reads = onlyReads(run) && written.length === 0;
  const keeps = (word: string) => reads || (run[0] === "cp" && !word.startsWith("-") && !written.includes(word));
  return ![...wild].some((at) => !texts.has(at) && tells(run, run[at] ?? "", keeps(run[at] ?? ""), allow, cwd));
}
function tells(run: readonly string[], word: string, keeps: boolean, allow: Grant, cwd: string): boolean {
  const known = knownBehind(run, word);
  const paths = known === null ? [...pathsIn(word), ...joinedPaths(word)] : [...known, ...word.split(/[=@<,:]/)];
  return paths.some((path) => {
    if (insideWorkspace(path, cwd) === null) return /^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(path);
    return !keeps && isGuarded(path, allow, cwd);
  });
}
function isGuarded(path: string, allow: Grant, cwd: string): boolean {
  const inside = insideWorkspace(path, cwd);
  return inside !== null && (inGitDirectory(inside) || isUnnamedProtected(inside, allow));
}
/** The files that are written, without what a source would be called in a target that is named like a file. */
function landings(written: readonly string[]): readonly string[] {
  return written.filter((path) => !written.some((file) => /\w\.\w+$/.test(file) && path.startsWith(`${file}/`)));
}
/** The word as a path, and what in it an option may take for one: `--file=x`, `-Fx`, `@x`, `name=@x`. */
function pathsIn(word: string): readonly string[] {
  if (/\s/.test(word)) return [];
  if (word.includes("://")) return [word];
  const joined = /^-[a-zA-Z](?=[/~.@])(.*)$/s.exec(word)?.[1] ?? word;
  return [word, ...joined.split(/[=@<,:]/)];
}
