/**
 * The deliveries that GitHub lists, as far back as it brings any again: read whole once, some pages at a look, and from
 * then on only what is new. Lost with the object, which then reads it anew. [GHL-10] to [GHL-14]
 */
import { type GithubApp, GithubFailure } from "../../src/agents/github-port.ts";
import { isKept, isTooOld, lostOf, type Tried } from "../../src/domain/github/redelivery.ts";
import { limits } from "../../src/limits.ts";

/** How far a reading of the list has come. */
interface Reading {
  readonly tries: Map<string, Tried>;
  cursor: string | null;
}

export class Deliveries {
  /** Newest first, without a gap. */
  #known: readonly Tried[] = [];
  #reading: Reading | null = null;
  #whole = false;
  /** Until then the list is longer than what is known of it. */
  #overflows_until = 0;
  #failing: { readonly since: string; readonly why: string } | null = null;
  /** Could not be asked for: they come after all others, so that none stands in another's way. */
  #later: ReadonlySet<string> = new Set();

  /**
   * Reads on, and asks for what is due. Answers how many GitHub keeps no more although they never came. Rejects when
   * GitHub cannot be asked now; what was read stays read.
   */
  async look(app: GithubApp, now_ms: number): Promise<number> {
    try {
      const whole = await this.#read(app, now_ms);
      if (!whole) return 0;
      const gone = this.#letGo(now_ms);
      await this.#ask(app, now_ms);
      this.#failing = null;
      return gone;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#failing ??= { since: new Date(now_ms).toISOString(), why };
      throw error;
    }
  }

  /** What its admin should know, in words. */
  problems(now_ms: number): string[] {
    const lost = lostOf(this.#known).length;
    const most = limits.github_redelivery_kept;
    return [
      ...(this.#failing === null
        ? []
        : [`Lost deliveries cannot be asked for since ${this.#failing.since}: ${this.#failing.why}`]),
      ...(now_ms < this.#overflows_until
        ? [
            `GitHub has tried more than ${most} deliveries in three days: of older ones it is not known whether they came.`,
          ]
        : []),
      ...(lost === 0 ? [] : [`Deliveries that have not come yet: ${lost}. GitHub is asked for them again.`]),
      ...(this.#whole || this.#reading === null ? [] : ["GitHub's list of deliveries is still being read."]),
    ];
  }

  /** True once the list is whole, from its newest try at this look. */
  async #read(app: GithubApp, now_ms: number): Promise<boolean> {
    const anew = this.#reading === null;
    const reading: Reading = this.#reading ?? { tries: new Map(), cursor: null };
    this.#reading = reading;
    const known = new Set(this.#known.map(({ id }) => id));
    for (let page = 0; page < limits.github_redelivery_pages; page++) {
      const { items, next } = await this.#page(app, reading.cursor);
      for (const one of items) if (!known.has(one.id) && isKept(one, now_ms)) reading.tries.set(one.id, one);
      reading.cursor = next;
      const full = reading.tries.size >= limits.github_redelivery_kept;
      if (next !== null && !full && !isTooOld(items, now_ms) && !items.some(({ id }) => known.has(id))) continue;
      this.#reading = null;
      const tries = [...reading.tries.values(), ...(full ? [] : this.#known)];
      this.#known = tries.slice(0, limits.github_redelivery_kept);
      if (full || tries.length > this.#known.length) this.#overflows_until = now_ms + limits.github_redelivery_days_ms;
      // What took several looks does not know what happened meanwhile.
      this.#whole ||= anew;
      return anew;
    }
    return false;
  }
  async #page(app: GithubApp, cursor: string | null) {
    try {
      return await app.deliveries(cursor);
    } catch (error) {
      // Where GitHub does not know the place any more, it is begun anew.
      if (!(error instanceof GithubFailure && error.retryable)) this.#reading = null;
      throw error;
    }
  }
  /** Forgets what GitHub keeps no more; says how many of it never came. */
  #letGo(now_ms: number): number {
    const before = lostOf(this.#known).length;
    this.#known = this.#known.filter((one) => isKept(one, now_ms));
    return before - lostOf(this.#known).length;
  }
  async #ask(app: GithubApp, now_ms: number): Promise<void> {
    const due = lostOf(this.#known).flatMap(({ id, due_ms }) => (due_ms <= now_ms ? [id] : []));
    const failed = new Set(due.filter((id) => this.#later.has(id)));
    const sorted = [...due.filter((id) => !failed.has(id)), ...failed].slice(0, limits.github_redeliveries);
    let failures = 0;
    this.#later = failed;
    for (const id of sorted)
      try {
        await app.redeliver(id);
        failed.delete(id);
      } catch (error) {
        failed.add(id);
        failures += 1;
        const limited = error instanceof GithubFailure && error.code === "rate_limited";
        if (limited || failures >= limits.github_redelivery_failures) throw error;
        console.warn(`github: delivery ${id} could not be asked for; it is asked for again later`, error);
      }
  }
}
