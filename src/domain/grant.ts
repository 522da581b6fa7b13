/**
 * What an approved item may do: which commands, which scripts, and which patch may leave it. Absent
 * grants grant nothing. [GR-*]
 */
import type { PatchFile } from "./evidence.ts";
import { matchesAny, starMatches } from "./glob.ts";
import { pathGranted, writeGranted } from "./grant-paths.ts";
import { holdsInFolder, linksStayInside } from "./grant-place.ts";
import { isTelling } from "./grant-wild.ts";
import { readBySetup } from "./plan-protect.ts";
import type { Grant, PlanItem } from "./plan-shape.ts";
import { namesProtected, protectedFile } from "./protected-files.ts";
import type { ShellCommand, ShellReading } from "./shell.ts";
import { readShell } from "./shell.ts";
import { insideWorkspace } from "./workspace-path.ts";

/** `*` stands for anything inside one word, a last `**` for any further words. */
export function commandGranted(granted: readonly string[], words: readonly string[]): boolean {
  return granted.some((grant) => wildWords(grant, words) !== null);
}
/** The words for which only a wildcard of the grant stands; null when the grant does not match. */
function wildWords(grant: string, words: readonly string[]): readonly string[] | null {
  const pattern = grant.trim().split(/\s+/);
  const open = pattern.at(-1) === "**";
  const fixed = open ? pattern.slice(0, -1) : pattern;
  if (words.length === 0 || (open ? words.length < fixed.length : words.length !== fixed.length)) return null;
  if (!fixed.every((sign, index) => starMatches(sign, words[index] ?? ""))) return null;
  return words.filter((_, index) => fixed[index]?.includes("*") !== false);
}

/** Whether the script parses whole, all it runs is granted, all it redirects is in `paths`, and no assignment precedes a command. */
export function shellGranted(script: string, allow: Grant, cwd = "."): boolean {
  return readingGranted(readShell(script), allow, cwd);
}
export function readingGranted(reading: ShellReading, allow: Grant, cwd = "."): boolean {
  if (reading.parse_error !== null || reading.dynamic || reading.commands.length === 0) return false;
  // After a `cd` a relative target is somewhere else than it says.
  if (reading.moves && reading.reads.length + reading.writes.length > 0) return false;
  return (
    reading.commands.every(
      (command) =>
        command.assignments.every((name) => plainSettings.test(name)) &&
        ((isNoMove(command.argv) && reading.commands.length > 1) ||
          (holdsInFolder(command, reading, cwd) && named(command, allow, cwd))),
    ) &&
    reading.reads.every((file) => pathGranted(file, allow, cwd)) &&
    reading.writes.every((file) => writeGranted(file, allow, cwd))
  );
}
/** They say how much a program prints and for whom, and name no code. */
const plainSettings = /^(?:CI|NODE_ENV|FORCE_COLOR|NO_COLOR)$/;
const plainPrefix = /^(?:(?:CI|NODE_ENV|FORCE_COLOR|NO_COLOR)=\S*\s+)+/;
function isNoMove(argv: readonly string[]): boolean {
  return argv.length === 2 && argv[0] === "cd" && argv[1] === ".";
}

/**
 * Whether a grant names the command: code, and the program behind a wrapper unless that is granted by itself, stand
 * in the grant as they are; its wildcards stand for nothing that only such words may name.
 */
function named(command: ShellCommand, allow: Grant, cwd: string): boolean {
  return allow.commands.some((grant) => {
    const wild = wildWords(grant.replace(plainPrefix, ""), command.argv);
    if (wild === null) return false;
    if (wild.length > 0 && !linksStayInside(command, allow, cwd)) return false;
    if (isTelling(command, wild, allow, cwd)) return false;
    const literal = new Set(command.argv);
    for (const word of wild) literal.delete(word);
    return (
      command.code.every((word) => literal.has(word)) &&
      command.runs.slice(1).every((run) => literal.has(run[0] ?? "") || commandGranted(allow.commands, run))
    );
  });
}
export type PatchVerdict =
  | { readonly kind: "ok" }
  /** The patch touches what its own checks are made of. */
  | { readonly kind: "integrity"; readonly paths: readonly string[] }
  /** The patch goes beyond what was approved: a person decides. */
  | { readonly kind: "outside"; readonly paths: readonly { readonly path: string; readonly why: string }[] };

export function patchVerdict(files: readonly PatchFile[], item: Pick<PlanItem, "allow" | "protect">): PatchVerdict {
  const guarded = files.filter((file) => matchesAny(item.protect, file.path));
  if (guarded.length > 0) return { kind: "integrity", paths: guarded.map((file) => file.path) };
  const paths = files.flatMap((file) => {
    const why = beyond(file, item.allow);
    return why === null ? [] : [{ path: file.path, why }];
  });
  return paths.length > 0 ? { kind: "outside", paths } : { kind: "ok" };
}

/** Why the file goes beyond the grant, in words for the card; null when it does not. */
function beyond(file: PatchFile, allow: Grant): string | null {
  const named = allow.paths.includes(file.path);
  if (insideWorkspace(file.path) !== file.path) return "its path leads out of the workspace";
  if (!pathGranted(file.path, allow)) return "it is not in allow.paths";
  if (file.change !== "deleted") {
    if (file.mode === "120000") return "it is a symbolic link";
    if (file.mode === "160000") return "it is a submodule";
    if (file.mode === "100755" && file.old_mode !== "100755" && !named)
      return "it is made executable, and allow.paths does not name it exactly";
  }
  if (readBySetup(file.path) && !named)
    return "setup reads it while the network is open, and allow.paths does not name it exactly";
  const guarded = protectedFile(file.path);
  if (guarded !== null && !namesProtected(allow.paths, file.path, guarded))
    return `it is ${guarded.what}, and allow.paths does not name it`;
  return null;
}
