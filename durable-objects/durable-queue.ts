/**
 * Named queues of one object in one table: the rows `domain/queue.ts` decides about, kept. Every method
 * is one synchronous piece of its caller's transaction and returns the facts to record in it. [Q-*]
 */
import { byteLength, canonicalJson } from "../src/domain/canonical.ts";
import { type Delivery, delivery } from "../src/domain/delivery.ts";
import type { Message } from "../src/domain/message.ts";
import {
  enqueued,
  holds,
  joinFacts,
  type LeaseRef,
  noFacts,
  type QueueFacts,
  type QueueStep,
  step,
} from "../src/domain/queue.ts";
import { type Standing, type StandingOrder, type StandingState, takesIn } from "../src/domain/queue-standing.ts";
import { ok, type Result, refuse } from "../src/domain/refusal.ts";
import { limits } from "../src/limits.ts";
import { ackAll, type BatchLeases, type BatchRequest, enqueueAll, leaseMany } from "./queue-batch.ts";
import { DepthSamples } from "./queue-depth.ts";
import { bury, commit, leased, leaseOf, mark, nextReady } from "./queue-lease.ts";
import {
  columns,
  heads,
  insertRow,
  readMessage,
  readRow,
  type StoredHead,
  type StoredRow,
  writeRow,
} from "./queue-rows.ts";
import { isEmpty, moveStanding, type Stood, standingOf } from "./queue-standing.ts";
import { type Expired, expire, requeueDead, requeueOwn } from "./queue-upkeep.ts";
import {
  type DeadLetter,
  type Depth,
  deadLettersOf,
  depthOf,
  type HeldLease,
  leasesOf,
  type QueueView,
  viewOf,
} from "./queue-view.ts";
import { sha256Hex } from "./sha256.ts";
import { maxRowBytes, type Sql } from "./sql.ts";

export interface Lease extends LeaseRef {
  readonly queue: string;
  readonly message: Message;
  readonly holder: string;
  readonly expires_at: number;
  readonly deliveries: number;
}
/**
 * `conflict`: the id is taken by other bytes. `too_big`: it fits no row. `closed`: the queue is being emptied, and
 * the message waits with its sender. `malformed` (of a batch): it has no canonical form.
 */
export type EnqueueOutcome = "accepted" | "duplicate" | "conflict" | "too_big" | "closed" | "malformed";
export interface LeaseRequest {
  readonly holder: string;
  /** A fresh random id: used only when a row is leased anew. */
  readonly lease_id: string;
  readonly lease_ms: number;
  /** For a holder that works on several rows side by side: always a further row, never the one it has. */
  readonly many?: boolean;
}
const batch = limits.queue_batch;

const knownAs = `SELECT coalesce((SELECT body_hash FROM queue_rows WHERE queue = ?1 AND message_id = ?2),
    (SELECT body_hash FROM queue_processed WHERE queue = ?1 AND message_id = ?2)) AS hash,
    (SELECT state FROM queue_standing WHERE queue = ?1) AS standing`;
const heldBy = `SELECT ${columns} FROM queue_rows WHERE seq = (SELECT min(seq) FROM queue_rows
    WHERE queue = ? AND state = 'leased' AND holder = ? AND expires_at > ?)`;
const byLease = `SELECT ${heads} FROM queue_rows WHERE state = 'leased' AND lease_id = ?`;

export class DurableQueue {
  readonly #sql: Sql;
  readonly #samples: DepthSamples;
  constructor(sql: Sql) {
    this.#sql = sql;
    this.#samples = new DepthSamples(sql);
  }

