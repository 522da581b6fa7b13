/**
 * Argument rules: what a call may never do, and what it may not do unasked, whoever calls and whatever
 * was granted. Each rule is data that names one of the checks here. [POL-*]
 */
import { z } from "zod";
import { globMatches } from "./glob.ts";
import type { CallContext, CallTouch } from "./policy-call.ts";
import { harmlessTargets } from "./shell.ts";
import { programName } from "./shell-wrappers.ts";
import { inGitDirectory, insideWorkspace, workspaceRoot } from "./workspace-path.ts";

const common = { id: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/), effect: z.enum(["deny", "ask"]) };
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
  z.strictObject({ ...common, check: z.literal("shell_not_plain"), params: z.strictObject({}) }),
]);
export type ArgumentRule = z.infer<typeof argumentRule>;

export const defaultArgumentRules: readonly ArgumentRule[] = [
  { id: "recursive-force-removal", effect: "deny", check: "recursive_force_removal", params: {} },
  { id: "outside-workspace", effect: "deny", check: "outside_workspace", params: { root: workspaceRoot, also: [] } },
  { id: "git-directory", effect: "deny", check: "git_directory", params: {} },
  { id: "host-not-allowed", effect: "deny", check: "host_not_allowed", params: { allow: [] } },
  { id: "shell-not-plain", effect: "ask", check: "shell_not_plain", params: {} },
];

/** Why the rule holds for this call, as a sentence; null when it does not. */
export function brokenBy(rule: ArgumentRule, touch: CallTouch, context: Pick<CallContext, "token">): string | null {
  switch (rule.check) {
    case "recursive_force_removal":
      return removal(touch);
    case "outside_workspace":
      return outside(touch, rule.params);
    case "git_directory":
      return gitWrite(touch);
    case "host_not_allowed": {
      const allowed = [...rule.params.allow, ...(context.token?.allow.hosts ?? [])];
      const host = touch.hosts.find((name) => !allowed.some((entry) => hostMatches(entry, name)));
      return host === undefined ? null : `the host "${host}" is not allowed`;
    }
    case "shell_not_plain":
      return touch.tool === "shell_execute" ? notPlain(touch) : touch.odd;
  }
}

function notPlain(touch: CallTouch): string | null {
  if (touch.odd !== null) return touch.odd;
  if (touch.shell === null) return "it has no command";
  if (touch.shell.parse_error !== null) return `the command cannot be read whole: ${touch.shell.parse_error}`;
  return touch.shell.dynamic ? "what the command does is only known when it runs" : null;
}

function removal(touch: CallTouch): string | null {
  const runs = touch.shell?.commands.flatMap((command) => command.runs) ?? [];
  const found = runs.find((run) => programName(run[0] ?? "") === "rm" && isRecursiveForce(run.slice(1)));
  return found === undefined ? null : `"${found.join(" ").slice(0, 80)}" removes recursively and by force`;
}
/** Letters in any order, joined or apart; long options in any abbreviation that still tells them apart. */
function isRecursiveForce(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  const options = (end < 0 ? words : words.slice(0, end)).filter((word) => word.startsWith("-"));
  const has = (letters: RegExp, long: string): boolean =>
    options.some((word) => (word.startsWith("--") ? word.length > 2 && long.startsWith(word) : letters.test(word)));
  return has(/[rR]/, "--recursive") && has(/f/, "--force");
}

/** Programs that change the files they name. */
const writers =
  /^(?:rm|rmdir|mv|cp|ln|touch|mkdir|tee|chmod|chown|chgrp|truncate|install|unlink|shred|dd|sed|rsync|patch)$/;
const movers = /^(?:cd|pushd)$/;

/** What the commands of a script name as files to change, or as the directory to change to. */
function operands(touch: CallTouch): string[] {
  const runs = touch.shell?.commands.flatMap((command) => command.runs) ?? [];
  return runs.flatMap((run) => {
    const name = programName(run[0] ?? "");
    if (name === "sed") return sedFiles(run.slice(1));
    if (!writers.test(name) && !movers.test(name)) return [];
    return run
      .slice(1)
      .filter((word) => !word.startsWith("-"))
      .map((word) => word.replace(/^(?:of|if)=/, ""));
  });
}
/** `sed` changes files only in place, and its first operand is a program unless an option brought one. */
function sedFiles(words: readonly string[]): string[] {
  if (!words.some((word) => /^-[a-zA-Z]*i|^--in-place/.test(word))) return [];
  const brings = /^(?:-[a-zA-Z]*[ef]|--expression|--file)$/;
  const files = words.filter((word, index) => !word.startsWith("-") && !brings.test(words[index - 1] ?? ""));
  return words.some((word) => brings.test(word) || /^--(?:expression|file)=/.test(word)) ? files : files.slice(1);
}
function redirects(touch: CallTouch): string[] {
  return touch.shell === null ? [] : [...touch.shell.reads, ...touch.shell.writes];
}

function outside(touch: CallTouch, params: { readonly root: string; readonly also: readonly string[] }): string | null {
  const start = insideWorkspace(touch.cwd, ".", params.root);
  if (start === null) return `"${touch.cwd.slice(0, 80)}" is outside the workspace`;
  const named = [...redirects(touch), ...operands(touch).filter((path) => !harmlessTargets.includes(path))];
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
  const written = [touch.cwd, ...touch.paths, ...(touch.shell?.writes ?? []), ...operands(touch)];
  const found = written.find(inGitDirectory);
  return found === undefined ? null : `"${found.slice(0, 80)}" is inside a git directory`;
}

export function hostMatches(entry: string, host: string): boolean {
  if (host === "") return false;
  return entry.startsWith(".") ? host === entry.slice(1) || host.endsWith(entry) : host === entry;
}
