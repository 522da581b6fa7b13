/**
 * Where a scope's webhooks and their deliveries stand. A delivery names its event and holds no copy of it; how many of
 * a webhook are still to be made is counted in the webhook's own row, so that no event pays for counting them. [WBH-*]
 */
import { z } from "zod";
import { type DeliveryView, deliveryStates, deliveryView, lastTry } from "../../src/domain/webhooks.ts";
import { limits } from "../../src/limits.ts";
import { pageOf, type Sql } from "../sql.ts";

export const webhooksSchema: readonly string[] = [
  `CREATE TABLE webhooks (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, active INTEGER NOT NULL,
     open INTEGER NOT NULL DEFAULT 0, doc TEXT NOT NULL);
   CREATE TABLE webhook_deliveries (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, webhook_id TEXT NOT NULL, event_seq INTEGER NOT NULL,
     event_type TEXT NOT NULL, state TEXT NOT NULL, tried INTEGER NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0,
     asked_at INTEGER, next_at INTEGER NOT NULL, last TEXT, created_at INTEGER NOT NULL, ended_at INTEGER);
   CREATE INDEX webhook_deliveries_of ON webhook_deliveries (webhook_id, seq);
   CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_at) WHERE state = 'open';
   CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (ended_at) WHERE ended_at IS NOT NULL;`,
];

export const webhookRow = z.strictObject({
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  description: z.string(),
  status: z.enum(["active", "disabled"]),
  why: z.string().nullable(),
  failing_since: z.number().nullable(),
  secret_version: z.number().int(),
  old_secret_until: z.number().nullable(),
  created_by: z.string(),
  created_at: z.string(),
});
export type WebhookRow = z.infer<typeof webhookRow>;

const stored = z.strictObject({
  seq: z.number(),
  id: z.string(),
  webhook_id: z.string(),
  event_seq: z.number(),
  event_type: z.string(),
  state: z.enum(deliveryStates),
  /** Tries since it was made or ordered again, and of all. */
  tried: z.number(),
  tries: z.number(),
  /** Since when a try is under way. */
  asked_at: z.number().nullable(),
  next_at: z.number(),
  last: z
    .string()
    .nullable()
    .transform((text) => (text === null ? null : lastTry.parse(JSON.parse(text)))),
  created_at: z.number(),
  ended_at: z.number().nullable(),
});
export type DeliveryRow = z.infer<typeof stored>;
/** How the deliveries of an active webhook stand: how many are under way, since when, and when the next is due. */
export interface Due {
  readonly webhook_id: string;
  readonly under_way: number;
  readonly oldest_asked: number | null;
  readonly next_at: number | null;
}

