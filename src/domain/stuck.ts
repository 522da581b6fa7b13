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
  const seen = pace.recent.map(readDigest);
  const same = seen.slice(-limits.identical_calls);
  const last = same.at(-1);
  const isSame = last !== undefined && same.length === limits.identical_calls;
  if (
    isSame &&
    same.every(({ call }) => call === last.call) &&
    same.slice(0, -1).some(({ like }) => like === last.like)
  )
    return {
      reason: "looping",
      detail: `the same call ${limits.identical_calls} times in a row, and nothing new came`,
    };
  for (let period = 1; period <= limits.output_period; period++)
    if ([byResult, byKind].some((key) => repeats(seen.map(key), period)))
      return {
        reason: "looping",
        detail: `the same ${period === 1 ? "result" : `${period} results`} ${limits.repeated_outputs} times in a row`,
      };
  const failing =
    last?.is_error === true && last.is_long ? seen.filter((one) => one.is_error && one.like === last.like) : [];
  if (failing.length >= limits.same_failures)
    return { reason: "looping", detail: `the same failure ${failing.length} times, whatever was done in between` };
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

/** A result shorter than the first says the same of many calls: it counts together with its call. Shorter than the second it says nothing. */
const tellingChars = 80;
const sayingChars = 24;

/** What these say when all is well is our own sentence, the same for every change: it says nothing by itself. */
const changing: readonly string[] = ["file_write", "file_edit", "git_add", "git_commit"];

/** One call that ended, as `judge` compares it. */
interface Digest {
  readonly call: string;
  /** The call, and its result, without what differs from one time to the next. */
  readonly kind: string;
  readonly like: string;
  readonly result: string;
  readonly is_error: boolean;
  readonly is_long: boolean;
  /** It says too little, or is of a change: it counts together with its very call. */
  readonly is_mute: boolean;
}
export function digestOf(
  call: { tool: string; arguments: unknown },
  result: { text: string; is_error: boolean },
): string {
  const { tool, arguments: asked } = call;
  const text = result.text.toWellFormed();
  const { is_error } = result;
  const like = blur(text);
  const marks = [
    is_error ? "e" : "",
    like.length >= tellingChars && (is_error || !changing.includes(tool)) ? "l" : "",
    like.length < sayingChars || (!is_error && changing.includes(tool)) ? "m" : "",
  ].join("");
  const short = (value: unknown): string => hashOf(value).slice(0, 16);
  const kind = typeof asked === "string" ? blur(asked) : blur(canonicalJson(asked));
  return [
    short([tool, asked]),
    short([tool, kind]),
    short([like, is_error]),
    short([steady(text), is_error]),
    marks,
  ].join(":");
}
/** One that was kept before it had five parts is a call and its result. */
function readDigest(digest: string): Digest {
  const [call = "", kind = call, like = kind, result = like, marks = ""] = digest.split(":");
  const has = (mark: string): boolean => marks.includes(mark);
  return { call, kind, like, result, is_error: has("e"), is_long: has("l"), is_mute: has("m") };
}
/** What says enough by itself, whatever was called: a failure like another, or the very same result. */
function byResult({ call, like, result, is_error, is_long }: Digest): string {
  return is_long ? (is_error ? like : result) : `${call} ${like}`;
}
/** Calls that differ in numbers alone and bring the very same. */
function byKind({ call, kind, like, result, is_mute }: Digest): string {
  return is_mute ? `${call} ${like}` : `${kind} ${result}`;
}
/** The text without what differs though nothing else is new: hashes, times of day, and how long something took. */
function steady(text: string): string {
  return text
    .replace(/\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b/gi, "#")
    .replace(/\b\d+(?::\d+)+(?:\.\d+)?\b/g, "#")
    .replace(/\b\d+(?:\.\d+)? ?(?:ms|s|sec|seconds|min|minutes)\b/g, "#");
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
