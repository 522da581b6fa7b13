/**
 * Argument rules: what a call may never do, and what it may not do unasked, whoever calls and whatever
 * was granted. Each rule is data that names one of the checks here. [POL-*]
 */
import { z } from "zod";
import { globMatches, globProblem, matchesAny } from "./glob.ts";
import { isGit } from "./grant-place.ts";
import { hostMatches, whyNear } from "./hosts.ts";
import type { CallContext, CallTouch } from "./policy-call.ts";
import { namesProtected, protectedFile } from "./protected-files.ts";
import { harmlessTargets } from "./shell.ts";
import { changesOperands, changesUnnamed, filesOf, removesTree } from "./shell-files.ts";
import { broughtFolders, mayBringProtected } from "./shell-folders.ts";
import { pathWords } from "./shell-path-words.ts";
import { programName } from "./shell-peeled.ts";
import { inGitDirectory, insideWorkspace, workspaceRoot } from "./workspace-path.ts";

const common = { id: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/), effect: z.enum(["deny", "ask"]) };
const globs = z.array(z.string().refine((glob) => globProblem(glob) === null, { error: "is not a glob" })).max(200);
export const argumentRule = z.discriminatedUnion("check", [
  z.strictObject({ ...common, check: z.literal("recursive_force_removal"), params: z.strictObject({}) }),
  /** `also`: absolute globs outside the workspace that are allowed all the same. */
  z.strictObject({
    ...common,
    check: z.literal("outside_workspace"),
    params: z.strictObject({ root: z.string(), also: z.array(z.string()) }),
  }),
  z.strictObject({ ...common, check: z.literal("git_directory"), params: z.strictObject({}) }),
  /** `allow`: exact host names, or `.example.com` for a name and all below it. The token's hosts count too. */
  z.strictObject({
    ...common,
    check: z.literal("host_not_allowed"),
    params: z.strictObject({ allow: z.array(z.string()) }),
  }),
  /** Stands before the grant, unlike other rules that ask. `also`: further files and folders of this scope. */
  z.strictObject({ ...common, check: z.literal("protected_files"), params: z.strictObject({ also: globs }) }),
  z.strictObject({ ...common, check: z.literal("shell_not_plain"), params: z.strictObject({}) }),
]);
export type ArgumentRule = z.infer<typeof argumentRule>;

export const defaultArgumentRules: readonly ArgumentRule[] = [
  { id: "recursive-force-removal", effect: "deny", check: "recursive_force_removal", params: {} },
  { id: "outside-workspace", effect: "deny", check: "outside_workspace", params: { root: workspaceRoot, also: [] } },
  { id: "git-directory", effect: "deny", check: "git_directory", params: {} },
  { id: "host-not-allowed", effect: "deny", check: "host_not_allowed", params: { allow: [] } },
  { id: "protected-files", effect: "ask", check: "protected_files", params: { also: [] } },
  { id: "shell-not-plain", effect: "ask", check: "shell_not_plain", params: {} },
];
/** Checks whose question no grant answers by covering the call: only by naming what is asked about. */
export function standsBeforeGrant(rule: ArgumentRule): boolean {
  return rule.check === "protected_files";
}

/** Why the rule holds for this call, as a sentence; null when it does not. */
export function brokenBy(rule: ArgumentRule, touch: CallTouch, context: Pick<CallContext, "token">): string | null {
  switch (rule.check) {
    case "recursive_force_removal":
      return removal(touch);
    case "outside_workspace":
      return outside(touch, rule.params);
    case "git_directory":
      return gitWrite(touch);
    case "host_not_allowed":
      return notAllowed(touch, [...rule.params.allow, ...(context.token?.allow.hosts ?? [])]);
    case "protected_files":
      return protectedWrite(touch, rule.params.also, context.token);
    case "shell_not_plain":
      return touch.tool === "shell_execute" ? notPlain(touch) : touch.odd;
  }
}

function notPlain(touch: CallTouch): string | null {
  if (touch.odd !== null) return touch.odd;
  if (touch.shell === null) return "it has no command";
  if (touch.shell.parse_error !== null) return `the command cannot be read whole: ${touch.shell.parse_error}`;
  if (touch.shell.dynamic) return "what the command does is only known when it runs";
  const said = (argv: readonly string[]) => `"${argv.join(" ").slice(0, 80)}"`;
  const opaque = touch.shell.commands.find((command) => command.opaque !== null);
  if (opaque !== undefined) return `${said(opaque.argv)}: ${opaque.opaque}`;
  if (!touch.shell.moves && touch.cwd === ".") return null;
  const git = touch.shell.commands.find((command) => command.runs.some(isGit));
  return git === undefined ? null : `${said(git.argv)}: a folder may hold what another git directory configures`;
}

function removal(touch: CallTouch): string | null {
  for (const command of touch.shell?.commands ?? []) {
    const found = removesTree(command.runs);
    if (found !== null) return `"${found.join(" ").slice(0, 80)}" removes recursively and by force`;
  }
  return null;
}

function notAllowed(touch: CallTouch, allowed: readonly string[]): string | null {
  const host = touch.hosts.find((name) => !allowed.some((entry) => hostMatches(entry, name)));
  if (host === undefined) return null;
  const near = host === "" ? null : whyNear(host);
  return near === null
    ? `the host "${host.slice(0, 100)}" is not allowed`
    : `the host "${host.slice(0, 100)}" is not allowed by its own name: it is ${near}`;
}

