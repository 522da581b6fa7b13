/**
 * Calls between actors, and from actors to services. A request and its reply are entries of the timeline: each takes
 * its time, either may be lost (the caller then hears an error, whatever the callee did), and a caller that has died
 * meanwhile hears nothing.
 */
import { actor, never } from "./actors.ts";
import type { CallFault, Faults } from "./faults.ts";
import type { Timeline } from "./timeline.ts";

export interface Call<T> {
  readonly to: string;
  readonly method: string;
  /** Runs at the callee when the request has arrived. */
  readonly answer: (fault: CallFault | null) => Promise<T>;
  /** What the caller hears when the request or the reply is lost. */
  readonly lost: () => Error;
}

export class Network {
  readonly #timeline: Timeline;
  readonly #faults: Faults;
  lost = 0;
  constructor(timeline: Timeline, faults: Faults) {
    this.#timeline = timeline;
    this.#faults = faults;
  }

  call<T>({ to, method, answer, lost }: Call<T>): Promise<T> {
    const from = actor();
    if (!from.alive) return never();
    const { random, trace } = this.#timeline;
    const fault = this.#faults.ofCall(from.name, to, method);
    const loses = fault?.lose ?? this.#loses();
    const what = `${from.name} -> ${to}.${method}`;
    return new Promise<T>((resolve, reject) => {
      const reply = (words: string, settle: () => void) =>
        this.#timeline.after(this.#delay(null, random.next()), `${what} ${words}`, () => {
          if (from.alive) settle();
        });
      const fails = () => {
        this.lost++;
        reply("is lost", () => reject(lost()));
      };
      this.#timeline.after(this.#delay(fault, random.next()), what, () => {
        if (loses === "request") {
          trace.note("the request is lost");
          return fails();
        }
        answer(fault).then(
          (value) => (loses === "reply" ? fails() : reply("answers", () => resolve(value))),
          (error: unknown) => reply("fails", () => reject(error)),
        );
      });
    });
  }

  #loses(): "request" | "reply" | null {
    if (this.#faults.chance("lose_request")) return "request";
    return this.#faults.chance("lose_reply") ? "reply" : null;
  }
  #delay(fault: CallFault | null, drawn: number): number {
    if (fault?.delay_ms !== undefined) return fault.delay_ms;
    return this.#faults.chance("slow_call") ? this.#faults.upTo("slow_call_ms") : 0.05 + drawn * 3;
  }
}
