/**
 * The whole service in one process, deterministic: the real object classes and the worker's real handlers over a
 * simulated Cloudflare, a virtual clock and a seeded scheduler. Same seed, same run, byte for byte (`trace.hash`).
 *
 *   await simulate(7, async (platform) => {
 *     const scope = await makeScope(platform, "a");              // scope/users.ts: people, plans, decisions
 *     platform.faults.crash({ object: `${scope.id}/runtime`, at: "after", decision: "merged" });
 *     platform.faults.call({ to: "sandboxes", method: "exec", lose: "reply" });
 *     platform.d1.down = true;                                    // also r2, host, messages, records (`slow_ms` on the last two)
 *     await platform.until(() => view().status === "done", 600_000);   // virtual time; throws when it does not come true
 *   });
 *
 * Nothing happens by itself: `step`, `pass(ms)`, `until(condition, ms)` and `done(promise)` let time go on. A promise of
 * the platform awaited without one of them never settles. Calls made outside an actor are made by `outside`, who never
 * dies and is not spared by faults: what you ask may be lost, as it may be for a person. See faults.ts for what can go
 * wrong; `faults.rates` sets chances, all 0 at first. `platform.object(name)` reaches an object's `disk` (its SQLite
 * database, to look at), `crash(why)` and `evict()`.
 */
import { createHmac } from "node:crypto";
import { AgentObject } from "../../../durable-objects/agent-object.ts";
import { PoolObject } from "../../../durable-objects/pool-object.ts";
import { RuntimeObject } from "../../../durable-objects/runtime-object.ts";
import type { KeySigner } from "../../../src/adapters/signer.ts";
import { type Bindings, provideWorld } from "../../../src/env.ts";
import worker from "../../../src/worker.ts";
import { MemorySandboxes } from "../../fakes/memory-sandboxes.ts";
import { type Random, random } from "../random.ts";
import { as } from "./actors.ts";
import { Faults } from "./faults.ts";
import { inWords, takeOver } from "./globals.ts";
import { Network } from "./network.ts";
import { type HostedObject, Namespace, type ObjectClass, type Parts } from "./objects.ts";
import { type Delivered, SimulatedQueue } from "./queues.ts";
import { type SandboxWatch, simulatedD1, simulatedR2, simulatedSandboxes } from "./services.ts";
import { Timeline } from "./timeline.ts";

const startMs = Date.UTC(2026, 0, 1);
const sweepMs = 60_000;
const migrations = new URL("../../../migrations", import.meta.url).pathname;

export class Platform {
  readonly seed: string;
  readonly random: Random;
  readonly timeline: Timeline;
  readonly faults: Faults;
  readonly network: Network;
  readonly env: Bindings;
  readonly memory: MemorySandboxes;
  readonly messages: SimulatedQueue;
  readonly records: SimulatedQueue;
  readonly d1: ReturnType<typeof simulatedD1>["service"];
  readonly r2: ReturnType<typeof simulatedR2>["service"];
  /** The sandboxes' host. */
  readonly host: ReturnType<typeof simulatedSandboxes>["service"];
  /** D1 as it stands, past the network. */
  readonly database: D1Database;
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  /** Everything that was put into R2, oldest first. */
  readonly blobsPut: readonly { readonly by: string; readonly key: string }[];
  /** Called before each call the host carries out. */
  watch: SandboxWatch = { before: () => {} };
  /** Called when an object's instance was made, before its first method. */
  born: (object: HostedObject) => void = () => {};
  sweeps = true;
  readonly #namespaces: readonly Namespace[];

