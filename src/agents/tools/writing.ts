/**
 * Writing files of the workspace. The content is settled before anything runs and goes to one command by its input; the
 * path is an argument of it and never part of its text. [TOOL-7] [TOOL-8]
 */
import { z } from "zod";
import { limits } from "../../limits.ts";
import type { ExecSpec } from "../ports.ts";
import { edited } from "./edit.ts";
import { pathArgument, textOf } from "./files.ts";
import { failed, told, whyTooLarge } from "./results.ts";
import { commandTool, preparedTool, type Ran, type Told } from "./tool.ts";

/** Links are followed to their end first: what lies outside, or is git's, is not written by any spelling. */
export const writeScript = `root=$(pwd -P)
p=$(realpath -m -- "$1") || { echo "the path cannot be read"; exit 3; }
case $p in "$root"/*) ;; *) echo "it leads out of the workspace"; exit 3;; esac
case $p/ in */.[gG][iI][tT]/*) echo "it is inside a git directory"; exit 3;; esac
[ ! -d "$p" ] || { echo "it is a folder"; exit 3; }
[ ! -e "$p" ] || [ -f "$p" ] || { echo "it is no plain file"; exit 3; }
if [ -e "$p" ]; then how=replaced; else how=created; fi
mkdir -p -- "$(dirname -- "$p")" && cat > "$p" && echo "$how"`;

function writeSpec(path: string, content: string): ExecSpec {
  return { argv: ["sh", "-c", writeScript, "sh", path], timeout_ms: limits.tool_timeout_ms, stdin: content };
}
function tellWrite(path: string, ran: Ran, done: (how: string) => string): Told {
  const said = ran.output.trim();
  if (ran.ended.state === "exited" && ran.ended.exit_code === 0) return told(done(said));
  const why =
    ran.ended.state === "exited" ? said : ran.ended.state === "never_started" ? ran.ended.reason : "it took too long";
  return failed(`${path} was not written as a whole: ${why || "no reason given"}. Read it before you try again.`);
}

const textArgument = z.string().refine((text) => whyTooLarge(text) === null, {
  error: ({ input }) => (typeof input === "string" ? (whyTooLarge(input) ?? "") : "must be a text"),
});

export const fileWrite = commandTool(
  {
    name: "file_write",
    reads_only: false,
    description:
      "Writes a whole file of the workspace, and makes the folders it needs. What the file held is gone: " +
      "to change a part of it, use file_edit.",
    arguments: z.strictObject({ path: pathArgument, content: textArgument.describe("All the file will hold") }),
  },
  {
    spec: ({ path, content }) => writeSpec(path, content),
    tell: ({ path, content }, ran) =>
      tellWrite(path, ran, (how) => `${how === "created" ? "Created" : "Replaced"} ${path}: ${countLines(content)}.`),
  },
);

export const fileEdit = preparedTool(
  {
    name: "file_edit",
    reads_only: false,
    description:
      "Replaces a text in a file by another. old_text has to stand in the file exactly once, to the letter: give it " +
      "enough of the lines around it, without line numbers. With replace_all every place is replaced.",
    arguments: z.strictObject({
      path: pathArgument,
      old_text: z.string().min(1, { error: "must not be empty; file_write makes a new file" }),
      new_text: z.string(),
      replace_all: z.boolean().exactOptional(),
    }),
  },
  {
    async prepare({ path, old_text, new_text, replace_all = false }, hands) {
      if (old_text === new_text) return failed("old_text and new_text are the same: nothing was changed.");
      const file = await textOf(path, hands);
      if ("is_error" in file) return file;
      const made = edited(file.content, { old_text, new_text, replace_all });
      if (!made.ok) return failed(`${path} was not changed. ${made.why}`);
      const large = whyTooLarge(made.content);
      return large === null ? { spec: writeSpec(path, made.content) } : failed(`${path} was not changed. ${large}`);
    },
    tell: ({ path, new_text, replace_all }, ran) =>
      tellWrite(path, ran, () => {
        const where = replace_all === true ? "all places" : "one place";
        return `Edited ${path} in ${where}; there are now ${countLines(new_text)} there.`;
      }),
  },
);

function countLines(text: string): string {
  const count = text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
  return `${count} line${count === 1 ? "" : "s"}`;
}
