/**
 * Named queues of one object in one table: the rows `domain/queue.ts` decides about, kept. Every method
 * is one synchronous piece of its caller's transaction and returns the facts to record in it. [Q-*]
 */
import { byteLength, canonicalJson, sha256Hex } from "../src/domain/canonical.ts";
import { envelope, type Message } from "../src/domain/message.ts";
import {
  enqueued,
  holds,
  joinFacts,
  type LeaseRef,
  type Moved,
  noFacts,
  type QueueFacts,
  type QueueRow,
  type QueueStep,
  step,
} from "../src/domain/queue.ts";
import { ok, type Result, refuse } from "../src/domain/refusal.ts";
import { limits } from "../src/limits.ts";
import { columns, readRow, type StoredRow, writeRow } from "./queue-rows.ts";
import { type DeadLetter, type Depth, deadLettersOf, depthOf, type QueueView, viewOf } from "./queue-view.ts";
import { maxRowBytes, type Sql } from "./sql.ts";

export interface Lease extends LeaseRef {
  readonly queue: string;
  readonly message: Message;
  readonly holder: string;
  readonly expires_at: number;
  readonly deliveries: number;
}
/** `conflict`: the id is taken by other bytes. `too_big`: the body belongs in the artifacts, its reference here. */
export type EnqueueOutcome = "accepted" | "duplicate" | "conflict" | "too_big";
export interface Expired {
  readonly queue: string;
  readonly message: Message | null;
  readonly lease: LeaseRef & { readonly holder: string };
  readonly state: "queued" | "dead";
}
export interface LeaseRequest {
  readonly holder: string;
  /** A fresh random id: used only when a row is leased anew. */
  readonly lease_id: string;
  readonly lease_ms: number;
  /** For a holder that works on several rows side by side: always a further row, never the one it has. */
  readonly many?: boolean;
}

const batch = 100;

