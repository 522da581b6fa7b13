/** What a repository says to who works in it: its rules and its skills, read from a sandbox. */
import { describe, expect, it } from "vitest";
import { SandboxFailure } from "../../src/agents/ports.ts";
import { readProject } from "../../src/agents/project-files.ts";
import { parseSkill } from "../../src/domain/skill.ts";
import { limits } from "../../src/limits.ts";

const skill = (name: string, more = "") =>
  `---\nname: ${name}\ndescription: How to ${name}\n${more}---\nFirst ${name}.\n`;

/** A sandbox that holds just these files, and says of others what a sandbox says. */
function holding(files: Readonly<Record<string, string>>) {
  const read: string[] = [];
  const none = (path: string) => Promise.reject(new SandboxFailure("bad_request", `"${path}" does not exist`));
  return {
    asked: read,
    read: (_: string, path: string) => {
      read.push(path);
      const text = files[path];
      return text === undefined ? none(path) : Promise.resolve(new TextEncoder().encode(text));
    },
    list: (_: string, folder: string) => {
      const below = Object.keys(files).filter((path) => path.startsWith(`${folder}/`));
      const names = new Set(below.map((path) => path.slice(folder.length + 1).split("/")[0] ?? ""));
      const entries = [...names].map((name) => ({ name, kind: "directory" as const, size: 0 }));
      return names.size === 0 ? none(folder) : Promise.resolve(entries);
    },
  };
}
const plain = { skills: [], taint: "member" } as const;

describe("the files of a project", () => {
  it("[CTX-20] AGENTS.md and CLAUDE.md are its rules; a repository without any has none", async () => {
    const files = holding({ "CLAUDE.md": "be brief", "AGENTS.md": "test first" });
    const pieces = await readProject(files, "s", plain);
    expect(pieces.map(({ kind, title, text, taint }) => [kind, title, text, taint])).toEqual([
      ["rules", "AGENTS.md", "test first", "member"],
      ["rules", "CLAUDE.md", "be brief", "member"],
    ]);
    expect(await readProject(holding({}), "s", plain)).toEqual([]);
  });
  it("[CTX-21] they are at least a member's, and as tainted as what lies there", async () => {
    const files = holding({ "AGENTS.md": "x", ".countersign/skills/a/SKILL.md": skill("a") });
    for (const [asked, is] of [
      ["owner", "member"],
      ["web", "web"],
    ] as const)
      for (const { taint } of await readProject(files, "s", { skills: ["a"], taint: asked })) expect(taint).toBe(is);
  });
  it("[CTX-22] a skill that the item names is given whole, the others by name and description", async () => {
    const files = holding({
      ".countersign/skills/build/SKILL.md": skill("build", "license: MIT\n"),
      ".countersign/skills/lint/SKILL.md": skill("lint"),
      ".countersign/skills/other/SKILL.md": skill("elsewhere"),
      ".countersign/skills/broken/SKILL.md": "no front matter",
      ".countersign/skills/Bad Name/SKILL.md": skill("Bad Name"),
    });
    const pieces = await readProject(files, "s", { skills: ["lint", "gone"], taint: "member" });
    expect(pieces.map(({ kind, title, text }) => [kind, title, text])).toEqual([
      ["skill", "lint", "First lint."],
      ["skill", "gone", ".countersign/skills/gone/SKILL.md is not there, or is no skill."],
      ["skill", "others of this repository", "- build: How to build"],
    ]);
    expect(files.asked.some((path) => path.includes("Bad Name"))).toBe(false);
  });
  it("[CTX-23] a long file is cut at a line and says so; of too many skills those that are named are read", async () => {
    const many = Object.fromEntries(
      Array.from({ length: limits.project_skills + 5 }, (_, at) => {
        const name = `s${String(at).padStart(3, "0")}`;
        return [`.countersign/skills/${name}/SKILL.md`, skill(name)];
      }),
    );
    const files = holding({ ...many, "AGENTS.md": "a rule\n".repeat(10_000) });
    const last = `s${String(limits.project_skills + 4).padStart(3, "0")}`;
    const pieces = await readProject(files, "s", { skills: [last], taint: "member" });
    expect(pieces[0]?.text.length).toBeLessThan(limits.project_rules_bytes + 100);
    expect(pieces[0]?.text).toMatch(/\na rule\n\[cut: the file has 70000 bytes, read it for the rest\]$/);
    expect(pieces[1]).toMatchObject({ title: last, text: `First ${last}.` });
    expect(files.asked.filter((path) => path.endsWith("SKILL.md"))).toHaveLength(limits.project_skills);
  });
  it("[CTX-24] a sandbox that does not answer is a failure, not an empty project", async () => {
    const away = () => Promise.reject(new SandboxFailure("unreachable", "away", true));
    await expect(readProject({ read: away, list: away }, "s", plain)).rejects.toThrow("away");
  });
});

describe("a skill", () => {
  it("[CTX-25] has front matter with the name of its folder and a description; nothing else is one", () => {
    expect(parseSkill("a", skill("a").replaceAll("\n", "\r\n"))).toEqual({
      ok: true,
      skill: { name: "a", description: "How to a", text: "First a." },
    });
    const long = parseSkill("a", `---\nname: a\ndescription: "x\\n  ${"y".repeat(2_000)}\\u202e"\n---\ntext`);
    expect(long.ok && [long.skill.description.slice(0, 3), long.skill.description.length]).toEqual([
      "x y",
      limits.skill_description_chars,
    ]);
    for (const [text, why] of [
      ["words", "front matter"],
      ["---\nname: a\n", "front matter"],
      ["---\nname: a\n---\ntext", "lacks a name or a description"],
      ["---\nname: b\ndescription: d\n---\ntext", "its folder"],
      ["---\nname: a\ndescription: d\n---\n\n", "says nothing"],
      ["---\nname: &a a\ndescription: *a\n---\ntext", "line "],
      ["---\nname: [\n---\ntext", "line "],
    ] as const)
      expect(parseSkill("a", text)).toEqual({ ok: false, why: expect.stringContaining(why) });
  });
});
