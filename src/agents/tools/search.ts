/** Searching inside of files with `grep`, which every sandbox has. [TOOL-10] */
import { z } from "zod";
import { limits } from "../../limits.ts";
import { pathArgument } from "./files.ts";
import { failed, told } from "./results.ts";
import { commandTool } from "./tool.ts";

const leaves = 3;
/**
 * $1 pattern, $2 path, $3 lines, then options. The pattern and the path are arguments, never options. `grep -r` follows
 * no link it meets, but the one it is given: where that leads is looked at first.
 */
export const searchScript = `set -o pipefail
pattern=$1 path=$2 lines=$3; shift 3
root=$(pwd -P); root=\${root%/}
real=$(realpath -m -- "$path") || exit ${leaves}
case $real/ in "$root"/*) ;; *) exit ${leaves};; esac
grep -rHnIE --color=never --exclude-dir=.git --exclude-dir=node_modules "$@" -e "$pattern" -- "$path" | cut -b "1-${limits.tool_line_chars * 2}" | head -n "$lines"`;

export const searchFiles = commandTool(
  {
    name: "search_files",
    reads_only: true,
    description:
      "Searches the lines of text files for an extended regular expression (as grep -E: no lookahead, \\b and \\w are " +
      `known). Answers path:line:text, at most ${limits.tool_matches} lines. Leaves out .git and node_modules.`,
    arguments: z.strictObject({
      pattern: z
        .string()
        .min(1)
        .max(1_000)
        .regex(/^[^\0\n]*$/, { error: "must be one line" }),
      path: pathArgument.describe("File or folder to search; the whole workspace when left out").exactOptional(),
      include: z
        .string()
        .max(200)
        .regex(/^[^\0/~]*$/, { error: "is a pattern of file names, such as *.ts, without a folder" })
        .describe("Only files of such a name, for example *.ts")
        .exactOptional(),
      ignore_case: z.boolean().exactOptional(),
    }),
  },
  {
    spec({ pattern, path = ".", include, ignore_case }) {
      const options = [
        ...(ignore_case === true ? ["-i"] : []),
        ...(include === undefined ? [] : [`--include=${include}`]),
      ];
      const lines = String(limits.tool_matches + 1);
      const argv = ["bash", "-c", searchScript, "bash", pattern, path, lines, ...options];
      return { argv, timeout_ms: limits.tool_timeout_ms };
    },
    tell({ pattern, path = "." }, { ended, output }) {
      if (ended.state !== "exited")
        return failed(`The search did not end: search in fewer files, with path or include.`);
      if (ended.exit_code === leaves) return failed(`${path} leaves the workspace.`);
      const lines = output.split("\n").filter((line) => line !== "");
      // 1: nothing found. 141: `head` had enough.
      if (ended.exit_code === 1 && lines.length === 0)
        return told(`Nothing in ${path} matches ${pattern}. Try another word, a folder above, or ignore_case.`);
      if (![0, 1, 141].includes(ended.exit_code) && lines.every((line) => line.startsWith("grep: ")))
        return failed(`grep said: ${lines.slice(0, 3).join("; ") || "nothing"}`);
      const shown = lines.slice(0, limits.tool_matches).map((line) => line.replace(/^\.\//, ""));
      const more =
        lines.length > shown.length ? ["[... more lines match: narrow the pattern, path or include ...]"] : [];
      return told([...shown, ...more].join("\n"));
    },
  },
);
