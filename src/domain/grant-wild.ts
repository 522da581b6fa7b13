/**
 * What a wildcard of a command grant may stand for: words of the closed core, which lead nowhere out of the workspace,
 * and write only what `paths` grants, by a redirect or not. [GR-41] [GR-70] [GR-71] [SH-59]
 */
import { isCore, isOddInput } from "./grant-core.ts";
import { gitOnlyReads } from "./grant-git.ts";
import { goesUp, isUnnamedProtected, wholeGranted, writeGranted } from "./grant-paths.ts";
import { isPlainRun } from "./grant-plain.ts";
import { isProjectRunner } from "./grant-runners.ts";
import { worksElsewhere } from "./grant-scripts.ts";
import type { Grant } from "./plan-shape.ts";
import { harmlessTargets } from "./shell.ts";
import { changesUnnamed, filesOf } from "./shell-files.ts";
import { onlyReads } from "./shell-known.ts";
import { joinedPaths, knownBehind } from "./shell-path-words.ts";
import { formats } from "./shell-runner-files.ts";
import { textsOf } from "./shell-text-words.ts";
import { inGitDirectory, insideWorkspace } from "./workspace-path.ts";

/** Whether wildcards may stand for the words at those places of one program's run, its wrappers left aside. */
export function wildcardsHold(
  run: readonly string[],
  wild: ReadonlySet<number>,
  allow: Grant,
  cwd: string,
  loose: ReadonlySet<number> = new Set(),
): boolean {
  const away = isProjectRunner(run[0] ?? "") && worksElsewhere(run);
  if (!isCore(run, wild, (path) => !away && writeGranted(path, allow, cwd)) || changesUnnamed(run)) return false;
  if (!isPlainRun(run, wild, run[0] === "git" && gitOnlyReads(run.slice(1)), loose)) return false;
  const literal = new Set(run.filter((_, at) => !wild.has(at)));
  const texts = textsOf(run);
  if ([...wild].some((at) => !texts.has(at) && isOddInput(run, at))) return false;
  const isText = (path: string) => run.every((word, at) => word !== path || texts.has(at));
  const all = filesOf(run).written;
  const written = all.filter((path) => !run.includes(path) || !isText(path));
  // What they change in a folder stays in it.
  const removes = /^(?:rm|rmdir|mkdir|touch)$/.test(run[0] ?? "") || formats(run);
  const may = (path: string) =>
    literal.has(path) ||
    harmlessTargets.includes(path) ||
    writeGranted(path, allow, cwd) ||
    (removes && wholeGranted(path, allow, cwd) && !isGuarded(path, allow, cwd));
  // The workspace itself is a place to bring something to, and nothing to remove.
  if (removes && written.some((path) => insideWorkspace(path, cwd) === ".")) return false;
  if (away && written.some((path) => !literal.has(path))) return false;
  // Behind a link to a folder `..` is another place than the words say.
  if (written.some((path) => !literal.has(path) && goesUp(path))) return false;
  if (!landings(run, written).every(may)) return false;
  const reads = (onlyReads(run) || /^(?:uniq|sed)$/.test(run[0] ?? "")) && written.length === 0;
  const keeps = (word: string) =>
    reads || isProject(run, word) || (run[0] === "cp" && !word.startsWith("-") && !written.includes(word));
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
/** `tsc -p tsconfig.json` reads it. */
function isProject(run: readonly string[], word: string): boolean {
  const at = run.indexOf(word);
  return run.includes("tsc") && at > 0 && /^(?:-p|--project)$/.test(run[at - 1] ?? "");
}
/**
 * The files that are written. Only of `cp -T SOURCE TARGET` what the source would be called in the target is left out: a
 * name that stands in no word, in what is no folder or fails.
 */
function landings(run: readonly string[], written: readonly string[]): readonly string[] {
  const operands = run.slice(1).filter((word) => !word.startsWith("-"));
  const folder = operands.length !== 2 || run.some((word) => /^-(?!-)\w*t|^--target/.test(word));
  const stays = run[0] === "cp" && run.some((word) => /^-(?!-)\w*T|^--no-target-directory$/.test(word));
  return folder || !stays ? written : written.filter((path) => run.includes(path));
}
/** The word as a path, and what in it an option may take for one: `--file=x`, `-Fx`, `@x`, `name=@x`. */
function pathsIn(word: string): readonly string[] {
  if (word.includes("://")) return [word];
  const joined = /^-[a-zA-Z](?=[/~.@])(.*)$/s.exec(word)?.[1] ?? word;
  return [word, ...joined.split(/[=@<,:]/)];
}
