/**
 * Where a granted command works: what its words do not show depends on the folder it runs in, and a link takes a
 * granted path elsewhere. Neither is covered by a grant that only says the words. [GR-60] [GR-61] [GR-63]
 */
import { pathGranted, wholeGranted } from "./grant-paths.ts";
import type { Grant } from "./plan-shape.ts";
import type { ShellCommand, ShellReading } from "./shell.ts";
import { changesOperands, changesUnnamed, filesOf } from "./shell-files.ts";
import { programName } from "./shell-peeled.ts";
import { foldName, insideWorkspace, partsOf } from "./workspace-path.ts";

/** Whether the command does the same in whatever folder this script and this call run it. */
export function holdsInFolder(command: ShellCommand, reading: ShellReading, cwd: string): boolean {
  if (!reading.moves && cwd === ".") return true;
  // A folder may bring a script, a make file, or a git directory of its own.
  if (command.opaque !== null || command.runs.some(isGit)) return false;
  return !reading.moves || !command.runs.some(writesHere);
}
export function isGit(run: readonly string[]): boolean {
  return programName(run[0] ?? "") === "git";
}
function writesHere(run: readonly string[]): boolean {
  return changesOperands(run) || changesUnnamed(run) || filesOf(run).written.some((path) => !path.startsWith("/"));
}

/** Whether a move leads out of the workspace, or its words do not say where: home, back, to what a stack holds. */
export function movesUnseen(run: readonly string[], cwd: string): boolean {
  const name = programName(run[0] ?? "");
  if (name !== "cd" && name !== "pushd" && name !== "popd") return false;
  const [place, ...more] = run.slice(1).filter((word) => !/^-[LPe]+$/.test(word));
  return (
    name === "popd" ||
    place === undefined ||
    more.length > 0 ||
    /^[-+]/.test(place) ||
    insideWorkspace(place, cwd) === null
  );
}

/** Whether the run makes no link, or one to what is granted as a whole folder. */
export function linkStaysInside(run: readonly string[], allow: Pick<Grant, "paths">, cwd: string): boolean {
  const name = programName(run[0] ?? "");
  const rest = run.slice(1);
  if (name === "cp") return !rest.some((word) => /^-(?!-)[a-zA-Z]*[sl]|^--(?:sy|l)/.test(word));
  if (name !== "ln" && name !== "link") return true;
  if (rest.some((word) => /^-./.test(word) && !plainLinkOption.test(word))) return false;
  const operands = rest.filter((word) => !/^-./.test(word));
  const symbolic = rest.some((word) => /^-(?!-)[a-zA-Z]*s|^--symbolic$/.test(word));
  const place = operands.at(-1) ?? "";
  // What lies there is protected by the very names of those folders.
  if (operands.some((path) => partsOf(path).some((part) => byPlace.test(foldName(part))))) return false;
  const targets = operands.slice(0, -1);
  if (targets.length === 0) return false;
  const whole = (path: string) => pathGranted(path, allow, cwd) && wholeGranted(path, allow, cwd);
  if (!symbolic) return targets.every(whole);
  // Moved with what it lies in, a link that only goes down stays below what is granted.
  const down = targets.every((target) => !/^[/~]|(?:^|\/)\.{1,2}(?:\/|$)/.test(target));
  const folders = [place, `${place}/..`];
  return down && folders.every((folder) => targets.every((target) => whole(`${folder}/${target}`)));
}
const byPlace =
  /^(?:cypress|jest|tests?|support|hooks|config|project|docs|apps|crates|libs|modules|packages|plugins|projects|services|tools)$/;
const plainLinkOption = /^(?:-[sfnvT]+|--symbolic|--force|--no-dereference|--no-target-directory|--verbose)$/;
