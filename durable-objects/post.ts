/**
 * What leaves an object after its commit: outbox rows to the queue `agent-messages`, audit and telemetry to the
 * queue `records`. Sending is never believed: a row stays until its addressee (or D1) confirms it. [OUT-*]
 */

import type { Message } from "../src/domain/message.ts";
import type { RecordsBatch } from "../src/domain/records.ts";
import { limits } from "../src/limits.ts";
import type { AuditLog } from "./audit-log.ts";
import type { Outbox } from "./outbox.ts";
import type { Sql } from "./sql.ts";
import type { TelemetryLog } from "./telemetry-log.ts";

/** A body of the queue `agent-messages`: the message, and the object whose outbox row it is. */
export interface Posted {
  readonly from: string;
  readonly message: Message;
}
export interface Lines {
  readonly MESSAGES: Queue<Posted>;
  readonly RECORDS: Queue<RecordsBatch>;
}

/** Records that were sent and not confirmed are sent again after this long. */
const recordsRetryMs = 10_000;
const auditBatch = 100;
const telemetryBatch = 200;

export class Post {
  readonly #sql: Sql;
  readonly #object: string;
  readonly #lines: Lines;
  readonly #stores: { readonly outbox: Outbox; readonly audit: AuditLog; readonly telemetry: TelemetryLog };
  /** Only saves sending twice: after a restart everything unconfirmed is sent again. */
  #recordsSentAt = 0;
  #recordsSentSeq = { audit: 0, telemetry: 0 };

  constructor(
    sql: Sql,
    object: string,
    lines: Lines,
    stores: { outbox: Outbox; audit: AuditLog; telemetry: TelemetryLog },
  ) {
    this.#sql = sql;
    this.#object = object;
    this.#lines = lines;
    this.#stores = stores;
  }

  /** Sends what is due. A queue that refuses costs a wait, never a row. */
  async flush(now: number): Promise<void> {
    const due = this.#stores.outbox.due(now, limits.outbox_batch);
    if (due.length > 0) {
      const ids = due.map((row) => row.message.message_id);
      this.#sql.transaction(() => this.#stores.outbox.sent(ids, now));
      await this.#send(() =>
        this.#lines.MESSAGES.sendBatch(due.map(({ message }) => ({ body: { from: this.#object, message } }))),
      );
    }
    await this.#ship(now);
  }

  async #ship(now: number): Promise<void> {
    const audit = this.#stores.audit.unshipped(auditBatch);
    const telemetry = this.#stores.telemetry.unshipped(telemetryBatch);
    const newest = { audit: audit.at(-1)?.seq ?? 0, telemetry: telemetry.at(-1)?.seq ?? 0 };
    const nothingNew = newest.audit <= this.#recordsSentSeq.audit && newest.telemetry <= this.#recordsSentSeq.telemetry;
    if (audit.length + telemetry.length === 0 || (nothingNew && now < this.#recordsSentAt + recordsRetryMs)) return;
    this.#recordsSentAt = now;
    this.#recordsSentSeq = newest;
    await this.#send(() => this.#lines.RECORDS.send({ object: this.#object, audit, telemetry }));
  }

  async #send(send: () => Promise<unknown>): Promise<void> {
    try {
      await send();
    } catch (error) {
      console.warn(`${this.#object}: a queue did not take what was sent; it is sent again later`, error);
    }
  }

  confirm(ids: readonly string[]): void {
    this.#sql.transaction(() => this.#stores.outbox.confirm(ids));
  }
  confirmRecords(seq: { audit: number; telemetry: number }): void {
    this.#sql.transaction(() => {
      this.#stores.audit.shipped(seq.audit);
      this.#stores.telemetry.shipped(seq.telemetry);
    });
  }
  nextDueAt(now: number): number | null {
    const backlog = this.#stores.audit.unshipped(1).length + this.#stores.telemetry.unshipped(1).length;
    const records = backlog === 0 ? null : Math.max(now, this.#recordsSentAt + recordsRetryMs);
    return earliest(this.#stores.outbox.nextDueAt(), records);
  }
}

/** The soonest of the given times; null when there is none. */
export function earliest(...times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}
