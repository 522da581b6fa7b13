/**
 * Judges what was seen of a queue from outside: a list of plain JSON entries, in the order they happened, held to
 * what a queue promises. It knows nothing of the store, so every kind of test can hand it what it saw. [HIS-*]
 *
 * Who cannot see the moment a thing happened gives `at` when it was told of it and `asked_at` when it asked: between
 * the two nothing is held against anybody, and the order of a queue whose leases were seen so is not judged. An
 * enqueue is two entries: what got no answer may have happened or not.
 */
import { Judge } from "./judging.ts";

export interface Seen {
  /** Milliseconds, never falling from entry to entry. */
  readonly at: number;
  /** Who acted: a holder's name is the same in `lease` and in what it does with the lease. */
  readonly process: string;
  readonly queue: string;
  readonly message_id: string;
}
export interface WithLease extends Seen {
  readonly lease_id: string;
  readonly epoch: number;
  readonly asked_at?: number;
}
export type Entry =
  /** Somebody asks for the message to be taken in. Defaults: priority 0, 5 deliveries. */
  | (Seen & { readonly what: "invoke"; readonly priority?: number; readonly max_deliveries?: number })
  /** The answer: `true` once it is stored (now or before), `false` when it was refused. */
  | (Seen & { readonly what: "return"; readonly ok: boolean })
  | (WithLease & { readonly what: "lease"; readonly expires_at: number })
  | (WithLease & { readonly what: "heartbeat"; readonly ok: boolean; readonly expires_at?: number })
  /** What the message is for was done, under this lease. */
  | (WithLease & { readonly what: "effect" })
  | (WithLease & { readonly what: "ack"; readonly ok: boolean })
  /** `available_at`: when the row may be leased again. */
  | (WithLease & { readonly what: "nack"; readonly ok: boolean; readonly available_at?: number })
  /** The lease's time had passed, and the queue took the row back. */
  | (WithLease & { readonly what: "expire" })
  /** No further delivery; `lease_id` and `epoch` only where a holder said so. */
  | (Seen & { readonly what: "dead"; readonly lease_id?: string; readonly epoch?: number; readonly ok?: boolean })
  /** Back in the queue: one delivery forgiven, all (a dead letter sent again), or none. */
  | (Seen & { readonly what: "requeue"; readonly forgives: "one" | "all" | "none" });

export interface History {
  readonly entries: readonly Entry[];
  /** What stands in storage at the end; null when nobody looked. A message not in it was acked, or is gone. */
  readonly final: readonly { readonly queue: string; readonly message_id: string; readonly state: string }[] | null;
}

export type Fault =
  | "bad_history"
  | "lost"
  | "never_stored"
  | "refused_but_stored"
  | "invented"
  | "doubled_effect"
  | "two_holders"
  | "effect_without_lease"
  | "stale_accepted"
  | "life_after_ack"
  | "dead_and_acked"
  | "order_broken"
  | "epoch_back"
  | "too_many_deliveries";
export interface Verdict {
  readonly fault: Fault;
  readonly queue: string;
  readonly message_id: string;
  /** Which entry showed it; the number of entries for what only the end shows. */
  readonly index: number;
  readonly detail: string;
}

/** Every fault found, in the order it showed; none for a history a right queue could have made. */
export function judge(history: History): Verdict[] {
  const unsure = history.entries.flatMap((entry) =>
    entry.what === "lease" && entry.asked_at !== undefined ? [entry.queue] : [],
  );
  const judged = new Judge(new Set(unsure));
  for (const [index, entry] of history.entries.entries()) judged.take(entry, index);
  if (history.final !== null) judged.end(history.final, history.entries.length);
  return judged.verdicts;
}
