/**
 * Durable Objects: one live instance of each at most, made at the first call or alarm and lost at any moment. Calls
 * between them pass the network; arguments and results are copied. Alarms ring at least once, never while one runs,
 * maybe late; one that throws is tried six times more and then never again; one whose object dies is run again.
 */
import { type Actor, as, Gone } from "./actors.ts";
import { Disk, Storage } from "./disk.ts";
import type { CallFault, Faults } from "./faults.ts";
import { inWords } from "./globals.ts";
import type { Network } from "./network.ts";
import type { Entry, Timeline } from "./timeline.ts";

type Method = (...args: unknown[]) => Promise<unknown>;
/** An object as the platform sees it: methods by name. */
type Methods = Readonly<Record<string, Method | undefined>>;
export type ObjectClass = new (ctx: DurableObjectState, env: never) => object;

interface Instance extends Actor {
  readonly object: Methods;
  /** The callers that wait for this instance. */
  readonly waiting: Set<(lost: Error) => void>;
  /** While it is set, nobody is let in. */
  gate: Promise<unknown> | null;
}
export interface Parts {
  readonly timeline: Timeline;
  readonly faults: Faults;
  readonly network: Network;
  readonly env: () => unknown;
  /** An instance was constructed, and no method of it has run yet. */
  readonly born: (object: HostedObject) => void;
}

const alarmRetries = 6;
const alarmFirstRetryMs = 2_000;

export class HostedObject {
  readonly disk: Disk;
  crashes = 0;
  readonly #parts: Parts;
  readonly #class: ObjectClass;
  #instance: Instance | null = null;
  #ring: Entry | null = null;
  #ringing = false;
  #failures = 0;

  constructor(name: string, made: ObjectClass, parts: Parts) {
    this.disk = new Disk(name);
    this.#class = made;
    this.#parts = parts;
  }
  get name(): string {
    return this.disk.name;
  }
  get alive(): boolean {
    return this.#instance !== null;
  }

  /** Runs a method at the live instance. Rejects when it dies before its answer. */
  async invoke(method: string, args: unknown[], fault: CallFault | null = null): Promise<unknown> {
    if (fault?.crash === "before") {
      this.crash("before a call");
      throw new Error(`${this.name}: the object was reset`);
    }
    const instance = this.#live();
    let heard: (lost: Error) => void = () => {};
    const lost = new Promise<never>((_, reject) => {
      heard = reject;
    });
    lost.catch(() => {}); // whoever waits hears of it; often nobody does
    instance.waiting.add(heard);
    try {
      while (instance.gate !== null) await Promise.race([instance.gate, lost]);
      const work = as(instance, async () => {
        const called = instance.object[method];
        if (called === undefined) throw new TypeError(`${this.name} has no method ${method}`);
        return called.apply(instance.object, args);
      });
      const result = structuredClone(await Promise.race([work, lost]));
      if (fault?.crash === "after") {
        this.crash("before its reply");
        throw new Error(`${this.name}: the object was reset`);
      }
      return result;
    } finally {
      instance.waiting.delete(heard);
    }
  }

