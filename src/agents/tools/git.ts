/**
 * Git in the sandbox's own clone. What is added or committed there stays there: the change that is verified and
 * published is taken from the files by the runtime. Nothing that a repository configures is run. [TOOL-14]
 */
import { z } from "zod";
import { limits } from "../../limits.ts";
import type { ExecSpec } from "../ports.ts";
import { pathArgument } from "./files.ts";
import { failed, tellRun, told } from "./results.ts";
import { commandTool, type Ran, type Told } from "./tool.ts";

/** No hooks, no watcher, no pager, no signing, no other git directory; a path is a path and no pattern. */
const settings = [
  ...["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false"],
  ...["-c", "core.quotePath=false", "-c", "color.ui=false", "-c", "submodule.recurse=false"],
];
const env = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_LITERAL_PATHSPECS: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_AUTHOR_NAME: "agent",
  GIT_AUTHOR_EMAIL: "agent@sandbox.invalid",
  GIT_COMMITTER_NAME: "agent",
  GIT_COMMITTER_EMAIL: "agent@sandbox.invalid",
};
function git(words: readonly string[], more: Partial<ExecSpec> = {}): ExecSpec {
  return { argv: ["git", "--no-pager", ...settings, ...words], env, timeout_ms: limits.tool_timeout_ms, ...more };
}

function tellGit(ran: Ran, nothing: string): Told {
  const { ended, output } = ran;
  if (ended.state === "exited" && ended.exit_code === 0) return told(output.trim() === "" ? nothing : output);
  if (/not a git repository|cannot change to|invalid gitfile/i.test(output))
    return failed(
      "There is no git repository in this workspace any more. Go on with the files: the change is taken from them.",
    );
  if (/dubious ownership/i.test(output)) return failed("Git does not trust this workspace. Go on without it.");
  return tellRun("git", ran);
}

const commit = z
  .string()
  .regex(/^[0-9A-Za-z][0-9A-Za-z._/~^-]{0,99}$/, { error: "is one commit, such as HEAD~1 or its hash" });

export const gitStatus = commandTool(
  {
    name: "git_status",
    reads_only: true,
    description: "Shows which files of the workspace differ from the last commit, the new ones (??) included.",
    arguments: z.strictObject({}),
  },
  {
    spec: () => git(["status", "--porcelain=v1", "--branch", "--untracked-files=normal", "--ignore-submodules=all"]),
    tell: (_, ran) => tellGit(ran, "Nothing differs."),
  },
);

export const gitDiff = commandTool(
  {
    name: "git_diff",
    reads_only: true,
    description:
      "Shows what was changed in the workspace since the last commit, or since the commit you name. New files that " +
      "git_add never named are not in it: git_status names them.",
    arguments: z.strictObject({
      path: pathArgument.describe("One file or folder").exactOptional(),
      commit: commit.describe("Compare with this commit instead of the last").exactOptional(),
      staged: z.boolean().describe("Only what was added").exactOptional(),
    }),
  },
  {
    spec: ({ path, commit: from = "HEAD", staged }) =>
      git([
        ...["diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"],
        ...(staged === true ? ["--cached"] : []),
        ...[from, "--", ...(path === undefined ? [] : [path])],
      ]),
    tell: (_, ran) => tellGit(ran, "Nothing differs. New files are only named by git_status."),
  },
);

export const gitLog = commandTool(
  {
    name: "git_log",
    reads_only: true,
    description: "Lists commits, newest first: hash, day, author, subject.",
    arguments: z.strictObject({
      path: pathArgument.describe("Only commits that changed it").exactOptional(),
      commit: commit.describe("The newest to list; HEAD when left out").exactOptional(),
      max_count: z.int().min(1).max(limits.tool_log_entries).describe("20 when left out").exactOptional(),
    }),
  },
  {
    spec: ({ path, commit: from = "HEAD", max_count = 20 }) =>
      git([
        ...["log", "--no-show-signature", "--date=short", "--format=%h %ad %an: %s", `--max-count=${max_count}`],
        ...[from, "--", ...(path === undefined ? [] : [path])],
      ]),
    tell: (_, ran) => tellGit(ran, "No commit changed it."),
  },
);

const mostBlamed = 200;
export const gitBlame = commandTool(
  {
    name: "git_blame",
    reads_only: true,
    description: `Shows which commit each line of a file is from, at most ${mostBlamed} lines from start_line on.`,
    arguments: z.strictObject({
      path: pathArgument,
      start_line: z.int().min(1).max(10_000_000).describe("1 when left out").exactOptional(),
    }),
  },
  {
    spec: ({ path, start_line = 1 }) =>
      git(["blame", "--date=short", "--no-textconv", "-L", `${start_line},+${mostBlamed}`, "--", path]),
    tell: (_, ran) => tellGit(ran, "The file is empty."),
  },
);

const clone = "This changes only the clone in your sandbox: the change that is published is taken from the files.";
export const gitAdd = commandTool(
  {
    name: "git_add",
    reads_only: false,
    description: `Adds files to the next commit of the sandbox's clone. ${clone}`,
    arguments: z.strictObject({ paths: z.array(pathArgument).min(1).max(limits.call_paths) }),
  },
  {
    spec: ({ paths }) => git(["add", "--", ...paths]),
    tell: ({ paths }, ran) =>
      tellGit(ran, `Added ${paths.slice(0, 10).join(", ")}${paths.length > 10 ? ", ..." : ""}.`),
  },
);

export const gitCommit = commandTool(
  {
    name: "git_commit",
    reads_only: false,
    description: `Commits in the sandbox's clone what git_add named. ${clone} There is no need to commit.`,
    arguments: z.strictObject({
      message: z
        .string()
        .min(1)
        .max(10_000)
        .regex(/^[^\0]*\S[^\0]*$/, { error: "must say something" }),
    }),
  },
  {
    spec: ({ message }) => git(["commit", "--no-verify", "--quiet", "--file=-"], { stdin: message }),
    tell(_, ran) {
      if (/nothing (?:added )?to commit|no changes added/i.test(ran.output))
        return failed("There is nothing to commit: name the files with git_add first.");
      return tellGit(ran, "Committed in the sandbox's clone.");
    },
  },
);
