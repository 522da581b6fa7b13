/** Looking at files of the workspace: by the line, and by the folder. What cannot be shown is said, with what to do. [TOOL-6] [TOOL-9] */
import { z } from "zod";
import { limits } from "../../limits.ts";
import { SandboxFailure } from "../ports.ts";
import { failed, told } from "./results.ts";
import { type Hands, lookTool, type Told } from "./tool.ts";

/** A NUL stands in no path. Where a path leads is the policy's to judge, and the sandbox's to confine. */
export const pathArgument = z
  .string()
  .min(1)
  .max(limits.path_chars)
  .regex(/^[^\0]*$/, { error: "must not hold a NUL" })
  .describe("Relative to the workspace, for example src/main.ts");

export const fileRead = lookTool(
  {
    name: "file_read",
    reads_only: true,
    description:
      "Reads a text file of the workspace. Each line comes with its number and a tab, which are not part of the file. " +
      `Shows at most ${limits.tool_read_lines} lines at once: for more, call it again with start_line.`,
    arguments: z.strictObject({
      path: pathArgument,
      start_line: z.int().min(1).max(10_000_000).describe("First line to show; 1 when left out").exactOptional(),
      max_lines: z.int().min(1).max(limits.tool_read_lines).describe("Lines to show at most").exactOptional(),
    }),
  },
  async ({ path, start_line = 1, max_lines = limits.tool_read_lines }, hands) => {
    const file = await textOf(path, hands);
    return "is_error" in file ? file : showLines(path, file.content, start_line, max_lines);
  },
);

export const listDirectory = lookTool(
  {
    name: "list_directory",
    reads_only: true,
    description:
      "Lists one folder of the workspace: folders first, with a / at their end, then files with their size in bytes. " +
      `Shows at most ${limits.tool_entries} entries.`,
    arguments: z.strictObject({ path: pathArgument.describe('The folder; "." is the workspace') }),
  },
  async ({ path }, hands) => {
    const found = await looked(() => hands.list(path));
    if (!found.ok) return failed(`${found.why}. ${await nearby(path, hands)}`.trim());
    const entries = [...found.value].sort((a, b) => rank(a.kind) - rank(b.kind) || (a.name < b.name ? -1 : 1));
    if (entries.length === 0) return told(`${path} is an empty folder.`);
    const lines = entries.slice(0, limits.tool_entries).map(({ name, kind, size }) => {
      const shown = plainName(name);
      return kind === "directory" ? `${shown}/` : kind === "file" ? `${shown} (${size})` : `${shown} (no plain file)`;
    });
    const more = entries.length - lines.length;
    if (more > 0) lines.push(`[... ${more} entries more: list a folder below it, or use search_files ...]`);
    return told(lines.join("\n"));
  },
);

function rank(kind: "file" | "directory" | "other"): number {
  return kind === "directory" ? 0 : 1;
}
/** A name may hold a line's end, and then look like two. */
export function plainName(name: string): string {
  return /\p{Cc}/u.test(name) ? JSON.stringify(name) : name;
}

function showLines(path: string, content: string, start_line: number, max_lines: number): Told {
  if (content === "") return told(`${path} is empty.`);
  const lines = content.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (start_line > lines.length)
    return failed(`${path} has only ${lines.length} lines; start_line ${start_line} is behind its end.`);
  const shown: string[] = [];
  let chars = 0;
  for (const line of lines.slice(start_line - 1, start_line - 1 + max_lines)) {
    const text = `${start_line + shown.length}\t${cutLine(line)}`;
    if (shown.length > 0 && chars + text.length > limits.tool_read_chars) break;
    shown.push(text);
    chars += text.length + 1;
  }
  const last = start_line + shown.length - 1;
  const more =
    last < lines.length ? [`[... ${lines.length - last} lines more: start_line ${last + 1} goes on ...]`] : [];
  return told([`${path}, lines ${start_line} to ${last} of ${lines.length}:`, ...shown, ...more].join("\n"));
}
function cutLine(line: string): string {
  const text = line.replace(/\r$/, "").toWellFormed();
  if (text.length <= limits.tool_line_chars) return text;
  const left = text.length - limits.tool_line_chars;
  return `${text.slice(0, limits.tool_line_chars).toWellFormed()} [... ${left} characters more in this line ...]`;
}

/** The file as text, to the byte: what is not UTF-8 is no text. */
export async function textOf(path: string, hands: Hands): Promise<{ readonly content: string } | Told> {
  const found = await looked(() => hands.read(path));
  if (!found.ok) return failed(`${found.why}. ${await nearby(path, hands)}`.trim());
  const bytes = found.value;
  try {
    const content = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!content.includes("\0")) return { content };
  } catch {
    // Told below.
  }
  return failed(`${path} is a binary file of ${bytes.byteLength} bytes, and cannot be shown or edited as text.`);
}

type Looked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };
/** What the sandbox refuses is the call's answer; a sandbox that is not there is nobody's. */
async function looked<T>(look: () => Promise<T>): Promise<Looked<T>> {
  try {
    return { ok: true, value: await look() };
  } catch (error) {
    if (!(error instanceof SandboxFailure) || error.code !== "bad_request") throw error;
    return { ok: false, why: error.message };
  }
}

/** What stands in the folder of a path that leads nowhere. */
async function nearby(path: string, hands: Hands): Promise<string> {
  const slash = path.replace(/\/+$/, "").lastIndexOf("/");
  const folder = slash > 0 ? path.slice(0, slash) : ".";
  const found = await looked(() => hands.list(folder));
  if (!found.ok) return `There is no folder ${folder} either: see list_directory of ".".`;
  const names = found.value.map(({ name, kind }) => `${plainName(name)}${kind === "directory" ? "/" : ""}`);
  const more = names.length > 30 ? ", ..." : "";
  return names.length === 0 ? `${folder} is empty.` : `In ${folder} there are: ${names.slice(0, 30).join(", ")}${more}`;
}
