/**
 * D1, where all scopes' audit and telemetry can be searched, and where the list of scopes stands. Rows are
 * inserted or ignored by (object, seq), so a batch that comes twice, late or in pieces stores each row once. [REC-*]
 */
import { and, asc, eq, getTableColumns, gt, gte, or, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { z } from "zod";
import { type AuditView, auditView } from "../domain/record-view.ts";
import type { CheckpointRow, RecordsBatch } from "../domain/records.ts";
import { type TelemetryView, telemetryView } from "../domain/telemetry.ts";
import type { Page } from "../domain/view.ts";
import { limits } from "../limits.ts";
import { audit, checkpoints, scopes, telemetry } from "./d1-schema.ts";

export interface AuditQuery {
  readonly scope_id: string;
  readonly trace_id: string | null;
  readonly event_type: string | null;
  /** `next_cursor` of the page before. */
  readonly cursor: string | null;
  readonly limit: number;
}
export interface TelemetryQuery {
  readonly scope_id: string;
  readonly event_name: string | null;
  readonly queue_name: string | null;
  /** ISO 8601 in UTC: measured then or later. */
  readonly since: string | null;
  readonly cursor: string | null;
  readonly limit: number;
}
/** A row's place in its chain. */
export interface Place {
  readonly object: string;
  readonly seq: number;
}
export interface Scope {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
}

const auditColumns = [
  ...["object", "seq", "prev_hash", "hash", "event_type", "trace_id", "message_id"],
  ...["scope_id", "actor", "decision", "reason", "details", "created_at"],
];
const telemetryColumns = [
  ...["object", "seq", "event_name", "scope_id", "trace_id"],
  ...["queue_name", "message_id", "value", "labels", "created_at"],
];

/** One bound parameter for any number of rows: D1 allows a hundred a statement. Objects arrive as their JSON text. */
function insertAll(table: string, columns: readonly string[]): string {
  const values = columns.map((column) => `json_extract(value, '$.${column}')`);
  return `INSERT OR IGNORE INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM json_each(?)`;
}
const insertAudit = insertAll("audit", auditColumns);
const insertTelemetry = insertAll("telemetry", telemetryColumns);
const insertCheckpoints = insertAll("checkpoints", ["scope_id", "seq", "hash", "jws", "at"]);

/** The number SQLite gave a row when it was stored. D1 has one writer, so a row stored later never has a lower one. */
const stored = sql<number>`rowid`;
const position = z.tuple([z.literal("stored"), z.number().int().nonnegative()]);

export class Records {
  readonly #db: D1Database;
  constructor(db: D1Database) {
    this.#db = db;
  }

  /** All of the batches or none. Throws when D1 does: the queue brings them again. */
  async store(batches: readonly RecordsBatch[]): Promise<void> {
    const insert = (into: string, rows: readonly unknown[]) =>
      rows.length === 0 ? [] : [this.#db.prepare(into).bind(JSON.stringify(rows))];
    const statements = batches.flatMap((batch) => [
      ...insert(insertAudit, batch.audit),
      ...insert(insertTelemetry, batch.telemetry),
      ...insert(insertCheckpoints, batch.checkpoints ?? []),
    ]);
    if (statements.length > 0) await this.#db.batch(statements);
  }

  /** One scope's audit in the order it was stored, so that a row that comes late is still ahead of every cursor. */
  async auditPage(query: AuditQuery): Promise<Page<AuditView>> {
    const filters: (SQL | undefined)[] = [eq(audit.scope_id, query.scope_id), after(query.cursor)];
    if (query.trace_id !== null) filters.push(eq(audit.trace_id, query.trace_id));
    if (query.event_type !== null) filters.push(eq(audit.event_type, query.event_type));
    const rows = await drizzle(this.#db)
      .select({ stored, ...getTableColumns(audit) })
      .from(audit)
      .where(and(...filters))
      .orderBy(asc(stored))
      .limit(query.limit + 1);
    return pageOf(rows, query.limit, ({ stored: _, ...row }) =>
      auditView.parse({ ...row, details: JSON.parse(row.details) }),
    );
  }
  /** One scope's measurements, in the order they were stored. */
  async telemetryPage(query: TelemetryQuery): Promise<Page<TelemetryView>> {
    const filters: (SQL | undefined)[] = [eq(telemetry.scope_id, query.scope_id), after(query.cursor)];
    if (query.event_name !== null) filters.push(eq(telemetry.event_name, query.event_name));
    if (query.queue_name !== null) filters.push(ofQueue(query.scope_id, query.queue_name));
    if (query.since !== null) filters.push(gte(telemetry.created_at, query.since));
    const rows = await drizzle(this.#db)
      .select({ stored, ...getTableColumns(telemetry) })
      .from(telemetry)
      .where(and(...filters))
      .orderBy(asc(stored))
      .limit(query.limit + 1);
    return pageOf(rows, query.limit, ({ stored: _, ...row }) =>
      telemetryView.parse({ ...row, queue_name: nameOf(row), labels: JSON.parse(row.labels) }),
    );
  }
  /**
   * Rows of a scope's chains, chain by chain, as they are kept: what somebody did to them is for the reader to find. It
   * goes by the object's name, so that a row with another scope's id in it is not passed over.
   */
  async chainRows(scope_id: string, after: Place | null, limit: number): Promise<Record<string, unknown>[]> {
    const { results } = await this.#db
      .prepare(
        `SELECT ${auditColumns.join(", ")} FROM audit WHERE object >= ? AND object < ? AND (object, seq) > (?, ?) ORDER BY object, seq LIMIT ?`,
      )
      // "0" is the letter after "/".
      .bind(`${scope_id}/`, `${scope_id}0`, after?.object ?? "", after?.seq ?? 0, limit)
      .all<Record<string, unknown>>();
    return results.map((row) => ({ ...row, details: parsed(row.details) }));
  }
  async chainRow(place: Place): Promise<{ readonly hash: string } | null> {
    const row = await this.#db
      .prepare("SELECT hash FROM audit WHERE object = ? AND seq = ?")
      .bind(place.object, place.seq)
      .all<{ hash: string }>();
    return row.results[0] ?? null;
  }
  async checkpoints(scope_id: string, after_seq: number, limit: number): Promise<CheckpointRow[]> {
    return drizzle(this.#db)
      .select()
      .from(checkpoints)
      .where(and(eq(checkpoints.scope_id, scope_id), gt(checkpoints.seq, after_seq)))
      .orderBy(asc(checkpoints.seq))
      .limit(limit);
  }
  /** Forgets measurements made before the time, the oldest first and so many at most. Their totals stand with the objects. */
  async pruneTelemetry(before: string): Promise<void> {
    await this.#db
      .prepare(
        "DELETE FROM telemetry WHERE rowid IN (SELECT rowid FROM telemetry WHERE created_at < ? ORDER BY created_at LIMIT ?)",
      )
      .bind(before, limits.telemetry_pruned)
      .run();
  }

  /** The same scope again changes nothing. */
  async addScope(scope: Scope): Promise<void> {
    await drizzle(this.#db).insert(scopes).values(scope).onConflictDoNothing();
  }
  async scope(id: string): Promise<Scope | null> {
    const found = await drizzle(this.#db).select().from(scopes).where(eq(scopes.id, id)).limit(1);
    return found[0] ?? null;
  }
  /** Scopes in order of id, after the given one. */
  async scopes(after_id: string | null, limit: number): Promise<Page<Scope>> {
    const rows = await drizzle(this.#db)
      .select()
      .from(scopes)
      .where(after_id === null ? undefined : gt(scopes.id, after_id))
      .orderBy(asc(scopes.id))
      .limit(limit + 1);
    const items = rows.slice(0, limit);
    return { items, next_cursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
  }
}

/** An agent calls its own queue `inbox`; everybody else calls it by the agent's name. */
const inbox = "inbox";
function ofQueue(scope_id: string, queue: string): SQL | undefined {
  const own = and(eq(telemetry.queue_name, inbox), eq(telemetry.object, `${scope_id}/${queue}`));
  return or(eq(telemetry.queue_name, queue), own);
}
function nameOf({ object, queue_name }: { object: string; queue_name: string | null }): string | null {
  return queue_name === inbox ? (object.split("/")[1] ?? inbox) : queue_name;
}

/** Rows past the cursor's place. A cursor that is not one of ours begins at the start. */
function after(cursor: string | null): SQL | undefined {
  const place = cursor === null ? null : decode(cursor);
  return place === null ? undefined : gt(stored, place[1]);
}
/** One row more than the page was read, to know whether there is another page. */
function pageOf<R extends { stored: number }, T>(rows: readonly R[], limit: number, read: (row: R) => T): Page<T> {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    items: rows.slice(0, limit).map(read),
    next_cursor: last === undefined ? null : encode(["stored", last.stored]),
  };
}
function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return text;
  }
}
/** Base64 in the letters a URL takes as they are. */
function encode(place: z.infer<typeof position>): string {
  return btoa(JSON.stringify(place)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
function decode(cursor: string): z.infer<typeof position> | null {
  try {
    return position.safeParse(JSON.parse(atob(cursor.replaceAll("-", "+").replaceAll("_", "/")))).data ?? null;
  } catch {
    return null;
  }
}