  /** The instance is gone with all it had in memory; what it committed stays. */
  crash(why: string): void {
    const instance = this.#instance;
    this.#parts.timeline.trace.note(`${this.name} crashes ${why}`);
    this.crashes++;
    if (instance !== null) this.#end(instance);
  }
  /** As the platform does to an idle object: nothing is told to anybody. False when it is at work. */
  evict(): boolean {
    const instance = this.#instance;
    if (instance === null || instance.waiting.size > 0 || instance.gate !== null || this.#ringing) return false;
    this.#parts.timeline.trace.note(`${this.name} is evicted`);
    this.#end(instance);
    return true;
  }
  #end(instance: Instance): void {
    instance.alive = false;
    if (this.#instance === instance) this.#instance = null;
    const lost = new Error(`${this.name}: the object was reset`);
    for (const heard of instance.waiting) heard(lost);
    instance.waiting.clear();
  }

  #live(): Instance {
    if (this.#instance !== null) return this.#instance;
    const owner: Actor = { name: this.name, alive: true };
    const state = this.#state(owner);
    let instance: Instance | null = null;
    const fail = () => {
      owner.alive = false;
      if (instance !== null) this.#end(instance);
    };
    const gates: (() => Promise<unknown>)[] = [];
    const ctx = {
      ...state,
      blockConcurrencyWhile: (act: () => Promise<unknown>) => {
        gates.push(act);
        return Promise.resolve();
      },
    };
    try {
      // The class gets a context with all that it uses; the rest of the platform's type is not here.
      const object = as(owner, () => new this.#class(ctx as unknown as DurableObjectState, this.#parts.env() as never));
      if (!owner.alive) throw new Gone(this.name);
      instance = Object.assign(owner, {
        object: object as Methods,
        waiting: new Set<(lost: Error) => void>(),
        gate: null,
      });
    } catch (thrown) {
      owner.alive = false;
      throw thrown instanceof Gone ? new Error(`${this.name}: the object was reset`) : thrown;
    }
    this.#instance = instance;
    this.#parts.born(this);
    const made = instance;
    for (const act of gates) {
      const open: Promise<unknown> = as(made, act).then(
        () => {
          if (made.gate === open) made.gate = null;
        },
        () => fail(),
      );
      made.gate = open;
    }
    return made;
  }
  #state(owner: Actor) {
    const { timeline, faults } = this.#parts;
    const storage = new Storage({
      disk: this.disk,
      owner,
      faults,
      crash: (why) => {
        owner.alive = false;
        timeline.trace.note(`${this.name} crashes ${why}`);
        this.crashes++;
        if (this.#instance !== null && (this.#instance as Actor) === owner) this.#end(this.#instance);
      },
      alarmed: () => this.#setRing(),
    });
    return {
      id: { name: this.name, toString: () => this.name },
      storage,
      waitUntil: (work: Promise<unknown>) => void work.catch(() => {}),
      acceptWebSocket: () => {},
      getWebSockets: () => [],
    };
  }

  // --- the alarm

  #setRing(delay = 0): void {
    const { timeline, faults } = this.#parts;
    if (this.#ring !== null) timeline.cancel(this.#ring);
    this.#ring = null;
    const { alarm } = this.disk;
    if (alarm === null || this.#ringing) return;
    const late = faults.chance("alarm_late") ? timeline.random.int(30_000) : timeline.random.next();
    const wait = Math.max(alarm - timeline.clock, delay) + late;
    this.#ring = timeline.after(wait, `alarm of ${this.name}`, () => void this.#rings());
  }
  async #rings(): Promise<void> {
    const { timeline, faults } = this.#parts;
    this.#ring = null;
    this.disk.alarm = null;
    if (faults.chance("alarm_lost")) {
      timeline.trace.note("the alarm is lost");
      return;
    }
    this.#ringing = true;
    let again: number | null = null;
    try {
      await this.invoke("alarm", []);
      this.#failures = 0;
    } catch (error) {
      again = this.#afterFailure(error);
    }
    this.#ringing = false;
    if (again !== null) this.disk.alarm = Math.min(this.disk.alarm ?? Number.POSITIVE_INFINITY, timeline.clock + again);
    this.#setRing();
  }
  /** In how long it is tried again; null when never. A crash is no failure of the alarm's own. */
  #afterFailure(error: unknown): number | null {
    const { trace } = this.#parts.timeline;
    trace.note(`the alarm of ${this.name} ends: ${inWords(error)}`);
    if (this.#instance === null) return alarmFirstRetryMs;
    this.#failures++;
    if (this.#failures <= alarmRetries) return alarmFirstRetryMs * 2 ** (this.#failures - 1);
    trace.note(`the alarm of ${this.name} is given up`);
    this.#failures = 0;
    return null;
  }
}

/** One binding: objects by name. */
export class Namespace {
  readonly objects = new Map<string, HostedObject>();
  readonly #class: ObjectClass;
  readonly #parts: Parts;
  constructor(made: ObjectClass, parts: Parts) {
    this.#class = made;
    this.#parts = parts;
  }
  object(name: string): HostedObject {
    const known = this.objects.get(name) ?? new HostedObject(name, this.#class, this.#parts);
    this.objects.set(name, known);
    return known;
  }
  getByName(name: string): object {
    const { network } = this.#parts;
    const lost = () => new Error(`${name}: Network connection lost.`);
    return new Proxy(
      {},
      {
        get: (_, method) => {
          if (typeof method !== "string" || method === "then") return undefined;
          return (...args: unknown[]) => {
            const sent = structuredClone(args);
            const answer = (fault: CallFault | null) => this.object(name).invoke(method, sent, fault);
            return network.call({ to: name, method, answer, lost });
          };
        },
      },
    );
  }
}
