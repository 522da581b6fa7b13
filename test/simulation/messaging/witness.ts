/**
 * Reads an object's stored data behind the stores' backs and compares it with the ledger: after each commit what the
 * commit touched, and now and then everything.
 */
import { hash } from "node:crypto";
import type { AuditView } from "../../../src/domain/record-view.ts";
import type { Data } from "./data.ts";
import type { Ledger } from "./ledger.ts";
import type { Promises } from "./promises.ts";
import { must, type Row } from "./row.ts";

interface Stored {
  readonly state: Row["state"];
  readonly deliveries: number;
  readonly epoch: number;
  readonly available_at: number;
  readonly lease_id: string | null;
  readonly holder: string | null;
  readonly expires_at: number | null;
  readonly heartbeats: number | null;
  readonly priority: number;
  readonly trace_id: string;
  readonly scope_id: string;
  readonly reason: string | null;
}
const seen =
  "state, deliveries, epoch, available_at, lease_id, holder, expires_at, heartbeats, priority, trace_id, scope_id, reason";
const genesis = "0".repeat(64);

export class Witness {
  readonly #data: Data;
  readonly #object: string;
  readonly #scope: string;
  readonly #ledger: Ledger;
  readonly #promises: Promises;
  #chain = { seq: 0, hash: genesis };
  #measured = 0;

  constructor(data: Data, object: string, stores: { ledger: Ledger; promises: Promises }) {
    this.#data = data;
    this.#object = object;
    this.#scope = object.split("/")[0] ?? "";
    this.#ledger = stores.ledger;
    this.#promises = stores.promises;
  }

  /** What a commit did, as it stands in storage now. */
  look(): void {
    const { trail, touched } = this.#ledger;
    this.#chained(trail.audit);
    this.#telemetry(trail.telemetry);
    for (const row of touched) this.#row(row);
    this.#ledger.clear();
    const rows = this.#promises.expectedRows();
    if (rows === null) return;
    const stored = this.#data.one<{ n: number }>("SELECT count(*) AS n FROM outbox")?.n;
    must(stored === rows, () => `${this.#object}: the outbox holds ${stored} rows, ${rows} were promised`);
  }
  /** For what must change nothing at all. */
  changes(): number {
    return this.#data.changes();
  }

