/**
 * The deliveries that GitHub lists, as far back as it brings any again: read whole once, some pages at a look, and from
 * then on only what is new. Nothing of it is kept here: the next look may be another object's. [GHL-10] to [GHL-15]
 */
import { type GithubApp, GithubFailure } from "../../src/agents/github-port.ts";
import { limits } from "../../src/limits.ts";
import type { Page, Tries } from "./tries.ts";

export class Deliveries {
  readonly #tries: Tries;
  readonly #gone: (count: number) => void;
  /** `gone` is told, in the transaction that forgets them, how many GitHub keeps no more although they never came. */
  constructor(tries: Tries, gone: (count: number) => void) {
    this.#tries = tries;
    this.#gone = gone;
  }

  /** Reads on, and asks for what is due. Rejects when GitHub cannot be asked now; what was read stays read. */
  async look(app: GithubApp, now_ms: number): Promise<void> {
    try {
      if (await this.#read(app, now_ms)) {
        this.#letGo(now_ms);
        await this.#ask(app, now_ms);
      }
      this.#tries.answered();
    } catch (error) {
      this.#tries.failed(now_ms, error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  /** What its admin should know, in words. */
  problems(now_ms: number): string[] {
    const { cursor, overflows_until, failing_since, failed_at, failing_why } = this.#tries.standing();
    const lost = this.#tries.lost().length;
    const most = limits.github_redelivery_kept;
    return [
      ...(failing_since === null
        ? []
        : [
            // By then: after a start it stands until the next look, though GitHub may answer again.
            `As of ${moment(failed_at ?? failing_since)}, lost deliveries cannot be asked for since ${moment(failing_since)}: ${failing_why}`,
          ]),
      ...(now_ms < overflows_until
        ? [
            `GitHub has tried more than ${most} deliveries in three days: of older ones it is not known whether they came.`,
          ]
        : []),
      ...(lost === 0 ? [] : [`Deliveries that have not come yet: ${lost}. GitHub is asked for them again.`]),
      ...(cursor === null ? [] : ["GitHub's list of deliveries is still being read."]),
    ];
  }

  /** True once the list is whole, from its newest try at this look. */
  async #read(app: GithubApp, now_ms: number): Promise<boolean> {
    let { cursor } = this.#tries.standing();
    const anew = cursor === null;
    for (let count = 0; count < limits.github_redelivery_pages; count++) {
      const page = await this.#page(app, cursor);
      // What took several looks does not know what happened meanwhile.
      if (this.#tries.transaction(() => this.#tries.keep(page, now_ms))) return anew;
      cursor = page.next;
    }
    return false;
  }
  async #page(app: GithubApp, cursor: string | null): Promise<Page> {
    try {
      return await app.deliveries(cursor);
    } catch (error) {
      // Where GitHub does not know the place any more, it is begun anew.
      if (!(error instanceof GithubFailure && error.retryable))
        this.#tries.transaction(() => this.#tries.forgetReading());
      throw error;
    }
  }
  #letGo(now_ms: number): void {
    const gone = this.#tries.transaction(() => {
      const count = this.#tries.letGo(now_ms);
      if (count > 0) this.#gone(count);
      return count;
    });
    if (gone > 0) console.error(`github: ${gone} deliveries never came, and GitHub keeps them no more`);
  }
  async #ask(app: GithubApp, now_ms: number): Promise<void> {
    const due = this.#tries.lost().flatMap(({ id, due_ms }) => (due_ms <= now_ms ? [id] : []));
    // What could not be asked for comes after all others, so that it stands in no other's way.
    const later = this.#tries.later();
    const sorted = [...due.filter((id) => !later.has(id)), ...due.filter((id) => later.has(id))];
    let failures = 0;
    for (const id of sorted.slice(0, limits.github_redeliveries))
      try {
        await app.redeliver(id);
        this.#tries.asked(id, true);
      } catch (error) {
        this.#tries.asked(id, false);
        failures += 1;
        const limited = error instanceof GithubFailure && error.code === "rate_limited";
        if (limited || failures >= limits.github_redelivery_failures) throw error;
        console.warn(`github: delivery ${id} could not be asked for; it is asked for again later`, error);
      }
  }
}
function moment(at_ms: number): string {
  return new Date(at_ms).toISOString();
}
