/** Looks at the repository itself, from outside the service: what was promised must be there. [DEMO-2] */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { safeGitEnv } from "./git.ts";

const TESTS_WITHIN_MS = 30_000;

function git(folder: string, ...args: readonly string[]): string {
  return execFileSync("git", ["-C", folder, ...args], {
    env: safeGitEnv(),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}

/** Null when there is no such branch. */
export function commitOf(repository: string, branch: string): string | null {
  try {
    return git(repository, "rev-parse", "--verify", "--quiet", `refs/heads/${branch}`);
  } catch {
    return null;
  }
}

export interface Promised {
  readonly sample: string;
  readonly branch: string;
  readonly commit: string | null;
  /** Commit of the default branch before anything ran. */
  readonly before: string | null;
}

/** Null when all is as promised, else the first thing that is not, in a sentence. */
export function branchProblem({ sample, branch, commit, before }: Promised): string | null {
  const tip = commitOf(sample, branch);
  if (tip === null) return `the branch ${branch} is not in ${sample}`;
  if (commit !== null && tip !== commit) return `the branch ${branch} is at ${tip}, the service says ${commit}`;
  if (before === null || commitOf(sample, "main") !== before) return "the default branch main was moved";
  if (git(sample, "status", "--porcelain") !== "") return `the work tree of ${sample} was changed`;
  return testsProblem(sample, branch);
}

function testsProblem(sample: string, branch: string): string | null {
  const clone = mkdtempSync(join(tmpdir(), "countersign-check-"));
  try {
    git(sample, "clone", "--quiet", "--no-local", "--single-branch", "--branch", branch, sample, clone);
    const run = spawnSync("npm", ["test"], { cwd: clone, encoding: "utf8", timeout: TESTS_WITHIN_MS });
    return run.status === 0
      ? null
      : `the tests of ${branch} do not pass:\n${`${run.stdout}${run.stderr}`.slice(-2_000)}`;
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
}
