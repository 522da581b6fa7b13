/**
 * What the product shows of queues and of the messages they gave up, and what a change to a queue takes. Like
 * `view.ts`: times are ISO 8601 in UTC.
 */
import { z } from "zod";
import { standings } from "./queue-standing.ts";
import { approvalStatuses } from "./view.ts";

/** What a queue counts of itself. */
export const queueCounts = z.strictObject({
  name: z.string(),
  queued: z.number().int(),
  leased: z.number().int(),
  dead: z.number().int(),
  oldest_at: z.string().nullable(),
});
export const queueMoves = ["pause", "resume", "drain"] as const;
export type QueueMove = (typeof queueMoves)[number];
export const queueView = queueCounts.extend({
  /** `paused`: messages come in and none goes out. `draining`: none comes in, what stands goes out; then `drained`. */
  state: z.enum(standings),
  /** Who brought it there, when and why; null while nobody ever did. */
  by: z.string().nullable(),
  at: z.string().nullable(),
  reason: z.string().nullable(),
  /** Messages of the queue's owner on their way to others. Null for a queue whose owner sends from another one. */
  outbox: z.strictObject({ waiting: z.number().int(), dead: z.number().int() }).nullable(),
});
export const leaseView = z.strictObject({
  message_id: z.string(),
  message_kind: z.string(),
  holder: z.string(),
  leased_at: z.string(),
  expires_at: z.string(),
  deliveries: z.number().int(),
  heartbeats: z.number().int(),
});
/** One queue, with who holds what until when: the oldest leases, at most 100. */
export const queueDetail = queueView.extend({ leases: z.array(leaseView) });
/** All queues of a scope. `silent`: agents that did not say in time how their inbox stands. */
export const queueList = z.strictObject({
  items: z.array(queueView),
  next_cursor: z.null(),
  silent: z.array(z.string()),
});
/** A dead letter as the object that holds it knows it. */
export const storedLetter = z.strictObject({
  message_id: z.string(),
  message_kind: z.string(),
  reason: z.string(),
  deliveries: z.number().int(),
  at: z.string(),
});
export const deadLetterView = storedLetter.extend({
  /** `inbox`: its addressee gave it up. `outbox`: its sender did, because nobody would or could take it. */
  died_in: z.enum(["inbox", "outbox"]),
  sender: z.string(),
  recipient: z.string(),
  task_id: z.string().nullable(),
  /** The card that asks a person about it. `denied`: it was dropped, and is kept for the record only. */
  card: z.strictObject({ id: z.string(), status: z.enum(approvalStatuses) }).nullable(),
});
/** Body of the changes to a queue. */
export const queueChange = z.strictObject({ reason: z.string().trim().max(2_000).default("") });
/** `left`: dead letters that could still be sent again. */
export const requeued = z.strictObject({ requeued: z.number().int(), left: z.number().int() });

export type QueueList = z.infer<typeof queueList>;
export type QueueView = z.infer<typeof queueView>;
export type QueueDetail = z.infer<typeof queueDetail>;
export type DeadLetterView = z.infer<typeof deadLetterView>;
export type Requeued = z.infer<typeof requeued>;
