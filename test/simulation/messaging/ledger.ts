/**
 * What a queue is, said as plainly as possible and beside the store: every answer of a store is held to it at once.
 * What a transaction did is undone with it when the transaction is. It shares no code with what it judges.
 */
import type { Lease } from "../../../durable-objects/durable-queue.ts";
import type { Message } from "../../../src/domain/message.ts";
import { must, type Row, type Trail } from "./row.ts";

export type Standing = "open" | "paused" | "draining" | "drained";

const firstBackoffMs = 1_000;
const maxBackoffMs = 300_000;
const jitter = 0.25;

/** One object's queues. */
export class Ledger {
  readonly #object: string;
  readonly #scope: string;
  readonly rows = new Map<string, Row>();
  readonly leased = new Set<Row>();
  readonly queued = new Map<string, Set<Row>>();
  /** A queue that is not here is open. */
  readonly standing = new Map<string, Standing>();
  /** Rows this transaction changed, and what it must have left on record. */
  readonly touched = new Set<Row>();
  trail: Trail = { audit: [], telemetry: [] };
  readonly #undo: (() => void)[] = [];
  #seq = 0;

  constructor(object: string, scope: string) {
    this.#object = object;
    this.#scope = scope;
  }

  /** Afterwards the trail is the caller's to compare with what was stored. */
  settle(committed: boolean): void {
    if (!committed) {
      for (const undo of this.#undo.toReversed()) undo();
      this.trail = { audit: [], telemetry: [] };
      this.touched.clear();
    }
    this.#undo.length = 0;
  }
  clear(): void {
    this.touched.clear();
    if (this.trail.audit.length + this.trail.telemetry.length > 0) this.trail = { audit: [], telemetry: [] };
  }

  find(queue: string, message_id: string): Row | null {
    return this.rows.get(`${queue}\n${message_id}`) ?? null;
  }

  enqueued(
    queue: string,
    message: Message,
    given: { readonly priority: number; readonly max_deliveries: number },
    outcome: string,
    now: number,
  ): void {
    const known = this.find(queue, message.message_id);
    const same = known?.content === message.content ? "duplicate" : "conflict";
    const standing = this.standing.get(queue) ?? "open";
    const takes = standing === "open" || standing === "paused" ? "accepted" : "closed";
    const should = known === null ? takes : same;
    must(outcome === should, () => `enqueue of ${message.message_id} into ${queue} answered ${outcome}, not ${should}`);
    must(message.scope_id === this.#scope, () => `${message.message_id} of another scope reached ${this.#object}`);
    const { message_id, trace_id, content } = message;
    const row: Row = known ?? {
      ...{ object: this.#object, scope: this.#scope, queue, message_id, trace_id, content },
      ...{ priority: given.priority, max: given.max_deliveries, seq: ++this.#seq, state: "queued" },
      ...{ deliveries: 0, epoch: 1, available_at: now, available_to: now },
      ...{ lease_id: null, holder: null, leased_at: 0, expires_at: 0, heartbeats: 0 },
      ...{ spoilt: false, effects: 0, acked_at: 0, died_at: 0 },
    };
    if (should === "conflict") this.trail.audit.push({ event: "enqueue", decision: "refused", row });
    if (should !== "accepted") return;
    const key = `${queue}\n${message_id}`;
    this.rows.set(key, row);
    this.#undo.push(() => {
      this.rows.delete(key);
      this.#file(row, "gone");
    });
    this.#file(row, "queued");
    this.touched.add(row);
    this.trail.audit.push({ event: "enqueue", decision: "accepted", row });
  }

  leasing(
    queue: string,
    asked: { readonly holder: string; readonly lease_id: string; readonly lease_ms: number; readonly many: boolean },
    lease: Lease | null,
    now: number,
  ): void {
    const own = asked.many ? null : this.#heldBy(queue, asked.holder, now);
    if (own !== null) {
      must(
        lease?.lease_id === own.lease_id && lease.epoch === own.epoch && lease.expires_at === own.expires_at,
        () => `${asked.holder} holds ${own.message_id} and was answered ${lease?.message.message_id ?? "nothing"}`,
      );
      return;
    }
    for (;;) {
      const next = this.standing.get(queue) === "paused" ? null : this.#next(queue, now);
      if (next === null) {
        must(lease === null, () => `${queue} gave ${lease?.message.message_id}, which is not there to be leased`);
        return;
      }
      if (!next.spoilt) {
        must(
          lease !== null && lease.message.message_id === next.message_id,
          () => `${queue} gave ${lease?.message.message_id ?? "nothing"}; ${next.message_id} comes first`,
        );
        this.#lease(next, asked, now);
        must(
          lease.lease_id === asked.lease_id && lease.holder === asked.holder && lease.epoch === next.epoch,
          () => `the lease of ${next.message_id} is not what was asked`,
        );
        must(lease.expires_at === now + asked.lease_ms, () => `the lease of ${next.message_id} ends at another time`);
        must(lease.deliveries === next.deliveries, () => `${next.message_id}: ${lease.deliveries} deliveries`);
        must(
          lease.message.trace_id === next.trace_id && lease.message.content === next.content,
          () => `${next.message_id} is not what was put in`,
        );
        return;
      }
      this.#lease(next, asked, now);
      this.#ended(next, "dead", "dead", now);
    }
  }
  #lease(row: Row, asked: { holder: string; lease_id: string; lease_ms: number }, now: number): void {
    const { holder, lease_id, lease_ms } = asked;
    const wait = { name: "queue_wait_ms", row, value: null };
    this.#change(row, { deliveries: row.deliveries + 1, lease_id, holder, leased_at: now, heartbeats: 0 });
    this.#change(row, { expires_at: now + lease_ms });
    this.#file(row, "leased");
    must(row.deliveries <= row.max, () => `${row.message_id} was delivered ${row.deliveries} times of ${row.max}`);
    this.trail.audit.push({ event: "dequeue", decision: "leased", row });
    this.trail.telemetry.push(wait);
  }

  /** Null when the lease is not current: then the store must have refused. */
  current(lease: { readonly lease_id: string; readonly epoch: number }, now: number): Row | null {
    for (const row of this.leased)
      if (row.lease_id === lease.lease_id && row.epoch === lease.epoch && now < row.expires_at) return row;
    return null;
  }
  beaten(row: Row, extend_ms: number, now: number): void {
    this.#change(row, { expires_at: Math.max(row.expires_at, now + extend_ms), heartbeats: row.heartbeats + 1 });
    this.trail.telemetry.push({ name: "lease_heartbeat", row, value: row.heartbeats });
  }
  acked(row: Row, now: number): void {
    this.#ended(row, "acked", "acked", now);
    this.#change(row, { acked_at: now });
  }
  nacked(row: Row, now: number): void {
    const base = Math.min(firstBackoffMs * 2 ** (row.deliveries - 1), maxBackoffMs);
    this.#back(row, "nacked", now);
    if (row.state !== "queued") return;
    this.#change(row, {
      available_at: now + Math.round(base * (1 - jitter)),
      available_to: now + Math.round(base * (1 + jitter)),
    });
  }
  buried(row: Row, now: number): void {
    this.#ended(row, "dead", "dead", now);
  }
  expired(
    told: readonly { readonly lease: { readonly lease_id: string }; readonly state: string }[],
    now: number,
  ): void {
    const over = [...this.leased].filter((row) => row.expires_at <= now);
    over.sort((a, b) => a.expires_at - b.expires_at || a.seq - b.seq);
    must(over.length === told.length, () => `${told.length} leases were ended, ${over.length} had expired`);
    for (const [at, row] of over.entries()) {
      must(told[at]?.lease.lease_id === row.lease_id, () => `the lease of ${row.message_id} should have been ended`);
      this.#back(row, "expired", now);
      must(told[at]?.state === row.state, () => `${row.message_id} is ${told[at]?.state} after its lease expired`);
    }
  }
  restarted(queue: string, counted: (message_id: string) => boolean, now: number): void {
    const own = [...this.leased].filter((row) => row.queue === queue).sort((a, b) => a.seq - b.seq);
    for (const row of own) {
      if (!counted(row.message_id)) this.#change(row, { deliveries: Math.max(0, row.deliveries - 1) });
      this.#back(row, "requeued", now);
    }
  }
  revived(queue: string, message_id: string | null, requeued: number, now: number): void {
    const dead = [...this.rows.values()].filter(
      (row) => row.queue === queue && row.state === "dead" && row.message_id === (message_id ?? row.message_id),
    );
    must(
      requeued === Math.min(dead.length, 100),
      () => `${requeued} dead letters went back, ${dead.length} were there`,
    );
    for (const row of dead.sort((a, b) => a.died_at - b.died_at || a.seq - b.seq).slice(0, 100)) {
      this.#change(row, { deliveries: 0, available_at: now, available_to: now });
      this.#file(row, "queued");
      this.trail.audit.push({ event: "enqueue", decision: "requeued", row });
      if (this.standing.get(queue) === "drained") this.stands(queue, "draining");
    }
  }
  /** A person's order, or what follows from a queue that ran empty or was filled again. */
  stands(queue: string, next: Standing): void {
    const before = this.standing.get(queue) ?? "open";
    if (before === next || (before === "drained" && next === "draining" && this.#left(queue) === 0)) return;
    this.standing.set(queue, next);
    this.#undo.push(() => this.standing.set(queue, before));
    const decision = `queue_${next === "open" ? "resumed" : next}`;
    const row = { message_id: null, trace_id: `queue:${this.#scope}/${queue}` };
    this.trail.audit.push({ event: "transition", decision, row });
    if (next === "draining" && this.#left(queue) === 0) this.stands(queue, "drained");
  }
  /** Rows somebody may still work on. */
  #left(queue: string): number {
    let held = 0;
    for (const row of this.leased) if (row.queue === queue) held += 1;
    return held + (this.queued.get(queue)?.size ?? 0);
  }
  /** What the message is for was done. */
  effect(row: Row): void {
    this.#change(row, { effects: row.effects + 1 });
    must(row.effects === 1, () => `the effect of ${row.message_id} happened ${row.effects} times`);
  }
  spoil(row: Row): void {
    row.spoilt = true;
  }

  #back(row: Row, how: string, now: number): void {
    if (row.deliveries >= row.max) return this.#ended(row, "dead", how, now);
    this.#ended(row, "queued", how, now);
    this.#change(row, { available_at: now, available_to: now });
  }
  /** The end of a lease: `how` is what the measurement says, the state what the audit says when it is an end. */
  #ended(row: Row, state: Row["state"], how: string, now: number): void {
    const epoch = state === "acked" ? row.epoch : row.epoch + 1;
    this.trail.audit.push({ event: "dequeue", decision: state === "queued" ? how : state, row });
    this.trail.telemetry.push({ name: "lease_duration_ms", row, value: now - row.leased_at });
    if (how === "expired") this.trail.telemetry.push({ name: "lease_expired", row, value: 1 });
    this.#change(row, { epoch, lease_id: null, holder: null, died_at: now });
    this.#file(row, state);
    const ended = state === "acked" || state === "dead";
    if (ended && this.standing.get(row.queue) === "draining" && this.#left(row.queue) === 0)
      this.stands(row.queue, "drained");
  }

  #heldBy(queue: string, holder: string, now: number): Row | null {
    let first: Row | null = null;
    for (const row of this.leased)
      if (
        row.queue === queue &&
        row.holder === holder &&
        row.expires_at > now &&
        (first === null || row.seq < first.seq)
      )
        first = row;
    return first;
  }
  #next(queue: string, now: number): Row | null {
    let best: Row | null = null;
    for (const row of this.queued.get(queue) ?? []) {
      if (row.available_at > now) continue;
      if (best === null || row.priority > best.priority || (row.priority === best.priority && row.seq < best.seq))
        best = row;
    }
    return best;
  }
  #change(row: Row, fields: Partial<Row>): void {
    const before: Partial<Row> = { ...row };
    this.#undo.push(() => Object.assign(row, before, { spoilt: row.spoilt }));
    Object.assign(row, fields);
    this.touched.add(row);
  }
  /** Moves the row to the list of its state. */
  #file(row: Row, state: Row["state"] | "gone"): void {
    const before = row.state;
    const lists = (of: Row["state"] | "gone"): Set<Row> | null => {
      if (of === "leased") return this.leased;
      if (of !== "queued") return null;
      const set = this.queued.get(row.queue) ?? new Set<Row>();
      this.queued.set(row.queue, set);
      return set;
    };
    lists(before)?.delete(row);
    lists(state)?.add(row);
    if (state === "gone") return;
    row.state = state;
    this.touched.add(row);
    this.#undo.push(() => {
      lists(state)?.delete(row);
      lists(before)?.add(row);
      row.state = before;
    });
  }
}
