/**
 * D1, where all scopes' audit and telemetry can be searched, and where the list of scopes stands. Rows are
 * inserted or ignored by (object, seq), so a batch that comes twice, late or in pieces stores each row once. [REC-*]
 */
import { and, asc, eq, gt, or, type SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { z } from "zod";
import type { RecordsBatch } from "../domain/records.ts";
import { type AuditView, auditView, type Page } from "../domain/view.ts";
import { audit, scopes } from "./d1-schema.ts";

export interface AuditQuery {
  readonly scope_id: string;
  readonly trace_id: string | null;
  readonly event_type: string | null;
  /** `next_cursor` of the page before. */
  readonly cursor: string | null;
  readonly limit: number;
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

const position = z.tuple([z.string(), z.string(), z.number().int()]);

export class Records {
  readonly #db: D1Database;
  constructor(db: D1Database) {
    this.#db = db;
  }

  /** All of the batches or none. Throws when D1 does: the queue brings them again. */
  async store(batches: readonly RecordsBatch[]): Promise<void> {
    const statements = batches.flatMap((batch) => [
      ...(batch.audit.length > 0 ? [this.#db.prepare(insertAudit).bind(JSON.stringify(batch.audit))] : []),
      ...(batch.telemetry.length > 0 ? [this.#db.prepare(insertTelemetry).bind(JSON.stringify(batch.telemetry))] : []),
    ]);
    if (statements.length > 0) await this.#db.batch(statements);
  }

  /** One scope's audit by time; objects' clocks agree to a few milliseconds, within an object seq decides. */
  async auditPage(query: AuditQuery): Promise<Page<AuditView>> {
    const filters: (SQL | undefined)[] = [eq(audit.scope_id, query.scope_id), after(query.cursor)];
    if (query.trace_id !== null) filters.push(eq(audit.trace_id, query.trace_id));
    if (query.event_type !== null) filters.push(eq(audit.event_type, query.event_type));
    const rows = await drizzle(this.#db)
      .select()
      .from(audit)
      .where(and(...filters))
      .orderBy(asc(audit.created_at), asc(audit.object), asc(audit.seq))
      .limit(query.limit + 1);
    const items = rows
      .slice(0, query.limit)
      .map((row) => auditView.parse({ ...row, details: JSON.parse(row.details) }));
    const last = items.at(-1);
    const more = rows.length > query.limit && last !== undefined;
    return { items, next_cursor: more ? encode([last.created_at, last.object, last.seq]) : null };
  }

  /** The same scope again changes nothing. */
  async addScope(scope: Scope): Promise<void> {
    await drizzle(this.#db).insert(scopes).values(scope).onConflictDoNothing();
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

/** Rows past the cursor's place. A cursor that is not one of ours begins at the start. */
function after(cursor: string | null): SQL | undefined {
  const place = cursor === null ? null : decode(cursor);
  if (place === null) return undefined;
  const [created_at, object, seq] = place;
  return or(
    gt(audit.created_at, created_at),
    and(eq(audit.created_at, created_at), gt(audit.object, object)),
    and(eq(audit.created_at, created_at), eq(audit.object, object), gt(audit.seq, seq)),
  );
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
