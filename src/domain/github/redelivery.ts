/**
 * Which deliveries GitHub shall bring again: those of which no try ever got through, ever more seldom, for as long as
 * GitHub keeps them. Decided from GitHub's own list alone, so that nothing of it can be forgotten here. [GHL-10] [GHL-11]
 */
import { limits } from "../../limits.ts";

/** One try of GitHub's to bring a delivery; several have the same `guid`. */
export interface Tried {
  /** Decimal digits: they are above 2^53. */
  readonly id: string;
  readonly guid: string;
  readonly delivered_at: string;
  /** False for the first of its guid. */
  readonly redelivery: boolean;
  readonly ok: boolean;
}
export interface Lost {
  /** The newest try: the one that is asked for again. */
  readonly id: string;
  /** When GitHub first tried it, and when it is due again; milliseconds since the epoch. */
  readonly since_ms: number;
  readonly due_ms: number;
}

/**
 * What no try brought, oldest first. Of what GitHub tried first before the list begins nothing is known: it is left out.
 * Each time is read once and each look among those that came halves them: the list is as long as an outage makes it.
 */
export function lostOf(tries: readonly Tried[]): Lost[] {
  const came: number[] = [];
  const arrived = new Set<string>();
  for (const one of tries)
    if (one.ok) {
      came.push(at(one));
      arrived.add(one.guid);
    }
  came.sort((a, b) => a - b);
  const open = tries.flatMap((one) => (arrived.has(one.guid) ? [] : [{ ...one, at_ms: at(one) }]));
  const lost = [...Map.groupBy(open, ({ guid }) => guid).values()].flatMap((same) => {
    const sorted = same.toSorted((a, b) => a.at_ms - b.at_ms);
    const [first, last] = [sorted[0], sorted.at(-1)];
    if (first === undefined || last === undefined || first.redelivery) return [];
    const times = sorted.map(({ at_ms }) => at_ms);
    return [{ id: last.id, since_ms: first.at_ms, due_ms: last.at_ms + waitAfter(times, came) }];
  });
  return lost.toSorted((a, b) => a.since_ms - b.since_ms);
}
function at({ delivered_at }: Tried): number {
  return Date.parse(delivered_at);
}
/**
 * Each wait is longer than the one before. But what failed only while nothing at all came through, and anything has since,
 * waits no longer than at first; what fails beside others that come does.
 */
function waitAfter(tried: readonly number[], came: readonly number[]): number {
  const waits = limits.github_redelivery_waits_ms;
  const last = tried.at(-1) ?? 0;
  const before = tried.at(-2) ?? Number.NEGATIVE_INFINITY;
  const opened = (came.at(-1) ?? 0) > last && !((lastUntil(came, last) ?? before) > before);
  return waits[opened ? 0 : Math.min(tried.length, waits.length) - 1] ?? waits[0];
}
/** The last of `sorted` that is not after `until`. */
function lastUntil(sorted: readonly number[], until: number): number | undefined {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? until) <= until) from = middle + 1;
    else to = middle;
  }
  return sorted[from - 1];
}

/** Whether the list, newest first, has come to what GitHub brings no more. */
export function isTooOld(tries: readonly Tried[], now_ms: number): boolean {
  const oldest = tries.at(-1);
  return oldest === undefined || !isKept(oldest, now_ms);
}
/** Whether GitHub still brings it. */
export function isKept(one: Tried, now_ms: number): boolean {
  return at(one) >= now_ms - limits.github_redelivery_days_ms;
}
