/** What a tool call would touch, read from its arguments and not from its name's good faith. [POL-*] */
import { anyScheme, hostOf } from "./hosts.ts";
import type { JsonValue, Taint } from "./message.ts";
import type { Grant } from "./plan-shape.ts";
import type { ShellReading } from "./shell.ts";
import { readShell } from "./shell.ts";
import { hostsOf } from "./shell-hosts.ts";
import { visibleLine } from "./visible.ts";

export const trustRoles = ["mayor", "deacon", "crew", "witness"] as const;
export type TrustRole = (typeof trustRoles)[number];
/** How far each agent is trusted, most first: mayor, deacon, crew, witness. */
export const trustOf = { planner: "mayor", proxy: "deacon", executor: "crew", verifier: "witness" } as const;

export interface ToolCall {
  readonly tool: string;
  readonly args: JsonValue;
}
export interface CallContext {
  readonly role: TrustRole;
  /** The join of all the run has read. */
  readonly taint: Taint;
  readonly holds_secret: boolean;
  /** The checked token of the attempt: its item's grant, and the blocks of a `steps` item. */
  readonly token: { readonly allow: Grant; readonly steps: readonly string[] } | null;
}

/** Tools that change nothing in the workspace nor elsewhere. Any other tool is held to change something. */
export const readingTools: readonly string[] = [
  "file_read",
  "list_directory",
  "search_files",
  "git_diff",
  "git_log",
  "git_blame",
  "git_status",
  "task_status",
  "memory_search",
  "web_search",
  "context_inspect",
];

export interface CallTouch {
  readonly tool: string;
  readonly writes: boolean;
  /** Paths as written. */
  readonly paths: readonly string[];
  /** The directory they are relative to, as written; not one of `paths`. */
  readonly cwd: string;
  /** Hosts in one spelling, without the port. Empty text for an address that has none. */
  readonly hosts: readonly string[];
  /** The script of a shell call; null for other tools. */
  readonly script: string | null;
  readonly shell: ShellReading | null;
  /** The arguments are not what the tool takes, or too deep to be read whole. */
  readonly odd: string | null;
}

const shellKeys: readonly string[] = ["command", "cwd", "timeout_ms"];
/** Of keys as `wordsIn` writes them. */
const pathKey = /(?:^|_)(?:paths?|files?|filepath|dir|directory|folder|root|(?:file|path|dir|folder)_?name)$/;
const filePathKey = /^(?:from|to|source|destination|target|old|new)$/;
const hostKey = /(?:^|_)(?:url|urls|uri|href|host|hosts|hostname|endpoint)$/;
const remoteKey = /(?:^|_)remote$/;
/** What stands under these is text for a reader or for a file: a path or an address in it is not used as one. */
const textKey =
  /(?:^|_)(?:contents?|text|texts|message|body|string|str|title|subject|description|summary|reason|note|question|answer|prompt|instructions|code|command|query|regex)$/;
/** Of a commit: `git` takes it as the value of an option. */
const messageKey = /(?:^|_)(?:message|body|title|subject|description)$/;
/** Of the tools that edit files: what is looked for and what is put in its place. */
const editKey = /(?:^|_)(?:search|replace|replacement|find|before|after|insert|data|value|diff|patch|lines)$/;
/** Which lines are searched for: text too, where the tool looks for it inside of files. */
const patternKey = /(?:^|_)pattern$/;
/** Tools that reach no network by what their arguments say; a shell call's script is read for its hosts. */
const localTools: readonly string[] = [
  ...readingTools.filter((tool) => tool !== "web_search"),
  ...["file_write", "file_edit", "git_add", "git_commit", "task_assign", "agent_spawn", "agent_stop"],
  ...["shell_execute", "python_execute", "skill_execute"],
];
/** A path by its look: it leads from the root or the home, or goes up somewhere. */
const looksAway = /^[/~]\S*$|(?:^|[/\\])\.\.(?:[/\\]|$)/;
/** It may be such a path to a reader that trims, or takes blanks and addresses of files. */
const mayLookAway = /^\s*(?:[/~]|file:)/i;
const maxArgumentDepth = 8;

