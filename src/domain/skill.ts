/**
 * A skill: how a kind of work is done, as a markdown file with a name and a description in its front matter. Read from
 * a repository it is somebody's text and no more. [CTX-*]
 */
import { z } from "zod";
import { limits } from "../limits.ts";
import { readFrontMatter } from "./plan-yaml.ts";
import { visibleLine } from "./visible.ts";

export interface Skill {
  readonly name: string;
  /** One line: when it is of use. */
  readonly description: string;
  readonly text: string;
}
export type SkillRead = { readonly ok: true; readonly skill: Skill } | { readonly ok: false; readonly why: string };

/** As a plan names it, and a folder is called. */
export const skillName = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** Other keys are others' business. */
const head = z.looseObject({ name: z.string(), description: z.string().trim().min(1) });

/** `folder` is where it was found: the name it goes by, whatever it calls itself. */
export function parseSkill(folder: string, markdown: string): SkillRead {
  const lines = markdown
    .replace(/^\ufeff/, "")
    .replaceAll("\r\n", "\n")
    .split("\n");
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---");
  if (lines[0]?.trimEnd() !== "---" || end < 0)
    return { ok: false, why: "it does not begin with front matter between two lines ---" };
  const front = readFrontMatter(lines.slice(1, end).join("\n"), 2);
  const problem = front.problems[0];
  if (problem !== undefined) return { ok: false, why: `line ${problem.line}: ${problem.message}` };
  const read = head.safeParse(front.value);
  if (!read.success) return { ok: false, why: "its front matter lacks a name or a description" };
  if (read.data.name !== folder) return { ok: false, why: "its name is not that of its folder" };
  const text = lines
    .slice(end + 1)
    .join("\n")
    .trim();
  if (text === "") return { ok: false, why: "it says nothing" };
  const description = visibleLine(read.data.description.replace(/\s+/g, " ")).slice(0, limits.skill_description_chars);
  return { ok: true, skill: { name: folder, description, text } };
}
