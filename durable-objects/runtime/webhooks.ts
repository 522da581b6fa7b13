/**
 * Outgoing webhooks, each part within the transaction that causes it: an event becomes deliveries as it is appended, a
 * delivery that is due becomes an order to the courier, and what came of it says what follows. [WBH-*]
 */
import { derivedId } from "../../src/domain/ids.ts";
import { build, type Message } from "../../src/domain/message.ts";
import type { EventView } from "../../src/domain/record-view.ts";
import { visible } from "../../src/domain/visible.ts";
import { afterTry, type PostAnswer, webhookResult } from "../../src/domain/webhook-order.ts";
import { wants } from "../../src/domain/webhooks.ts";
import { limits } from "../../src/limits.ts";
import { earliest } from "../post.ts";
import { toCourier } from "./github-courier.ts";
import type { ScopeStores, Tx } from "./tx.ts";
import type { DeliveryRow, WebhookRow, WebhookRows } from "./webhooks-rows.ts";

type Stores = Pick<ScopeStores, "webhooks" | "audit" | "events">;
/** Who did something to a webhook: a person, or the scope itself. */
interface Deed {
  readonly scope_id: string;
  readonly by: string | null;
  readonly now: number;
}

/** An event was appended: one delivery for each webhook that wants it. Too many open ones disable the fullest. */
export function hear(stores: Stores, event: EventView, now: number): void {
  const wanted = stores.webhooks.active().filter(({ events }) => wants(events, event));
  for (const { id } of wanted) addDelivery(stores.webhooks, id, event, now);
  if (wanted.length === 0) return;
  const { total, fullest } = stores.webhooks.openOfAll();
  const row = fullest === null || total <= limits.webhook_open ? null : stores.webhooks.get(fullest);
  if (row === null) return;
  const why = `More than ${limits.webhook_open} deliveries of this scope were still to be made, most of them to it.`;
  disable(stores, row, why, { scope_id: event.scope_id, by: null, now });
}
/** Its id follows from the webhook and the event, and is its `webhook-id` at every try. */
export function addDelivery(rows: WebhookRows, webhook_id: string, event: EventView, now: number): string {
  const id = derivedId(webhook_id, "webhook_delivery", event.seq);
  rows.add({ id, webhook_id, event_seq: event.seq, event_type: event.type }, now);
  return id;
}

/** It is sent nothing more, and what was still to be sent is held for it. */
export function disable(stores: Stores, row: WebhookRow, why: string, deed: Deed): WebhookRow {
  stores.webhooks.hold(row.id, deed.now);
  const disabled = stores.webhooks.put({ ...row, status: "disabled", why });
  tell(stores, disabled, "disabled", why, deed);
  return disabled;
}
/** On record, and in the feed; of its address only the host, for the rest may be a secret. */
export function tell(stores: Stores, row: WebhookRow, what: string, reason: string | null, deed: Deed): void {
  const { scope_id, by, now } = deed;
  const host = hostOf(row.url);
  stores.audit.append(
    {
      ...{ object: `${scope_id}/runtime`, event_type: "transition", trace_id: "scope", message_id: null, scope_id },
      ...{ actor: by === null ? "runtime" : "user", decision: `webhook_${what}`, reason },
      details: { webhook_id: row.id, host, by },
    },
    now,
  );
  const detail = `The webhook to ${host} was ${what}${reason === null ? "." : `: ${reason}`}`;
  const about = { webhook_id: row.id, what };
  const fields = { scope_id, task_id: null, trace_id: null, surfaces: ["activity" as const], detail };
  stores.events.append("webhook_changed", { ...about, ...fields, actor: by ?? "runtime" }, now);
}
function hostOf(url: string): string {
  return URL.parse(url)?.host ?? "an address that cannot be read";
}

