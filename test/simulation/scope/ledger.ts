/** The laws of the simulation, held after every step over the objects it touched. A broken one throws a `Violation`. */
import type { Disk } from "../platform/disk.ts";
import type { Platform } from "../platform/platform.ts";
import { changesOf, watch } from "./changes.ts";
import { EndLaws } from "./end-laws.ts";
import { deadEnds } from "./ends.ts";
import { QueueLaws, scopeOf, Violation } from "./queue-laws.ts";
import { WorkLaws } from "./work-laws.ts";

export { Violation } from "./queue-laws.ts";

/** How often, in steps, the open tasks of each scope that something changed in are asked what will move them. */
const deadEndsEvery = 25;

export class Ledger {
  readonly queues = new QueueLaws();
  readonly work: WorkLaws;
  readonly ends: EndLaws;
  readonly #platform: Platform;
  readonly #watched: Disk[] = [];
  /** Scopes that something changed in since they were looked through. */
  readonly #changed = new Set<string>();
  #published = 0;

  constructor(platform: Platform) {
    this.#platform = platform;
    this.work = new WorkLaws(platform);
    this.ends = new EndLaws(platform);
    platform.born = ({ disk }) => {
      if (disk.name === "pool" || this.#watched.includes(disk)) return;
      watch(disk);
      this.#watched.push(disk);
    };
    platform.timeline.afterStep = () => this.#check();
  }
  #check(): void {
    this.work.calls();
    this.ends.blobs();
    if (this.work.counts.published > this.#published) this.ends.pushes();
    this.#published = this.work.counts.published;
    for (const disk of this.#watched) {
      if (!disk.touched) continue;
      disk.touched = false;
      const changes = changesOf(disk);
      if (changes.length === 0) continue;
      this.queues.check(disk, changes);
      this.work.check(disk, changes);
      this.ends.check(disk, changes);
      this.#changed.add(scopeOf(disk.name));
    }
    if (this.#platform.timeline.steps % deadEndsEvery !== 0) return;
    this.#lookAt(this.#changed);
    this.#changed.clear();
  }
  lookForDeadEnds(): void {
    const scopes = new Set(
      this.#watched.filter(({ name }) => name.endsWith("/runtime")).map(({ name }) => scopeOf(name)),
    );
    this.#lookAt(scopes);
  }
  #lookAt(scopes: ReadonlySet<string>): void {
    for (const scope of scopes) {
      const [first] = deadEnds(this.#platform, scope);
      if (first !== undefined) throw new Violation(first);
    }
  }
}

/** To be called before the first object is made. */
export function watchScopes(platform: Platform): Ledger {
  return new Ledger(platform);
}
