/**
 * Commands against the inbox of a real agent's object, each one transaction with its audit, each answer held to the
 * plain queue beside it. It runs inside the object, many commands a call. [OBJ-1] [OBJ-2]
 */
import { AgentRecords } from "../../../durable-objects/agent/records.ts";
import { type AgentStores, inbox, openStores } from "../../../durable-objects/agent/stores.ts";
import type { Sql } from "../../../durable-objects/sql.ts";
import { testMessage } from "../../fakes/messages.ts";
import type { Random } from "../../simulation/random.ts";
import { heartbeatMs, leaseMs, most, type PlainQueue, type Ref } from "./plain-queue.ts";

export const commands = [
  ...(["enqueue", "enqueue", "enqueue", "lease", "lease", "lease", "ack", "ack", "nack", "heartbeat", "bury"] as const),
  ...(["pass", "expire", "revive", "pause", "resume", "fail"] as const),
];
export type Command = (typeof commands)[number];

const holders = ["one", "two"] as const;
const ids = 24;

export class Broken extends Error {}
function must(holds: boolean, sentence: () => string): asserts holds {
  if (!holds) throw new Broken(sentence());
}

export class Inbox {
  readonly #stores: AgentStores;
  readonly #records: AgentRecords;
  readonly #plain: PlainQueue;
  readonly #scope_id: string;
  constructor(sql: Sql, plain: PlainQueue, scope_id: string) {
    this.#stores = openStores(sql);
    this.#records = new AgentRecords(this.#stores);
    this.#plain = plain;
    this.#scope_id = scope_id;
  }

  /** One command. `past` are leases given at any time, shown again by who does not know that they are over. */
  apply(command: Command, random: Random, past: Ref[], now: number): void {
    const { queue, sql } = this.#stores;
    const plain = this.#plain;
    switch (command) {
      case "enqueue": {
        const number = random.int(ids);
        const priority = number % 3;
        const message = testMessage(number, { scope_id: this.#scope_id });
        const outcome = sql.transaction(() => {
          const entered = queue.enqueue(inbox, message, { priority, max_deliveries: most }, now);
          this.#records.facts(entered.facts, now);
          return entered.outcome;
        });
        const should = plain.enqueue(message.message_id, priority, now);
        return must(outcome === should, () => `enqueue of ${message.message_id} answered ${outcome}, not ${should}`);
      }
      case "lease": {
        const asked = {
          holder: random.pick(holders),
          lease_id: `lease-${random.int(1e9)}-${random.int(1e9)}`,
          many: random.chance(0.5),
        };
        const lease = sql.transaction(() => {
          const leased = queue.lease(inbox, { ...asked, lease_ms: leaseMs }, now);
          this.#records.facts(leased.facts, now);
          return leased.lease;
        });
        const row = plain.lease(asked, now);
        const same =
          lease?.message.message_id === row?.id &&
          lease?.lease_id === (row?.lease_id ?? undefined) &&
          lease?.epoch === row?.epoch;
        must(same, () => `lease gave ${lease?.message.message_id ?? "nothing"}, not ${row?.id ?? "nothing"}`);
        if (lease !== null) past.push({ lease_id: lease.lease_id, epoch: lease.epoch });
        if (past.length > 30) past.shift();
        return;
      }
      case "ack":
      case "nack":
      case "heartbeat":
      case "bury":
        return this.#use(command, random, past, now);
      case "expire":
        sql.transaction(() => this.#records.facts(queue.expire(now).facts, now));
        return plain.expire(now);
      case "revive":
        sql.transaction(() => this.#records.facts(queue.requeueDead(inbox, null, now).facts, now));
        return plain.revive(now);
      case "pause":
      case "resume": {
        const order = { scope_id: this.#scope_id, by: "ada", reason: "a test" };
        sql.transaction(() => this.#records.facts(queue[command](inbox, order, now).facts, now));
        return plain.pause(command === "pause");
      }
      case "fail":
        return this.#fail(random, now);
      case "pass":
        return;
    }
  }

  #use(how: "ack" | "nack" | "heartbeat" | "bury", random: Random, past: readonly Ref[], now: number): void {
    if (past.length === 0) return;
    const ref = random.chance(0.7) ? (past.at(-1) ?? random.pick(past)) : random.pick(past);
    const { queue, sql } = this.#stores;
    const row = this.#plain.current(ref, now);
    const before = row === null ? this.text() : "";
    const done = sql.transaction(() => {
      const used = {
        ack: () => queue.ack(ref, now),
        nack: () => queue.nack(ref, "later", 0.5, now),
        bury: () => queue.deadLetter(ref, "never", now),
        heartbeat: () => queue.heartbeat(ref, now, heartbeatMs),
      }[how]();
      if (used.ok) this.#records.facts(used.value, now);
      return used.ok;
    });
    must(done === (row !== null), () => `${how} of ${row?.id ?? "a stale lease"} answered ${done}`);
    if (row === null) must(this.text() === before, () => `${how} with a stale lease changed something`);
    else this.#plain[how](row, ref, now);
  }

  /** The power goes inside a transaction, after some of its writes: nothing of it may stand. */
  #fail(random: Random, now: number): void {
    const { queue, sql } = this.#stores;
    const before = this.text();
    const writes = random.int(1, 3);
    const failing = (): void =>
      sql.transaction(() => {
        const message = testMessage(1_000, { scope_id: this.#scope_id });
        this.#records.facts(queue.enqueue(inbox, message, {}, now).facts, now);
        if (writes > 1) this.#records.facts(queue.expire(now + leaseMs).facts, now);
        if (writes > 2) this.#stores.outbox.put(testMessage(1_001, { scope_id: this.#scope_id }), now);
        throw new Error("in the middle");
      });
    let thrown = "";
    try {
      failing();
    } catch (error) {
      thrown = String(error);
    }
    must(thrown.includes("in the middle"), () => `the failing transaction threw ${thrown || "nothing"}`);
    must(this.text() === before, () => "a transaction that failed left something");
  }

  /** Everything a command may change, audit and outbox included. */
  text(): string {
    const { audit, outbox } = this.#stores;
    return `${this.rows()} ${audit.head()?.hash} ${outbox.waiting()}`;
  }
  /** What stands, in the words of the plain queue. */
  rows(): string {
    const { sql, queue } = this.#stores;
    const rows = sql.all(
      `SELECT message_id AS id, priority, state, deliveries, epoch, available_at, lease_id, holder, expires_at, died_at
         FROM queue_rows WHERE queue = ? ORDER BY seq`,
      inbox,
    );
    const done = sql
      .all<{ id: string }>("SELECT message_id AS id FROM queue_processed WHERE queue = ? ORDER BY message_id", inbox)
      .map(({ id }) => id);
    return JSON.stringify({ rows, done: done.toSorted(), paused: queue.standing(inbox).state === "paused" });
  }
}
