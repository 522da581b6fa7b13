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

/** What no try brought, oldest first. Of what GitHub tried first before the list begins nothing is known: it is left out. */
export function lostOf(tries: readonly Tried[]): Lost[] {
  const came = tries
    .filter(({ ok }) => ok)
    .map(at)
    .toSorted((a, b) => a - b);
  const lost = [...Map.groupBy(tries, ({ guid }) => guid).values()].flatMap((same) => {
    if (same.some(({ ok }) => ok)) return [];
    const sorted = same.toSorted((a, b) => at(a) - at(b));
    const [first, last] = [sorted[0], sorted.at(-1)];
    if (first === undefined || last === undefined || first.redelivery) return [];
    return [{ id: last.id, since_ms: at(first), due_ms: at(last) + waitAfter(sorted.map(at), came) }];
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
  const opened = (came.at(-1) ?? 0) > last && !((came.findLast((one) => one <= last) ?? before) > before);
  return waits[opened ? 0 : Math.min(tried.length, waits.length) - 1] ?? waits[0];
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
