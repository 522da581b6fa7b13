/**
 * When a loop no longer gets on, and what is tried, in which order. Looping: the same call again and again that brings
 * nothing new, or the same pattern of results. Stalled: no call ends and nothing is said. Exhausted: no step is left.
 */
import { z } from "zod";
import { limits } from "../limits.ts";
import { canonicalJson, hashOf } from "./canonical.ts";

export const stuckReasons = ["looping", "stalled", "exhausted"] as const;
export type StuckReason = (typeof stuckReasons)[number];
/** In the order they are tried. The first two are the loop's own. [STUCK-5] */
export const recoveries = ["reduce_context", "simplify_prompt", "decompose", "ask_person"] as const;
export type Recovery = (typeof recoveries)[number];
/** One that was tried: against what, and the loop's own words about it. */
export const recovery = z.strictObject({
  reason: z.enum(stuckReasons),
  action: z.enum(recoveries),
  detail: z.string(),
});

export interface Stuck {
  readonly reason: StuckReason;
  readonly detail: string;
}
export interface Pace {
  readonly steps: number;
  readonly max_steps: number;
  /** Digests of the latest calls that ended, oldest first. */
  readonly recent: readonly string[];
  /** When a call last ended or said something, in ms since the epoch. */
  readonly moved_at: number;
  /** The model is asked next: without a step left it cannot be. */
  readonly thinks: boolean;
}

/** How many digests a judgement needs at most. */
export const recentKept = limits.output_period * limits.repeated_outputs;

/** Null while it gets on. */
export function judge(pace: Pace, now: number): Stuck | null {
  const calls = pace.recent.map((digest) => digest.split(":")[0] ?? "");
  const outputs = pace.recent.map((digest) => digest.split(":")[1] ?? "");
  const same = calls.slice(-limits.identical_calls);
  const last = outputs.at(-1);
  if (same.length === limits.identical_calls && new Set(same).size === 1) {
    const before = outputs.slice(-limits.identical_calls, -1);
    if (last !== undefined && before.includes(last))
      return {
        reason: "looping",
        detail: `the same call ${limits.identical_calls} times in a row, and nothing new came`,
      };
  }
  for (let period = 1; period <= limits.output_period; period++)
    if (repeats(outputs, period))
      return {
        reason: "looping",
        detail: `the same ${period === 1 ? "result" : `${period} results`} ${limits.repeated_outputs} times in a row`,
      };
  if (now - pace.moved_at > limits.stalled_ms)
    return {
      reason: "stalled",
      detail: `no call ended and nothing was said for ${limits.stalled_ms / 60_000} minutes`,
    };
  if (pace.thinks && pace.steps >= pace.max_steps)
    return { reason: "exhausted", detail: `all ${pace.max_steps} steps are used up` };
  return null;
}
function repeats(outputs: readonly string[], period: number): boolean {
  const need = period * limits.repeated_outputs;
  const last = outputs.slice(-need);
  return last.length === need && last.every((output, at) => output === last[at % period]);
}

/** What is tried next, given what was tried in this run. Without a step left the loop itself can do nothing. */
export function nextRecovery(reason: StuckReason, done: readonly Recovery[]): Recovery {
  const order = reason === "exhausted" ? recoveries.slice(2) : recoveries;
  return order.find((recovery) => !done.includes(recovery)) ?? "ask_person";
}

/** A short good result says the same of many calls (`ok`): it counts together with its call. */
const tellingChars = 80;

/** What these say when all is well is our own sentence, the same for every change: it says nothing by itself. */
const changing: readonly string[] = ["file_write", "file_edit", "git_add", "git_commit"];
/** What these bring stands in the workspace: pages of a table differ in their numbers. */
const looking: readonly string[] = ["file_read", "list_directory", "search_files"];

/** One call that ended, as `judge` compares it: `call:output`. Numbers and hashes count in what was read only. */
export function digestOf(
  call: { tool: string; arguments: unknown },
  result: { text: string; is_error: boolean },
): string {
  const asked = hashOf([call.tool, call.arguments]).slice(0, 16);
  const read = !result.is_error && looking.includes(call.tool);
  const told = read ? result.text.toWellFormed() : blur(result.text);
  const alone = result.is_error || (told.length >= tellingChars && !changing.includes(call.tool));
  return `${asked}:${hashOf([told, result.is_error, alone ? null : asked]).slice(0, 16)}`;
}
/** The text without what differs from one time to the next: numbers, hashes, the width of gaps. */
export function blur(text: string): string {
  return text
    .toWellFormed()
    .replace(/\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b/gi, "#")
    .replace(/\d+/g, "#")
    .replace(/\s+/g, " ")
    .trim();
}
/** The arguments as they are compared: canonical when they are JSON, else as they were written. */
export function comparable(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    canonicalJson(value);
    return value;
  } catch {
    return text.toWellFormed();
  }
}
