/**
 * What leaves an object after its commit: outbox rows to the queue `agent-messages`, audit and telemetry to the
 * queue `records`. Sending is never believed: a row stays until its addressee (or D1) confirms it. [OUT-*]
 */

import type { Sent } from "../src/domain/posted.ts";
import type { RecordsBatch } from "../src/domain/records.ts";
import { limits } from "../src/limits.ts";
import type { Outbox, OutboxRow } from "./outbox.ts";
import { type Confirmed, type RecordStores, Shipping } from "./shipping.ts";
import { type Blobs, Spill } from "./spill.ts";
import type { Sql } from "./sql.ts";

export interface Lines {
  readonly MESSAGES: Queue<Sent>;
  readonly RECORDS: Queue<RecordsBatch>;
  /** Where the bodies of big messages lie while they travel. */
  readonly BLOBS?: Blobs;
}

export class Post {
  readonly #sql: Sql;
  readonly #object: string;
  readonly #lines: Lines;
  readonly #stores: { readonly outbox: Outbox };
  readonly #random: () => number;
  readonly #spill: Spill;
  readonly #shipping: Shipping;

  constructor(
    sql: Sql,
    object: string,
    lines: Lines,
    stores: { outbox: Outbox } & RecordStores,
    random: () => number = Math.random,
  ) {
    this.#random = random;
    this.#spill = new Spill(object, {
      sql,
      outbox: stores.outbox,
      blobs: lines.BLOBS ?? null,
      send: (body) => lines.MESSAGES.sendBatch([{ body }]),
    });
    this.#sql = sql;
    this.#object = object;
    this.#lines = lines;
    this.#stores = stores;
    this.#shipping = new Shipping(object, stores, (batch) => lines.RECORDS.send(batch));
  }

  /** Sends what is due. A queue that refuses costs a wait, never a row, and never holds up the other rows. */
  async flush(now: number): Promise<void> {
    const { outbox } = this.#stores;
    const due = outbox.due(now, limits.outbox_batch);
    const ids = due.map((row) => row.message.message_id);
    if (ids.length > 0) this.#sql.transaction(() => outbox.sent(ids, now, this.#random));
    for (const batch of batches(due.filter((row) => row.bytes <= limits.message_inline_bytes)))
      await this.#send(() =>
        this.#lines.MESSAGES.sendBatch(batch.map(({ message }) => ({ body: { from: this.#object, message } }))),
      );
    await this.#spill.run(
      due.filter((row) => row.bytes > limits.message_inline_bytes),
      now,
    );
    await this.#shipping.run(now);
  }

  async #send(send: () => Promise<unknown>): Promise<void> {
    try {
      await send();
    } catch (error) {
      console.warn(`${this.#object}: a queue did not take what was sent; it is sent again later`, error);
    }
  }

  confirm(ids: readonly string[], now: number = Date.now()): void {
    this.#sql.transaction(() => this.#stores.outbox.confirm(ids, now));
  }
  putOff(ids: readonly string[], now: number = Date.now()): void {
    this.#sql.transaction(() => this.#stores.outbox.putOff(ids, now));
  }
  confirmRecords(seq: Confirmed): void {
    this.#sql.transaction(() => this.#shipping.confirm(seq));
  }
  /** Whether records wait that may leave now. */
  recordsWait(now: number): boolean {
    const due = this.#shipping.nextDueAt(now);
    return due !== null && due <= now;
  }
  nextDueAt(now: number): number | null {
    return earliest(this.#stores.outbox.nextDueAt(), this.#shipping.nextDueAt(now));
  }
}

/** In their order, as much at a time as one call to the platform's queue carries. */
function batches(rows: readonly OutboxRow[]): OutboxRow[][] {
  const all: OutboxRow[][] = [];
  let bytes = 0;
  for (const row of rows) {
    // What stands around the message in its body, and the platform's own marks.
    const size = row.bytes + 256;
    const last = all.at(-1);
    if (last === undefined || last.length >= limits.queue_send_messages || bytes + size > limits.queue_send_bytes) {
      all.push([row]);
      bytes = size;
      continue;
    }
    last.push(row);
    bytes += size;
  }
  return all;
}

/** The soonest of the given times; null when there is none. */
export function earliest(...times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}
