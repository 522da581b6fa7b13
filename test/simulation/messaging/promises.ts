/** What one object has promised to send, beside its outbox: which ids wait, which are dead, when each may travel again. */
import type { Message } from "../../../src/domain/message.ts";
import { must } from "./row.ts";

export interface Promised {
  readonly message: Message;
  readonly seq: number;
  state: "waiting" | "dead" | "kept";
  /** When it was put, sent again by a person, or its addressee last asked for patience. */
  heard_at: number;
  sends: number;
  not_before: number;
}

const firstRetryMs = 5_000;
const maxRetryMs = 300_000;
/** A wait may be shorter than the plain doubling by this share. */
const jitter = 0.25;
const givenUpAfterMs = 7 * 86_400_000;
const batch = 50;
const putOffMs = 30_000;

export class Promises {
  readonly all = new Map<string, Promised>();
  readonly waiting = new Set<Promised>();
  #dead = 0;
  #changed = false;
  readonly #undo: (() => void)[] = [];

  settle(committed: boolean): void {
    if (!committed) for (const undo of this.#undo.toReversed()) undo();
    this.#undo.length = 0;
  }
  /** How many rows the outbox must hold; null when nothing changed since it was last asked. */
  expectedRows(): number | null {
    const rows = this.#changed ? this.waiting.size + this.#dead : null;
    this.#changed = false;
    return rows;
  }

  put(message: Message, now: number): void {
    if (this.all.has(message.message_id)) return;
    const promised: Promised = {
      message,
      seq: this.all.size,
      state: "waiting",
      heard_at: now,
      sends: 0,
      not_before: now,
    };
    this.all.set(message.message_id, promised);
    this.waiting.add(promised);
    this.#changed = true;
    this.#undo.push(() => {
      this.all.delete(message.message_id);
      this.waiting.delete(promised);
    });
  }
  /** The object hands these to the queue now. */
  sent(ids: readonly string[], { object, big }: { object: string; big: boolean }, now: number): void {
    for (const id of ids) {
      const promised = this.all.get(id);
      // A big one leaves when its body has been put: its back-off began before, and an earlier copy may have arrived.
      if (big && promised !== undefined) continue;
      must(promised?.state === "waiting", () => `${object} sends ${id}, which is ${promised?.state ?? "not promised"}`);
      must(now >= promised.not_before, () => `${object} sends ${id} again before its back-off has ended`);
      const wait = Math.min(firstRetryMs * 2 ** promised.sends, maxRetryMs);
      promised.sends += 1;
      promised.not_before = now + Math.floor(wait * (1 - jitter));
    }
  }
  /** The object came back: everything may travel at once. */
  resent(now: number): void {
    for (const promised of this.waiting) {
      const { not_before } = promised;
      if (not_before <= now) continue;
      promised.not_before = now;
      this.#undo.push(() => {
        promised.not_before = not_before;
      });
    }
  }
  kept(id: string): void {
    const promised = this.all.get(id);
    if (promised !== undefined) this.#move(promised, "kept");
  }
  putOff(id: string, now: number): void {
    const promised = this.all.get(id);
    if (promised?.state === "waiting") Object.assign(promised, { heard_at: now, not_before: now + putOffMs });
  }
  refused(id: string): boolean {
    const promised = this.all.get(id);
    if (promised?.state !== "waiting") return false;
    this.#move(promised, "dead");
    return true;
  }
  /** What nobody confirmed for seven days, oldest first. */
  gaveUp(told: readonly string[], now: number): void {
    const old = [...this.waiting].filter((promised) => promised.heard_at <= now - givenUpAfterMs);
    old.sort((a, b) => a.heard_at - b.heard_at || a.seq - b.seq).splice(batch);
    must(old.length === told.length, () => `${told.length} messages were given up, ${old.length} were old enough`);
    for (const promised of old) {
      must(told.includes(promised.message.message_id), () => `${promised.message.message_id} was not given up`);
      this.#move(promised, "dead");
    }
  }
  revived(id: string, answered: boolean, now: number): void {
    const promised = this.all.get(id);
    must(answered === (promised?.state === "dead"), () => `reviving ${id} in the outbox answered ${answered}`);
    if (promised === undefined || !answered) return;
    this.#move(promised, "waiting");
    const { heard_at, sends, not_before } = promised;
    this.#undo.push(() => Object.assign(promised, { heard_at, sends, not_before }));
    Object.assign(promised, { heard_at: now, sends: 0, not_before: now });
  }

  #move(promised: Promised, state: Promised["state"]): void {
    const before = promised.state;
    const file = (next: Promised["state"]): void => {
      const last = promised.state;
      promised.state = next;
      if (last === "dead") this.#dead -= 1;
      if (next === "dead") this.#dead += 1;
      if (next === "waiting") this.waiting.add(promised);
      else this.waiting.delete(promised);
    };
    file(state);
    this.#changed = true;
    this.#undo.push(() => file(before));
  }
}
