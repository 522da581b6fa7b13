/**
 * One object to measure: the queue with its records, and beside it SQLite as it is, both in the object's own
 * storage. `sync` waits for the disk after each transaction; without it an answer waits, once, at its end.
 */
import { DurableObject } from "cloudflare:workers";
import { durableSql } from "../../../durable-objects/sql.ts";
import type { Message } from "../../../src/domain/message.ts";
import type { BenchEnv } from "./entry.ts";
import { MeasuredQueue } from "./measured-queue.ts";
import { messageAt, messagesOf, textAt } from "./messages.ts";
import { minimal, minimalSchema } from "./raw-sql.ts";

export interface Cycles {
  readonly series: string;
  readonly count: number;
  readonly facts: boolean;
  readonly sync: boolean;
}
export interface Many {
  readonly series: string;
  /** Calls of each kind, of `size` messages each. */
  readonly batches: number;
  readonly size: number;
}

export class BenchObject extends DurableObject<BenchEnv> {
  readonly #queue: MeasuredQueue;
  constructor(ctx: DurableObjectState, env: BenchEnv) {
    super(ctx, env);
    this.#queue = new MeasuredQueue(durableSql(ctx));
    ctx.storage.sql.exec(minimalSchema);
  }

  /** Enqueue, lease, ack: three transactions a cycle. */
  async cycles({ series, count, facts, sync }: Cycles): Promise<void> {
    this.#queue.facts = facts;
    for (let at = 0; at < count; at++) {
      this.#queue.enqueue(messageAt(series, at));
      if (sync) await this.ctx.storage.sync();
      const lease = this.#queue.lease();
      if (lease === null) throw new Error("an empty queue");
      if (sync) await this.ctx.storage.sync();
      this.#queue.ack(lease);
      if (sync) await this.ctx.storage.sync();
    }
  }
  /** The same three commits by three statements, with the runtime around them and nothing of the product. */
  async rawCycles({ series, count, sync }: Cycles): Promise<void> {
    const { sql } = this.ctx.storage;
    for (let at = 0; at < count; at++) {
      sql.exec(minimal.enqueue, `${series}-${at}`, textAt(series, at));
      if (sync) await this.ctx.storage.sync();
      const { id } = sql.exec<{ id: number }>(minimal.lease, `lease-${series}-${at}`, Date.now() + 300_000).one();
      if (sync) await this.ctx.storage.sync();
      sql.exec(minimal.ack, id, `lease-${series}-${at}`);
      if (sync) await this.ctx.storage.sync();
    }
  }

  /** All enqueued, then each leased and acked, one by one. */
  async bulk({ series, count }: { series: string; count: number }): Promise<void> {
    this.#queue.facts = true;
    for (let at = 0; at < count; at++) this.#queue.enqueue(messageAt(series, at));
    for (let lease = this.#queue.lease(); lease !== null; lease = this.#queue.lease()) this.#queue.ack(lease);
  }

  /** Batches: enqueue, lease, ack, each of one transaction. */
  async batches({ series, batches, size }: Many): Promise<void> {
    this.#queue.facts = true;
    for (let at = 0; at < batches; at++) {
      this.#queue.enqueueAll(messagesOf(`${series}-${at}`, size));
      await this.ctx.storage.sync();
      const leases = this.#queue.leaseMany(size);
      if (leases.length !== size) throw new Error(`${leases.length} of ${size} were leased`);
      await this.ctx.storage.sync();
      this.#queue.ackAll(leases);
      await this.ctx.storage.sync();
    }
  }

  async enqueue(message: Message): Promise<void> {
    this.#queue.enqueue(message);
  }
  async lease() {
    return this.#queue.lease();
  }
  async ack(lease: { lease_id: string; epoch: number }): Promise<void> {
    this.#queue.ack(lease);
  }
  async enqueueAll(messages: readonly Message[]): Promise<void> {
    this.#queue.enqueueAll(messages);
  }
  async leaseMany({ count }: { count: number }) {
    return this.#queue.leaseMany(count);
  }
  async ackAll(leases: readonly { lease_id: string; epoch: number }[]): Promise<void> {
    this.#queue.ackAll(leases);
  }

  /** Rows to lease from. Without facts: how the rows came does not matter to who leases them. */
  async fill({ series, count }: { series: string; count: number }): Promise<void> {
    this.#queue.facts = false;
    this.#queue.enqueueAll(messagesOf(series, count));
  }
  async backOff({ count }: { count: number }): Promise<void> {
    this.#queue.backOff(count);
  }
  /** Each its own transaction. */
  async leases({ count, sync }: { count: number; sync: boolean }): Promise<void> {
    this.#queue.facts = true;
    for (let at = 0; at < count; at++) {
      if (this.#queue.lease() === null) throw new Error("an empty queue");
      if (sync) await this.ctx.storage.sync();
    }
  }
  async giveBack(): Promise<void> {
    this.#queue.giveBack();
  }
}
