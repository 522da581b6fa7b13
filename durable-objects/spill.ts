/**
 * Bodies too big for the platform's queue: put into the blobs, and only a reference travels. The row stays in the
 * outbox until its addressee confirms, so blobs that are down, slow or lost cost a wait and nothing else. [OUT-9] [OUT-10]
 */
import { sha256Hex } from "../src/domain/canonical.ts";
import { blobKeyOf, type Sent } from "../src/domain/posted.ts";
import { limits } from "../src/limits.ts";
import type { Outbox, OutboxRow } from "./outbox.ts";
import type { Sql } from "./sql.ts";

/** The part of an R2 bucket that is needed. */
export interface Blobs {
  put(key: string, value: string): Promise<unknown>;
  delete(keys: string[]): Promise<unknown>;
}
export interface SpillPorts {
  readonly sql: Sql;
  readonly outbox: Outbox;
  readonly blobs: Blobs | null;
  readonly send: (body: Sent) => Promise<unknown>;
}

export class Spill {
  readonly #ports: SpillPorts;
  readonly #from: string;
  /** Only saves putting the same body twice at once. */
  readonly #underway = new Set<string>();
  constructor(from: string, ports: SpillPorts) {
    this.#from = from;
    this.#ports = ports;
  }

  /** Sends the big ones and deletes what is left over; goes on by itself after `spill_wait_ms`, so that nobody waits for slow blobs. */
  async run(rows: readonly OutboxRow[], now: number): Promise<void> {
    const fresh = rows.filter((row) => !this.#underway.has(row.message.message_id));
    const left = this.#ports.sql.transaction(() => this.#ports.outbox.blobsToDelete(now));
    if (fresh.length + left.length === 0) return;
    const work = Promise.all([...fresh.map((row) => this.#one(row, now)), this.#clear(left)]);
    await withinWait(work);
  }

  async #one({ message, body, bytes }: OutboxRow, now: number): Promise<void> {
    const { message_id, scope_id } = message;
    const { sql, outbox, blobs, send } = this.#ports;
    this.#underway.add(message_id);
    try {
      if (blobs === null) throw new Error("no bucket is bound for big messages");
      const sha256 = sha256Hex(body);
      const key = blobKeyOf({ scope_id, message_id, sha256 });
      if (!sql.transaction(() => outbox.spilling(message_id, key))) return;
      await blobs.put(key, body);
      sql.transaction(() => outbox.spilled(message_id, key, now));
      await send({ from: this.#from, scope_id, message_id, key, sha256, bytes });
    } catch (error) {
      console.warn(`${message_id}: its body could not be sent; it is sent again later`, error);
    } finally {
      this.#underway.delete(message_id);
    }
  }

  async #clear(keys: string[]): Promise<void> {
    const { sql, outbox, blobs } = this.#ports;
    if (keys.length === 0 || blobs === null) return;
    try {
      await blobs.delete(keys);
      sql.transaction(() => outbox.blobsGone(keys));
    } catch (error) {
      console.warn(`${this.#from}: bodies nobody needs were not deleted; they are asked for again`, error);
    }
  }
}

async function withinWait(work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limits.spill_wait_ms);
  });
  await Promise.race([work, wait]);
  clearTimeout(timer);
}
