/**
 * Who is running. Every piece of code of the simulated platform runs as an actor: an object's instance, a worker's
 * invocation, a service, a user. What a dead actor still does has no effect: its calls never answer, its timers never
 * ring, its storage throws `Gone`.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export interface Actor {
  readonly name: string;
  alive: boolean;
}

/** Thrown inside an instance that has crashed, wherever it next touches its storage. Nobody outside ever sees it. */
export class Gone extends Error {
  constructor(name: string) {
    super(`${name} has crashed`);
    this.name = "Gone";
  }
}

const running = new AsyncLocalStorage<Actor>();
const outside: Actor = { name: "outside", alive: true };

export function actor(): Actor {
  return running.getStore() ?? outside;
}
export function as<T>(who: Actor, act: () => T): T {
  return running.run(who, act);
}
/** An answer that never comes: what a dead actor waits for. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => {});
}
