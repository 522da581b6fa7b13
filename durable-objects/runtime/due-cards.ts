/** Cards whose time is over or soon will be, found by an index over the rows themselves: nothing beside them to keep in step. [APP-45] */
import type { Sql } from "../sql.ts";

const at = "json_extract(doc, '$.expires_at')";
const open = `status = 'pending' AND ${at} IS NOT NULL`;

export const expirySchema: readonly string[] = [`CREATE INDEX approvals_expiry ON approvals (${at}) WHERE ${open}`];

/** When the next pending card expires; null when none ever does. */
export function nextExpiry(sql: Sql): number | null {
  const next = sql.one<{ at: string }>(`SELECT ${at} AS at FROM approvals WHERE ${open} ORDER BY ${at} LIMIT 1`);
  return next === null ? null : Date.parse(next.at);
}
export function expiredBy(sql: Sql, now: number, most: number): string[] {
  const rows = sql.all<{ id: string }>(
    `SELECT id FROM approvals WHERE ${open} AND ${at} <= ? ORDER BY ${at} LIMIT ?`,
    ...[new Date(now).toISOString(), most],
  );
  return rows.map(({ id }) => id);
}
