/** Each queue's standing, stored: what people ordered and when a drained queue ran empty. */
import { noFacts, type QueueFacts } from "../src/domain/queue.ts";
import {
  openStanding,
  type Standing,
  type StandingEvent,
  type StandingOrder,
  type StandingState,
  stand,
} from "../src/domain/queue-standing.ts";
import type { Sql } from "./sql.ts";

export interface Stood {
  readonly standing: Standing;
  /** False when the queue stood so already: the order came twice. */
  readonly changed: boolean;
  readonly facts: QueueFacts;
}

export function standingOf(sql: Sql, queue: string): Standing {
  const stored = sql.one<{ state: StandingState; by: string; reason: string | null; at: number }>(
    'SELECT state, "by", reason, at FROM queue_standing WHERE queue = ?',
    queue,
  );
  return stored === null ? openStanding : { ...stored, at: new Date(stored.at).toISOString() };
}

export function moveStanding(sql: Sql, queue: string, event: StandingEvent, order: StandingOrder, now: number): Stood {
  const from = standingOf(sql, queue);
  const moved = stand(queue, from, event, order, now);
  if (moved === null) return { standing: from, changed: false, facts: noFacts };
  const { state, by, reason } = moved.standing;
  sql.run(
    'INSERT OR REPLACE INTO queue_standing (queue, state, "by", reason, at) VALUES (?, ?, ?, ?, ?)',
    ...[queue, state, by, reason, now],
  );
  return { standing: moved.standing, changed: true, facts: moved.facts };
}

/** Whether anything stands in the queue that somebody may still work on. */
export function isEmpty(sql: Sql, queue: string): boolean {
  const counted = sql.one<{ n: number }>("SELECT queued + leased AS n FROM queue_counts WHERE queue = ?", queue);
  return (counted?.n ?? 0) === 0;
}

/** After rows ended: a queue that is being drained and has none left is drained. */
export function noteEnd(sql: Sql, queue: string, scope_id: string, now: number): QueueFacts {
  if (standingOf(sql, queue).state !== "draining" || !isEmpty(sql, queue)) return noFacts;
  return moveStanding(sql, queue, "empty", { scope_id, by: "runtime", reason: "nothing is left in it" }, now).facts;
}
