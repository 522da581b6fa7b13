/**
 * One client's line to a service that dies again and again: a request is sent until it is answered, some answers are
 * thrown away on purpose, and while the service is known to be down nothing is sent at all.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../simulation/random.ts";

/** Long enough for a start on a machine that does much else. */
const triesMost = 3_000;
const answerWithinMs = 20_000;
const againAfterMs = 60;
const dropWithinMs = 40;
const dropShare = 0.25;

export interface Target {
  readonly url: string;
  readonly token: string;
  /** Settles once the service is believed to be up. */
  up(): Promise<void>;
}
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly sent: number;
  readonly dropped: number;
}

export class Line {
  readonly #target: Target;
  readonly #random: Random;
  constructor(target: Target, random: Random) {
    this.#target = target;
    this.#random = random;
  }

  get(path: string): Promise<Answer> {
    return this.#until(path, {}, false);
  }
  /** Some of its answers are lost, though never the last one. */
  post(path: string, body: unknown, key?: string): Promise<Answer> {
    const headers = { "content-type": "application/json", ...(key === undefined ? {} : { "idempotency-key": key }) };
    return this.#until(path, { method: "POST", headers, body: JSON.stringify(body) }, true);
  }

  async #until(path: string, init: RequestInit, mayDrop: boolean): Promise<Answer> {
    let dropped = 0;
    for (let sent = 1; sent <= triesMost; sent++) {
      await this.#target.up();
      const drop = mayDrop && sent <= 2 && this.#random.chance(dropShare);
      const answer = await this.#once(path, init, drop ? this.#random.int(dropWithinMs) : answerWithinMs);
      if (answer !== null && answer.status < 500 && answer.status !== 429 && !drop) return { ...answer, sent, dropped };
      if (drop) dropped += 1;
      else await sleep(againAfterMs + this.#random.int(againAfterMs));
    }
    throw new Error(`${path} was never answered`);
  }
  /** Null when no answer came within the time: the request may have been served all the same. */
  async #once(path: string, init: RequestInit, withinMs: number): Promise<{ status: number; body: unknown } | null> {
    try {
      const response = await fetch(this.#target.url + path, {
        ...init,
        headers: { authorization: `Bearer ${this.#target.token}`, ...init.headers },
        signal: AbortSignal.timeout(withinMs),
      });
      return { status: response.status, body: await response.json() };
    } catch {
      return null;
    }
  }
}
