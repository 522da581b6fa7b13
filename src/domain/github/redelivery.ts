/**
 * Which deliveries GitHub shall bring again: those of which no try ever got through. Decided from GitHub's own list alone,
 * so that nothing of it can be forgotten here. [GHL-10] [GHL-11]
 */
import { limits } from "../../limits.ts";

/** One try of GitHub's to bring a delivery; several have the same `guid`. */
export interface Tried {
  /** Decimal digits: they are above 2^53. */
  readonly id: string;
  readonly guid: string;
  readonly delivered_at: string;
  readonly ok: boolean;
}

/** Ids of tries to repeat, oldest delivery first, each the newest of its guid. */
export function toRepeat(tries: readonly Tried[], now_ms: number): string[] {
  const byGuid = Map.groupBy(tries, (one) => one.guid);
  const lost = [...byGuid.values()].flatMap((same) => {
    if (same.some((one) => one.ok) || same.length > limits.github_redelivery_tries) return [];
    const sorted = same.toSorted((a, b) => Date.parse(a.delivered_at) - Date.parse(b.delivered_at));
    const [first, last] = [sorted[0], sorted.at(-1)];
    if (first === undefined || last === undefined) return [];
    // Just sent: its answer may be under way.
    if (Date.parse(last.delivered_at) > now_ms - limits.github_redelivery_wait_ms) return [];
    return [{ id: last.id, since: Date.parse(first.delivered_at) }];
  });
  return lost
    .toSorted((a, b) => a.since - b.since)
    .slice(0, limits.github_redeliveries)
    .map(({ id }) => id);
}

/** Whether the list, newest first, has come to what GitHub brings no more. */
export function isTooOld(tries: readonly Tried[], now_ms: number): boolean {
  const oldest = tries.at(-1);
  return oldest === undefined || Date.parse(oldest.delivered_at) < now_ms - limits.github_redelivery_days_ms;
}
