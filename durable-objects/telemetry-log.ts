/**
 * Measurements on their way to D1, numbered per object so that shipping twice counts once. A row that leaves, shipped or
 * dropped, is added to the object's totals in the same statement's transaction: totals count each row once, for ever. [TEL-*]
 */
import { byteLength } from "../src/domain/canonical.ts";
import {
  bucketsMs,
  type Telemetry,
  type TelemetryTotal,
  type TelemetryView,
  telemetryView,
} from "../src/domain/telemetry.ts";
import type { Sql } from "./sql.ts";

export const telemetrySchema: readonly string[] = [
  "CREATE TABLE telemetry (seq INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL)",
  `CREATE TABLE telemetry_totals (event_name TEXT NOT NULL, queue_name TEXT NOT NULL, bucket INTEGER NOT NULL,
     count INTEGER NOT NULL, sum REAL NOT NULL, PRIMARY KEY (event_name, queue_name, bucket)) WITHOUT ROWID`,
  // Numbers go on from the newest row, which therefore stays, emptied, when all have left: a counter of the
  // database's own would be one more page in every commit.
  `INSERT INTO telemetry (body) VALUES ('null');
   CREATE TABLE telemetry_rows (seq INTEGER PRIMARY KEY, body TEXT NOT NULL);
   INSERT INTO telemetry_rows SELECT seq, body FROM telemetry WHERE seq > 1 OR body <> 'null';
   DROP TABLE telemetry;
   ALTER TABLE telemetry_rows RENAME TO telemetry;`,
];

/** The body of a row that has left: it says nothing, and is nothing in all that is added up. */
const emptied = "'null'";
/** Most kept while D1 is away: the oldest go first, for a measurement is not a record. */
const maxBacklog = 10_000;
/** How many more may stand before the oldest are dropped: looking costs as much as writing one. */
const slack = 100;

const value = "json_extract(body, '$.value')";
const bucket = `CASE ${bucketsMs.map((bound, at) => `WHEN ${value} <= ${bound} THEN ${at}`).join(" ")} ELSE ${bucketsMs.length} END`;
/** A sample of a depth adds up to nothing. */
const addUp = `SELECT json_extract(body, '$.event_name') AS event_name, coalesce(json_extract(body, '$.queue_name'), '') AS queue_name,
    ${bucket} AS bucket, count(*) AS count, sum(${value}) AS sum
  FROM telemetry WHERE seq <= ? AND json_extract(body, '$.event_name') <> 'queue_depth_sample' GROUP BY 1, 2, 3`;

const insertOne = "INSERT INTO telemetry (body) VALUES (?)";
const rowsAtOnce = 50;
const insertMany = `INSERT INTO telemetry (body) VALUES ${Array(rowsAtOnce).fill("(?)").join(", ")}`;

export class TelemetryLog {
  readonly #sql: Sql;
  /** Appended since the backlog was last looked at. */
  #sinceTrimmed = 0;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  append(object: string, measured: readonly Telemetry[], now: number): void {
    const created_at = new Date(now).toISOString();
    const bodies = measured.map((each) => JSON.stringify({ ...each, object, created_at }));
    for (let at = 0; at < bodies.length; ) {
      const many = bodies.length - at >= rowsAtOnce;
      const taken = bodies.slice(at, at + (many ? rowsAtOnce : 1));
      this.#sql.run(many ? insertMany : insertOne, ...taken);
      at += taken.length;
    }
    this.#sinceTrimmed += measured.length;
    if (this.#sinceTrimmed < slack) return;
    this.#sinceTrimmed = 0;
    const newest = this.#sql.one<{ seq: number | null }>("SELECT max(seq) AS seq FROM telemetry")?.seq ?? 0;
    this.#remove(newest - maxBacklog);
  }
  /** Oldest first, as many as fit; what can no longer be read is passed over. */
  unshipped(limit: number, max_bytes = 64 * 1024): TelemetryView[] {
    let bytes = 0;
    return this.#sql
      .all<{ seq: number; body: string }>(
        `SELECT seq, body FROM telemetry WHERE body <> ${emptied} ORDER BY seq LIMIT ?`,
        limit,
      )
      .filter(({ body }, at) => {
        bytes += byteLength(body);
        return at === 0 || bytes <= max_bytes;
      })
      .flatMap(({ seq, body }) => telemetryView.safeParse({ ...JSON.parse(body), seq }).data ?? []);
  }
  shipped(up_to_seq: number): void {
    this.#remove(up_to_seq);
  }
  backlog(): number {
    return this.#sql.one<{ n: number }>(`SELECT count(*) AS n FROM telemetry WHERE body <> ${emptied}`)?.n ?? 0;
  }
  /** What all measurements of this object ever made add up to, those still on their way included. */
  totals(): TelemetryTotal[] {
    return this.#sql.all<TelemetryTotal>(
      `SELECT event_name, queue_name, bucket, sum(count) AS count, sum(sum) AS sum FROM (
         SELECT event_name, queue_name, bucket, count, sum FROM telemetry_totals UNION ALL ${addUp}) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
      Number.MAX_SAFE_INTEGER,
    );
  }

  #remove(up_to_seq: number): void {
    const any = `SELECT 1 AS found FROM telemetry WHERE seq <= ? AND body <> ${emptied} LIMIT 1`;
    if (up_to_seq <= 0 || this.#sql.one(any, up_to_seq) === null) return;
    this.#sql.run(
      `INSERT INTO telemetry_totals (event_name, queue_name, bucket, count, sum) ${addUp}
         ON CONFLICT (event_name, queue_name, bucket) DO UPDATE SET count = count + excluded.count, sum = sum + excluded.sum`,
      up_to_seq,
    );
    this.#sql.run("DELETE FROM telemetry WHERE seq <= ? AND seq < (SELECT max(seq) FROM telemetry)", up_to_seq);
    this.#sql.run(`UPDATE telemetry SET body = ${emptied} WHERE seq <= ?`, up_to_seq);
  }
}