  /** Priority and most deliveries are those of the message's kind unless they are given. */
  enqueue(
    queue: string,
    message: Message,
    given: Partial<Delivery>,
    now: number,
  ): { readonly outcome: EnqueueOutcome; readonly facts: QueueFacts } {
    const body = canonicalJson(message);
    const hash = sha256Hex(body);
    const { message_id, message_kind, trace_id, scope_id, sender } = message;
    const named = { queue, head: message };
    const found = this.#sql.one<{ hash: string | null; standing: StandingState | null }>(knownAs, queue, message_id);
    const known = found?.hash ?? null;
    if (known === hash) return { outcome: "duplicate", facts: noFacts };
    if (known !== null)
      return {
        outcome: "conflict",
        facts: enqueued(named, "refused", "a message with this id and other content came before"),
      };
    if (body.length > maxRowBytes / 3 && byteLength(body) > maxRowBytes)
      return { outcome: "too_big", facts: enqueued(named, "refused", "the message is too big for a row") };
    if (!takesIn(found?.standing ?? "open")) return { outcome: "closed", facts: noFacts };
    const { priority, max_deliveries } = { ...delivery[message_kind], ...given };
    this.#sql.run(
      insertRow,
      ...[queue, message_id, message_kind, trace_id, scope_id, sender, body, hash, priority, max_deliveries, now, now],
    );
    return { outcome: "accepted", facts: enqueued(named, "accepted", null) };
  }

  /** Null when nothing is eligible or the queue is paused. Rows whose body no longer parses die here, so that one cannot stop the queue. */
  lease(
    queue: string,
    request: LeaseRequest,
    now: number,
  ): { readonly lease: Lease | null; readonly facts: QueueFacts } {
    const held = request.many === true ? null : this.#heldBy(queue, request.holder, now);
    if (held !== null) return { lease: held, facts: noFacts };
    let facts = noFacts;
    for (let tried = 0; tried < batch; tried++) {
      const stored = nextReady(this.#sql, queue, now);
      if (stored === null) break;
      const { lease_id, holder, lease_ms } = request;
      const moved = leased(stored, { event: "lease", lease_id, holder, lease_ms }, now);
      writeRow(this.#sql, moved.row, "queued", now);
      facts = tried === 0 ? moved.facts : joinFacts(facts, moved.facts);
      const lease = leaseOf(moved.row, stored.body);
      if (lease !== null) return { lease, facts };
      facts = joinFacts(facts, bury(this.#sql, moved.row, now));
    }
    return { lease: null, facts };
  }

  /** Each message is answered by itself, in the order given; the facts are those of enqueueing them one by one. */
  enqueueAll(queue: string, messages: readonly Message[], now: number) {
    return enqueueAll(this.#sql, queue, messages, now);
  }
  /** Up to `n` further rows, as many as there are ids for. */
  leaseMany(queue: string, request: BatchRequest, n: number, now: number): BatchLeases {
    return leaseMany(this.#sql, queue, request, n, now);
  }
  /** Each lease is answered by itself, in the order given: a stale one changes nothing and stops no other. */
  ackAll(leases: readonly LeaseRef[], now: number) {
    return ackAll(this.#sql, leases, now);
  }

  /** The lease as it stands now; null once it is not current. */
  leaseById(lease_id: string, now: number): Lease | null {
    const stored = this.#sql.one<StoredRow>(
      `SELECT ${columns} FROM queue_rows WHERE state = 'leased' AND lease_id = ?`,
      lease_id,
    );
    if (stored === null) return null;
    const row = readRow(stored);
    return row.lease !== null && holds(row, row.lease, now) ? leaseOf(row, stored.body) : null;
  }

  heartbeat(lease: LeaseRef, now: number, extend_ms: number = limits.heartbeat_extend_ms): Result<QueueFacts> {
    return this.#move(lease, { event: "heartbeat", lease, extend_ms }, now);
  }
  /** Also leaves the processed mark: the same message coming again is a duplicate, not work. */
  ack(lease: LeaseRef, now: number): Result<QueueFacts> {
    return this.#move(lease, { event: "ack", lease }, now);
  }
  /** `random` in [0, 1) spreads the back-off. */
  nack(lease: LeaseRef, reason: string, random: number, now: number): Result<QueueFacts> {
    return this.#move(lease, { event: "nack", lease, reason, random }, now);
  }
  deadLetter(lease: LeaseRef, reason: string, now: number): Result<QueueFacts> {
    return this.#move(lease, { event: "bury", lease, reason }, now);
  }

  hasProcessed(queue: string, message_id: string): boolean {
    const sql = "SELECT 1 AS found FROM queue_processed WHERE queue = ? AND message_id = ?";
    return this.#sql.one(sql, queue, message_id) !== null;
  }
  markProcessed(queue: string, message: Message, now: number): void {
    this.#sql.run(mark, queue, message.message_id, sha256Hex(canonicalJson(message)), now);
  }

  /** At the start of an object that consumes its own inbox: no lease of a former life is still being worked on. */
  requeueOwn(queue: string, now: number, counted: (message_id: string) => boolean = () => false): QueueFacts {
    return requeueOwn(this.#sql, queue, now, counted);
  }
  /** Ends leases whose time has passed (at most 100; what is left is due at once) and forgets old processed marks. */
  expire(now: number): { readonly expired: readonly Expired[]; readonly facts: QueueFacts } {
    return expire(this.#sql, now);
  }
  /** Dead rows back to the queue with their deliveries forgiven: one, or (at most 100 of) all. */
  requeueDead(
    queue: string,
    message_id: string | null,
    now: number,
  ): { readonly requeued: number; readonly facts: QueueFacts } {
    return requeueDead(this.#sql, queue, message_id, now);
  }

  /** Whether the message stands in the queue and nobody holds it. */
  isWaiting(queue: string, message_id: string): boolean {
    const sql = "SELECT 1 AS found FROM queue_rows WHERE queue = ? AND message_id = ? AND state = 'queued'";
    return this.#sql.one(sql, queue, message_id) !== null;
  }
  /** Whether the message is waiting or held: it has been neither processed nor given up. */
  isOpen(queue: string, message_id: string): boolean {
    const sql =
      "SELECT 1 AS found FROM queue_rows WHERE queue = ? AND message_id = ? AND state IN ('queued', 'leased')";
    return this.#sql.one(sql, queue, message_id) !== null;
  }
  /** Dead rows that can be read, oldest death first. `epoch` tells one death of a message from another. */
  dead(queue: string): { readonly message: Message; readonly reason: string; readonly epoch: number }[] {
    const sql = `SELECT body, epoch, coalesce(reason, '') AS reason FROM queue_rows WHERE queue = ? AND state = 'dead'
      ORDER BY died_at, seq LIMIT ${batch}`;
    return this.#sql
      .all<{ body: string; epoch: number; reason: string }>(sql, queue)
      .flatMap(({ body, epoch, reason }) => {
        const message = readMessage(body);
        return message === null ? [] : [{ message, reason, epoch }];
      });
  }
  /** Enqueueing goes on; nothing new is handed out and nothing of it becomes due, until it is resumed. */
  pause(queue: string, order: StandingOrder, now: number): Stood {
    return moveStanding(this.#sql, queue, "pause", order, now);
  }
  resume(queue: string, order: StandingOrder, now: number): Stood {
    return moveStanding(this.#sql, queue, "resume", order, now);
  }
  /** What stands is handed out, what is new waits with its sender. Empty, it is drained: at once when nothing stands in it. */
  drain(queue: string, order: StandingOrder, now: number): Stood {
    const asked = moveStanding(this.#sql, queue, "drain", order, now);
    if (!asked.changed || !isEmpty(this.#sql, queue)) return asked;
    const runtime = { ...order, by: "runtime", reason: "nothing was left in it" };
    const drained = moveStanding(this.#sql, queue, "empty", runtime, now);
    return { ...drained, facts: joinFacts(asked.facts, drained.facts) };
  }
  standing(queue: string): Standing {
    return standingOf(this.#sql, queue);
  }
  leases(queue: string, limit: number = limits.queue_batch): HeldLease[] {
    return leasesOf(this.#sql, queue, limit);
  }

  /**
   * When a lease expires or a back-off ends next, over all queues. Eligible rows are not due: they wait for a
   * consumer. In a paused queue only leases are.
   */
  nextDueAt(now: number): number | null {
    const sql = `SELECT min(at) AS at FROM (SELECT min(expires_at) AS at FROM queue_rows WHERE state = 'leased'
      UNION ALL SELECT (SELECT min(available_at) FROM queue_rows WHERE queue_rows.queue = queue_counts.queue AND state = 'queued'
        AND ready = 0 AND available_at > ?) FROM queue_counts WHERE queued > ready
        AND NOT EXISTS (SELECT 1 FROM queue_standing WHERE queue_standing.queue = queue_counts.queue AND state = 'paused'))`;
    return this.#sql.one<{ at: number | null }>(sql, now)?.at ?? null;
  }
  depth(queue: string, now: number): Depth {
    return depthOf(this.#sql, queue, now);
  }
  /** One measurement of each queue that changed since its last, or was not measured for ten seconds. */
  sampleDepth(scope_id: string, queues: readonly string[], now: number): QueueFacts {
    return this.#samples.take(scope_id, queues, now);
  }
  view(queue: string): QueueView {
    return viewOf(this.#sql, queue);
  }
  deadLetters(queue: string, limit: number = limits.page_max): DeadLetter[] {
    return deadLettersOf(this.#sql, queue, limit);
  }

  #heldBy(queue: string, holder: string, now: number): Lease | null {
    const stored = this.#sql.one<StoredRow>(heldBy, queue, holder, now);
    return stored === null ? null : leaseOf(readRow(stored), stored.body);
  }
  #move(lease: LeaseRef, asked: QueueStep, now: number): Result<QueueFacts> {
    const stored = this.#sql.one<StoredHead>(byLease, lease.lease_id);
    if (stored === null)
      return refuse("not_in_this_state", "nobody holds this lease: it expired, was given back, or was never granted");
    const moved = step(readRow(stored), asked, now);
    return moved.ok ? ok(commit(this.#sql, stored, moved.value, now).facts) : moved;
  }
}