/** Orders what is due, a few at once, and takes up again what nobody told the end of. */
export function orderDue(tx: Tx): void {
  const { webhooks } = tx.stores;
  for (const row of webhooks.lost(tx.now - limits.webhook_lost_ms))
    tried(tx, row, { at: tx.at, ms: limits.webhook_lost_ms }, { kind: "failed", why: "nobody told how the try ended" });
  for (let ordered = 0; ordered < limits.webhook_under_way; ordered++) {
    const due = webhooks.due();
    if (due.reduce((sum, { under_way }) => sum + under_way, 0) >= limits.webhook_under_way) return;
    const ready = due
      .filter(
        ({ under_way, next_at }) => under_way < limits.webhook_under_way_each && next_at !== null && next_at <= tx.now,
      )
      .toSorted((a, b) => a.under_way - b.under_way || (a.next_at ?? 0) - (b.next_at ?? 0))[0];
    const row = ready === undefined ? null : webhooks.next(ready.webhook_id, tx.now);
    if (row === null) return;
    order(tx, row);
  }
}
function order(tx: Tx, row: DeliveryRow): void {
  const webhook = tx.stores.webhooks.get(row.webhook_id);
  const event = tx.stores.events.get(row.event_seq);
  if (webhook === null) return;
  if (event === null) return giveUp(tx, row, "its event is not kept any more");
  const asked = { ...row, tried: row.tried + 1, tries: row.tries + 1, asked_at: tx.now };
  tx.stores.webhooks.settle(asked);
  const { secret_version, old_secret_until } = webhook;
  const old = old_secret_until !== null && tx.now < old_secret_until ? [secret_version - 1] : [];
  const message = build({
    ...{ message_id: derivedId(`${row.id}.${asked.tries}`, "webhook_order", 0), trace_id: row.id },
    ...{ scope_id: tx.scope.scope_id, message_kind: "webhook_order", sender: "runtime", recipient: "courier" },
    content: `${event.type} to ${hostOf(webhook.url)}`,
    payload: {
      ...{ delivery_id: row.id, webhook_id: webhook.id, try: asked.tries, url: webhook.url },
      ...{ secret_versions: [secret_version, ...old], body: JSON.stringify(event) },
    },
    // It is of no task, and nobody thinks about it; what an event tells may have come from anywhere.
    ...{ taint: "web", task_id: null, created_at: tx.at },
  });
  toCourier(tx, message);
}

/** The courier says what came of a try. Late, it counts only if it brings good news. */
export function acceptWebhook(tx: Tx, message: Message): void {
  const said = webhookResult.safeParse(message.payload);
  const row = said.success ? tx.stores.webhooks.delivery(said.data.delivery_id) : null;
  if (!said.success || row === null || row.state === "done") return;
  const { at, ms, answer } = said.data;
  const current = row.state === "open" && row.asked_at !== null && row.tries === said.data.try;
  if (!current && afterTry(answer, row.tried, tx.now).state !== "done") return;
  tried(tx, row, { at, ms }, answer);
  tx.stores.webhooks.prune(tx.now);
}
function tried(tx: Tx, row: DeliveryRow, when: { at: string; ms: number }, answer: PostAnswer): void {
  const { webhooks } = tx.stores;
  const after = afterTry(answer, row.tried, tx.now);
  const words = visible(answer.kind === "answered" ? answer.text : answer.why);
  const last = { ...when, status: answer.kind === "answered" ? answer.status : null, words: cut(words) };
  const ended_at = after.state === "open" ? null : tx.now;
  webhooks.settle({ ...row, state: after.state, asked_at: null, next_at: after.next_ms ?? tx.now, last, ended_at });
  const webhook = webhooks.get(row.webhook_id);
  if (webhook === null) return;
  if (after.state === "done") {
    if (webhook.failing_since !== null) webhooks.put({ ...webhook, failing_since: null });
    return;
  }
  const failing_since = webhook.failing_since ?? tx.now;
  const failing = webhooks.put({ ...webhook, failing_since });
  if (webhook.status !== "active") return;
  const deed = { scope_id: tx.scope.scope_id, by: null, now: tx.now };
  if (after.gone) disable(tx.stores, failing, "Its receiver answered 410: it wants no more.", deed);
  else if (tx.now - failing_since >= limits.webhook_failing_ms)
    disable(tx.stores, failing, `Nothing but failures for ${limits.webhook_failing_ms / 86_400_000} days.`, deed);
}
function giveUp(tx: Tx, row: DeliveryRow, why: string): void {
  const last = { at: tx.at, ms: 0, status: null, words: why };
  tx.stores.webhooks.settle({ ...row, state: "dead", asked_at: null, last, ended_at: tx.now });
}
function cut(words: string): string {
  const letters = [...words];
  return letters.length <= limits.webhook_answer_chars
    ? words
    : `${letters.slice(0, limits.webhook_answer_chars - 1).join("")}…`;
}

/** When the next is due to be ordered, or to be taken for lost. */
export function nextWebhookDue(rows: WebhookRows): number | null {
  const due = rows.due();
  const under_way = due.reduce((sum, one) => sum + one.under_way, 0);
  const lost = due.map(({ oldest_asked }) => (oldest_asked === null ? null : oldest_asked + limits.webhook_lost_ms));
  if (under_way >= limits.webhook_under_way) return earliest(...lost);
  const next = due.map((one) => (one.under_way < limits.webhook_under_way_each ? one.next_at : null));
  return earliest(...lost, ...next);
}
