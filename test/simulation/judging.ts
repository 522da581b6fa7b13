/** What `history.ts` knows of each message while it reads, and when that is a fault. */
import type { Entry, Fault, History, Seen, Verdict, WithLease } from "./history.ts";

type Say = (fault: Fault, detail: string) => void;

interface Held {
  readonly lease_id: string;
  readonly epoch: number;
  readonly holder: string;
  readonly at: number;
  expires_at: number;
  /** From when on it may be over; infinite while nothing ended it. */
  over_from: number;
}
interface Known {
  readonly queue: string;
  readonly message_id: string;
  priority: number;
  max_deliveries: number;
  /** Index of the first answer that said yes; -1 before. */
  answered: number;
  invoked: number;
  asked: number;
  refused: number;
  held: Held | null;
  readonly leases: Map<string, Held>;
  epoch: number;
  deliveries: number;
  available_at: number;
  effects: number;
  acked: boolean;
  dead: boolean;
}

export class Judge {
  readonly verdicts: Verdict[] = [];
  readonly #known = new Map<string, Known>();
  /** Messages that wait in a queue, so that order is asked of few. */
  readonly #waiting = new Map<string, Set<Known>>();
  #at = Number.NEGATIVE_INFINITY;
  /** Queues whose leases were not seen at their moment: what came first there cannot be told. */
  readonly #unsure: ReadonlySet<string>;
  constructor(unsure: ReadonlySet<string>) {
    this.#unsure = unsure;
  }

