/**
 * Random shell scripts: ways to quote a word, to wrap a command, to join, nest and redirect, that somebody could use
 * to make a reader of shell see something else than bash runs. The same seed writes the same script. The only
 * programs they name are stubs, and no file outside the folder they run in.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Random, random } from "../random.ts";

const maxDepth = 3;
const maxStatements = 4;
/** `p3` fails; the others succeed. */
const programs = ["p0", "p1", "p2", "p3", "p4", "p5"] as const;

/** Sections of lines, by the name in brackets above them. */
const material = read(readFileSync(join(import.meta.dirname, "material.txt"), "utf8"));
function read(text: string): ReadonlyMap<string, readonly string[]> {
  const [, ...parts] = text.split(/^\[([a-z]+(?: strange)?)\]\n/m);
  const found = new Map<string, readonly string[]>();
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const lines = (parts[at + 1] ?? "").split("\n").filter((line) => line !== "");
    found.set(parts[at] ?? "", lines.map(meant));
  }
  return found;
}
function meant(line: string): string {
  const marks = line.replaceAll("⏎", "\n").replaceAll("⇥", "\t").replaceAll("␠", " ");
  return marks.replace(/U\+([0-9A-F]{4})/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
}

interface Pen {
  readonly r: Random;
  /** How often something that only the running shell knows is written. */
  readonly spice: number;
  readonly depth: number;
}
const deeper = (pen: Pen): Pen => ({ ...pen, depth: pen.depth + 1 });

export function scriptOf(seed: string): string {
  const r = random(seed);
  if (r.chance(0.15)) return noise(r);
  // Most scripts stay nearly plain, so that what is read whole is held to the word; others try everything.
  return list({ r, spice: r.pick([0, 0, 0.02, 0.06, 0.2]), depth: 0 });
}

/** Pieces set side by side with no regard for grammar: where the next word begins only bash knows. */
function noise(r: Random): string {
  const pieces = material.get("noise") ?? [];
  const joined = Array.from({ length: r.int(2, 9) }, () => r.pick(pieces)).join("");
  const script = `${r.chance(0.5) ? "p0 " : ""}${joined}${r.chance(0.5) ? " p1 b" : ""}`;
  return r.chance(0.2) ? `sh -c ${quoted(r, script)}` : script;
}

function list(pen: Pen): string {
  const { r } = pen;
  let text = r.chance(0.05) ? "# p0 in a comment\n" : "";
  for (let left = r.int(1, pen.depth === 0 ? maxStatements : 2); left > 0; left--)
    text += statement(pen) + (left > 1 ? one("join", pen) : "");
  return r.chance(0.1) ? text + one("end", pen) : text;
}
function statement(pen: Pen): string {
  if (pen.depth >= maxDepth || pen.r.chance(0.62)) return simple(pen);
  return pen.r.chance(0.45) ? one("wrapped", pen) : one("compound", deeper(pen));
}
function simple(pen: Pen): string {
  const { r, spice } = pen;
  if (r.chance(spice)) return one("strange", pen);
  const words = [r.chance(0.75) ? r.pick(programs) : one("name", pen), ...wordsOf(pen, 4)];
  if (r.chance(spice)) words.unshift(one("assignment", pen));
  const command = words.join(r.chance(0.05) ? "\t" : r.chance(0.05) ? " \\\n " : " ");
  return r.chance(0.25) ? one("redirect", pen).replaceAll("«command»", () => command) : command;
}
function wordsOf(pen: Pen, below: number): string[] {
  return Array.from({ length: pen.r.int(below) }, () => word(pen));
}
function word(pen: Pen): string {
  const { r, spice } = pen;
  const pieces = r.chance(0.7) ? 1 : r.int(2, 3);
  return Array.from({ length: pieces }, () => one(r.chance(spice) ? "expansion" : "plain", pen)).join("");
}

/** A line of the section, or now and then of its strange part, with its places filled. */
function one(section: string, pen: Pen): string {
  const lines = material.get(section) ?? [];
  const strange = material.get(`${section} strange`) ?? [];
  const from = strange.length > 0 && pen.r.chance(pen.spice) ? strange : lines;
  return pen.r.pick(from).replace(/«([a-z]+)»/g, (place, name: string) => fill(place, name, pen));
}
function fill(place: string, name: string, pen: Pen): string {
  const { r } = pen;
  const bare = (): string => [r.pick(programs), ...wordsOf(pen, 3)].join(" ");
  const inside: Pen = { ...pen, depth: Math.max(2, pen.depth + 1) };
  switch (name) {
    case "program":
      return r.pick(programs);
    case "word":
      return word(pen);
    case "file":
    case "expansion":
      return one(name, pen);
    case "simple":
      return simple(pen);
    case "bare":
      return bare();
    case "inner":
      return r.chance(0.2) && pen.depth < maxDepth - 1 ? one("wrapped", deeper(pen)) : bare();
    case "script":
      return quoted(r, list(inside));
    case "text":
      return quoted(r, bare());
    case "posix":
      return quoted(r, one("posix", pen));
    case "body":
      return `${list(pen)
        .trimEnd()
        .replace(/(?<!\\)[;&]$/, "")}\n`;
    case "deep":
      return pen.depth >= maxDepth ? "p1 c" : simple({ ...deeper(pen), spice: 0 });
    case "quiet": {
      const text = simple({ ...pen, depth: maxDepth, spice: 0 });
      return /[`'"\\\n#<]/.test(text) ? "p2 d" : text;
    }
    default:
      // The command that a redirect stands at is put in by its caller.
      return place;
  }
}
function quoted(r: Random, script: string): string {
  return r.chance(0.6) ? `'${script.replaceAll("'", "'\\''")}'` : `"${script.replace(/[\\"$`]/g, "\\$&")}"`;
}
