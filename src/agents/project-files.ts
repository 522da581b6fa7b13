/**
 * What a repository says to whoever works in it: AGENTS.md, CLAUDE.md, and the skills below `.countersign/skills`, read
 * from the sandbox. Bounded; a file that is not there, or not as it should be, is passed over. [CTX-*]
 */
import type { Piece } from "../domain/context.ts";
import { joinTaint, type Taint } from "../domain/message.ts";
import { parseSkill, type Skill, skillName } from "../domain/skill.ts";
import { limits } from "../limits.ts";
import { type Sandboxes, SandboxFailure } from "./ports.ts";

export const rulesFiles: readonly string[] = ["AGENTS.md", "CLAUDE.md"];
const skillsFolder = ".countersign/skills";
const skillFile = "SKILL.md";

type Files = Pick<Sandboxes, "read" | "list">;

/**
 * `skills`: those the item names, which are given whole; of the others the name and the description. `taint`: how far
 * what lies in the workspace is trusted; members wrote it at best. Throws SandboxFailure when the sandbox does not answer.
 */
export async function readProject(
  files: Files,
  sandbox: string,
  asked: { readonly skills: readonly string[]; readonly taint: Taint },
): Promise<Piece[]> {
  const taint = joinTaint("member", asked.taint);
  const pieces: Piece[] = [];
  for (const path of rulesFiles) {
    const text = await textOf(files, sandbox, path, limits.project_rules_bytes);
    if (text !== null) pieces.push({ kind: "rules", title: path, text, taint, source: path });
  }
  const skills = await skillsOf(files, sandbox, asked.skills);
  for (const name of asked.skills) {
    const text = skills.find((skill) => skill.name === name)?.text;
    const source = `${skillsFolder}/${name}/${skillFile}`;
    if (text !== undefined) pieces.push({ kind: "skill", title: name, text, taint, source });
    // The plan counts on it: who works without it should know.
    else pieces.push({ kind: "skill", title: name, text: `${source} is not there, or is no skill.`, taint, source });
  }
  const others = skills.filter(({ name }) => !asked.skills.includes(name));
  if (others.length > 0)
    pieces.push({
      kind: "skill",
      title: "others of this repository",
      text: others.map(({ name, description }) => `- ${name}: ${description}`).join("\n"),
      taint,
      source: skillsFolder,
    });
  return pieces;
}

/** Those that are asked for before all others: of too many the rest is not read. */
async function skillsOf(files: Files, sandbox: string, wanted: readonly string[]): Promise<Skill[]> {
  const folders = (await unlessMissing(() => files.list(sandbox, skillsFolder))) ?? [];
  const names = folders
    .filter(({ kind, name }) => kind === "directory" && skillName.test(name))
    .map(({ name }) => name);
  const first = names.filter((name) => wanted.includes(name));
  const rest = names.filter((name) => !wanted.includes(name)).sort();
  const skills: Skill[] = [];
  for (const name of [...first, ...rest].slice(0, limits.project_skills)) {
    const text = await textOf(files, sandbox, `${skillsFolder}/${name}/${skillFile}`, limits.skill_bytes);
    const read = text === null ? null : parseSkill(name, text);
    if (read?.ok === true) skills.push(read.skill);
  }
  return skills;
}

/** Null when there is none. A longer file ends, and says so, at the last line that fits. */
async function textOf(files: Files, sandbox: string, path: string, max_bytes: number): Promise<string | null> {
  const bytes = await unlessMissing(() => files.read(sandbox, path));
  if (bytes === null) return null;
  const text = new TextDecoder().decode(bytes.subarray(0, max_bytes));
  if (bytes.length <= max_bytes) return text;
  const end = text.lastIndexOf("\n");
  return `${text.slice(0, end > 0 ? end : text.length)}\n[cut: the file has ${bytes.length} bytes, read it for the rest]`;
}

/** A sandbox says `bad_request` of a path that is not there, is no file, or is too large to be read. */
async function unlessMissing<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof SandboxFailure && error.code === "bad_request") return null;
    throw error;
  }
}