export class DurableQueue {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  enqueue(
    queue: string,
    message: Message,
    { priority = 0, max_deliveries = limits.max_deliveries }: { priority?: number; max_deliveries?: number },
    now: number,
  ): { readonly outcome: EnqueueOutcome; readonly facts: QueueFacts } {
    const body = canonicalJson(message);
    const hash = sha256Hex(body);
    const named = { queue, head: message };
    const known = this.#hashOf(queue, message.message_id);
    if (known === hash) return { outcome: "duplicate", facts: noFacts };
    if (known !== null)
      return {
        outcome: "conflict",
        facts: enqueued(named, "refused", "a message with this id and other content came before"),
      };
    if (byteLength(body) > maxRowBytes)
      return { outcome: "too_big", facts: enqueued(named, "refused", "the message is too big for a row") };
    const { message_id, message_kind, trace_id, scope_id, sender } = message;
    this.#sql.run(
      `INSERT INTO queue_rows (queue, message_id, message_kind, trace_id, scope_id, sender, body, body_hash, state, priority,
         max_deliveries, deliveries, epoch, enqueued_at, available_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, 0, 1, ?, ?)`,
      ...[queue, message_id, message_kind, trace_id, scope_id, sender, body, hash, priority, max_deliveries, now, now],
    );
    return { outcome: "accepted", facts: enqueued(named, "accepted", null) };
  }

  /** Null when nothing is eligible. Rows whose body no longer parses die here, so that one cannot stop the queue. */
  lease(
    queue: string,
    request: LeaseRequest,
    now: number,
  ): { readonly lease: Lease | null; readonly facts: QueueFacts } {
    const held = request.many === true ? null : this.#heldBy(queue, request.holder, now);
    if (held !== null) return { lease: held, facts: noFacts };
    let facts = noFacts;
    for (let tried = 0; tried < batch; tried++) {
      const stored = this.#sql.one<StoredRow>(
        `SELECT ${columns} FROM queue_rows WHERE queue = ? AND state = 'queued' AND available_at <= ? ORDER BY priority DESC, seq LIMIT 1`,
        ...[queue, now],
      );
      if (stored === null) break;
      const { lease_id, holder, lease_ms } = request;
      const moved = this.#must(stored, { event: "lease", lease_id, holder, lease_ms }, now);
      facts = joinFacts(facts, moved.facts);
      const lease = leaseOf(moved.row, stored.body);
      if (lease !== null) return { lease, facts };
      const reason = "the stored message cannot be read";
      const lost = step(moved.row, { event: "bury", lease: { lease_id, epoch: moved.row.epoch }, reason }, now);
      if (lost.ok) facts = joinFacts(facts, this.#commit(lost.value).facts);
    }
    return { lease: null, facts };
  }

  /** The lease as it stands now; null once it is not current. */
  leaseById(lease_id: string, now: number): Lease | null {
    const stored = this.#byLease(lease_id);
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
    return (
      this.#sql.one("SELECT 1 AS found FROM queue_processed WHERE queue = ? AND message_id = ?", queue, message_id) !==
      null
    );
  }
  markProcessed(queue: string, message: Message, now: number): void {
    this.#mark(queue, message.message_id, sha256Hex(canonicalJson(message)), now);
  }

  /** At the start of an object that consumes its own inbox: no lease of a former life is still being worked on. */
  requeueOwn(queue: string, now: number, counted: (message_id: string) => boolean = () => false): QueueFacts {
    const rows = this.#sql.all<StoredRow>(
      `SELECT ${columns} FROM queue_rows WHERE queue = ? AND state = 'leased' ORDER BY seq`,
      queue,
    );
    return joinFacts(
      ...rows.map((row) => this.#must(row, { event: "requeue", counted: counted(row.message_id) }, now).facts),
    );
  }

  /** Ends leases whose time has passed (at most 100; what is left is due at once) and forgets old processed marks. */
  expire(now: number): { readonly expired: readonly Expired[]; readonly facts: QueueFacts } {
    this.#sql.run(
      `DELETE FROM queue_processed WHERE rowid IN (SELECT rowid FROM queue_processed WHERE at < ? LIMIT ${batch})`,
      now - limits.processed_retention_ms,
    );
    const rows = this.#sql.all<StoredRow>(
      `SELECT ${columns} FROM queue_rows WHERE state = 'leased' AND expires_at <= ? ORDER BY expires_at, seq LIMIT ${batch}`,
      now,
    );
    const moves = rows.map((stored) => ({ stored, moved: this.#must(stored, { event: "expire" }, now) }));
    const expired = moves.map(({ stored, moved }) => ({
      queue: stored.queue,
      message: parse(stored.body),
      lease: { lease_id: stored.lease_id ?? "", epoch: stored.epoch, holder: stored.holder ?? "" },
      state: moved.row.state === "dead" ? ("dead" as const) : ("queued" as const),
    }));
    return { expired, facts: joinFacts(...moves.map(({ moved }) => moved.facts)) };
  }

  /** Dead rows back to the queue with their deliveries forgiven: one, or (at most 100 of) all. */
  requeueDead(
    queue: string,
    message_id: string | null,
    now: number,
  ): { readonly requeued: number; readonly facts: QueueFacts } {
    const rows = this.#sql.all<StoredRow>(
      `SELECT ${columns} FROM queue_rows WHERE queue = ? AND state = 'dead' AND message_id = coalesce(?, message_id) ORDER BY seq LIMIT ${batch}`,
      ...[queue, message_id],
    );
    return {
      requeued: rows.length,
      facts: joinFacts(...rows.map((row) => this.#must(row, { event: "revive" }, now).facts)),
    };
  }

  /** Whether the message stands in the queue and nobody holds it. */
  isWaiting(queue: string, message_id: string): boolean {
    const sql = "SELECT 1 AS found FROM queue_rows WHERE queue = ? AND message_id = ? AND state = 'queued'";
    return this.#sql.one(sql, queue, message_id) !== null;
  }
  /** Dead rows that can be read, oldest first. `epoch` tells one death of a message from another. */
  dead(queue: string): { readonly message: Message; readonly reason: string; readonly epoch: number }[] {
    const sql = `SELECT body, epoch, coalesce(reason, '') AS reason FROM queue_rows WHERE queue = ? AND state = 'dead' ORDER BY seq LIMIT ${batch}`;
    return this.#sql
      .all<{ body: string; epoch: number; reason: string }>(sql, queue)
      .flatMap(({ body, epoch, reason }) => {
        const message = parse(body);
        return message === null ? [] : [{ message, reason, epoch }];
      });
  }

  /** When a lease expires or a back-off ends next, over all queues. Eligible rows are not due: they wait for a consumer. */
  nextDueAt(now: number): number | null {
    const sql = `SELECT min(at) AS at FROM (SELECT min(expires_at) AS at FROM queue_rows WHERE state = 'leased'
      UNION ALL SELECT min(available_at) FROM queue_rows WHERE state = 'queued' AND available_at > ?)`;
    return this.#sql.one<{ at: number | null }>(sql, now)?.at ?? null;
  }
  depth(queue: string, now: number): Depth {
    return depthOf(this.#sql, queue, now);
  }
  view(queue: string): QueueView {
    return viewOf(this.#sql, queue);
  }
  deadLetters(queue: string, limit: number = limits.page_max): DeadLetter[] {
    return deadLettersOf(this.#sql, queue, limit);
  }

  #heldBy(queue: string, holder: string, now: number): Lease | null {
    const stored = this.#sql.one<StoredRow>(
      `SELECT ${columns} FROM queue_rows WHERE queue = ? AND state = 'leased' AND holder = ? AND expires_at > ? ORDER BY seq LIMIT 1`,
      ...[queue, holder, now],
    );
    return stored === null ? null : leaseOf(readRow(stored), stored.body);
  }
  #byLease(lease_id: string): StoredRow | null {
    return this.#sql.one<StoredRow>(`SELECT ${columns} FROM queue_rows WHERE lease_id = ?`, lease_id);
  }
  #hashOf(queue: string, message_id: string): string | null {
    const sql = `SELECT body_hash FROM queue_rows WHERE queue = ?1 AND message_id = ?2
      UNION ALL SELECT body_hash FROM queue_processed WHERE queue = ?1 AND message_id = ?2 LIMIT 1`;
    return this.#sql.one<{ body_hash: string }>(sql, queue, message_id)?.body_hash ?? null;
  }
  #mark(queue: string, message_id: string, hash: string, now: number): void {
    this.#sql.run(
      "INSERT OR IGNORE INTO queue_processed (queue, message_id, body_hash, at) VALUES (?, ?, ?, ?)",
      queue,
      message_id,
      hash,
      now,
    );
  }
  #move(lease: LeaseRef, asked: QueueStep, now: number): Result<QueueFacts> {
    const stored = this.#byLease(lease.lease_id);
    if (stored === null)
      return refuse("not_in_this_state", "nobody holds this lease: it expired, was given back, or was never granted");
    const moved = step(readRow(stored), asked, now);
    if (!moved.ok) return moved;
    if (moved.value.row.state === "acked") this.#mark(stored.queue, stored.message_id, stored.body_hash, now);
    return ok(this.#commit(moved.value).facts);
  }
  /** For events the query already chose the rows for: a refusal here is a bug of ours. */
  #must(stored: StoredRow, asked: QueueStep, now: number): Moved {
    const moved = step(readRow(stored), asked, now);
    if (!moved.ok) throw new Error(`queue row ${stored.message_id}: ${moved.refusal.detail}`);
    return this.#commit(moved.value);
  }
  #commit(moved: Moved): Moved {
    writeRow(this.#sql, moved.row);
    return moved;
  }
}

function parse(body: string): Message | null {
  try {
    return envelope.safeParse(JSON.parse(body)).data ?? null;
  } catch {
    return null;
  }
}
function leaseOf(row: QueueRow, body: string): Lease | null {
  const message = parse(body);
  if (message === null || row.lease === null) return null;
  const { lease_id, epoch, holder, expires_at } = row.lease;
  return { queue: row.queue, message, lease_id, epoch, holder, expires_at, deliveries: row.deliveries };
}
