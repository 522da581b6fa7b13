/**
 * The scope's live feed, kept: numbered events a reader replays from any seq it has seen, as long as it is
 * not older than what is kept; then it is told to begin anew. [EV-*]
 */
import { byteLength } from "../src/domain/canonical.ts";
import { type EventView, type eventTypes, eventView } from "../src/domain/record-view.ts";
import type { Page } from "../src/domain/view.ts";
import { limits } from "../src/limits.ts";
import type { Sql } from "./sql.ts";

export const eventSchema: readonly string[] = [
  `CREATE TABLE events (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, kind TEXT NOT NULL, task_id TEXT, at INTEGER NOT NULL, body TEXT NOT NULL);
   CREATE INDEX events_task ON events (task_id, seq);
   CREATE INDEX events_at ON events (at);`,
];

/** `phase_start` and `phase_complete` carry their phase behind a colon. */
export type EventType = (typeof eventTypes)[number] | `phase_start:${string}` | `phase_complete:${string}`;
export type EventFields = Pick<EventView, "scope_id" | "task_id" | "trace_id" | "actor" | "surfaces" | "detail"> &
  Readonly<Record<string, unknown>>;
export interface Feed {
  readonly events: EventView[];
  /** Where to go on from: with a filter, later than the last event returned. */
  readonly last_seq: number;
  /** The oldest seq kept, when the reader asked for what is gone or never was: it must begin anew. */
  readonly reset: number | null;
}

const maxEventBytes = 32 * 1024;
const pruneBatch = 5_000;

export class EventLog {
  readonly #sql: Sql;
  /** Hears of each event in the transaction that appends it. */
  readonly #heard: (event: EventView, now: number) => void;
  constructor(sql: Sql, heard: (event: EventView, now: number) => void = () => undefined) {
    this.#sql = sql;
    this.#heard = heard;
  }

  /** Fields of the type beyond 32 KB are dropped with a mark: an event is a notice, what it tells of is stored elsewhere. */
  append(type: EventType, fields: EventFields, now: number): EventView {
    const kind = type.split(":")[0] ?? type;
    const at = new Date(now).toISOString();
    const { scope_id, task_id, trace_id, actor, surfaces, detail } = fields;
    const whole = JSON.stringify({ ...fields, type, at });
    const small = {
      scope_id,
      task_id,
      trace_id,
      actor,
      surfaces,
      detail: detail?.slice(0, 2_000) ?? null,
      type,
      at,
      truncated: true,
    };
    const body = byteLength(whole) <= maxEventBytes ? whole : JSON.stringify(small);
    const row = this.#sql.one<{ seq: number }>(
      "INSERT INTO events (type, kind, task_id, at, body) VALUES (?, ?, ?, ?, ?) RETURNING seq",
      ...[type, kind, task_id, now, body],
    );
    if (row === null) throw new Error("events: the insert returned no row");
    const event = read({ seq: row.seq, body });
    this.#heard(event, now);
    return event;
  }
  /** Null when it is not kept any more. */
  get(seq: number): EventView | null {
    const row = this.#sql.one<StoredEvent>("SELECT seq, body FROM events WHERE seq = ?", seq);
    return row === null ? null : read(row);
  }

  /** Events later than `seq`, oldest first. A type in `types` also takes its phases: `phase_start` takes `phase_start:coding`. */
  after(seq: number, limit: number, types: readonly string[] | null = null): Feed {
    const newest = this.newest();
    const oldest = this.oldest();
    const reset = seq < oldest - 1 || seq > newest ? oldest : null;
    const from = reset === null ? seq : oldest - 1;
    const events = this.#sql
      .all<StoredEvent>(
        `SELECT seq, body FROM events WHERE seq > ?1 AND (?2 IS NULL OR type IN (SELECT value FROM json_each(?2))
           OR kind IN (SELECT value FROM json_each(?2))) ORDER BY seq LIMIT ?3`,
        ...[from, types === null ? null : JSON.stringify(types), limit],
      )
      .map(read);
    const full = events.length === limit;
    return { events, last_seq: full ? (events.at(-1)?.seq ?? from) : newest, reset };
  }

  /** One task's events, oldest first; `cursor` is the `next_cursor` of the page before. */
  byTask(task_id: string, cursor: string | null, limit: number): Page<EventView> {
    const from = cursor === null ? 0 : Number.parseInt(cursor, 10) || 0;
    const sql = "SELECT seq, body FROM events WHERE task_id = ? AND seq > ? ORDER BY seq LIMIT ?";
    const rows = this.#sql.all<StoredEvent>(sql, task_id, from, limit + 1);
    const items = rows.slice(0, limit).map(read);
    return { items, next_cursor: rows.length > limit ? String(items.at(-1)?.seq ?? from) : null };
  }

  newest(): number {
    return this.#sql.one<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'events'")?.seq ?? 0;
  }
  /** The oldest seq kept; one past the newest when none is. */
  oldest(): number {
    return this.#sql.one<{ seq: number | null }>("SELECT min(seq) AS seq FROM events")?.seq ?? this.newest() + 1;
  }

  /** Forgets what is older than 30 days or beyond the newest million, at most 5,000 at a time. True when more is left to forget. */
  prune(now: number, kept: number = limits.events_kept): boolean {
    const sql = `DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE seq <= ?1 OR at < ?2 ORDER BY seq LIMIT ?3) RETURNING seq`;
    return this.#sql.all(sql, this.newest() - kept, now - limits.events_retention_ms, pruneBatch).length === pruneBatch;
  }
}

interface StoredEvent {
  readonly seq: number;
  readonly body: string;
}
function read({ seq, body }: StoredEvent): EventView {
  return eventView.parse({ ...JSON.parse(body), seq });
}
