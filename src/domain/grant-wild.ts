/**
 * What a wildcard of a command grant never stands for: a path out of the workspace, and a protected file for a program
 * that may change it, whichever option or folder of a copy it hides behind. [GR-41] [SH-59]
 */
import { isUnnamedProtected } from "./grant-paths.ts";
import type { Grant } from "./plan-shape.ts";
import type { ShellCommand } from "./shell.ts";
import { filesOf } from "./shell-files.ts";
import { onlyReads } from "./shell-known.ts";
import { joinedPaths, knownBehind } from "./shell-path-words.ts";
import { inGitDirectory, insideWorkspace } from "./workspace-path.ts";

/** Whether one of the words tells more than a wildcard may. */
export function isTelling(command: ShellCommand, wild: readonly string[], allow: Grant, cwd: string): boolean {
  const { argv } = command;
  const { written } = filesOf(argv);
  const reads = onlyReads(argv) && written.length === 0;
  const copies = copiesPlainly(command);
  const keeps = (word: string) => reads || (copies && !word.startsWith("-") && !written.includes(word));
  const literal = new Set(argv.filter((word) => !wild.includes(word)));
  return (
    wild.some((word) => tells(argv, word, keeps(word), allow, cwd)) ||
    (wild.length > 0 && landings(written).some((path) => !literal.has(path) && isGuarded(path, allow, cwd)))
  );
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
/** What it copies it only reads: it makes no link by which the same file is written under another name. */
function copiesPlainly({ argv, code }: ShellCommand): boolean {
  return argv[0] === "cp" && code.length === 0 && !argv.some((word) => /^-[a-zA-Z]*[lst]|^--(?:l|sy|t)/.test(word));
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
