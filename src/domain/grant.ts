/**
 * What an approved item may do: which commands, which scripts, and which patch may leave it. Absent
 * grants grant nothing. [GR-*]
 */
import type { PatchFile } from "./evidence.ts";
import { matchesAny, starMatches } from "./glob.ts";
import { goesUp, pathGranted, writeGranted } from "./grant-paths.ts";
import { changesNothing, holdsInFolder, leaves, movesUnseen } from "./grant-place.ts";
import { wildcardsHold } from "./grant-wild.ts";
import { readBySetup } from "./plan-protect.ts";
import type { Grant, PlanItem } from "./plan-shape.ts";
import { namesProtected, protectedFile } from "./protected-files.ts";
import type { ShellCommand, ShellReading } from "./shell.ts";
import { readShell } from "./shell.ts";
import { unwrap } from "./shell-wrappers.ts";
import { insideWorkspace } from "./workspace-path.ts";

/** `*` stands for anything inside one word, a last `**` for any further words. */
export function commandGranted(granted: readonly string[], words: readonly string[]): boolean {
  return granted.some((grant) => wildPlaces(wordsOf(grant), words) !== null);
}
function wordsOf(grant: string): readonly string[] {
  return grant.trim().split(/\s+/);
}
/** The places of the words for which only a wildcard of the grant stands; null when the grant does not match. */
function wildPlaces(pattern: readonly string[], words: readonly string[]): ReadonlySet<number> | null {
  const open = pattern.at(-1) === "**";
  const fixed = open ? pattern.slice(0, -1) : pattern;
  if (words.length === 0 || (open ? words.length < fixed.length : words.length !== fixed.length)) return null;
  if (!fixed.every((sign, index) => starMatches(sign, words[index] ?? ""))) return null;
  // Whatever the word is, the sign's own text too: to its program a `*` may stand for more than itself.
  return new Set([...words.keys()].filter((index) => fixed[index]?.includes("*") !== false));
}

/** Whether the script parses whole, all it runs is granted, all it redirects is in `paths`, and no assignment precedes a command. */
export function shellGranted(script: string, allow: Grant, cwd = "."): boolean {
  return readingGranted(readShell(script), allow, cwd);
}
export function readingGranted(reading: ShellReading, allow: Grant, cwd = "."): boolean {
  if (reading.parse_error !== null || reading.surprises || reading.commands.length === 0) return false;
  // What goes on behind the call nobody looks at.
  if (reading.background) return false;
  // Behind a link to a folder `..` is another place than the call and its redirects say.
  if (goesUp(cwd) || [...reading.reads, ...reading.writes].some(goesUp)) return false;
  // After a `cd` a relative target is somewhere else than it says.
  if (leaves(reading, cwd) && reading.reads.length + reading.writes.length > 0) return false;
  // After one that its words do not say where to, no word says what is read.
  if (reading.commands.length > 1 && reading.commands.some(({ runs }) => runs.some((run) => movesUnseen(run, cwd))))
    return false;
  return (
    reading.commands.every(
      (command) =>
        command.assignments.every((name) => plainSettings.test(name) || namedSettings.test(name)) &&
        ((changesNothing(command.argv, cwd) && reading.commands.length > 1) ||
          (holdsInFolder(command, reading, cwd) && named(command, allow, cwd))),
    ) &&
    reading.reads.every((file) => pathGranted(file, allow, cwd)) &&
    reading.writes.every((file) => writeGranted(file, allow, cwd))
  );
}
/** They say how much a program prints and for whom, and name no code. */
const plainSettings = /^(?:CI|NODE_ENV|FORCE_COLOR|NO_COLOR)$/;
/** Harmless too, but programs may read a file by them: the grant says which value. */
const namedSettings = /^(?:TZ|LANG|LC_[A-Z]+)$/;
const prefix = /^(?:(?:CI|NODE_ENV|FORCE_COLOR|NO_COLOR|TZ|LANG|LC_[A-Z]+)=\S*\s+)+/;
/**
 * Whether a grant names the command: word for word, or its wildcards may stand for the other words. Then each program
 * behind a wrapper is granted by itself, and code stands in the grant as it is.
 */
function named(command: ShellCommand, allow: Grant, cwd: string): boolean {
  return allow.commands.some((grant) => {
    const pattern = wordsOf(grant.replace(prefix, ""));
    const wild = wildPlaces(pattern, command.argv);
    if (wild === null || !settingsNamed(command, grant)) return false;
    if (wild.size === 0) return true;
    if (command.open || !isLiteral(command.code, command.argv, wild)) return false;
    const [, ...inner] = command.runs;
    const own = command.argv.length - behind(command.argv, inner[0]);
    const patterns = allow.commands.map((one) => wordsOf(one.replace(prefix, "")));
    return (
      wildcardsHold(command.argv.slice(0, own), before(wild, own), allow, cwd, command.loose) &&
      inner.every((run, at) => {
        const rest = pattern.slice(command.argv.length - behind(command.argv, run));
        // The rest of this grant names the program inside only by a word of its own.
        const named = rest[0]?.includes("*") === false ? [...patterns, rest] : patterns;
        return runNamed(run, inner[at + 1], named, allow, cwd);
      })
    );
  });
}
/** Whether one of the patterns grants what a wrapper runs, whatever stands before it. */
function runNamed(
  run: readonly string[],
  next: readonly string[] | undefined,
  patterns: readonly (readonly string[])[],
  allow: Grant,
  cwd: string,
): boolean {
  return patterns.some((pattern) => {
    const wild = wildPlaces(pattern, run);
    if (wild === null || wild.size === 0) return wild !== null;
    const own = run.length - behind(run, next);
    return isLiteral(unwrap(run).code, run, wild) && wildcardsHold(run.slice(0, own), before(wild, own), allow, cwd);
  });
}
/** How many of the words, from the end, are those of the program inside. */
function behind(words: readonly string[], inner: readonly string[] | undefined): number {
  if (inner === undefined || inner.length >= words.length) return 0;
  return inner.every((word, at) => word === words[words.length - inner.length + at]) ? inner.length : 0;
}
function before(wild: ReadonlySet<number>, end: number): ReadonlySet<number> {
  return new Set([...wild].filter((at) => at < end));
}
function isLiteral(code: readonly string[], words: readonly string[], wild: ReadonlySet<number>): boolean {
  const literal = new Set(words.filter((_, at) => !wild.has(at)));
  return code.every((word) => literal.has(word));
}
/** Whether each setting has a value that is no path, or one that the grant says. */
function settingsNamed({ assignments, settings, runs }: ShellCommand, grant: string): boolean {
  const words = wordsOf(grant);
  const set = [...settings, ...runs.flat()];
  return assignments.every((name) =>
    set
      .filter((word) => word.startsWith(`${name}=`))
      .every((word) => words.includes(word) || (plainSettings.test(name) && plainValue.test(word))),
  );
}
const plainValue = /^\w+=[\w-]*$/;
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