/** What the commands of a script name as files, or as the directory to change to. */
function filesNamed(touch: CallTouch): string[] {
  return filesIn(touch, "named");
}
function filesWritten(touch: CallTouch): string[] {
  return filesIn(touch, "written");
}
function filesIn(touch: CallTouch, which: "named" | "written"): string[] {
  const runs = touch.shell?.commands.flatMap((command) => command.runs) ?? [];
  return runs.flatMap((run) => filesOf(run)[which].filter((path) => !harmlessTargets.includes(path)));
}
/** Every word of a program that is not known to only read, where it may stand for a path; once for all rules. */
const words = new WeakMap<CallTouch, readonly string[]>();
function wordsOf(touch: CallTouch): readonly string[] {
  const found =
    words.get(touch) ??
    (touch.shell?.commands ?? [])
      .flatMap((command) => pathWords(command.runs))
      .filter((path) => !harmlessTargets.includes(path));
  words.set(touch, found);
  return found;
}
const looksAway = /^[/~]|(?:^|\/)\.\.(?:\/|$)/;
function redirects(touch: CallTouch): string[] {
  return touch.shell === null ? [] : [...touch.shell.reads, ...touch.shell.writes];
}

function outside(touch: CallTouch, params: { readonly root: string; readonly also: readonly string[] }): string | null {
  const start = insideWorkspace(touch.cwd, ".", params.root);
  if (start === null) return `"${touch.cwd.slice(0, 80)}" is outside the workspace`;
  const named = [...redirects(touch), ...filesNamed(touch), ...wordsOf(touch).filter((word) => looksAway.test(word))];
  // After a `cd` only an absolute path says where it leads.
  const known =
    touch.shell?.moves === true ? named.filter((path) => path.startsWith("/") || !path.includes("..")) : named;
  const found = [...touch.paths, ...known].find(
    (path) => insideWorkspace(path, start, params.root) === null && !allowedOutside(path, params.also),
  );
  return found === undefined ? null : `"${found.slice(0, 80)}" is outside the workspace`;
}
function allowedOutside(path: string, also: readonly string[]): boolean {
  return (
    path.startsWith("/") &&
    !path.includes("/..") &&
    also.some((glob) => globMatches(glob.replace(/^\//, ""), path.slice(1)))
  );
}

function gitWrite(touch: CallTouch): string | null {
  if (!touch.writes) return null;
  const written = [touch.cwd, ...touch.paths, ...(touch.shell?.writes ?? []), ...filesNamed(touch), ...wordsOf(touch)];
  const found = written.find(inGitDirectory);
  return found === undefined ? null : `"${found.slice(0, 80)}" is inside a git directory`;
}

/** A block of a `steps` item that a person read is named by its own bytes; its result is judged like any other. */
function protectedWrite(touch: CallTouch, also: readonly string[], token: CallContext["token"]): string | null {
  if (!touch.writes) return null;
  if (touch.script !== null && touch.cwd === "." && token?.steps.includes(touch.script) === true) return null;
  const unnamed = unnamedWrite(touch, also, token?.allow.paths ?? []);
  if (unnamed !== null) return `"${unnamed.path.slice(0, 80)}" is ${unnamed.what}, and no grant names it`;
  const open = touch.shell?.commands.find((command) => command.open && command.runs.some(changesOperands));
  if (open !== undefined) return `"${open.argv.join(" ").slice(0, 80)}" takes the files it changes from its input`;
  const unnamedBy = touch.shell?.commands.find((command) => command.runs.some(makesNames));
  if (unnamedBy !== undefined)
    return `"${unnamedBy.argv.join(" ").slice(0, 80)}" writes files by names that it makes up`;
  const brought = (touch.shell?.commands ?? [])
    .flatMap(({ runs }) => runs.flatMap(broughtFolders))
    .find((folder) => mayBringProtected(insideWorkspace(folder, touch.cwd) ?? "x/x/x"));
  if (brought !== undefined) return `what is brought to "${brought.slice(0, 80)}" may be protected by its name there`;
  // After a change of directory it is not known which file a relative path is.
  const moved = touch.shell?.moves === true ? shellWrites(touch).find((path) => !path.startsWith("/")) : undefined;
  return moved === undefined ? null : `"${moved.slice(0, 80)}" is written after a change of directory`;
}
/** Of the parts they split a file into; not of a temporary file, nor of what git knows. */
function makesNames(run: readonly string[]): boolean {
  return !/^(?:git|mktemp)$/.test(programName(run[0] ?? "")) && changesUnnamed(run);
}
/** The first protected file that the call writes and that `named` does not name. */
export function unnamedWrite(
  touch: CallTouch,
  also: readonly string[],
  named: readonly string[],
): { readonly path: string; readonly what: string } | null {
  for (const path of [...touch.paths, ...shellWrites(touch)]) {
    const inside = insideWorkspace(path, touch.cwd);
    const what = inside === null ? null : whyProtected(inside, also, named);
    if (what !== null) return { path, what };
  }
  return null;
}
function shellWrites(touch: CallTouch): string[] {
  return [...(touch.shell?.writes ?? []), ...filesWritten(touch)];
}
function whyProtected(path: string, also: readonly string[], named: readonly string[]): string | null {
  const found = protectedFile(path);
  if (found !== null) return namesProtected(named, path, found) ? null : found.what;
  return matchesAny(also, path) && !named.includes(path) ? "protected by this policy" : null;
}
