/** The queues of one simulated object: every answer of the store is held to the ledger, and seen for the history. */
import type { Lease } from "../../../durable-objects/durable-queue.ts";
import type { Message } from "../../../src/domain/message.ts";
import type { LeaseRef } from "../../../src/domain/queue.ts";
import type { Standing } from "./ledger.ts";
import type { Node } from "./node.ts";
import { must, type Row } from "./row.ts";

export const lease_ms = 300_000;

export class HeldQueues {
  readonly #node: Node;
  constructor(node: Node) {
    this.#node = node;
  }

  enqueue(queue: string, message: Message, given: { priority: number; max_deliveries: number }): string {
    const { now } = this.#node.world;
    const { outcome, facts } = this.#node.queue.enqueue(queue, message, given, now);
    this.#node.record(facts);
    this.#node.ledger.enqueued(queue, message, given, outcome, now);
    if (outcome === "accepted") this.#node.world.figures.messages += 1;
    return outcome;
  }
  lease(queue: string, holder: string, many: boolean): Lease | null {
    const { now } = this.#node.world;
    const request = { holder, lease_id: this.#node.world.freshId(), lease_ms, many };
    const before = this.#node.ledger.trail.audit.length;
    const { lease, facts } = this.#node.queue.lease(queue, request, now);
    this.#node.record(facts);
    this.#node.ledger.leasing(queue, request, lease, now);
    for (const { decision, row } of this.#node.ledger.trail.audit.slice(before))
      if (decision === "dead" && row.message_id !== null)
        this.#node.saw(this.#node.name, { queue, message_id: row.message_id }, { what: "dead" });
    if (lease === null) return null;
    const { message, lease_id, epoch, expires_at } = lease;
    const { message_id } = message;
    this.#node.saw(holder, { queue, message_id }, { what: "lease", lease_id, epoch, expires_at });
    this.#node.past.push(lease);
    if (this.#node.past.length > 40) this.#node.past.shift();
    return lease;
  }
  /** False when the lease is not current; then nothing may have changed. */
  use(how: "ack" | "nack" | "heartbeat" | "bury", lease: LeaseRef, reason = "as the simulation says"): boolean {
    const { now, random } = this.#node.world;
    const row = this.#node.ledger.current(lease, now);
    const before = row === null ? this.#node.witness.changes() : 0;
    const holder = row?.holder ?? "";
    const done =
      how === "ack"
        ? this.#node.queue.ack(lease, now)
        : how === "nack"
          ? this.#node.queue.nack(lease, reason, random.next(), now)
          : how === "bury"
            ? this.#node.queue.deadLetter(lease, reason, now)
            : this.#node.queue.heartbeat(lease, now);
    if (row === null) {
      must(!done.ok, () => `${this.#node.object}: ${how} with a stale lease ${lease.lease_id} was accepted`);
      must(
        this.#node.witness.changes() === before,
        () => `${this.#node.object}: ${how} with a stale lease changed something`,
      );
      return false;
    }
    must(done.ok, () => `${this.#node.object}: ${how} of ${row.message_id} by its holder was refused`);
    this.#node.record(done.value);
    if (how === "ack") this.#node.ledger.acked(row, now);
    else if (how === "nack") this.#node.ledger.nacked(row, now);
    else if (how === "bury") this.#node.ledger.buried(row, now);
    else this.#node.ledger.beaten(row, 120_000, now);
    const { lease_id, epoch } = lease;
    const about = { lease_id, epoch, ok: true };
    if (how === "heartbeat") this.#node.saw(holder, row, { what: how, ...about, expires_at: row.expires_at });
    else if (how === "ack") this.#node.saw(holder, row, { what: how, ...about });
    else if (row.state === "dead") this.#node.saw(holder, row, { what: "dead", ...about });
    else this.#node.saw(holder, row, { what: "nack", ...about, available_at: row.available_to });
    return true;
  }
  /** What the message is for is done, under this lease, in the transaction that acks it. */
  effect(queue: string, lease: Lease): void {
    const row = this.#node.ledger.find(queue, lease.message.message_id);
    must(row !== null, () => `${this.#node.object}: an effect of ${lease.message.message_id}, which it does not hold`);
    this.#node.life.run("INSERT INTO effects (message_id, lease_id) VALUES (?, ?)", row.message_id, lease.lease_id);
    this.#node.ledger.effect(row);
    this.#node.say("done", row);
    this.#node.saw(lease.holder, row, { what: "effect", lease_id: lease.lease_id, epoch: lease.epoch });
    this.#node.world.figures.effects += 1;
  }
  /** Ends what is over: leases and promises. Returns what died in a queue. */
  expire(): Row[] {
    const { now } = this.#node.world;
    return this.#node.tx(() => {
      const over = [...this.#node.ledger.leased].filter((row) => row.expires_at <= now);
      const leases = new Map(
        over.map((row) => [row, { lease_id: row.lease_id ?? "", epoch: row.epoch, holder: row.holder ?? "" }]),
      );
      const { expired, facts } = this.#node.queue.expire(now);
      this.#node.record(facts);
      this.#node.ledger.expired(expired, now);
      for (const [row, { lease_id, epoch, holder }] of leases)
        this.#node.saw(holder, row, row.state === "dead" ? { what: "dead" } : { what: "expire", lease_id, epoch });
      const gone = this.#node.outbox.dead(now);
      this.#node.promises.gaveUp(
        gone.map((each) => each.message_id),
        now,
      );
      return over.filter((row) => row.state === "dead");
    });
  }
  /** Dead letters sent again: of a queue, and of the outbox. */
  requeueDead(queue: string): void {
    const { now } = this.#node.world;
    this.#node.tx(() => {
      const dead = [...this.#node.ledger.rows.values()].filter((row) => row.queue === queue && row.state === "dead");
      const { requeued, facts } = this.#node.queue.requeueDead(queue, null, now);
      this.#node.record(facts);
      this.#node.ledger.revived(queue, null, requeued, now);
      for (const row of dead) this.#node.saw(this.#node.name, row, { what: "requeue", forgives: "all" });
    });
  }

  /** A person's order about a queue. */
  order(queue: string, what: "pause" | "resume" | "drain"): void {
    const given = { scope_id: this.#node.scope, by: "a person", reason: null };
    this.#node.tx(() => {
      this.#node.record(this.#node.queue[what](queue, given, this.#node.world.now).facts);
      const next: Standing = what === "pause" ? "paused" : what === "resume" ? "open" : "draining";
      this.#node.ledger.stands(queue, next);
    });
  }

  /** What the queues say of their depth, and the outbox of what waits, is what there is. */
  counted(): void {
    for (const queue of [this.#node.own, "executor_queue"]) {
      const rows = [...this.#node.ledger.rows.values()].filter((row) => row.queue === queue);
      const { queued, leased, dead } = this.#node.queue.depth(queue, this.#node.world.now);
      const count = (state: Row["state"]): number => rows.filter((row) => row.state === state).length;
      const right = queued === count("queued") && leased === count("leased") && dead === count("dead");
      must(right, () => `${this.#node.object}: ${queue} says ${queued} queued, ${leased} leased, ${dead} dead`);
    }
    must(
      this.#node.outbox.waiting() === this.#node.promises.waiting.size,
      () => `${this.#node.object}: the outbox miscounts what waits`,
    );
  }
}
