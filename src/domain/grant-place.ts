/**
 * Where a granted command works: what its words do not show depends on the folder it runs in, which a grant that only
 * says the words does not cover. [GR-60] [GR-61] [GR-80]
 */
import type { ShellCommand, ShellReading } from "./shell.ts";
import { changesOperands, changesUnnamed, filesOf } from "./shell-files.ts";
import { programName } from "./shell-peeled.ts";
import { insideWorkspace, workspaceRoot } from "./workspace-path.ts";

/** Whether the command does the same in whatever folder this script and this call run it. */
export function holdsInFolder(command: ShellCommand, reading: ShellReading, cwd: string): boolean {
  if (!leaves(reading, cwd) && cwd === ".") return true;
  // A folder may bring a script, a make file, or a git directory of its own.
  if (command.opaque !== null || command.runs.some(isGit)) return false;
  return !reading.moves || !command.runs.some(writesHere);
}
/** Whether something of the script runs in another folder than it begins in. */
export function leaves(reading: ShellReading, cwd: string): boolean {
  return cwd === "." ? reading.strays : reading.moves;
}
export function isGit(run: readonly string[]): boolean {
  return programName(run[0] ?? "") === "git";
}
function writesHere(run: readonly string[]): boolean {
  return changesOperands(run) || changesUnnamed(run) || filesOf(run).written.some((path) => !path.startsWith("/"));
}

/** Whether the command is granted by itself: it stays where it is, or ends the script. */
export function changesNothing([program, value = "", ...more]: readonly string[], cwd: string): boolean {
  if (more.length > 0) return false;
  if (program === "cd") return value === "." || (value === workspaceRoot && cwd === ".");
  return program === "exit" && /^(?:\d*|\$\?)$/.test(value);
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
