/**
 * Whether a queue hands out and takes in: open, paused, draining, drained. One table says what may follow what;
 * asking for the state it has changes nothing, so the same order twice is one order.
 */
import type { QueueFacts } from "./queue.ts";
import { noFacts } from "./queue.ts";

export const standings = ["open", "paused", "draining", "drained"] as const;
export type StandingState = (typeof standings)[number];
/** `empty`: nothing is queued or leased any more. `refill`: a dead row was put back. */
export type StandingEvent = "pause" | "resume" | "drain" | "empty" | "refill";

export const standingMoves: Record<StandingState, Record<StandingEvent, StandingState>> = {
  open: { pause: "paused", resume: "open", drain: "draining", empty: "open", refill: "open" },
  paused: { pause: "paused", resume: "open", drain: "draining", empty: "paused", refill: "paused" },
  draining: { pause: "paused", resume: "open", drain: "draining", empty: "drained", refill: "draining" },
  drained: { pause: "paused", resume: "open", drain: "drained", empty: "drained", refill: "draining" },
};

/** A paused queue hands out nothing new; what is held stays held, and may still be extended, acked and given back. */
export function handsOut(state: StandingState): boolean {
  return state !== "paused";
}
/** A queue that is being emptied takes nothing new: it waits with its sender until the queue is resumed. */
export function takesIn(state: StandingState): boolean {
  return state === "open" || state === "paused";
}

export interface Standing {
  readonly state: StandingState;
  /** Who made it so: null for a queue nobody ever touched, `runtime` for one that ran empty. */
  readonly by: string | null;
  readonly reason: string | null;
  /** ISO 8601; null for a queue nobody ever touched. */
  readonly at: string | null;
}
export const openStanding: Standing = { state: "open", by: null, reason: null, at: null };

export interface StandingOrder {
  readonly scope_id: string;
  readonly by: string;
  readonly reason: string | null;
}

/** Null when nothing changes. */
export function stand(
  queue: string,
  from: Standing,
  event: StandingEvent,
  order: StandingOrder,
  now: number,
): { readonly standing: Standing; readonly facts: QueueFacts } | null {
  const state = standingMoves[from.state][event];
  if (state === from.state) return null;
  const { scope_id, by, reason } = order;
  const decision = `queue_${state === "open" ? "resumed" : state}`;
  const move = {
    event_type: "transition" as const,
    trace_id: `queue:${scope_id}/${queue}`,
    message_id: null,
    scope_id,
    actor: by === "runtime" ? ("runtime" as const) : ("user" as const),
    decision,
    reason,
    details: { queue, from: from.state, to: state, by },
  };
  return {
    standing: { state, by, reason, at: new Date(now).toISOString() },
    facts: { ...noFacts, audit: [move] },
  };
}
