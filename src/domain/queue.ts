/**
 * One row's life in a queue: queued -> leased -> acked | queued again | dead. One table says what may follow
 * what; `step` applies one event to one row and returns the row and the facts to record with it. [Q-*]
 * A lease is the right of one holder to one row until a time; nobody else may extend, ack or nack it.
 */
import { limits } from "../limits.ts";
import { type AuditEvent, about, actorOf } from "./audit.ts";
import type { Message } from "./message.ts";
import { ok, type Result, refuse } from "./refusal.ts";
import type { Telemetry } from "./telemetry.ts";

export const rowStates = ["queued", "leased", "acked", "dead"] as const;
export type RowState = (typeof rowStates)[number];
export type RowEvent = "lease" | "heartbeat" | "ack" | "nack" | "bury" | "expire" | "requeue" | "revive";

/** An empty pair is a refusal. `nack`, `expire` and `requeue` lead to `dead` instead once the deliveries are used up. */
export const rowMoves: Record<RowState, Partial<Record<RowEvent, RowState>>> = {
  queued: { lease: "leased" },
  leased: {
    heartbeat: "leased",
    ack: "acked",
    nack: "queued",
    bury: "dead",
    expire: "queued",
    requeue: "queued",
  },
  acked: {},
  dead: { revive: "queued" },
};

/** What a holder shows to act on its lease. */
export interface LeaseRef {
  readonly lease_id: string;
  readonly epoch: number;
}
export interface LeaseRow extends LeaseRef {
  readonly holder: string;
  readonly leased_at: number;
  readonly expires_at: number;
  readonly heartbeats: number;
}
export type RowHead = Pick<Message, "message_id" | "trace_id" | "scope_id" | "message_kind" | "sender">;
export interface QueueRow {
  readonly queue: string;
  readonly head: RowHead;
  readonly state: RowState;
  /** Order of insertion: first in, first out among eligible rows of equal priority. */
  readonly seq: number;
  readonly priority: number;
  readonly max_deliveries: number;
  readonly deliveries: number;
  /** Grows each time a lease ends without an ack, so that what a former holder sends can be told apart. */
  readonly epoch: number;
  readonly enqueued_at: number;
  readonly available_at: number;
  readonly lease: LeaseRow | null;
  /** Why it was last given back, or died. */
  readonly reason: string | null;
  readonly died_at: number | null;
}

export type QueueStep =
  | { readonly event: "lease"; readonly lease_id: string; readonly holder: string; readonly lease_ms: number }
  | { readonly event: "heartbeat"; readonly lease: LeaseRef; readonly extend_ms: number }
  | { readonly event: "ack"; readonly lease: LeaseRef }
  | { readonly event: "nack"; readonly lease: LeaseRef; readonly reason: string; readonly random: number }
  | { readonly event: "bury"; readonly lease: LeaseRef; readonly reason: string }
  | { readonly event: "expire" }
  /** The holder itself restarted. `counted`: it had begun nothing since the lease, so the delivery was wasted. */
  | { readonly event: "requeue"; readonly counted: boolean }
  | { readonly event: "revive" };

/** What happened, for the caller to record in the same transaction. */
export interface QueueFacts {
  readonly audit: readonly Omit<AuditEvent, "object" | "created_at">[];
  readonly telemetry: readonly Telemetry[];
}
export const noFacts: QueueFacts = { audit: [], telemetry: [] };
export function joinFacts(...facts: readonly QueueFacts[]): QueueFacts {
  return { audit: facts.flatMap((each) => each.audit), telemetry: facts.flatMap((each) => each.telemetry) };
}

export interface Moved {
  readonly row: QueueRow;
  readonly facts: QueueFacts;
}

export function step(row: QueueRow, asked: QueueStep, now: number): Result<Moved> {
  const refused = reasonNot(row, asked, now);
  if (refused !== null) return refuse("not_in_this_state", refused);
  switch (asked.event) {
    case "lease": {
      const { lease_id, holder, lease_ms } = asked;
      const lease = { lease_id, holder, epoch: row.epoch, leased_at: now, expires_at: now + lease_ms, heartbeats: 0 };
      const next: QueueRow = { ...row, state: "leased", deliveries: row.deliveries + 1, lease, reason: null };
      // Since it entered this queue, by this object's clock: a delivery after the first counts what came before it too.
      const wait = measure(row, "queue_wait_ms", Math.max(0, now - row.enqueued_at), { deliveries: next.deliveries });
      return ok({ row: next, facts: dequeued(next, lease, "leased", null, [wait]) });
    }
    case "heartbeat": {
      if (row.lease === null) return refuse("not_in_this_state", "nobody holds this row");
      const expires_at = Math.max(row.lease.expires_at, now + asked.extend_ms);
      const next = { ...row, lease: { ...row.lease, expires_at, heartbeats: row.lease.heartbeats + 1 } };
      return ok({
        row: next,
        facts: { audit: [], telemetry: [measure(row, "lease_heartbeat", next.lease.heartbeats)] },
      });
    }
    case "ack":
      return ok(ended({ ...row, state: "acked" }, row, "acked", null, now));
    case "bury":
      return ok(ended(dead(row, asked.reason, now), row, "dead", asked.reason, now));
    case "nack":
      return ok(givenBack(row, "nacked", asked.reason, now, now + backoffMs(row.deliveries, asked.random)));
    case "expire":
      return ok(givenBack(row, "expired", "the lease expired", now, now));
    case "requeue": {
      const deliveries = asked.counted ? row.deliveries : Math.max(0, row.deliveries - 1);
      return ok(givenBack({ ...row, deliveries }, "requeued", "its holder restarted", now, now));
    }
    case "revive": {
      const revived: QueueRow = { ...row, state: "queued", deliveries: 0, available_at: now, died_at: null };
      return ok({ row: revived, facts: enqueued(revived, "requeued", row.reason) });
    }
  }
}