  #chained(expected: Ledger["trail"]["audit"]): void {
    const links = this.#data.all<{ seq: number; body: string }>(
      "SELECT seq, body FROM audit_chain WHERE seq > ? ORDER BY seq",
      this.#chain.seq,
    );
    for (const [at, { seq, body }] of links.entries()) {
      const link: AuditView = JSON.parse(body);
      must(
        link.seq === this.#chain.seq + 1 && seq === link.seq,
        () => `${this.#object}: audit row ${seq} is misplaced`,
      );
      must(
        link.prev_hash === this.#chain.hash,
        () => `${this.#object}: audit row ${seq} does not link to the one before`,
      );
      // The stored body is the canonical form, so what was hashed is the body without its hash.
      const hashed = hash("sha256", body.replace(`"hash":"${link.hash}",`, ""));
      must(hashed === link.hash, () => `${this.#object}: audit row ${seq} does not match its own hash`);
      this.#chain = { seq, hash: link.hash };
      const said = expected[at];
      must(said !== undefined, () => `${this.#object}: audit says ${link.event_type} ${link.decision}, which was not`);
      must(
        link.event_type === said.event && link.decision === said.decision && link.message_id === said.row.message_id,
        () =>
          `${this.#object}: audit says ${link.decision} of ${link.message_id}, not ${said.decision} of ${said.row.message_id}`,
      );
      must(
        link.trace_id === said.row.trace_id && link.scope_id === this.#scope && link.object === this.#object,
        () => `${this.#object}: audit row ${seq} names another trace, scope or object`,
      );
    }
    must(links.length === expected.length, () => {
      const missing = expected[links.length];
      return `${this.#object}: no audit of ${missing?.event} ${missing?.decision} of ${missing?.row.message_id}`;
    });
  }
  #telemetry(expected: Ledger["trail"]["telemetry"]): void {
    if (expected.length === 0) return;
    const rows = this.#data.all<{ seq: number; body: string }>(
      "SELECT seq, body FROM telemetry WHERE seq > ? ORDER BY seq",
      this.#measured,
    );
    must(rows.length === expected.length, () => {
      const names = expected.map((each) => each.name).join(", ");
      return `${this.#object}: ${rows.length} measurements were kept, and due were ${names}`;
    });
    for (const [at, { seq, body }] of rows.entries()) {
      this.#measured = seq;
      const { event_name, message_id, trace_id, value } = JSON.parse(body);
      const due = expected[at];
      must(
        event_name === due?.name && message_id === due?.row.message_id && trace_id === due?.row.trace_id,
        () => `${this.#object}: measured ${event_name} of ${message_id}, not ${due?.name} of ${due?.row.message_id}`,
      );
      must(
        value >= 0 && (due?.value === null || value === due?.value),
        () => `${this.#object}: ${event_name} of ${message_id} is ${value}, not ${due?.value}`,
      );
    }
  }
  #row(row: Row): void {
    const stored = this.#data.one<Stored>(
      `SELECT ${seen} FROM queue_rows WHERE queue = ? AND message_id = ?`,
      row.queue,
      row.message_id,
    );
    this.#compare(row, stored);
  }
  #compare(row: Row, stored: Stored | null): void {
    const named = (): string => `${this.#object} ${row.queue} ${row.message_id}`;
    if (row.state === "acked") {
      must(stored === null, () => `${named()} was acked and is ${stored?.state}`);
      return;
    }
    must(stored !== null, () => `${named()} is lost: it was ${row.state}`);
    must(stored.state === row.state, () => `${named()} is ${stored.state}, not ${row.state}`);
    must(stored.epoch === row.epoch, () => `${named()} has epoch ${stored.epoch}, not ${row.epoch}`);
    must(
      stored.deliveries === row.deliveries && stored.deliveries <= row.max,
      () => `${named()} has ${stored.deliveries} deliveries, not ${row.deliveries} of ${row.max}`,
    );
    must(
      stored.lease_id === row.lease_id && stored.holder === row.holder,
      () => `${named()} is held by ${stored.holder}, not by ${row.holder}`,
    );
    must(stored.priority === row.priority, () => `${named()} has priority ${stored.priority}, not ${row.priority}`);
    must(stored.scope_id === this.#scope, () => `${named()} is of scope ${stored.scope_id}`);
    must(stored.trace_id === row.trace_id, () => `${named()} has another trace`);
    if (row.state === "dead") must((stored.reason ?? "") !== "", () => `${named()} is dead without a reason`);
    if (row.state === "leased") {
      const same = stored.expires_at === row.expires_at && stored.heartbeats === row.heartbeats;
      must(same, () => `${named()} is leased until ${stored.expires_at}, not ${row.expires_at}`);
    }
    if (row.state !== "queued") return;
    must(
      stored.available_at >= row.available_at && stored.available_at <= row.available_to,
      () => `${named()} is available at ${stored.available_at}, not from ${row.available_at} to ${row.available_to}`,
    );
    row.available_at = stored.available_at;
    row.available_to = stored.available_at;
  }

  /** Everything: no row more, none less, each as the ledger has it, with its mark, and every promise in its place. */
  audit(now: number): void {
    const rows = new Map(
      this.#data
        .all<Stored & { queue: string; message_id: string }>(`SELECT queue, message_id, ${seen} FROM queue_rows`)
        .map((stored) => [`${stored.queue}\n${stored.message_id}`, stored]),
    );
    const marks = new Set(
      this.#data
        .all<{ queue: string; message_id: string }>("SELECT queue, message_id FROM queue_processed")
        .map((mark) => `${mark.queue}\n${mark.message_id}`),
    );
    const effects = new Map(
      this.#data
        .all<{ message_id: string; n: number }>("SELECT message_id, count(*) AS n FROM effects GROUP BY message_id")
        .map((each) => [each.message_id, each.n]),
    );
    for (const [key, row] of this.#ledger.rows) {
      this.#compare(row, rows.get(key) ?? null);
      rows.delete(key);
      const fresh = row.acked_at > now - 30 * 86_400_000;
      must(row.state !== "acked" || !fresh || marks.has(key), () => `${row.message_id} was acked and left no mark`);
      must(row.state === "acked" || !marks.has(key), () => `${row.message_id} is ${row.state} and marked as processed`);
      must((effects.get(row.message_id) ?? 0) === row.effects, () => `the effect of ${row.message_id} is not as done`);
    }
    must(rows.size === 0, () => `${this.#object} holds ${[...rows.keys()].join(", ")}, which nobody put there`);
    this.#outbox();
  }
  #outbox(): void {
    const stored = new Map(
      this.#data
        .all<{ message_id: string; died_at: number | null }>("SELECT message_id, died_at FROM outbox")
        .map((row) => [row.message_id, row.died_at === null ? "waiting" : "dead"]),
    );
    for (const [id, promised] of this.#promises.all) {
      const state = stored.get(id) ?? "kept";
      must(state === promised.state, () => `${this.#object}: the promise ${id} is ${state}, not ${promised.state}`);
      stored.delete(id);
    }
    must(stored.size === 0, () => `${this.#object} promises ${[...stored.keys()].join(", ")}, which nobody put there`);
  }
}