export function touchOf(call: ToolCall): CallTouch {
  const found: Found = { paths: [], urls: [], odd: [], deep: false };
  collect(call.args, "", call.tool, found, 0);
  const args = isRecord(call.args) ? call.args : null;
  const cwd = typeof args?.cwd === "string" ? args.cwd : ".";
  const script = call.tool === "shell_execute" && typeof args?.command === "string" ? args.command : null;
  const shell = script === null ? null : readShell(script);
  const hosts = [...found.urls.map(hostOf), ...(shell === null ? [] : shellHosts(shell))];
  return {
    tool: call.tool,
    writes: !readingTools.includes(call.tool),
    paths: found.paths,
    cwd,
    hosts,
    script,
    shell,
    odd: oddity(),
  };

  function oddity(): string | null {
    if (args === null) return "its arguments are not named";
    if (found.deep) return "its arguments are nested too deep to judge";
    if (found.odd[0] !== undefined) return found.odd[0];
    if (call.tool !== "shell_execute") return null;
    if (script === null) return "it has no command";
    const extra = Object.keys(args).find((key) => !shellKeys.includes(key));
    return extra === undefined ? null : `it has an argument "${extra.slice(0, 60)}" that a shell call does not take`;
  }
}

function isRecord(value: JsonValue): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface Found {
  readonly paths: string[];
  readonly urls: string[];
  /** Why a value cannot be taken for what its key says. */
  readonly odd: string[];
  deep: boolean;
}

/** Walks the arguments for paths and addresses; a list belongs to the key it stands under. */
function collect(value: JsonValue, key: string, tool: string, found: Found, depth: number): void {
  if (depth > maxArgumentDepth) found.deep = true;
  else if (typeof value === "string") takeText(value, wordsIn(key), tool, found);
  else if (Array.isArray(value)) for (const item of value) collect(item, key, tool, found, depth + 1);
  else if (isRecord(value))
    for (const [name, inner] of Object.entries(value)) {
      // `{"files": {"a/b.ts": "..."}}`: a name can be a path.
      if (looksAway.test(name) || (isPathKey(wordsIn(key), tool) && /[./]/.test(name))) found.paths.push(name);
      collect(inner, name, tool, found, depth + 1);
    }
}
function isPathKey(words: string, tool: string): boolean {
  return pathKey.test(words) || (tool.startsWith("file_") && filePathKey.test(words));
}
function takeText(value: string, words: string, tool: string, found: Found): void {
  if (tool.startsWith("git_") && value.startsWith("-") && !messageKey.test(words)) {
    found.odd.push(`"${value.slice(0, 60)}" would be read as an option`);
    // `--output=/x`, `-o/x`: where it would write, or read.
    const named = value.includes("=") ? value.slice(value.indexOf("=") + 1) : value.replace(/^-[a-zA-Z]?/, "");
    if (looksAway.test(named)) found.paths.push(named);
  }
  if (hostKey.test(words) || (remoteKey.test(words) && anyScheme.test(value))) found.urls.push(value);
  else if (isPathKey(words, tool)) {
    found.paths.push(value);
    // Granted by a pattern it would be published under a name that nobody can read.
    if (visibleLine(value) !== value) found.odd.push("a path holds a character nobody can see");
  } else if (!localTools.includes(tool) && isAddress(value)) found.urls.push(value.trim());
  else if (words === "cwd" || isText(words, tool)) return;
  else if (looksAway.test(value)) found.paths.push(value.replaceAll("\\", "/"));
  else if (mayLookAway.test(value)) found.odd.push(`"${value.trim().slice(0, 60)}" may be a path`);
}
function isText(words: string, tool: string): boolean {
  if (tool === "search_files" && patternKey.test(words)) return true;
  return textKey.test(words) || (tool.startsWith("file_") && editKey.test(words));
}
/** The whole text is one address; one in a sentence is not. */
function isAddress(text: string): boolean {
  return anyScheme.test(text.trim()) && !/\s/.test(text.trim());
}

/** `filePath`, `file-path` and `FILE_PATH` are the same words. */
function wordsIn(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();
}

function shellHosts(shell: ShellReading): string[] {
  return shell.commands.flatMap(({ runs, assignments }) => {
    const hosts = runs.flatMap(hostsOf);
    // What is set for a proxy is where it goes.
    return assignments.some((name) => /_proxy$/i.test(name)) && hosts.length > 0 ? [...hosts, ""] : hosts;
  });
}