/** Null when the event may happen to the row now, else the sentence that says why not. */
function reasonNot(row: QueueRow, asked: QueueStep, now: number): string | null {
  if ("lease" in asked && !holds(row, asked.lease, now))
    return "this lease is not current: it expired, was given back, or was never granted";
  if (rowMoves[row.state][asked.event] === undefined) return `a row that is ${row.state} cannot ${asked.event}`;
  if (asked.event === "lease" && row.available_at > now) return "the row is backing off";
  if (asked.event === "expire" && row.lease !== null && row.lease.expires_at > now) return "the lease has not expired";
  return null;
}

/** Whether the lease shown is the row's, and its time has not passed. */
export function holds(row: QueueRow, lease: LeaseRef, now: number): boolean {
  const held = row.lease;
  return (
    row.state === "leased" &&
    held !== null &&
    held.lease_id === lease.lease_id &&
    held.epoch === lease.epoch &&
    now < held.expires_at
  );
}

/** How long a row given back waits: doubling from a second to five minutes, give or take a quarter. `random` is in [0, 1). */
export function backoffMs(deliveries: number, random: number): number {
  const doublings = Math.min(Math.max(deliveries - 1, 0), 30);
  const base = Math.min(limits.backoff_first_ms * 2 ** doublings, limits.backoff_max_ms);
  return Math.round(base * (1 + limits.backoff_jitter * (2 * random - 1)));
}

/** The row to lease next: highest priority, then first in. Null when none is eligible. */
export function pick(rows: readonly QueueRow[], now: number): QueueRow | null {
  let best: QueueRow | null = null;
  for (const row of rows) {
    if (row.state !== "queued" || row.available_at > now) continue;
    if (best === null || row.priority > best.priority || (row.priority === best.priority && row.seq < best.seq))
      best = row;
  }
  return best;
}

/**
 * When a row next changes by itself: its lease expires or its back-off ends. A row already eligible is not
 * due: it waits for a consumer, and an alarm for it would ring for ever.
 */
export function rowDueAt(row: QueueRow, now: number): number | null {
  if (row.state === "leased") return row.lease?.expires_at ?? null;
  return row.state === "queued" && row.available_at > now ? row.available_at : null;
}

function givenBack(row: QueueRow, how: string, reason: string, now: number, available_at: number): Moved {
  if (row.deliveries >= row.max_deliveries) {
    const why = `${reason}; delivered ${row.deliveries} times, the most allowed`;
    return ended(dead(row, why, now), row, "dead", why, now, how);
  }
  const next: QueueRow = { ...row, state: "queued", epoch: row.epoch + 1, available_at, lease: null, reason };
  return ended(next, row, how, reason, now);
}
function dead(row: QueueRow, reason: string, now: number): QueueRow {
  return { ...row, state: "dead", epoch: row.epoch + 1, lease: null, reason, died_at: now };
}

/** The facts of a lease that ended: how, after how long, with how many heartbeats. */
function ended(
  next: QueueRow,
  held: QueueRow,
  decision: string,
  reason: string | null,
  now: number,
  how = decision,
): Moved {
  const lease = held.lease;
  if (lease === null) return { row: next, facts: noFacts };
  const labels = { outcome: how, heartbeats: lease.heartbeats };
  const telemetry = [measure(held, "lease_duration_ms", now - lease.leased_at, labels)];
  if (how === "expired") telemetry.push(measure(held, "lease_expired", 1));
  return { row: next, facts: dequeued(next, lease, decision, reason, telemetry) };
}

/** The facts of a row that entered its queue, or was not let in. */
export function enqueued(row: Pick<QueueRow, "queue" | "head">, decision: string, reason: string | null): QueueFacts {
  const details = { queue: row.queue, message_kind: row.head.message_kind };
  const event = {
    event_type: "enqueue" as const,
    ...about(row.head),
    actor: actorOf(row.head.sender),
    decision,
    reason,
    details,
  };
  return { audit: [event], telemetry: [] };
}
function dequeued(
  row: QueueRow,
  lease: LeaseRow,
  decision: string,
  reason: string | null,
  telemetry: Telemetry[],
): QueueFacts {
  const { queue, head, deliveries } = row;
  const { holder, lease_id, epoch } = lease;
  const details = { queue, message_kind: head.message_kind, holder, lease_id, epoch, deliveries };
  return {
    audit: [{ event_type: "dequeue", ...about(head), actor: actorOf(holder), decision, reason, details }],
    telemetry,
  };
}
function measure(
  row: QueueRow,
  event_name: Telemetry["event_name"],
  value: number,
  labels: Telemetry["labels"] = {},
): Telemetry {
  return { event_name, ...about(row.head), queue_name: row.queue, value, labels };
}
