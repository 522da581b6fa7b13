/** SQLite without anything around it, in this process: what the queue's three commits are held against. */
import { DatabaseSync } from "node:sqlite";
import { textAt } from "./worker/messages.ts";
import { minimal, minimalSchema, sameColumns, sameColumnsSchema } from "./worker/raw-sql.ts";

const hash = "0".repeat(64);

export interface RawSqlite {
  /** Cycles of three commits each; seconds for all. */
  cycles(series: string, count: number): number;
  close(): void;
}

function open(path: string, schema: readonly string[]): DatabaseSync {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL");
  db.exec("PRAGMA synchronous = FULL");
  for (const step of schema) db.exec(step);
  return db;
}

function timed(count: number, cycle: (at: number) => void): number {
  const began = performance.now();
  for (let at = 0; at < count; at++) cycle(at);
  return (performance.now() - began) / 1_000;
}

export function rawMinimal(path: string): RawSqlite {
  const db = open(path, [minimalSchema]);
  const [enqueue, lease, ack] = [db.prepare(minimal.enqueue), db.prepare(minimal.lease), db.prepare(minimal.ack)];
  return {
    cycles: (series, count) =>
      timed(count, (at) => {
        enqueue.run(`${series}-${at}`, textAt(series, at));
        const row = lease.get(`lease-${series}-${at}`, Date.now() + 300_000);
        ack.run(row?.id ?? null, `lease-${series}-${at}`);
      }),
    close: () => db.close(),
  };
}

export function rawSameColumns(path: string): RawSqlite {
  const db = open(path, sameColumnsSchema);
  const [enqueue, lease] = [db.prepare(sameColumns.enqueue), db.prepare(sameColumns.lease)];
  const [ack, mark] = [db.prepare(sameColumns.ack), db.prepare(sameColumns.mark)];
  return {
    cycles: (series, count) =>
      timed(count, (at) => {
        const now = Date.now();
        enqueue.run(`${series}-${at}`, textAt(series, at), hash, now, now);
        const row = lease.get(`lease-${series}-${at}`, now, now + 300_000, now);
        db.exec("BEGIN IMMEDIATE");
        ack.run(row?.seq ?? null);
        mark.run(row?.message_id ?? null, row?.body_hash ?? null, now);
        db.exec("COMMIT");
      }),
    close: () => db.close(),
  };
}
