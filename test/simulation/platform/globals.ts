/**
 * Takes over what the code under test reads from the world without being given it: the clock, timers, randomness and
 * the console. One run at a time a process; `restore` puts everything back.
 */
import type { Random } from "../random.ts";
import { type Actor, actor, as, Gone } from "./actors.ts";
import type { Entry, Timeline } from "./timeline.ts";

const RealDate = globalThis.Date;
let taken = false;

export function takeOver(timeline: Timeline, random: Random): () => void {
  if (taken) throw new Error("a simulation is running in this process");
  taken = true;
  const now = () => Math.floor(timeline.clock);
  class VirtualDate extends RealDate {
    constructor(...given: readonly unknown[]) {
      // Date has as many forms as arguments; without any it is the clock.
      if (given.length === 0) super(now());
      else super(...(given as [number]));
    }
    static override now(): number {
      return now();
    }
  }
  const timers = new Map<object, Entry>();
  const setTimer = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    const who: Actor = actor();
    const timer = { ref: () => timer, unref: () => timer };
    const ring = () => {
      timers.delete(timer);
      if (who.alive) as(who, () => run(...args));
    };
    if (who.alive) timers.set(timer, timeline.after(Math.floor(ms), `timer of ${who.name}`, ring));
    return timer;
  };
  const clearTimer = (timer: object | undefined) => {
    const entry = timer === undefined ? undefined : timers.get(timer);
    if (entry === undefined || timer === undefined) return;
    timers.delete(timer);
    timeline.cancel(entry);
  };
  const say =
    (level: string) =>
    (...said: unknown[]) => {
      const who = actor();
      if (who.alive) timeline.trace.note(`${who.name} ${level}: ${said.map(inWords).join(" ")}`);
    };
  const replaced = [
    put(globalThis, "Date", VirtualDate),
    put(globalThis, "setTimeout", setTimer),
    put(globalThis, "clearTimeout", clearTimer),
    put(Math, "random", () => random.next()),
    put(performance, "now", () => timeline.now),
    put(crypto, "getRandomValues", (into: Uint8Array) => {
      into.set(random.bytes(into.length));
      return into;
    }),
    ...(["log", "warn", "error", "info"] as const).map((level) => put(console, level, say(level))),
  ];
  // A promise nobody waits for any more is no end of the process on the platform either.
  const listeners = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  const unheard = (reason: unknown) => {
    if (!(reason instanceof Gone)) timeline.trace.note(`nobody waited for: ${inWords(reason)}`);
  };
  process.on("unhandledRejection", unheard);
  return () => {
    process.off("unhandledRejection", unheard);
    for (const listener of listeners) process.on("unhandledRejection", listener);
    for (const restore of replaced) restore();
    taken = false;
  };
}

function put(target: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
  return () => {
    if (before === undefined) Reflect.deleteProperty(target, name);
    else Object.defineProperty(target, name, before);
  };
}

export function inWords(value: unknown): string {
  if (value instanceof Error) return value.message;
  return typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
}
