/**
 * The scheduler and the virtual clock. Everything that happens is an entry with a time; one is taken at a time, run,
 * and all microtasks it causes are drained before the next. The same seed gives the same entries in the same order,
 * which `trace.hash` proves.
 */
import type { Random } from "../random.ts";
import { Trace } from "./trace.ts";

export interface Entry {
  readonly at: number;
  readonly order: number;
  readonly what: string;
  /** Null once it was taken or cancelled. */
  run: (() => void) | null;
}

/** The real one: the code under test gets another. */
const { setImmediate } = globalThis;
const drained = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

export class Timeline {
  now: number;
  steps = 0;
  /** By how much the clock that everybody reads is wrong. */
  skew_ms = 0;
  readonly random: Random;
  readonly trace = new Trace();
  /** Called when a step and all it caused are done. What it throws ends the run. */
  afterStep: () => void = () => {};
  #order = 0;
  readonly #heap: Entry[] = [];

  constructor(random: Random, start_ms: number) {
    this.random = random;
    this.now = start_ms;
  }

  /** What clocks show, and alarms go by. */
  get clock(): number {
    return this.now + this.skew_ms;
  }
  after(ms: number, what: string, run: () => void): Entry {
    const entry: Entry = { at: this.now + Math.max(ms, 0), order: this.#order++, what, run };
    this.#push(entry);
    return entry;
  }
  cancel(entry: Entry): void {
    entry.run = null;
  }

  /** Runs the next entry. False when there is none, or none before `until`. */
  async step(until = Number.POSITIVE_INFINITY): Promise<boolean> {
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.at > until) return false;
      this.#pop();
      const { run } = next;
      if (run === null) continue;
      next.run = null;
      this.now = Math.max(this.now, next.at);
      this.steps++;
      this.trace.add(this.steps, this.now, next.what);
      run();
      await drained();
      this.afterStep();
      return true;
    }
  }
  /** Lets what was begun from outside run until it waits for the scheduler. */
  settle(): Promise<void> {
    return drained();
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || !before(entry, parent)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = entry;
  }
  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      if (left === undefined) break;
      const child = right !== undefined && before(right, left) ? right : left;
      if (!before(child, last)) break;
      heap[at] = child;
      at = child === left ? 2 * at + 1 : 2 * at + 2;
    }
    heap[at] = last;
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
