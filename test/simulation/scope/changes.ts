/**
 * What each step changed in an object's tables, exactly and in order: temporary triggers write it down inside the very
 * transactions they watch, so what was rolled back was never here. The code under test does not see them.
 */
import type { Disk } from "../platform/disk.ts";

/** A row of a watched table as the columns below say; `old` is null for a new one, `now` for one that is gone. */
export interface Change {
  readonly table: string;
  readonly old: Columns | null;
  readonly now: Columns | null;
}
export type Columns = Readonly<Record<string, string | number | null>>;

const watched: Readonly<Record<string, readonly string[]>> = {
  queue_rows: [
    ...["queue", "message_id", "trace_id", "scope_id", "state", "seq", "priority", "max_deliveries", "deliveries"],
    ...["epoch", "available_at", "lease_id", "holder", "leased_at"],
  ],
  queue_processed: ["queue", "message_id"],
  outbox: ["message_id", "object", "queue", "died_at"],
  audit_chain: ["seq", "object", "hash", "body"],
  ...Object.fromEntries(
    ["tasks", "items", "attempts", "approvals", "verifications"].map((noun) => [noun, ["id", "doc"]]),
  ),
  runs: ["id"],
};
/** A run's row is written at each of its steps: only its end matters. */
const onlyEnds: readonly string[] = ["runs"];

/** Installs the triggers on the tables that the object has. Again does nothing. */
export function watch(disk: Disk): void {
  const tables = new Set(
    disk.all("SELECT name FROM sqlite_schema WHERE type = 'table'").map(({ name }) => String(name)),
  );
  if (disk.all("SELECT 1 FROM sqlite_temp_schema WHERE name = 'seen'").length > 0) return;
  disk.db.exec("CREATE TEMP TABLE seen (n INTEGER PRIMARY KEY AUTOINCREMENT, tbl TEXT, old TEXT, now TEXT)");
  for (const [table, columns] of Object.entries(watched)) {
    if (!tables.has(table)) continue;
    const row = (side: string) =>
      `json_object(${columns.map((name) => `'${name}', ${textual(side, name)}`).join(", ")})`;
    for (const [event, old, now] of [
      ["INSERT", "NULL", row("new")],
      ["UPDATE", row("old"), row("new")],
      ["DELETE", row("old"), "NULL"],
    ]) {
      if (event !== "DELETE" && onlyEnds.includes(table)) continue;
      disk.db.exec(`CREATE TEMP TRIGGER seen_${table}_${event} AFTER ${event} ON main.${table} BEGIN
        INSERT INTO seen (tbl, old, now) VALUES ('${table}', ${old}, ${now}); END`);
    }
  }
}

/** A document stays a text, whatever function of SQLite's made it. */
function textual(side: string, column: string): string {
  return column === "doc" || column === "body" ? `${side}.${column} || ''` : `${side}.${column}`;
}

/** Everything since it was last asked. */
export function changesOf(disk: Disk): Change[] {
  const rows = disk.all("SELECT tbl, old, now FROM temp.seen ORDER BY n");
  if (rows.length > 0) disk.prepared("DELETE FROM temp.seen").statement?.run();
  const read = (text: unknown) => (typeof text === "string" ? (JSON.parse(text) as Columns) : null); // as the triggers wrote it
  return rows.map(({ tbl, old, now }) => ({ table: String(tbl), old: read(old), now: read(now) }));
}
