/**
 * `/countersign ...` in a comment: what its author asks for, if anything. It stands at the start of a line that is
 * neither code nor quoted; the first one counts, and one that could be read two ways decides nothing. [GHI-10] [GHI-11]
 */
import { limits } from "../../limits.ts";
import { cleanText } from "./text.ts";

export type Command =
  | { readonly what: "wish" }
  | { readonly what: "approve"; readonly hash: string | null }
  | { readonly what: "deny"; readonly reason: string | null }
  | { readonly what: "cancel" }
  | { readonly what: "status" }
  /** A word that decides, with others after it that may make it a wish. */
  | { readonly what: "unclear" };

const fenceLike = /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
const word = /^\/countersign(?=[ \t]|$)[ \t]*(.*)$/i;

/** Null when the comment asks nothing of us. */
export function readCommand(comment: string): Command | null {
  const lines = cleanText(comment).clean.split("\n");
  let fence = "";
  let quoted = false;
  for (const [at, line] of lines.entries()) {
    const [, run = "", info = ""] = fenceLike.exec(line) ?? [];
    if (fence !== "") {
      if (run.startsWith(fence) && info.trim() === "") fence = "";
      continue;
    }
    fence = run;
    // What follows a quoted line without a blank one between is shown as quoted too.
    quoted = line.startsWith(">") || (quoted && line.trim() !== "");
    const rest = fence === "" && !quoted ? word.exec(line)?.[1] : undefined;
    if (rest !== undefined) return commandOf(rest.trim(), lines.slice(at + 1));
  }
  return null;
}

function commandOf(rest: string, below: readonly string[]): Command {
  const [first = "", ...more] = rest.split(/[ \t]+/);
  const what = first.toLowerCase().replace(/[.!:,]+$/, "");
  if (what === "deny") return { what, reason: reasonOf(rest.slice(first.length), below) };
  if (what === "approve") {
    const hash = /^`?([0-9a-f]{8,64})`?$/i.exec(more[0] ?? "")?.[1];
    if (hash !== undefined) return { what, hash: hash.toLowerCase() };
    return more.length === 0 ? { what, hash: null } : { what: "unclear" };
  }
  if (what === "cancel" || what === "status") return more.length === 0 ? { what } : { what: "unclear" };
  return { what: "wish" };
}

/** The line's rest and all below it. */
function reasonOf(rest: string, below: readonly string[]): string | null {
  const reason = [rest, ...below].join("\n").trim().slice(0, limits.github_reason_chars).toWellFormed();
  return reason === "" ? null : reason;
}
