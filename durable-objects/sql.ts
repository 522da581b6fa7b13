/**
 * The little of SQLite that the stores need, so that the same store runs in a Durable Object and in a plain
 * test. Stores are synchronous and never open a transaction: the object joins several in one. [SQL-*]
 */
export type SqlValue = string | number | null | Uint8Array;

export interface Sql {
  /** Rows as the columns say; blobs come back as Uint8Array. The caller names the row's type, and the schema beside it keeps it true. */
  all<T extends object>(query: string, ...params: readonly SqlValue[]): T[];
  /** The first row, or null. */
  one<T extends object>(query: string, ...params: readonly SqlValue[]): T | null;
  run(query: string, ...params: readonly SqlValue[]): void;
  /** All of it or nothing. `fn` must not be async: what it awaited would be outside. */
  transaction<T>(fn: () => T): T;
}

/** Of one row more than a page has: the page, and the last id on it where there is more. */
export function pageOf<T extends { readonly id: string }>(
  found: readonly T[],
  limit: number,
): { items: T[]; next_cursor: string | null } {
  const items = found.slice(0, limit);
  return { items, next_cursor: found.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/** Largest text or blob a store writes into one row; a row of an object may hold 2 MB. */
export const maxRowBytes = 1_800_000;

export function durableSql(ctx: Pick<DurableObjectState, "storage">): Sql {
  const { storage } = ctx;
  const rows = (query: string, params: readonly SqlValue[]): object[] =>
    storage.sql
      .exec<Record<string, SqlStorageValue>>(query, ...params)
      .toArray()
      .map(withBytes);
  return {
    // The type is the caller's claim about its own schema: nothing here can know it.
    all: <T extends object>(query: string, ...params: readonly SqlValue[]) => rows(query, params) as T[],
    one: <T extends object>(query: string, ...params: readonly SqlValue[]) =>
      (rows(query, params)[0] as T | undefined) ?? null,
    run: (query, ...params) => void storage.sql.exec(query, ...params),
    transaction: (fn) => storage.transactionSync(fn),
  };
}

/** Most rows hold no blob, and stay as they came. */
function withBytes(row: Record<string, SqlStorageValue>): object {
  for (const column in row) if (row[column] instanceof ArrayBuffer) return copied(row);
  return row;
}
function copied(row: Record<string, SqlStorageValue>): Record<string, SqlValue> {
  const copy: Record<string, SqlValue> = {};
  for (const [column, value] of Object.entries(row))
    copy[column] = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
  return copy;
}

/** The stored data was written by newer code: this code must neither read nor write it. The object answers 503. */
export class NewerData extends Error {
  constructor(part: string, stored: number, known: number) {
    super(`the data of ${part} is at version ${stored}, this code knows ${known}: deploy the newer code again`);
    this.name = "NewerData";
  }
}

const versions = "CREATE TABLE IF NOT EXISTS schema_versions (part TEXT PRIMARY KEY, version INTEGER NOT NULL)";

/**
 * Brings each part's tables to the newest of its numbered steps, in one transaction. A part is a store's own
 * list, so one store can gain a step without renumbering another. Steps are only ever added at the end.
 * Throws NewerData, before anything is written, when any part is ahead of this code.
 */
export function applySchemas(sql: Sql, parts: Readonly<Record<string, readonly string[]>>): void {
  sql.transaction(() => {
    sql.run(versions);
    const stored = new Map(
      sql
        .all<{ part: string; version: number }>("SELECT part, version FROM schema_versions")
        .map((row) => [row.part, row.version]),
    );
    for (const [part, steps] of Object.entries(parts)) {
      const version = stored.get(part) ?? 0;
      if (version > steps.length) throw new NewerData(part, version, steps.length);
    }
    for (const [part, steps] of Object.entries(parts)) {
      const version = stored.get(part) ?? 0;
      if (version === steps.length) continue;
      for (const step of steps.slice(version)) sql.run(step);
      sql.run("INSERT OR REPLACE INTO schema_versions (part, version) VALUES (?, ?)", part, steps.length);
    }
  });
}

export function applySchema(sql: Sql, part: string, steps: readonly string[]): void {
  applySchemas(sql, { [part]: steps });
}
