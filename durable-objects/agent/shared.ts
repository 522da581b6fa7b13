/**
 * Work from the scope's shared queue, for executors: the deployment's slot first, then the row. Its lease is the
 * runtime's, so it is kept by asking there; a row that was answered here is never begun again. [AGO-*]
 */
import { type Message, partyOf } from "../../src/domain/message.ts";
import { isResearcher } from "../../src/domain/research-crew.ts";
import type { Lease } from "../durable-queue.ts";
import type { AgentRemotes } from "./remotes.ts";
import type { Run } from "./runs.ts";
import type { AgentStores } from "./stores.ts";

/** Marks of work from the scope's shared queue that this agent has answered. */
const shared = "executor_queue";
const noSlotRetryMs = 2_000;
const resultRetryMs = 1_000;

export class SharedWork {
  readonly #stores: AgentStores;
  readonly #remotes: AgentRemotes;
  #claimAgainAt = 0;
  constructor(stores: AgentStores, remotes: AgentRemotes) {
    this.#stores = stores;
    this.#remotes = remotes;
  }

  /** Whether this agent takes such work at all. */
  isMine(): boolean {
    return partyOf(this.#stores.self.identity().name) === "executor";
  }
  isDue(now: number): boolean {
    return this.isMine() && this.#stores.runs.count() === 0 && now >= this.#claimAgainAt;
  }
  /** There may be something now: asks at the next turn. */
  askAgain(): void {
    this.#claimAgainAt = 0;
  }
  /** Null when the agent takes no such work now, or nothing is worth asking for until it is poked. */
  nextDueAt(now: number): number | null {
    const { runs, self } = this.#stores;
    const free = self.read()?.state === "active" && this.isMine() && runs.count() === 0;
    return free && Number.isFinite(this.#claimAgainAt) ? Math.max(now, this.#claimAgainAt) : null;
  }

  /** Null when there is no slot, no row, or only one that was answered before. `id` is that of its run. */
  async claim(): Promise<{ readonly id: string; readonly lease: Lease } | null> {
    const { scope, name } = this.#stores.self.identity();
    if (!(await this.#hasSlot())) {
      this.#claimAgainAt = Date.now() + noSlotRetryMs;
      return null;
    }
    const lease = await this.#remotes.runtime().claim(scope, name);
    const id = lease === null ? "" : `${lease.message.message_id}.${lease.epoch}`;
    if (lease === null || this.#stores.queue.hasProcessed(shared, id)) {
      // A row whose result is still on its way is leased to us until the runtime has it.
      this.#claimAgainAt = lease === null ? Number.POSITIVE_INFINITY : Date.now() + resultRetryMs;
      await this.release();
      return null;
    }
    return { id, lease };
  }
  /** Within the transaction that ends the run. */
  answered(id: string, message: Message, now: number): void {
    this.#stores.queue.markProcessed(shared, { ...message, message_id: id }, now);
  }
  /** Keeps the lease and the slot; false when the lease is lost. */
  async keep(run: Run): Promise<boolean> {
    const { scope, name } = this.#stores.self.identity();
    const kept = await this.#remotes.runtime().heartbeat(scope, name, run.lease, run.owner);
    await this.#hasSlot();
    return kept;
  }
  /** A researcher needs none: a scope has only two of them, and they wait for no attempt. */
  async #hasSlot(): Promise<boolean> {
    const { scope, name } = this.#stores.self.identity();
    return isResearcher(name) || this.#remotes.pool().acquire(scope, `${scope}/${name}`);
  }
  async release(): Promise<void> {
    const { scope, name } = this.#stores.self.identity();
    if (!isResearcher(name)) await this.#remotes.pool().release(`${scope}/${name}`);
  }
}
