/** The product's queue with the stores its objects keep beside it, each call one transaction as in the objects. */
import { AuditLog, auditSchema } from "../../../durable-objects/audit-log.ts";
import { DurableQueue, type Lease } from "../../../durable-objects/durable-queue.ts";
import { queueSchema } from "../../../durable-objects/queue-rows.ts";
import { newId } from "../../../durable-objects/random.ts";
import { applySchemas, type Sql } from "../../../durable-objects/sql.ts";
import { TelemetryLog, telemetrySchema } from "../../../durable-objects/telemetry-log.ts";
import type { Message } from "../../../src/domain/message.ts";
import type { LeaseRef, QueueFacts } from "../../../src/domain/queue.ts";
import { limits } from "../../../src/limits.ts";

const inbox = "inbox";
const object = "scopescopescope1/proxy";
const holder = "proxy";
const hourMs = 3_600_000;

export class MeasuredQueue {
  readonly #sql: Sql;
  readonly #queue: DurableQueue;
  readonly #audit: AuditLog;
  readonly #telemetry: TelemetryLog;
  /** Without facts only the queue itself is measured: nothing in the product runs so. */
  facts = true;

  constructor(sql: Sql) {
    applySchemas(sql, { queue: queueSchema, audit: auditSchema, telemetry: telemetrySchema });
    this.#sql = sql;
    this.#queue = new DurableQueue(sql);
    this.#audit = new AuditLog(sql);
    this.#telemetry = new TelemetryLog(sql);
  }

  enqueue(message: Message): void {
    const now = Date.now();
    this.#sql.transaction(() => this.#record(this.#queue.enqueue(inbox, message, {}, now).facts, now));
  }
  lease(): Lease | null {
    const now = Date.now();
    return this.#sql.transaction(() => {
      const request = { holder, lease_id: newId(), lease_ms: limits.lease_ms, many: true };
      const { lease, facts } = this.#queue.lease(inbox, request, now);
      this.#record(facts, now);
      return lease;
    });
  }
  ack(lease: LeaseRef): void {
    const now = Date.now();
    this.#sql.transaction(() => {
      const acked = this.#queue.ack(lease, now);
      if (!acked.ok) throw new Error(`a lease of our own was refused: ${acked.refusal.detail}`);
      this.#record(acked.value, now);
    });
  }

  enqueueAll(messages: readonly Message[]): void {
    const now = Date.now();
    this.#sql.transaction(() => this.#record(this.#queue.enqueueAll(inbox, messages, now).facts, now));
  }
  leaseMany(count: number): readonly Lease[] {
    const now = Date.now();
    return this.#sql.transaction(() => {
      const lease_ids = Array.from({ length: count }, newId);
      const request = { holder, lease_ids, lease_ms: limits.lease_ms };
      const { leases, facts } = this.#queue.leaseMany(inbox, request, count, now);
      this.#record(facts, now);
      return leases;
    });
  }
  ackAll(leases: readonly LeaseRef[]): void {
    const now = Date.now();
    this.#sql.transaction(() => this.#record(this.#queue.ackAll(leases, now).facts, now));
  }

  /** Every lease ends and its row returns to the queue. */
  giveBack(): void {
    const now = Date.now();
    this.#sql.transaction(() => this.#queue.requeueOwn(inbox, now));
  }
  /** The next rows are leased and given back at once, so that they back off. */
  backOff(count: number): void {
    const now = Date.now();
    this.#sql.transaction(() => {
      const request = { holder, lease_ids: Array.from({ length: count }, newId), lease_ms: 2 * hourMs };
      const { leases } = this.#queue.leaseMany(inbox, request, count, now);
      if (leases.length !== count) throw new Error("nothing to give back");
      // Given back an hour from now: the rows must not come round while the others are measured.
      for (const lease of leases) this.#queue.nack(lease, "measured", 0.5, now + hourMs);
    });
  }

  #record(facts: QueueFacts, now: number): void {
    if (!this.facts) return;
    this.#audit.appendAll(
      facts.audit.map((event) => ({ ...event, object })),
      now,
    );
    this.#telemetry.append(object, facts.telemetry, now);
  }
}
