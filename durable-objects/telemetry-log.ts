/** Measurements on their way to D1, numbered per object so that shipping twice counts once. Shipped rows are dropped. [TEL-*] */
import { type Telemetry, type TelemetryView, telemetryView } from "../src/domain/telemetry.ts";
import type { Sql } from "./sql.ts";

export const telemetrySchema: readonly string[] = [
  "CREATE TABLE telemetry (seq INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL)",
];

/** Most kept while D1 is away: the oldest go first, for a measurement is not a record. */
const maxBacklog = 10_000;

export class TelemetryLog {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  append(object: string, measured: readonly Telemetry[], now: number): void {
    const created_at = new Date(now).toISOString();
    for (const each of measured) {
      const body = JSON.stringify({ ...each, object, created_at });
      this.#sql.run("INSERT INTO telemetry (body) VALUES (?)", body);
    }
    if (measured.length > 0)
      this.#sql.run("DELETE FROM telemetry WHERE seq <= (SELECT max(seq) FROM telemetry) - ?", maxBacklog);
  }
  unshipped(limit: number): TelemetryView[] {
    return this.#sql
      .all<{ seq: number; body: string }>("SELECT seq, body FROM telemetry ORDER BY seq LIMIT ?", limit)
      .map(({ seq, body }) => telemetryView.parse({ ...JSON.parse(body), seq }));
  }
  shipped(up_to_seq: number): void {
    this.#sql.run("DELETE FROM telemetry WHERE seq <= ?", up_to_seq);
  }
  backlog(): number {
    return this.#sql.one<{ n: number }>("SELECT count(*) AS n FROM telemetry")?.n ?? 0;
  }
}
