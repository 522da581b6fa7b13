/**
 * Git as the host runs it: with this configuration and no other, never with one an agent could write. Work on
 * an agent's files runs in a bubble besides, so that even a fault of git ends there.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Given, withoutSecrets } from "./credential.ts";
import { HostFailure } from "./failure.ts";
import type { Host } from "./host.ts";
import { type Answer, collect, type RunOptions, runInside } from "./inside.ts";
import type { Sandbox } from "./sandbox.ts";
import { hostEnv } from "./spawn.ts";

// Hooks, monitors, filters, helpers and redirects off; of protocols only what sources.ts lets through.
const configuration = `[core]
	hooksPath = /dev/null
	fsmonitor = false
	attributesFile = /dev/null
	excludesFile = /dev/null
	autocrlf = false
	symlinks = true
	fileMode = true
	quotePath = false
	looseCompression = 1
[pack]
	compression = 1
	threads = 1
[diff]
	external =
	renames = false
[submodule]
	recurse = false
[fetch]
	recurseSubmodules = no
	writeCommitGraph = false
[push]
	recurseSubmodules = no
[credential]
	helper =
[safe]
	directory = *
[gc]
	auto = 0
[maintenance]
	auto = false
[http]
	followRedirects = false
[protocol]
	allow = never
	version = 2
[protocol "file"]
	allow = always
[protocol "https"]
	allow = always
[advice]
	detachedHead = false
[init]
	defaultBranch = main
`;
/** Stands above every .gitattributes: bytes are what they are, on the way in, out, in diffs and in merges. */
export const attributes = "* -text !eol !ident !filter !working-tree-encoding !diff !merge !whitespace\n";

const plainEnv = {
  HOME: "/nonexistent",
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "/bin/false",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_OPTIONAL_LOCKS: "0",
};
// What git writes for a sandbox is made again when it is lost: waiting for the disk would be most of the time it takes.
const noFsync = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.fsync", GIT_CONFIG_VALUE_0: "none" };
const passedOn = [
  "HTTPS_PROXY",
  "https_proxy",
  "NO_PROXY",
  "no_proxy",
  "GIT_SSL_CAINFO",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
];
const person = { NAME: "Countersign", EMAIL: "countersign@localhost" };

export function writeGitConfig(host: Host): void {
  writeFileSync(configPath(host), configuration);
}
function configPath(host: Host): string {
  return join(host.config.root, "etc", "host-gitconfig");
}

export interface GitOptions extends RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Of a run on a source: what it is given there. */
  readonly given?: Given;
}

// Git and all it starts, in a space of processes that ends with the host or with git: nothing in it holds a credential
// or a lock any longer than that. It sees the files that the host sees.
const together = ["--die-with-parent", "--unshare-pid", "--dev-bind", "/", "/", "--proc", "/proc", "--", "git"];

/** Outside any sandbox's bubble: only for the host's own bare repositories and the registered sources. */
export async function hostGit(
  host: Host,
  folder: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<Answer> {
  const env: Record<string, string> = { ...hostEnv, ...plainEnv, GIT_CONFIG_GLOBAL: configPath(host), ...options.env };
  for (const name of passedOn) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  const { given } = options;
  const [program, words] = given === undefined ? ["git", args] : ["bwrap", [...together, ...args]];
  const child = spawn(program, [...words], { cwd: folder, env: { ...env, ...given?.env }, stdio: "pipe" });
  const answer = await collect(child, options);
  return { ...answer, stderr: withoutSecrets(answer.stderr, given?.secrets ?? []) };
}

export interface WorkOptions extends GitOptions {
  /** Whether the workspace can be seen, and written to. */
  readonly workspace?: "none" | "read" | "write";
  /** A folder of the host that holds what git shall read, seen as /input. */
  readonly input?: string;
  /** The mirror, until the sandbox's record names it. */
  readonly mirror?: string;
}

/** In a bubble that holds the sandbox's git directory as /git, its mirror read-only as /mirror, and the workspace if asked for. */
export function workGit(
  host: Host,
  sandbox: Sandbox,
  args: readonly string[],
  options: WorkOptions = {},
): Promise<Answer> {
  return inGitBubble(host, sandbox, ["git", ...args], options);
}

/** Several commands in one bubble, because making a bubble costs more than most of them. Arguments are "$1" and on. */
export function workScript(
  host: Host,
  sandbox: Sandbox,
  script: string,
  args: readonly string[],
  options: WorkOptions = {},
): Promise<Answer> {
  return inGitBubble(host, sandbox, ["/bin/sh", "-euc", script, "sh", ...args], options);
}

function inGitBubble(
  host: Host,
  sandbox: Sandbox,
  argv: readonly string[],
  options: WorkOptions = {},
): Promise<Answer> {
  const mirror = options.mirror ?? sandbox.record.checkout?.mirror;
  const binds = [
    { source: sandbox.git, dest: "/git", writable: true },
    { source: configPath(host), dest: "/etc/host-gitconfig", writable: false },
  ];
  if (mirror !== undefined) binds.push({ source: mirror, dest: "/mirror", writable: false });
  if (options.input !== undefined) binds.push({ source: options.input, dest: "/input", writable: false });
  const { workspace = "none" } = options;
  if (workspace !== "none") binds.push({ source: sandbox.work, dest: "/workspace", writable: workspace === "write" });
  const bubble = host.helperBubble(sandbox, {
    argv,
    cwd: workspace === "none" ? "/git" : "/workspace",
    env: { ...plainEnv, ...noFsync, GIT_CONFIG_GLOBAL: "/etc/host-gitconfig", GIT_DIR: "/git", ...options.env },
    binds,
  });
  return runInside(host.scratch, sandbox, bubble, options);
}

/** The output of a command that has no reason to fail. */
export async function must(answer: Promise<Answer>, what: string): Promise<Buffer> {
  const { code, stdout, stderr, overflow } = await answer;
  if (overflow) throw new HostFailure("patch_too_large", `${what}: the result is too large`);
  if (code !== 0) throw new HostFailure("internal", `${what}: git said: ${lastLines(stderr)}`);
  return stdout;
}

export function lastLines(text: string): string {
  return text.trim().split("\n").slice(-4).join(" / ").slice(0, 600) || "nothing";
}

/** Author, committer and time of a commit that must be the same whenever it is made. */
export function signature(at_s: number): Record<string, string> {
  const date = `@${at_s} +0000`;
  return {
    GIT_AUTHOR_NAME: person.NAME,
    GIT_AUTHOR_EMAIL: person.EMAIL,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: person.NAME,
    GIT_COMMITTER_EMAIL: person.EMAIL,
    GIT_COMMITTER_DATE: date,
  };
}
