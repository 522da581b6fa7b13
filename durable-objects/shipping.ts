/**
 * Audit, telemetry and checkpoints on their way to D1 by the queue `records`. One batch is on its way at a time, always
 * the oldest rows that are not confirmed, so D1 never has a row whose predecessor it may lack. D1 away is a wait that
 * grows from 10 s to 5 min, and a backlog. [REC-6] [REC-7]
 */
import type { CheckpointRow, RecordsBatch } from "../src/domain/records.ts";
import { limits } from "../src/limits.ts";
import type { AuditLog } from "./audit-log.ts";
import type { TelemetryLog } from "./telemetry-log.ts";

/** The last seq of each list that D1 holds. */
export interface Confirmed {
  readonly audit: number;
  readonly telemetry: number;
  readonly checkpoints?: number;
}
/** Only a scope's runtime has checkpoints. */
export interface ShippedCheckpoints {
  unshipped(scope_id: string, limit: number): CheckpointRow[];
  shipped(up_to_seq: number): void;
}
export interface RecordStores {
  readonly audit: AuditLog;
  readonly telemetry: TelemetryLog;
  readonly checkpoints?: ShippedCheckpoints;
}

const auditBatch = 100;
const telemetryBatch = 200;

export class Shipping {
  readonly #object: string;
  readonly #stores: RecordStores;
  readonly #send: (batch: RecordsBatch) => Promise<unknown>;
  // Only save sending twice: after a restart everything unconfirmed is sent again.
  #sentAt = 0;
  /** Sent since the last confirmation. */
  #tries = 0;
  constructor(object: string, stores: RecordStores, send: (batch: RecordsBatch) => Promise<unknown>) {
    this.#object = object;
    this.#stores = stores;
    this.#send = send;
  }

  async run(now: number): Promise<void> {
    if (now < this.#dueAt()) return;
    try {
      const batch = this.#next();
      if (batch === null) return;
      this.#sentAt = now;
      this.#tries++;
      await this.#send(batch);
    } catch (error) {
      console.warn(`${this.#object}: records were not sent; they are sent again later`, error);
    }
  }
  /** In the caller's transaction. What still waits may leave at once. */
  confirm(seq: Confirmed): void {
    this.#stores.audit.shipped(seq.audit);
    this.#stores.telemetry.shipped(seq.telemetry);
    this.#stores.checkpoints?.shipped(seq.checkpoints ?? 0);
    this.#tries = 0;
  }
  nextDueAt(now: number): number | null {
    return this.#next(1) === null ? null : Math.max(now, this.#dueAt());
  }

  #dueAt(): number {
    if (this.#tries === 0) return 0;
    const waitMs = limits.records_first_retry_ms * 2 ** Math.min(this.#tries - 1, 30);
    return this.#sentAt + Math.min(waitMs, limits.records_max_retry_ms);
  }
  #next(most: number = Number.POSITIVE_INFINITY): RecordsBatch | null {
    const { audit, telemetry, checkpoints } = this.#stores;
    const [scope = ""] = this.#object.split("/");
    const batch = {
      object: this.#object,
      audit: audit.unshipped(Math.min(auditBatch, most), limits.records_audit_bytes),
      telemetry: telemetry.unshipped(Math.min(telemetryBatch, most), limits.records_telemetry_bytes),
    };
    const signed = checkpoints?.unshipped(scope, Math.min(limits.records_checkpoints, most)) ?? [];
    if (batch.audit.length + batch.telemetry.length + signed.length === 0) return null;
    return signed.length === 0 ? batch : { ...batch, checkpoints: signed };
  }
}
