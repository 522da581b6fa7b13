/**
 * What an agent is told at first: pieces in the order of their rank, within a budget of tokens. What matters more is
 * never left out for what matters less, and what was left out or cut is given back, to be recorded. Text that others
 * wrote is fenced as data under its taint, by a mark that does not occur in it; what the repository says, for agents to
 * follow, is framed the same way, so that none of it looks like a piece of ours. [CTX-*]
 */
import { limits } from "../limits.ts";
import { sha256Hex } from "./canonical.ts";
import { joinTaint, type Taint, taints } from "./message.ts";
import { estimatedTokens, quarterTokens } from "./token-count.ts";
import { visible, visibleLine } from "./visible.ts";

/** Highest rank first. Pieces of one kind keep the order they are given in. */
export const pieceKinds = ["rules", "item", "guidance", "skill", "spawn", "history", "memory", "file"] as const;
export type PieceKind = (typeof pieceKinds)[number];

export const headings: Readonly<Record<PieceKind, string>> = {
  rules: "Project rules",
  item: "Work item",
  guidance: "Planner guidance",
  skill: "Skill",
  spawn: "Your part",
  history: "Recent tasks",
  memory: "Memory",
  file: "File",
};
/** What is fenced whoever wrote it: it is looked at, and asks for nothing. */
const alwaysData: readonly PieceKind[] = ["history", "memory", "file"];
/** What the repository says: followed, and yet nobody here wrote it. */
const ofRepository: readonly PieceKind[] = ["rules", "skill"];

export interface Piece {
  readonly kind: PieceKind;
  /** Stands behind the kind's own heading, or in the fence where the kind is always data; may be empty. */
  readonly title: string;
  readonly text: string;
  readonly taint: Taint;
  /** Where the text comes from, in a few words. */
  readonly source: string;
  /** With less of its text than this the piece is of no use, and left out. */
  readonly least_tokens?: number;
  /** Fenced whoever wrote it. */
  readonly data?: boolean;
}
export interface LeftOut {
  readonly kind: PieceKind;
  readonly title: string;
  /** How much of it is not there. */
  readonly tokens: number;
  readonly why: "no_room" | "cut";
}
export interface Assembled {
  readonly text: string;
  readonly tokens: number;
  /** Of all that is in it. */
  readonly taint: Taint;
  readonly left_out: readonly LeftOut[];
}

/** All room is counted in quarters of a token. */
const quarters = 4;
/** Between two pieces. */
const joint = "\n\n";

/**
 * First each piece is given room for the least of it, by rank; then each grows to its whole, by rank. So a piece is left
 * out only where even its least does not fit beside the least of those above it, and cut only for those.
 */
export function assemble(pieces: readonly Piece[], budget_tokens: number): Assembled {
  const ranked = pieces
    .map((piece) => ({ piece, text: theirText(piece) }))
    .filter(({ text }) => text !== "")
    .sort((a, b) => pieceKinds.indexOf(a.piece.kind) - pieceKinds.indexOf(b.piece.kind));
  let left = budget_tokens * quarters;
  const left_out: LeftOut[] = [];
  const kept: { piece: Piece; text: string; whole: string; least: number; frame: number }[] = [];
  for (const { piece, text } of ranked) {
    const whole = render(piece, text);
    const whole_size = quarterTokens(whole) + joint.length;
    const frame = frameOf(piece, text);
    const least = Math.min(whole_size, frame + leastOf(piece, budget_tokens));
    if (least > left) left_out.push(notThere(piece, estimatedTokens(text), "no_room"));
    else {
      left -= least;
      kept.push({ piece, text, whole, least, frame });
    }
  }
  const shown: string[] = [];
  for (const { piece, text, whole, least, frame } of kept) {
    const whole_size = quarterTokens(whole) + joint.length;
    if (whole_size - least <= left) {
      left -= whole_size - least;
      shown.push(whole);
      continue;
    }
    const part = firstPart(text, least + left - frame);
    // What its last line left over is too little for others to be worth it.
    left = 0;
    shown.push(render(piece, part, text));
    left_out.push(notThere(piece, estimatedTokens(text) - estimatedTokens(part), "cut"));
  }
  const text = shown.join(joint);
  const taint = joinTaint(...kept.map(({ piece }) => piece.taint));
  return { text, tokens: estimatedTokens(text), taint, left_out };
}