export class WebhookRows {
  readonly #sql: Sql;
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  get(id: string): WebhookRow | null {
    return this.#webhooks("WHERE id = ?", id)[0] ?? null;
  }
  /** In the order they were made. */
  all(): WebhookRow[] {
    return this.#webhooks("ORDER BY seq");
  }
  active(): WebhookRow[] {
    return this.#webhooks("WHERE active = 1 ORDER BY seq");
  }
  #webhooks(which: string, ...params: string[]): WebhookRow[] {
    return this.#sql
      .all<{ doc: string }>(`SELECT doc FROM webhooks ${which}`, ...params)
      .map(({ doc }) => webhookRow.parse(JSON.parse(doc)));
  }
  put(row: WebhookRow): WebhookRow {
    this.#sql.run(
      "INSERT INTO webhooks (id, active, doc) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET active = excluded.active, doc = excluded.doc",
      ...[row.id, row.status === "active" ? 1 : 0, JSON.stringify(row)],
    );
    return row;
  }
  /** With all that was to be delivered to it. */
  remove(id: string): void {
    this.#sql.run("DELETE FROM webhook_deliveries WHERE webhook_id = ?", id);
    this.#sql.run("DELETE FROM webhooks WHERE id = ?", id);
  }
  open(id: string): number {
    return this.#sql.one<{ open: number }>("SELECT open FROM webhooks WHERE id = ?", id)?.open ?? 0;
  }
  /** Of all webhooks, and the one that has the most. */
  openOfAll(): { total: number; fullest: string | null } {
    const total = this.#sql.one<{ n: number | null }>("SELECT sum(open) AS n FROM webhooks")?.n ?? 0;
    const fullest = this.#sql.one<{ id: string }>("SELECT id FROM webhooks ORDER BY open DESC, seq DESC LIMIT 1");
    return { total, fullest: fullest?.id ?? null };
  }

  delivery(id: string): DeliveryRow | null {
    return this.#read(this.#sql.all("SELECT * FROM webhook_deliveries WHERE id = ?", id))[0] ?? null;
  }
  /** One that stands already stays as it is. */
  add(made: Pick<DeliveryRow, "id" | "webhook_id" | "event_seq" | "event_type">, now: number): void {
    const { id, webhook_id, event_seq, event_type } = made;
    const added = this.#sql.all(
      `INSERT INTO webhook_deliveries (id, webhook_id, event_seq, event_type, state, next_at, created_at)
       VALUES (?, ?, ?, ?, 'open', ?, ?) ON CONFLICT (id) DO NOTHING RETURNING seq`,
      ...[id, webhook_id, event_seq, event_type, now, now],
    );
    if (added.length > 0) this.#count(webhook_id, 1);
  }
  /** Writes how it stands now. Its webhook, event and place never change. */
  settle(row: DeliveryRow): void {
    const before = this.delivery(row.id);
    if (before === null) return;
    const { state, tried, tries, asked_at, next_at, last, ended_at } = row;
    this.#sql.run(
      "UPDATE webhook_deliveries SET state = ?, tried = ?, tries = ?, asked_at = ?, next_at = ?, last = ?, ended_at = ? WHERE id = ?",
      ...[state, tried, tries, asked_at, next_at, last === null ? null : JSON.stringify(last), ended_at, row.id],
    );
    this.#count(row.webhook_id, Number(state === "open") - Number(before.state === "open"));
  }
  #count(webhook_id: string, more: number): void {
    if (more !== 0) this.#sql.run("UPDATE webhooks SET open = open + ? WHERE id = ?", more, webhook_id);
  }
  /** Its webhook takes no more for now: all that is open waits with it. */
  hold(webhook_id: string, now: number): void {
    const sql =
      "UPDATE webhook_deliveries SET state = 'held', asked_at = NULL, ended_at = ? WHERE webhook_id = ? AND state = 'open'";
    this.#sql.run(sql, now, webhook_id);
    this.#sql.run("UPDATE webhooks SET open = 0 WHERE id = ?", webhook_id);
  }
  /** What was held goes on, oldest first, as many as there is room for. */
  release(webhook_id: string, now: number, most: number): number {
    const freed = this.#sql.all(
      `UPDATE webhook_deliveries SET state = 'open', tried = 0, next_at = ?1, ended_at = NULL WHERE seq IN
         (SELECT seq FROM webhook_deliveries WHERE webhook_id = ?2 AND state = 'held' ORDER BY seq LIMIT ?3) RETURNING seq`,
      ...[now, webhook_id, most],
    );
    this.#count(webhook_id, freed.length);
    return freed.length;
  }

  due(): Due[] {
    return this.#sql.all<Due>(
      `SELECT w.id AS webhook_id, count(d.asked_at) AS under_way, min(d.asked_at) AS oldest_asked,
         (SELECT min(next_at) FROM webhook_deliveries WHERE webhook_id = w.id AND state = 'open' AND asked_at IS NULL) AS next_at
       FROM webhooks w LEFT JOIN webhook_deliveries d ON d.webhook_id = w.id AND d.state = 'open' AND d.asked_at IS NOT NULL
       WHERE w.active = 1 AND w.open > 0 GROUP BY w.id ORDER BY w.seq`,
    );
  }
  /** The one of a webhook that has been due for longest. */
  next(webhook_id: string, now: number): DeliveryRow | null {
    const sql = `SELECT * FROM webhook_deliveries WHERE webhook_id = ? AND state = 'open' AND asked_at IS NULL AND next_at <= ?
      ORDER BY next_at, seq LIMIT 1`;
    return this.#read(this.#sql.all(sql, webhook_id, now))[0] ?? null;
  }
  /** Those whose try was begun before and of which nothing was heard since. */
  lost(before: number): DeliveryRow[] {
    const sql = `SELECT d.* FROM webhooks w JOIN webhook_deliveries d ON d.webhook_id = w.id AND d.state = 'open'
      WHERE w.active = 1 AND w.open > 0 AND d.asked_at <= ? ORDER BY d.seq LIMIT ${limits.webhook_under_way}`;
    return this.#read(this.#sql.all(sql, before));
  }
  /** Newest first. `cursor` is the last id of the page before. */
  page(webhook_id: string, limit: number, cursor: string | null): { items: DeliveryRow[]; next_cursor: string | null } {
    const before = cursor === null ? null : (this.delivery(cursor)?.seq ?? 0);
    const sql = `SELECT * FROM webhook_deliveries WHERE webhook_id = ?1 AND (?2 IS NULL OR seq < ?2) ORDER BY seq DESC LIMIT ?3`;
    const found = this.#read(this.#sql.all(sql, webhook_id, before, limit + 1));
    return pageOf(found, limit);
  }
  /** Forgets what ended long ago, and of too much the oldest; a batch at a time. */
  prune(now: number, kept: number = limits.webhook_kept): void {
    const most = limits.webhook_pruned;
    const old = "SELECT seq FROM webhook_deliveries WHERE ended_at < ? ORDER BY ended_at LIMIT ?";
    this.#sql.run(`DELETE FROM webhook_deliveries WHERE seq IN (${old})`, now - limits.webhook_kept_ms, most);
    const beyond = `SELECT seq FROM webhook_deliveries WHERE seq <= (SELECT max(seq) FROM webhook_deliveries) - ?
      AND state <> 'open' ORDER BY seq LIMIT ?`;
    this.#sql.run(`DELETE FROM webhook_deliveries WHERE seq IN (${beyond})`, kept, most);
  }
  #read(rows: object[]): DeliveryRow[] {
    return rows.map((row) => stored.parse(row));
  }
}

export function deliveryViewOf(row: DeliveryRow): DeliveryView {
  const { id, webhook_id, event_seq, event_type, state, tries, last } = row;
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  const waits = state === "open" && row.asked_at === null;
  return deliveryView.parse({
    ...{ id, webhook_id, event_seq, event_type, state, tries, last },
    next_at: waits ? iso(row.next_at) : null,
    created_at: iso(row.created_at),
    ended_at: iso(row.ended_at),
  });
}
