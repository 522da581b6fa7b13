/** Commands, scripts and the project's own skills, each in a process of its own. [TOOL-11] [TOOL-12] */
import { z } from "zod";
import { byteLength } from "../../domain/canonical.ts";
import { limits } from "../../limits.ts";
import { failed, tellRun } from "./results.ts";
import { commandTool, type Tool } from "./tool.ts";

const oneArgument = (text: string) => byteLength(text) <= limits.tool_command_bytes && !text.includes("\0");
const cwd = z
  .string()
  .min(1)
  .max(limits.path_chars)
  .regex(/^[^/~\0][^\0]*$/, { error: "is relative to the workspace" })
  .describe("Folder to run in, relative to the workspace")
  .exactOptional();
const timeout_ms = z
  .int()
  .min(1_000)
  .max(limits.step_timeout_ms)
  .describe(`When it is ended; ${limits.tool_timeout_ms} when left out`)
  .exactOptional();

/** `usual_ms`: how long a command may run that names no time. */
export function shellExecute(usual_ms: number): Tool {
  return commandTool(
    {
      name: "shell_execute",
      reads_only: false,
      description:
        "Runs a command with bash -euo pipefail in the workspace. There is no network and no input. Each call is a " +
        "process of its own: a cd, variables and background processes do not last. Plain commands that the plan grants " +
        "run at once; others wait for a person.",
      arguments: z.strictObject({
        command: z
          .string()
          .min(1)
          .refine(oneArgument, {
            error: `must be at most ${limits.tool_command_bytes} bytes without a NUL; write long texts with file_write`,
          }),
        cwd,
        timeout_ms,
      }),
    },
    {
      spec: ({ command, ...more }) => ({
        argv: ["bash", "-euo", "pipefail", "-c", command],
        timeout_ms: more.timeout_ms ?? usual_ms,
        ...(more.cwd === undefined ? {} : { cwd: more.cwd }),
      }),
      tell: (_, ran) => tellRun("The command", ran),
    },
  );
}

export const pythonScript =
  'command -v python3 > /dev/null 2>&1 || { echo "there is no python3"; exit 127; }; exec python3 -';

export const pythonExecute = commandTool(
  {
    name: "python_execute",
    reads_only: false,
    description:
      "Runs a Python script in the workspace, where the sandbox has python3. There is no network. Nothing of one script " +
      "is kept for the next but the files it wrote; print what you want to see.",
    arguments: z.strictObject({
      code: z
        .string()
        .min(1)
        .refine((text) => byteLength(text) <= limits.tool_command_bytes, {
          error: `must be at most ${limits.tool_command_bytes} bytes`,
        }),
      cwd,
      timeout_ms,
    }),
  },
  {
    spec: ({ code, ...more }) => ({
      argv: ["sh", "-c", pythonScript],
      stdin: code,
      timeout_ms: more.timeout_ms ?? limits.tool_timeout_ms,
      ...(more.cwd === undefined ? {} : { cwd: more.cwd }),
    }),
    tell(_, ran) {
      const { ended, output } = ran;
      if (ended.state === "exited" && ended.exit_code === 127 && output.trim() === "there is no python3")
        return failed("There is no python3 in this sandbox. Do it with shell_execute.");
      return tellRun("The script", ran);
    },
  },
);

const plainName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** The folder of a project's skills, in the checkout. */
const skillFolder = ".countersign/skills";
/** By the ending of its name; without one that is known the file is run as it is. */
const interpreters: readonly (readonly [ending: string, program: string])[] = [
  [".sh", "bash"],
  [".py", "python3"],
  [".js", "node"],
  [".mjs", "node"],
];

/** Of an order that names no skill there is no such tool. */
export function skillExecute(skills: readonly string[]): Tool | null {
  const named = skills.filter((name) => plainName.test(name));
  if (named.length === 0) return null;
  return commandTool(
    {
      name: "skill_execute",
      reads_only: false,
      description: `Runs a script that lies beside the SKILL.md of one of these skills: ${named.join(", ")}.`,
      arguments: z.strictObject({
        skill: z.enum(named),
        script: z.string().regex(plainName, { error: "is the name of a file in the skill's folder" }),
        args: z
          .array(z.string().max(limits.path_chars).refine(oneArgument, { error: "must not hold a NUL" }))
          .max(limits.tool_skill_arguments)
          .exactOptional(),
        timeout_ms,
      }),
    },
    {
      spec: ({ skill, script, args = [], timeout_ms: given }) => {
        const file = `./${skillFolder}/${skill}/${script}`;
        const program = interpreters.find(([ending]) => script.endsWith(ending))?.[1];
        const argv = [...(program === undefined ? [] : [program]), file, ...args];
        return { argv, timeout_ms: given ?? limits.tool_timeout_ms };
      },
      tell: ({ skill, script }, ran) => tellRun(`${script} of the skill ${skill}`, ran),
    },
  );
}
