/** Calls that asked a person, and the last no to each: what caps and the rule against asking again are judged by. [ASK-*] */
import type { AskStanding } from "../../src/domain/asks.ts";
import { hashOf } from "../../src/domain/canonical.ts";
import { limits } from "../../src/limits.ts";
import type { Sql } from "../sql.ts";

export const askSchema: readonly string[] = [
  `CREATE TABLE asks (id TEXT PRIMARY KEY, task_id TEXT NOT NULL, call_hash TEXT NOT NULL, at INTEGER NOT NULL);
   CREATE INDEX asks_task ON asks (task_id);
   CREATE INDEX asks_at ON asks (at);
   CREATE TABLE refusals (task_id TEXT NOT NULL, call_hash TEXT NOT NULL, at INTEGER NOT NULL, said_by TEXT NOT NULL, reason TEXT NOT NULL,
     PRIMARY KEY (task_id, call_hash));`,
];

/** One entry of one attempt that wants to ask about one call. `call_hash` covers the tool and its canonical arguments. */
export interface Wish {
  readonly id: string;
  readonly task_id: string;
  readonly call_hash: string;
}

export function hashOfCall({ tool, arguments: given }: { readonly tool: string; readonly arguments: string }): string {
  return hashOf({ tool, args: JSON.parse(given) });
}

export class AskLog {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }
  has(id: string): boolean {
    return this.#sql.one("SELECT 1 AS found FROM asks WHERE id = ?", id) !== null;
  }
  note({ id, task_id, call_hash }: Wish, now: number): void {
    this.#sql.run("INSERT INTO asks (id, task_id, call_hash, at) VALUES (?, ?, ?, ?)", id, task_id, call_hash, now);
  }
  refused(call: Omit<Wish, "id">, said: { by: string; reason: string }, now: number): void {
    this.#sql.run(
      "INSERT OR REPLACE INTO refusals (task_id, call_hash, at, said_by, reason) VALUES (?, ?, ?, ?, ?)",
      ...[call.task_id, call.call_hash, now, said.by, said.reason],
    );
  }
  standing({ task_id, call_hash }: Wish, now: number): AskStanding {
    const count = (query: string, ...params: (string | number)[]) =>
      this.#sql.one<{ n: number }>(`SELECT count(*) AS n FROM asks WHERE ${query}`, ...params)?.n ?? 0;
    return {
      of_task: count("task_id = ?", task_id),
      // After a clock that jumped back, what lies ahead is no ask of this minute.
      in_minute: count("at > ? AND at <= ?", now - limits.ask_minute_ms, now),
      denied: this.#sql.one<{ at: number; said_by: string; reason: string }>(
        "SELECT at, said_by, reason FROM refusals WHERE task_id = ? AND call_hash = ?",
        task_id,
        call_hash,
      ),
    };
  }
}
