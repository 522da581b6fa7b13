/**
 * One life of an object over its stored data. A life can be told to end at its nth crash point: before a write,
 * after it, before a commit, after it. Once it has ended nothing it still does has an effect; the data stays.
 */
import type { Sql, SqlValue } from "../../../durable-objects/sql.ts";

/** The power went. Whoever meets it is dead too, or calls somebody who is. */
export class Crash extends Error {
  constructor() {
    super("crashed");
    this.name = "Crash";
  }
}

/** Whether a statement writes is asked at every call and answered from here. */
const writing = new Map<string, boolean>();
function writes(query: string): boolean {
  const known = writing.get(query);
  if (known !== undefined) return known;
  const answer = !/^\s*(?:SELECT|WITH\b[^;]*\bSELECT)\b/i.test(query);
  writing.set(query, answer);
  return answer;
}

export class Life implements Sql {
  readonly #data: Sql;
  /** Crash points left until the end; below zero there is none. */
  #fuse = -1;
  dead = false;
  commits = 0;

  constructor(data: Sql) {
    this.#data = data;
  }
  arm(points: number): void {
    this.#fuse = points;
  }
  disarm(): void {
    this.#fuse = -1;
  }
  end(): void {
    this.dead = true;
  }

  all<T extends object>(query: string, ...params: readonly SqlValue[]): T[] {
    const write = this.#before(query);
    const rows = this.#data.all<T>(query, ...params);
    if (write) this.#point();
    return rows;
  }
  one<T extends object>(query: string, ...params: readonly SqlValue[]): T | null {
    const write = this.#before(query);
    const row = this.#data.one<T>(query, ...params);
    if (write) this.#point();
    return row;
  }
  run(query: string, ...params: readonly SqlValue[]): void {
    this.#point();
    this.#data.run(query, ...params);
    this.#point();
  }
  transaction<T>(fn: () => T): T {
    if (this.dead) throw new Crash();
    const done = this.#data.transaction(() => {
      const made = fn();
      // A caller may have caught the crash: what is dead commits nothing.
      this.#point();
      return made;
    });
    this.commits += 1;
    this.#point();
    return done;
  }

  /** True when the statement writes: then there is a crash point on both its sides. */
  #before(query: string): boolean {
    // Only a life that may end has to know what its statements do.
    const write = this.#fuse >= 0 && writes(query);
    if (write) this.#point();
    else if (this.dead) throw new Crash();
    return write;
  }
  #point(): void {
    if (this.#fuse === 0) this.dead = true;
    if (this.#fuse >= 0) this.#fuse -= 1;
    if (this.dead) throw new Crash();
  }
}
