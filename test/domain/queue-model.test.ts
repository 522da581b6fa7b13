import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DurableQueue } from "../../durable-objects/durable-queue.ts";
import { queueSchema } from "../../durable-objects/queue-rows.ts";
import { applySchema } from "../../durable-objects/sql.ts";
import { backoffMs, type LeaseRef } from "../../src/domain/queue.ts";
import { testMessage } from "../fakes/messages.ts";
import { nodeSql } from "../fakes/node-sql.ts";

const command = fc.oneof(
  fc.record({ do: fc.constant("enqueue" as const), number: fc.nat(15), priority: fc.nat(2) }),
  fc.record({ do: fc.constant("lease" as const), holder: fc.constantFrom("crew-1", "crew-2"), many: fc.boolean() }),
  fc.record({
    do: fc.constant("use" as const),
    how: fc.constantFrom("ack" as const, "nack" as const, "heartbeat" as const, "bury" as const),
    nth: fc.nat(30),
  }),
  fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(1, 500, 1_500, 60_000) }),
  fc.record({
    do: fc.constant("sweep" as const),
    how: fc.constantFrom("expire" as const, "restart" as const, "revive" as const),
  }),
);
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;
type Of<D extends Command["do"]> = Extract<Command, { do: D }>;

interface Row {
  readonly id: string;
  readonly priority: number;
  state: "queued" | "leased" | "dead" | "acked";
  deliveries: number;
  available_at: number;
  held: { lease_id: string; holder: string; expires_at: number } | null;
}
const max_deliveries = 3;
const lease_ms = 2_000;

/** The store beside what a queue is, said as plainly as possible: both are asked the same and must answer the same. */
class Pair {
  readonly sql = nodeSql();
  readonly rows: Row[] = [];
  readonly granted: LeaseRef[] = [];
  readonly queue: DurableQueue;
  now = 1_000;
  constructor() {
    applySchema(this.sql, "queue", queueSchema);
    this.queue = new DurableQueue(this.sql);
  }

  apply(asked: Command): void {
    if (asked.do === "pass") this.now += asked.ms;
    else if (asked.do === "enqueue") this.enqueue(asked);
    else if (asked.do === "lease") this.lease(asked);
    else if (asked.do === "use") this.use(asked);
    else this.sweep(asked);
    this.compare();
  }

  enqueue({ number, priority }: Of<"enqueue">): void {
    const message = testMessage(number);
    const known = this.rows.some((row) => row.id === message.message_id);
    const { outcome } = this.queue.enqueue("work", message, { priority, max_deliveries }, this.now);
    expect(outcome).toBe(known ? "duplicate" : "accepted");
    if (!known)
      this.rows.push({
        id: message.message_id,
        priority,
        state: "queued",
        deliveries: 0,
        available_at: this.now,
        held: null,
      });
  }

  lease({ holder, many }: Of<"lease">): void {
    const lease_id = `lease-${this.granted.length}`;
    const { lease } = this.queue.lease("work", { holder, lease_id, lease_ms, many }, this.now);
    const own = this.rows.filter((row) => row.held?.holder === holder && row.held.expires_at > this.now);
    if (!many && own.length > 0) {
      expect(own.map((row) => row.held?.lease_id)).toContain(lease?.lease_id);
      return;
    }
    const eligible = this.rows.filter((row) => row.state === "queued" && row.available_at <= this.now);
    const top = Math.max(...eligible.map((row) => row.priority));
    const next = eligible.find((row) => row.priority === top);
    expect(lease?.message.message_id).toBe(next?.id);
    if (lease === null || next === undefined) return;
    next.state = "leased";
    next.deliveries += 1;
    next.held = { lease_id, holder, expires_at: this.now + lease_ms };
    expect(lease.deliveries).toBe(next.deliveries);
    this.granted.push(lease);
  }

  use({ how, nth }: Of<"use">): void {
    const ref = this.granted[nth % Math.max(1, this.granted.length)];
    if (ref === undefined) return;
    const row = this.rows.find((one) => one.held?.lease_id === ref.lease_id && one.held.expires_at > this.now);
    const before = this.stored();
    const done = {
      ack: () => this.queue.ack(ref, this.now),
      nack: () => this.queue.nack(ref, "later", 0.5, this.now),
      bury: () => this.queue.deadLetter(ref, "never", this.now),
      heartbeat: () => this.queue.heartbeat(ref, this.now, 3_000),
    }[how]();
    expect(done.ok).toBe(row !== undefined);
    if (row === undefined) expect(this.stored()).toBe(before);
    else if (how === "ack") Object.assign(row, { state: "acked", held: null });
    else if (how === "bury") Object.assign(row, { state: "dead", held: null });
    else if (how === "nack") giveBack(row, this.now + backoffMs(row.deliveries, 0.5));
    else if (row.held !== null) row.held.expires_at = Math.max(row.held.expires_at, this.now + 3_000);
  }

  sweep({ how }: Of<"sweep">): void {
    if (how === "expire") {
      this.queue.expire(this.now);
      for (const row of this.rows) if (row.held !== null && row.held.expires_at <= this.now) giveBack(row, this.now);
    } else if (how === "restart") {
      this.queue.requeueOwn("work", this.now);
      for (const row of this.rows) {
        if (row.held === null) continue;
        row.deliveries -= 1;
        giveBack(row, this.now);
      }
    } else {
      this.queue.requeueDead("work", null, this.now);
      for (const row of this.rows)
        if (row.state === "dead") Object.assign(row, { state: "queued", deliveries: 0, available_at: this.now });
    }
  }

  compare(): void {
    const count = (state: Row["state"]) => this.rows.filter((row) => row.state === state).length;
    const depth = { queued: count("queued"), leased: count("leased"), dead: count("dead") };
    expect(this.queue.depth("work", this.now)).toMatchObject(depth);
    for (const row of this.rows) expect(this.queue.hasProcessed("work", row.id)).toBe(row.state === "acked");
    const due = this.rows
      .map((row) => (row.state === "queued" && row.available_at > this.now ? row.available_at : row.held?.expires_at))
      .filter((at) => at !== undefined);
    expect(this.queue.nextDueAt(this.now)).toBe(due.length === 0 ? null : Math.min(...due));
  }
  stored(): string {
    return JSON.stringify(this.sql.all("SELECT * FROM queue_rows ORDER BY seq"));
  }
}

function giveBack(row: Row, available_at: number): void {
  row.held = null;
  row.state = row.deliveries >= max_deliveries ? "dead" : "queued";
  row.available_at = available_at;
}

describe("the queue beside a plain model", () => {
  it("[Q-14] in any order of events nothing is lost, each row has one holder, order holds and a stale lease does nothing", () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 80 }), (commands) => {
        const pair = new Pair();
        try {
          for (const asked of commands) pair.apply(asked);
        } finally {
          pair.sql.close();
        }
      }),
      { numRuns: 150 },
    );
  });
});
