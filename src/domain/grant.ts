/**
 * What an approved item may do: which commands, which scripts, and which patch may leave it. Absent
 * grants grant nothing. [GR-*]
 */
import type { PatchFile } from "./evidence.ts";
import { matchesAny, starMatches } from "./glob.ts";
import { readBySetup } from "./plan-protect.ts";
import type { Grant, PlanItem } from "./plan-shape.ts";
import type { ShellReading } from "./shell.ts";
import { readShell } from "./shell.ts";
import { inGitDirectory, insideWorkspace } from "./workspace-path.ts";

/** `*` stands for anything inside one word, a last `**` for any further words. */
export function commandGranted(granted: readonly string[], words: readonly string[]): boolean {
  return words.length > 0 && granted.some((grant) => wordsMatch(grant.trim().split(/\s+/), words));
}
function wordsMatch(pattern: readonly string[], words: readonly string[]): boolean {
  const open = pattern.at(-1) === "**";
  const fixed = open ? pattern.slice(0, -1) : pattern;
  if (open ? words.length < fixed.length : words.length !== fixed.length) return false;
  return fixed.every((sign, index) => starMatches(sign, words[index] ?? ""));
}

/** Whether the script parses whole, all it runs is granted, all it redirects is in `paths`, and no assignment precedes a command. */
export function shellGranted(script: string, allow: Grant, cwd = "."): boolean {
  return readingGranted(readShell(script), allow, cwd);
}
export function readingGranted(reading: ShellReading, allow: Grant, cwd = "."): boolean {
  if (reading.parse_error !== null || reading.dynamic || reading.commands.length === 0) return false;
  const files = [...reading.reads, ...reading.writes];
  // After a `cd` a relative target is somewhere else than it says.
  if (reading.moves && files.length > 0) return false;
  return (
    reading.commands.every(
      (command) => command.assignments.length === 0 && commandGranted(allow.commands, command.argv),
    ) && files.every((file) => pathGranted(file, allow, cwd))
  );
}

export function pathGranted(path: string, allow: Pick<Grant, "paths">, cwd = "."): boolean {
  const inside = insideWorkspace(path, cwd);
  return inside !== null && !inGitDirectory(inside) && matchesAny(allow.paths, inside);
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
  return null;
}