  take(entry: Entry, index: number): void {
    const say = (fault: Fault, detail: string): void => {
      this.verdicts.push({ fault, queue: entry.queue, message_id: entry.message_id, index, detail });
    };
    if (!(entry.at >= this.#at)) say("bad_history", `its time ${entry.at} is before the entry before it`);
    this.#at = Math.max(this.#at, entry.at);
    const row = this.#row(entry);
    if (row.invoked < 0 && entry.what !== "invoke") say("invented", `${entry.what} of a message nobody asked for`);
    switch (entry.what) {
      case "invoke":
        return this.#invoke(row, entry, index);
      case "return":
        return this.#return(row, entry.ok, index);
      case "lease":
        return this.#lease(row, entry, say);
      case "heartbeat":
        if (!entry.ok || this.#stale(row, entry, say)) return;
        if (row.held !== null) row.held.expires_at = Math.max(row.held.expires_at, entry.expires_at ?? entry.at);
        return;
      case "effect":
        return this.#effect(row, entry, say);
      case "ack":
        if (!entry.ok || this.#stale(row, entry, say)) return;
        if (row.dead) say("dead_and_acked", "a dead letter was acked");
        row.acked = true;
        return this.#over(row, entry);
      case "nack":
        if (!entry.ok || this.#toldLate(row, entry) || this.#stale(row, entry, say)) return;
        this.#over(row, entry);
        row.available_at = entry.available_at ?? Number.POSITIVE_INFINITY;
        return this.#wait(row, true);
      case "expire":
        if (row.held?.lease_id !== entry.lease_id) return;
        if (entry.at < row.held.expires_at)
          say("stale_accepted", `the lease was ended at ${entry.at}, before its time ${row.held.expires_at}`);
        this.#over(row, entry);
        row.available_at = entry.at;
        return this.#wait(row, true);
      case "dead":
        if (entry.ok === false) return;
        if (entry.lease_id !== undefined && entry.epoch !== undefined)
          if (this.#stale(row, { ...entry, lease_id: entry.lease_id, epoch: entry.epoch }, say)) return;
        if (row.acked) say("dead_and_acked", "it died after its ack");
        row.dead = true;
        this.#over(row, entry);
        return this.#wait(row, false);
      case "requeue":
        if (row.acked) say("life_after_ack", "it went back to the queue after its ack");
        if (entry.forgives === "one") row.deliveries = Math.max(0, row.deliveries - 1);
        if (entry.forgives === "all") row.deliveries = 0;
        row.dead = false;
        this.#over(row, entry);
        row.available_at = entry.at;
        return this.#wait(row, true);
    }
  }

  #invoke(row: Known, entry: Extract<Entry, { what: "invoke" }>, index: number): void {
    row.asked += 1;
    if (row.invoked >= 0) return;
    row.invoked = index;
    row.priority = entry.priority ?? 0;
    row.max_deliveries = entry.max_deliveries ?? 5;
  }
  #return(row: Known, ok: boolean, index: number): void {
    if (!ok) row.refused += 1;
    if (!ok || row.answered >= 0) return;
    row.answered = index;
    // What was leased before its answer came is not waiting any more.
    if (row.leases.size === 0 && !row.dead && !row.acked) this.#wait(row, true);
  }

  #lease(row: Known, entry: Extract<Entry, { what: "lease" }>, say: Say): void {
    const asked_at = entry.asked_at ?? entry.at;
    const held = row.held;
    const again = held !== null && held.lease_id === entry.lease_id;
    if (again && held.holder === entry.process && held.epoch === entry.epoch && held.over_from > asked_at) {
      held.expires_at = Math.max(held.expires_at, entry.expires_at);
      return;
    }
    if (row.leases.has(entry.lease_id)) say("two_holders", `the lease ${entry.lease_id} was given a second time`);
    if (row.asked > 0 && row.refused === row.asked) say("refused_but_stored", "every answer was a refusal");
    if (row.acked) say("life_after_ack", "it was leased after its ack");
    if (row.dead) say("life_after_ack", "it was leased while it was a dead letter");
    if (held !== null && held.over_from > entry.at && held.expires_at > entry.at && entry.expires_at > held.at)
      say(
        "two_holders",
        `${held.lease_id} of ${held.holder} lasts until ${held.expires_at}, ${entry.process} got it at ${entry.at}`,
      );
    // Told of late, a lease may be older than one already seen.
    const late = held !== null && asked_at < held.at && entry.epoch < held.epoch;
    if (!late && row.leases.size > 0 && entry.epoch <= row.epoch)
      say("epoch_back", `epoch ${entry.epoch} after epoch ${row.epoch}`);
    row.deliveries += 1;
    if (row.deliveries > row.max_deliveries)
      say("too_many_deliveries", `delivery ${row.deliveries} of ${row.max_deliveries}`);
    this.#order(row, entry.at, say);
    row.epoch = Math.max(row.epoch, entry.epoch);
    const lease = {
      lease_id: entry.lease_id,
      epoch: entry.epoch,
      holder: entry.process,
      at: entry.at,
      expires_at: entry.expires_at,
      over_from: Number.POSITIVE_INFINITY,
    };
    if (!late) row.held = lease;
    row.leases.set(entry.lease_id, lease);
    this.#wait(row, false);
  }
  /** Another message was certainly there, eligible, and came first. */
  #order(row: Known, at: number, say: Say): void {
    if (this.#unsure.has(row.queue)) return;
    for (const other of this.#waiting.get(row.queue) ?? []) {
      if (other === row || other.available_at > at) continue;
      const first = other.priority > row.priority || (other.priority === row.priority && other.answered < row.invoked);
      if (!first) continue;
      say("order_broken", `${other.message_id} (priority ${other.priority}) was eligible and came first`);
      return;
    }
  }

  #effect(row: Known, entry: Extract<Entry, { what: "effect" }>, say: Say): void {
    row.effects += 1;
    if (row.effects > 1) say("doubled_effect", `effect ${row.effects}`);
    const lease = row.leases.get(entry.lease_id);
    const asked_at = entry.asked_at ?? entry.at;
    if (lease === undefined || lease.epoch !== entry.epoch || lease.holder !== entry.process)
      say("effect_without_lease", `${entry.process} never held the lease ${entry.lease_id}`);
    else if (lease.over_from < asked_at || lease.expires_at <= asked_at)
      say("effect_without_lease", `the lease ${entry.lease_id} was over`);
  }
  /** What was accepted although its lease was not current is a fault; true when it is one. */
  #stale(row: Known, entry: WithLease & { readonly what: string }, say: Say): boolean {
    const held = row.held;
    const asked_at = entry.asked_at ?? entry.at;
    const current =
      held !== null &&
      held.lease_id === entry.lease_id &&
      held.epoch === entry.epoch &&
      held.over_from >= asked_at &&
      held.expires_at > asked_at;
    if (!current) say("stale_accepted", `${entry.what} with the lease ${entry.lease_id}, which was not current`);
    return !current;
  }
  /** A holder gave its lease back before the next one got it, and is heard of only now: then there were never two. */
  #toldLate(row: Known, entry: WithLease): boolean {
    const { asked_at } = entry;
    const lease = row.leases.get(entry.lease_id);
    if (asked_at === undefined || lease === undefined || lease === row.held || lease.epoch !== entry.epoch)
      return false;
    const next = row.held?.at ?? Number.POSITIVE_INFINITY;
    if (lease.over_from < asked_at || lease.expires_at <= asked_at || next < asked_at) return false;
    lease.over_from = asked_at;
    const suspected = this.verdicts.findIndex(
      (verdict) => verdict.fault === "two_holders" && verdict.detail.startsWith(`${lease.lease_id} of `),
    );
    if (suspected >= 0) this.verdicts.splice(suspected, 1);
    return true;
  }
  #over(row: Known, entry: Entry): void {
    if (row.held === null) return;
    const asked_at = "asked_at" in entry ? (entry.asked_at ?? entry.at) : entry.at;
    row.held.over_from = Math.min(row.held.over_from, asked_at);
    // Who asked within the instant may still be heard of; after it the lease is gone.
    if (asked_at === entry.at) row.held = null;
  }

  end(final: NonNullable<History["final"]>, index: number): void {
    const standing = new Set(final.map((row) => keyOf(row)));
    for (const row of this.#known.values()) {
      const say = (fault: Fault, detail: string): void => {
        this.verdicts.push({ fault, queue: row.queue, message_id: row.message_id, index, detail });
      };
      const stored = standing.delete(keyOf(row));
      if (stored && row.acked) say("life_after_ack", "it stands in the queue after its ack");
      if (stored && row.asked > 0 && row.refused === row.asked) say("refused_but_stored", "every answer was a refusal");
      if (stored || row.acked || row.answered < 0) continue;
      const seen = row.leases.size > 0 || row.dead;
      if (seen) say("lost", "it was stored, and is neither acked nor there");
      else say("never_stored", "it was answered yes, and nothing of it was ever seen");
    }
    for (const key of standing) {
      const [queue = "", message_id = ""] = key.split("\n");
      this.verdicts.push({ fault: "invented", queue, message_id, index, detail: "it stands in storage unasked for" });
    }
  }

  #wait(row: Known, waiting: boolean): void {
    const set = this.#waiting.get(row.queue) ?? new Set();
    this.#waiting.set(row.queue, set);
    if (waiting && !row.acked && row.answered >= 0) set.add(row);
    else set.delete(row);
  }
  #row(seen: Seen): Known {
    const key = keyOf(seen);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const made: Known = {
      ...{ queue: seen.queue, message_id: seen.message_id, priority: 0, max_deliveries: 5 },
      ...{ answered: -1, invoked: -1, asked: 0, refused: 0, held: null, leases: new Map(), epoch: 0, deliveries: 0 },
      ...{ available_at: Number.NEGATIVE_INFINITY, effects: 0, acked: false, dead: false },
    };
    this.#known.set(key, made);
    return made;
  }
}
function keyOf(row: { readonly queue: string; readonly message_id: string }): string {
  return `${row.queue}\n${row.message_id}`;
}
