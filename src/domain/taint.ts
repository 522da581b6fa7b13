/**
 * Whose words something rests on, and where each came from. Taint only rises: whoever reads something less trusted is
 * no more trusted than it, from then on. [TAINT-*] [INV-04]
 */
import { z } from "zod";
import { limits } from "../limits.ts";
import { joinTaint, type Taint, taint, taints } from "./message.ts";
import type { Grant } from "./plan-shape.ts";
import { readingTools } from "./policy-call.ts";
import type { CallerRole } from "./view.ts";

/** One thing that was read: how far it is trusted, what it was, and when. */
export const taintSource = z.strictObject({ taint, source: z.string(), at: z.string() });
export type TaintSource = z.infer<typeof taintSource>;

export interface Tainted {
  readonly taint: Taint;
  readonly taint_sources: readonly TaintSource[];
}

const sourceMax = 200;

/** What the reader rests on after it has read that as well. */
export function readAlso<T extends Tainted>(reader: T, read: TaintSource): T & { taint_sources: TaintSource[] } {
  const cut = { ...read, source: read.source.slice(0, sourceMax) };
  return {
    ...reader,
    taint: joinTaint(reader.taint, read.taint),
    taint_sources: bounded([...reader.taint_sources, cut]),
  };
}

/** The same thing written again: whatever the writer had at hand, nothing that was read before is forgotten. */
export function keepTaint<T extends Tainted>(stored: Tainted, written: T): T & { taint_sources: TaintSource[] } {
  return {
    ...written,
    taint: joinTaint(stored.taint, written.taint),
    taint_sources: bounded([...stored.taint_sources, ...written.taint_sources]),
  };
}

/** The same origin is kept once, as it was first met. Of too many the latest of the most trusted is left out. */
function bounded(sources: readonly TaintSource[]): TaintSource[] {
  const kept = sources.filter(
    (one, at) => sources.findIndex((other) => other.source === one.source && other.taint === one.taint) === at,
  );
  while (kept.length > limits.taint_sources) {
    const trusted = taints.find((level) => kept.some((one) => one.taint === level));
    kept.splice(
      kept.findLastIndex((one) => one.taint === trusted),
      1,
    );
  }
  return kept;
}

/** Who may approve is owner; everybody else whom the scope let in is a member. */
export function taintOfRole(role: CallerRole): Taint {
  return role === "admin" || role === "approver" ? "owner" : "member";
}

/** Tools whose commands run in the sandbox, which has no network but what the grant opens. */
export const sandboxTools: readonly string[] = ["shell_execute", "python_execute", "skill_execute"];
/** Tools that are known to read nothing from outside the workspace and the scope. */
const insideTools: readonly string[] = [
  ...readingTools.filter((tool) => tool !== "web_search"),
  ...["file_write", "file_edit", "git_add", "git_commit", "task_assign", "agent_spawn", "agent_stop"],
];

/** What a call that runs may bring into its run; null when that is nothing new. A tool nobody knows may bring anything. */
export function readByCall(
  call: { readonly tool: string; readonly hosts: readonly string[] },
  allow: Pick<Grant, "hosts"> | null,
): { readonly taint: Taint; readonly from: string } | null {
  const open = allow?.hosts ?? [];
  if (call.hosts.length > 0) return { taint: "web", from: `names ${inList(call.hosts)}` };
  if (sandboxTools.includes(call.tool))
    return open.length === 0 ? null : { taint: "web", from: `may reach ${inList(open)}` };
  return insideTools.includes(call.tool) ? null : { taint: "web", from: `reads with ${call.tool.slice(0, 60)}` };
}
function inList(names: readonly string[]): string {
  return names.slice(0, 5).join(", ").slice(0, 120);
}

/**
 * A secret that a run could carry out: one the item was granted, or the content of a private repository.
 */
export function holdsSecret(allow: Pick<Grant, "secrets">, repo: { readonly is_private: boolean }): boolean {
  return allow.secrets.length > 0 || repo.is_private;
}
