/**
 * When a loop no longer gets on, and what is tried, in which order. Looping: calls that were made before and bring what
 * they brought before. Stalled: a call under way neither ends nor says anything. Exhausted: no step is left.
 */
import { z } from "zod";
import { limits } from "../limits.ts";
import { type Digest, readDigest } from "./stuck-digest.ts";

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
  /** The model is asked next, no call is under way: without a step left it cannot be. */
  readonly thinks: boolean;
}

/** Null while it gets on. */
export function judge(pace: Pace, now: number): Stuck | null {
  const circle = whyLooping(pace.recent.map(readDigest));
  if (circle !== null) return { reason: "looping", detail: circle };
  // Only a call under way can stand still: how long a model, a provider or a person took is not its doing.
  if (!pace.thinks && now - pace.moved_at > limits.stalled_ms)
    return {
      reason: "stalled",
      detail: `no call ended and nothing was said for ${limits.stalled_ms / 60_000} minutes`,
    };
  if (pace.thinks && pace.steps >= pace.max_steps)
    return { reason: "exhausted", detail: `all ${pace.max_steps} steps are used up` };
  return null;
}

function whyLooping(seen: readonly Digest[]): string | null {
  const { identical_calls, calls_without_new, same_failures } = limits;
  const last = seen.at(-1);
  if (last === undefined) return null;
  const latest = seen.slice(-identical_calls);
  if (latest.length === identical_calls && latest.every((one) => pairOf(one) === pairOf(last)))
    return `the same call ${identical_calls} times in a row, and the same came of it`;
  const { old, times } = goingRound(seen);
  // Twice may all be looked at: an agent whose older results were left out has to.
  if (old >= calls_without_new && times >= identical_calls)
    return `${old} calls in a row that were all made before, and the same came of each`;
  const failures = failuresOf(seen.filter(({ call }) => call === last.call));
  if (failures >= same_failures)
    return `the same check failed ${failures} times in the same way, whatever was done in between`;
  return null;
}
function pairOf({ call, result }: Digest): string {
  return call + result;
}
/** How many of the latest in a row had been seen before, call and result, and how often the last one came in all. */
function goingRound(seen: readonly Digest[]): { readonly old: number; readonly times: number } {
  const counts = new Map<string, number>();
  let old = 0;
  let times = 0;
  for (const one of seen) {
    times = (counts.get(pairOf(one)) ?? 0) + 1;
    counts.set(pairOf(one), times);
    old = times === 1 ? 0 : old + 1;
  }
  return { old, times };
}
/** Of one call: how often it failed since it last succeeded, or last failed in a way of its own. */
function failuresOf(ofCall: readonly Digest[]): number {
  const ways = new Set<string>();
  let count = 0;
  for (const { result, failed } of ofCall) {
    count = !failed ? 0 : ways.has(result) ? count + 1 : 1;
    ways.add(result);
  }
  return count;
}

/** What is tried next, given what was tried in this run. Without a step left the loop itself can do nothing. */
export function nextRecovery(reason: StuckReason, done: readonly Recovery[]): Recovery {
  const order = reason === "exhausted" ? recoveries.slice(2) : recoveries;
  return order.find((recovery) => !done.includes(recovery)) ?? "ask_person";
}