  constructor(seed: string | number) {
    this.seed = String(seed);
    this.random = random(seed);
    this.timeline = new Timeline(this.random.fork("timeline"), startMs);
    this.faults = new Faults(this.random.fork("faults"));
    const { timeline, faults } = this;
    const network = new Network(timeline, faults);
    this.network = network;
    const parts: Parts = { timeline, faults, network, env: () => this.env, born: (object) => this.born(object) };
    const namespaces = {
      AGENT: new Namespace(AgentObject as ObjectClass, parts),
      RUNTIME: new Namespace(RuntimeObject as ObjectClass, parts),
      POOL: new Namespace(PoolObject as ObjectClass, parts),
    };
    this.#namespaces = Object.values(namespaces);
    const consume = async (batch: Delivered) => worker.queue(batch as unknown as MessageBatch<unknown>, this.env); // as much of a batch as the handler uses
    const queue = (name: string) => new SimulatedQueue(name, { timeline, faults, network, consume });
    this.messages = queue("agent-messages");
    this.records = queue("records");
    const d1 = simulatedD1(migrations, { network, faults });
    const r2 = simulatedR2({ network, faults });
    this.memory = new MemorySandboxes();
    const watch = { before: (method: string, args: readonly unknown[]) => this.watch.before(method, args) };
    const host = simulatedSandboxes(this.memory, watch, { network, faults });
    this.d1 = d1.service;
    this.database = d1.real;
    this.r2 = r2.service;
    this.blobs = r2.stored;
    this.blobsPut = r2.puts;
    this.host = host.service;
    const bindings = { ...namespaces, MESSAGES: this.messages, RECORDS: this.records, DB: d1.db, BLOBS: r2.bucket };
    // The platform's own types are wider than what the service uses of them.
    this.env = bindings as unknown as Bindings;
    provideWorld(this.env, { sandboxes: host.sandboxes, signer, missing: [], localHost: true });
    this.#sweep();
  }

  object(name: string): HostedObject {
    const [runtime, agent, pool] = [/\/runtime$/.test(name), name.includes("/"), name === "pool"];
    const at = runtime ? 1 : agent ? 0 : pool ? 2 : -1;
    const found = this.#namespaces[at]?.object(name);
    if (found === undefined) throw new Error(`there is no object ${name}`);
    return found;
  }
  objects(): HostedObject[] {
    return this.#namespaces.flatMap((namespace) => [...namespace.objects.values()]);
  }

  /** Every object at once, and what the queues held in memory; R2, D1 and the sandboxes' host stay. */
  powerCut(): void {
    for (const object of this.objects()) object.crash("in a power cut");
    for (const queue of [this.messages, this.records]) queue.lose();
  }

  step(): Promise<boolean> {
    return this.timeline.step();
  }
  /** Lets this much virtual time pass. */
  async pass(ms: number): Promise<void> {
    const until = this.timeline.now + ms;
    while (await this.timeline.step(until));
    this.timeline.now = until;
  }
  /** Goes on until it is so; throws when it is not within this much virtual time. */
  async until(condition: () => boolean, within_ms: number): Promise<void> {
    const until = this.timeline.now + within_ms;
    await this.timeline.settle();
    while (!condition())
      if (!(await this.timeline.step(until))) throw new Error(`it did not come true within ${within_ms} ms`);
  }
  /** Goes on until the promise is settled. */
  async done<T>(promise: Promise<T>, within_ms = 3_600_000): Promise<T> {
    let settled = false;
    const end = () => {
      settled = true;
    };
    promise.then(end, end);
    await this.until(() => settled, within_ms);
    return promise;
  }

  /** The minute's tick, as an invocation of its own. */
  #sweep(): void {
    this.timeline.after(sweepMs, "the minute's tick", () => {
      this.#sweep();
      if (!this.sweeps) return;
      const tick = { name: "cron", alive: true };
      void as(tick, async () => worker.scheduled({} as ScheduledController, this.env)).catch((error: unknown) =>
        this.timeline.trace.note(`the sweep ended: ${inWords(error)}`),
      );
    });
  }
}

/** Answers at once: WebCrypto works in threads, and their order is not ours. */
export const signer: KeySigner = {
  kid: "simulated",
  sign: async (text) => new Uint8Array(createHmac("sha512", "simulated").update(text).digest()),
  verify: async (kid, text, signature) =>
    kid === "simulated" && createHmac("sha512", "simulated").update(text).digest().equals(Buffer.from(signature)),
  jwks: () => ({ keys: [] }),
};

/** One run. The process's clock, timers, randomness and console are the simulation's until it ends. */
export async function simulate<T>(seed: string | number, use: (platform: Platform) => Promise<T>): Promise<T> {
  const platform = new Platform(seed);
  const restore = takeOver(platform.timeline, platform.random.fork("globals"));
  try {
    return await use(platform);
  } finally {
    restore();
  }
}
