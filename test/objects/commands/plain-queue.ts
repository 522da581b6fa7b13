/**
 * One inbox said as plainly as possible: what each command must answer, and what must stand in storage after it. A
 * life of the object may end anywhere, so what stood after each command can be asked for again. [OBJ-1]
 */
import type { Entry } from "../../simulation/history.ts";

export interface PlainRow {
  readonly id: string;
  readonly priority: number;
  state: "queued" | "leased" | "dead";
  deliveries: number;
  epoch: number;
  available_at: number;
  lease_id: string | null;
  holder: string | null;
  expires_at: number | null;
  died_at: number | null;
}
export interface Ref {
  readonly lease_id: string;
  readonly epoch: number;
}
interface Kept {
  rows: PlainRow[];
  done: string[];
  paused: boolean;
  history: number;
}

export const most = 3;
export const leaseMs = 2_000;
export const heartbeatMs = 3_000;
const firstBackoffMs = 1_000;
const mostBackoffMs = 300_000;

export class PlainQueue {
  readonly history: Entry[] = [];
  readonly #queue: string;
  #kept: Kept = { rows: [], done: [], paused: false, history: 0 };
  constructor(queue: string) {
    this.#queue = queue;
  }

  get rows(): readonly PlainRow[] {
    return this.#kept.rows;
  }
  /** Everything a later `restore` needs. */
  snapshot(): string {
    return JSON.stringify({ ...this.#kept, history: this.history.length });
  }
  restore(snapshot: string): void {
    this.#kept = JSON.parse(snapshot);
    this.history.length = this.#kept.history;
  }
  /** What must stand: rows in their order, and the marks of what was acked. */
  text(): string {
    const { rows, done, paused } = this.#kept;
    return JSON.stringify({ rows, done: done.toSorted(), paused });
  }

  enqueue(id: string, priority: number, now: number): "accepted" | "duplicate" {
    const { rows, done } = this.#kept;
    this.#saw(id, now, { what: "invoke", priority, max_deliveries: most });
    this.#saw(id, now, { what: "return", ok: true });
    if (done.includes(id) || rows.some((row) => row.id === id)) return "duplicate";
    const none = { lease_id: null, holder: null, expires_at: null, died_at: null };
    rows.push({ id, priority, state: "queued", deliveries: 0, epoch: 1, available_at: now, ...none });
    return "accepted";
  }
  /** Whom the holder gets; its own lease again unless it asks for a further one. */
  lease(asked: { holder: string; lease_id: string; many: boolean }, now: number): PlainRow | null {
    const { holder, lease_id, many } = asked;
    const held = this.rows.find((row) => row.holder === holder && (row.expires_at ?? 0) > now);
    if (!many && held !== undefined) return held;
    if (this.#kept.paused) return null;
    const ready = this.rows.filter((row) => row.state === "queued" && row.available_at <= now);
    const top = Math.max(...ready.map((row) => row.priority));
    const next = ready.find((row) => row.priority === top) ?? null;
    if (next === null) return null;
    Object.assign(next, {
      state: "leased",
      deliveries: next.deliveries + 1,
      lease_id,
      holder,
      expires_at: now + leaseMs,
    });
    this.#saw(next.id, now, { what: "lease", lease_id, epoch: next.epoch, expires_at: now + leaseMs }, holder);
    return next;
  }
  current(ref: Ref, now: number): PlainRow | null {
    const row = this.rows.find((each) => each.lease_id === ref.lease_id && each.epoch === ref.epoch);
    return row !== undefined && (row.expires_at ?? 0) > now ? row : null;
  }
  heartbeat(row: PlainRow, ref: Ref, now: number): void {
    row.expires_at = Math.max(row.expires_at ?? 0, now + heartbeatMs);
    this.#saw(row.id, now, { what: "heartbeat", ...ref, ok: true, expires_at: row.expires_at }, row.holder);
  }
  ack(row: PlainRow, ref: Ref, now: number): void {
    this.#saw(row.id, now, { what: "effect", ...ref }, row.holder);
    this.#saw(row.id, now, { what: "ack", ...ref, ok: true }, row.holder);
    this.#kept.rows.splice(this.#kept.rows.indexOf(row), 1);
    this.#kept.done.push(row.id);
  }
  nack(row: PlainRow, ref: Ref, now: number): void {
    const { holder } = row;
    const available_at = now + Math.min(firstBackoffMs * 2 ** (row.deliveries - 1), mostBackoffMs);
    this.#back(row, available_at, now);
    if (row.state === "dead") this.#saw(row.id, now, { what: "dead", ...ref, ok: true }, holder);
    else this.#saw(row.id, now, { what: "nack", ...ref, ok: true, available_at }, holder);
  }
  bury(row: PlainRow, ref: Ref, now: number): void {
    this.#saw(row.id, now, { what: "dead", ...ref, ok: true }, row.holder);
    this.#end(row, "dead", now);
  }
  expire(now: number): void {
    const over = this.rows.filter((row) => row.expires_at !== null && row.expires_at <= now);
    over.sort((a, b) => (a.expires_at ?? 0) - (b.expires_at ?? 0));
    for (const row of over) {
      const { lease_id, epoch, holder } = row;
      this.#back(row, now, now);
      if (row.state === "dead") this.#saw(row.id, now, { what: "dead" });
      else this.#saw(row.id, now, { what: "expire", lease_id: lease_id ?? "", epoch }, holder);
    }
  }
  /** The object came back: no lease of its former life is still worked on, and the delivery counts. */
  restart(now: number): void {
    for (const row of this.rows) {
      if (row.state !== "leased") continue;
      const state = this.#back(row, now, now);
      this.#saw(row.id, now, state === "dead" ? { what: "dead" } : { what: "requeue", forgives: "none" });
    }
  }
  revive(now: number): void {
    const dead = this.rows.filter((row) => row.state === "dead");
    for (const row of dead.sort((a, b) => (a.died_at ?? 0) - (b.died_at ?? 0))) {
      Object.assign(row, { state: "queued", deliveries: 0, available_at: now, died_at: null });
      this.#saw(row.id, now, { what: "requeue", forgives: "all" });
    }
  }
  pause(paused: boolean): void {
    this.#kept.paused = paused;
  }

  #back(row: PlainRow, available_at: number, now: number): PlainRow["state"] {
    const state = row.deliveries >= most ? "dead" : "queued";
    this.#end(row, state, now);
    if (state === "queued") row.available_at = available_at;
    return state;
  }
  #end(row: PlainRow, state: "queued" | "dead", now: number): void {
    const died_at = state === "dead" ? now : null;
    Object.assign(row, { state, epoch: row.epoch + 1, lease_id: null, holder: null, expires_at: null, died_at });
  }
  #saw(message_id: string, at: number, said: Said, process: string | null = "the queue"): void {
    // A spread of the union keeps each member whole; the compiler sees only their sum.
    this.history.push({ at, process: process ?? "?", queue: this.#queue, message_id, ...said } as Entry);
  }
}
type Without<T> = T extends unknown ? Omit<T, "at" | "process" | "queue" | "message_id"> : never;
type Said = Without<Entry>;