/** Half of all there is at most: a piece that wants more is cut rather than left out. */
function leastOf({ least_tokens = limits.context_least_tokens }: Piece, budget_tokens: number): number {
  return Math.max(1, Math.min(least_tokens, Math.floor(budget_tokens / 2))) * quarters;
}
function notThere({ kind, title }: Piece, tokens: number, why: LeftOut["why"]): LeftOut {
  return { kind, title, tokens, why };
}
/** What a piece takes besides its text when it is cut; at most, for the numbers in its remark grow with the text. */
function frameOf(piece: Piece, text: string): number {
  return quarterTokens(render(piece, "", text)) + String(text.length).length + joint.length;
}

function render(piece: Piece, part: string, text = part): string {
  const title = visibleLine(piece.title).trim();
  // Of what is data whoever wrote it, the title is others' words too: a heading holds only our own.
  const theirs = alwaysData.includes(piece.kind);
  const heading = `## ${headings[piece.kind]}${title === "" || theirs ? "" : `: ${title}`}`;
  const remark = part === text ? "" : `\n[cut: the first ${part.length} of ${text.length} characters are here]`;
  const fenced = piece.data === true || theirs || isUntrusted(piece.taint);
  const said = theirs && title !== "" ? `${title.slice(0, titleMax)}\n\n${part}` : part;
  const framed = fenced ? "data" : ofRepository.includes(piece.kind) ? "repository" : null;
  return `${heading}\n\n${framed === null ? said : fence(said, piece, framed)}${remark}`;
}
/** No line of what the repository says is one of our headings, framed or not. */
function theirText({ kind, text }: Piece): string {
  const shown = shownText(text);
  if (!ofRepository.includes(kind)) return shown;
  return shown.replace(ourHeading, "$1###").replace(underlined, "$1### ");
}
const ours = `(?:${Object.values(headings).join("|")})\\b`;
const ourHeading = new RegExp(`^( {0,3})##(?=\\s+${ours})`, "gim");
/** Over a line of `-` or `=`, which then underlines nothing. */
const underlined = new RegExp(`^( {0,3})(?=${ours}[^\\n]*\\n {0,3}(?:-+|=+)[ \\t]*$)`, "gim");

export function isUntrusted(taint: Taint): boolean {
  return taints.indexOf(taint) >= taints.indexOf("outsider");
}

/** Any text that was read, as it may stand in a conversation: nothing in it can end the fence or hide. */
export function asData(text: string, about: { readonly taint: Taint; readonly source: string }): string {
  return fence(shownText(text), about);
}
function fence(
  text: string,
  about: { readonly taint: Taint; readonly source: string },
  what: "data" | "repository" = "data",
): string {
  const source = visibleLine(about.source).replaceAll('"', "'").slice(0, sourceMax);
  const name = `${what}-${markFor(`${source}\n${text}`)}`;
  return `<${name} taint="${about.taint}" source="${source}">\n${text}\n</${name}>`;
}
const fences = /<data-([0-9a-f]{12}) taint="[a-z]*" source="[^"\n]*">\n([\s\S]*?)(?:\n<\/data-\1>|$)/g;
/** Read again: what stands in the fences, and what was said beside them. One whose end was cut off reaches to the end. */
export function unfenced(text: string): { readonly data: readonly string[]; readonly beside: string } {
  return {
    data: [...text.matchAll(fences)].map(([, , held = ""]) => held),
    beside: text.replace(fences, ""),
  };
}
const sourceMax = 200;
const titleMax = 300;
const markLength = 12;
/** Made from the text, so that nobody can write it down beforehand; and it does not stand in it. */
function markFor(text: string): string {
  // A text holds fewer such marks than it has characters.
  for (let round = 0; round <= text.length; round++) {
    const mark = sha256Hex(`${round}\n${text}`).slice(0, markLength);
    if (!text.includes(mark)) return mark;
  }
  throw new Error("a text cannot hold more marks than characters");
}

function shownText(text: string): string {
  return visible(text.replaceAll("\r\n", "\n")).trimEnd();
}

/** How far back from the last character a line's end is looked for. */
const lineMax = 400;
function firstPart(text: string, room: number): string {
  let used = 0;
  let end = 0;
  for (const mark of text) {
    used += quarterTokens(mark);
    if (used > room) break;
    end += mark.length;
  }
  const part = text.slice(0, end);
  const line = part.lastIndexOf("\n");
  return line > 0 && end - line <= lineMax ? part.slice(0, line) : part;
}
