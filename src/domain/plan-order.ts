/**
 * What may run when: dependencies first, items that touch the same things one after the other, and
 * whatever waits for a failed item never. [PLAN-*]
 */
import { globsOverlap } from "./glob.ts";

interface Dependent {
  readonly id: string;
  readonly depends_on: readonly string[];
}
interface Touching {
  readonly touches: { readonly paths: readonly string[]; readonly services: readonly string[] };
}
/** Where an item stands: `open` is not yet dispatched, `failed` is failed for good. */
export type ItemProgress = "open" | "running" | "done" | "failed";

/** Dependencies before dependants, else as written. The plan was accepted, so a cycle here is a bug and throws. */
export function orderItems<T extends Dependent>(items: readonly T[]): T[] {
  const placed = new Set<string>();
  const ordered: T[] = [];
  while (ordered.length < items.length) {
    const next = items.find((item) => !placed.has(item.id) && item.depends_on.every((id) => placed.has(id)));
    if (next === undefined) throw new Error(`items wait for each other: ${(findCycle(items) ?? []).join(" -> ")}`);
    placed.add(next.id);
    ordered.push(next);
  }
  return ordered;
}

/** The items that may be dispatched now, all of them side by side. */
export function readyItems<T extends Dependent & Touching>(
  items: readonly T[],
  state: (id: string) => ItemProgress,
): T[] {
  const busy = items.filter((item) => state(item.id) === "running");
  const ready: T[] = [];
  for (const item of orderItems(items)) {
    if (state(item.id) !== "open" || !item.depends_on.every((id) => state(id) === "done")) continue;
    if ([...busy, ...ready].some((other) => touchesOverlap(item, other))) continue;
    ready.push(item);
  }
  return ready;
}

/** Ids of all items that wait, however far, for the given one; in order. */
export function blockedBy(items: readonly Dependent[], failedId: string): string[] {
  const blocked = new Set([failedId]);
  for (const item of orderItems(items)) if (item.depends_on.some((id) => blocked.has(id))) blocked.add(item.id);
  blocked.delete(failedId);
  return [...blocked];
}

/** Whether two items may not run side by side. A path also stands for what is below it, should it be a folder. */
export function touchesOverlap(left: Touching, right: Touching): boolean {
  if (left.touches.services.some((service) => right.touches.services.includes(service))) return true;
  return left.touches.paths.some((a) =>
    right.touches.paths.some((b) => globsOverlap(a, b) || globsOverlap(`${a}/**`, b) || globsOverlap(a, `${b}/**`)),
  );
}

/** Ids of one cycle, first and last the same; null when there is none. Unknown dependencies are passed over. */
export function findCycle(items: readonly Dependent[]): string[] | null {
  const known = new Map(items.map((item) => [item.id, item]));
  const clean = new Set<string>();
  for (const start of items) {
    const found = cycleFrom(start.id, known, clean);
    if (found !== null) return found;
  }
  return null;
}

/** Depth first without recursion; `clean` collects what leads to no cycle. */
function cycleFrom(start: string, known: ReadonlyMap<string, Dependent>, clean: Set<string>): string[] | null {
  const trail: { id: string; next: number }[] = [{ id: start, next: 0 }];
  for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
    const id = clean.has(top.id) ? undefined : known.get(top.id)?.depends_on[top.next++];
    if (id === undefined) {
      clean.add(top.id);
      trail.pop();
    } else if (trail.some((step) => step.id === id)) {
      const ids = trail.map((step) => step.id);
      return [...ids.slice(ids.indexOf(id)), id];
    } else if (known.has(id)) trail.push({ id, next: 0 });
  }
  return null;
}

/** Ids of everything the item waits for, however far. */
export function dependenciesOf(items: readonly Dependent[], id: string): Set<string> {
  const known = new Map(items.map((item) => [item.id, item]));
  const found = new Set<string>();
  const open = [...(known.get(id)?.depends_on ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    open.push(...(known.get(next)?.depends_on ?? []));
  }
  return found;
}
