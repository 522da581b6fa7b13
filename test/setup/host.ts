/**
 * Starts the real sandbox host for tests, as the product does: its own process group, a free port, a secret of 256
 * bits. As a globalSetup it gives its address and a sample repository to every test; tests may also start their own.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    hostUrl: string;
    hostSecret: string;
    /** Path of the sample repository: `main` and `other` as the contract of sandboxes wants them. */
    hostRepo: string;
    hostRepoMain: string;
    hostRepoOther: string;
  }
}

const project = join(import.meta.dirname, "../..");

export interface RunningHost {
  readonly url: string;
  readonly secret: string;
  readonly pid: number;
  /** How it ended, and what it said last; null while it runs. */
  ended(): string | null;
  /** Ends it and everything in its process group, at once. */
  kill(): Promise<void>;
}
/** A place of its own for one host: `state` is its root, `repos` where sources may live. */
export interface HostFolder {
  readonly state: string;
  readonly repos: string;
  remove(): void;
}

export function hostFolder(): HostFolder {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "countersign-host-")));
  const repos = join(folder, "repos");
  mkdirSync(repos);
  return { state: join(folder, "state"), repos, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** `hear` is told all it says after its first line; without it, that is shown. */
export async function startHost(
  folder: HostFolder,
  more: NodeJS.ProcessEnv = {},
  hear?: (said: string) => void,
): Promise<RunningHost> {
  const secret = randomBytes(32).toString("hex");
  const own = { SANDBOX_PORT: "0", SANDBOX_SECRET: secret, SANDBOX_ROOT: folder.state, REPO_ROOTS: folder.repos };
  const node = join(project, "node_modules/node/bin/node");
  const child = spawn(node, [join(project, "src/host/main.ts")], {
    detached: true,
    // A pipe as its input: it ends when this process does, however that happens.
    stdio: ["pipe", "pipe", hear === undefined ? "inherit" : "pipe"],
    env: { ...process.env, ...own, ...more },
  });
  let said = "";
  child.stderr?.on("data", (bytes: Buffer) => {
    said = `${said}${bytes.toString()}`.slice(-2_000);
    hear?.(bytes.toString());
  });
  const port = await firstLine(child, () => said);
  if (hear !== undefined) child.stdout?.on("data", (bytes: Buffer) => hear(bytes.toString()));
  const ended = () =>
    child.exitCode === null && child.signalCode === null
      ? null
      : `the sandbox host ended with ${child.exitCode ?? child.signalCode}: ${said}`;
  return { url: `http://127.0.0.1:${port}`, secret, pid: child.pid ?? 0, ended, kill: () => end(child) };
}

function firstLine(child: ChildProcess, said: () => string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the sandbox host ended with ${code}: ${said()}`)));
    child.stdout?.once("data", (line: Buffer) => {
      const ready: { port: number } = JSON.parse(line.toString());
      resolve(ready.port);
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  process.kill(-(child.pid ?? 0), "SIGKILL");
  await gone;
}

/** Runs git for a test's own repositories, the same on every machine. */
export function git(folder: string, ...args: string[]): string {
  const person = { GIT_AUTHOR_NAME: "t", GIT_AUTHOR_EMAIL: "t@t", GIT_COMMITTER_NAME: "t", GIT_COMMITTER_EMAIL: "t@t" };
  const env = { PATH: process.env.PATH, ...person, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  return execFileSync("git", args, { cwd: folder, env, encoding: "utf8" }).trim();
}

/** A repository whose first commit holds these files, with branch `main` checked out. */
export function makeRepo(path: string, files: Readonly<Record<string, string>>): string {
  mkdirSync(path, { recursive: true });
  git(path, "init", "--quiet", "--initial-branch=main");
  return commitFiles(path, files);
}

export function commitFiles(path: string, files: Readonly<Record<string, string>>): string {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  git(path, "add", "--all");
  git(path, "commit", "--quiet", "--message", "files");
  return git(path, "rev-parse", "HEAD");
}

export function makeSample(path: string): { main: string; other: string } {
  const main = makeRepo(path, { "a.txt": "one\ntwo\nthree\n", "dir/b.txt": "b\n", ".gitignore": "ignored/\n" });
  git(path, "checkout", "--quiet", "-b", "other");
  const other = commitFiles(path, { "a.txt": "ONE\ntwo\nthree\n" });
  git(path, "checkout", "--quiet", "main");
  return { main, other };
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = hostFolder();
  const repo = join(folder.repos, "sample");
  const { main, other } = makeSample(repo);
  const host = await startHost(folder);
  project.provide("hostUrl", host.url);
  project.provide("hostSecret", host.secret);
  project.provide("hostRepo", repo);
  project.provide("hostRepoMain", main);
  project.provide("hostRepoOther", other);
  return async () => {
    await host.kill();
    folder.remove();
  };
}
