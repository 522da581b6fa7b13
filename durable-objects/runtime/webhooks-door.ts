/** Outgoing webhooks as an admin meets them: made, listed, stopped, rotated, tried; and what was delivered. [WBH-*] */
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import type { Caller, Page } from "../../src/domain/view.ts";
import type { DeliveryView, WebhookInput, WebhookView } from "../../src/domain/webhooks.ts";
import type { PageQuery, RuntimeDoor } from "../../src/http/doors.ts";
import { limits } from "../../src/limits.ts";
import { newId } from "../random.ts";
import type { Scope } from "./scope.ts";
import type { Tx } from "./tx.ts";
import { addDelivery, disable, tell } from "./webhooks.ts";
import { deliveryViewOf, type WebhookRow } from "./webhooks-rows.ts";

type Door = Pick<
  RuntimeDoor,
  | "webhooks"
  | "webhook"
  | "addWebhook"
  | "removeWebhook"
  | "moveWebhook"
  | "rotateWebhook"
  | "testWebhook"
  | "webhookDeliveries"
  | "redeliver"
>;

export class WebhooksDoor implements Door {
  readonly #scope: Scope;
  readonly #after: () => Promise<void>;
  constructor(scope: Scope, after: () => Promise<void>) {
    this.#scope = scope;
    this.#after = after;
  }

  async webhooks(caller: Caller): Promise<Result<WebhookView[]>> {
    if (caller.role !== "admin") return forbidden;
    return ok(this.#scope.stores.webhooks.all().map((row) => this.#view(row, Date.now())));
  }
  async webhook(caller: Caller, id: string): Promise<Result<WebhookView>> {
    if (caller.role !== "admin") return forbidden;
    const row = this.#scope.stores.webhooks.get(id);
    return row === null ? unknown(id) : ok(this.#view(row, Date.now()));
  }
  async addWebhook(caller: Caller, input: WebhookInput): Promise<Result<WebhookView>> {
    const id = `w${newId().slice(0, 15)}`;
    return this.#change(caller, (tx) => {
      if (tx.stores.webhooks.all().length >= limits.webhooks_per_scope)
        return refuse("too_many", `A scope has at most ${limits.webhooks_per_scope} webhooks: remove one.`);
      const row = tx.stores.webhooks.put({
        ...{ id, ...input, events: [...new Set(input.events)], status: "active", why: null, failing_since: null },
        ...{ secret_version: 1, old_secret_until: null, created_by: caller.subject, created_at: tx.at },
      });
      tell(tx.stores, row, "made", null, deed(tx, caller));
      return ok(this.#view(row, tx.now));
    });
  }
  async removeWebhook(caller: Caller, id: string): Promise<Result<WebhookView>> {
    return this.#changeOne(caller, id, (tx, row) => {
      const last = this.#view(row, tx.now);
      tx.stores.webhooks.remove(id);
      tell(tx.stores, row, "removed", null, deed(tx, caller));
      return ok(last);
    });
  }
  /** Where it stands already nothing changes. What was held while it was disabled goes on. */
  async moveWebhook(caller: Caller, id: string, to: "enable" | "disable"): Promise<Result<WebhookView>> {
    return this.#changeOne(caller, id, (tx, row) => {
      const { webhooks } = tx.stores;
      const status = to === "enable" ? "active" : "disabled";
      if (row.status === status) return ok(this.#view(row, tx.now));
      if (status === "disabled") {
        const why = `${caller.subject} disabled it.`;
        return ok(this.#view(disable(tx.stores, row, why, deed(tx, caller)), tx.now));
      }
      const active = webhooks.put({ ...row, status, why: null, failing_since: null });
      webhooks.release(id, tx.now, limits.webhook_open - webhooks.openOfAll().total);
      tell(tx.stores, active, "enabled", null, deed(tx, caller));
      return ok(this.#view(active, tx.now));
    });
  }
  /** A new secret; the one before signs along for a day, and no older one. */
  async rotateWebhook(caller: Caller, id: string): Promise<Result<WebhookView>> {
    return this.#changeOne(caller, id, (tx, row) => {
      const old_secret_until = tx.now + limits.webhook_old_secret_ms;
      const rotated = { ...row, secret_version: row.secret_version + 1, old_secret_until };
      tx.stores.webhooks.put(rotated);
      tell(tx.stores, rotated, "given a new secret", null, deed(tx, caller));
      return ok(this.#view(rotated, tx.now));
    });
  }
  async testWebhook(caller: Caller, id: string): Promise<Result<DeliveryView>> {
    return this.#changeOne(caller, id, (tx, row) => {
      if (row.status !== "active") return stopped(row);
      const { stores } = tx;
      const fields = { scope_id: tx.scope.scope_id, task_id: null, trace_id: null, actor: caller.subject };
      const detail = `${caller.subject} tries a webhook.`;
      const event = stores.events.append(
        "webhook_test",
        { ...fields, surfaces: ["activity"], detail, webhook_id: id },
        tx.now,
      );
      return this.#delivery(tx, addDelivery(stores.webhooks, id, event, tx.now));
    });
  }
  async webhookDeliveries(caller: Caller, id: string, query: PageQuery): Promise<Result<Page<DeliveryView>>> {
    if (caller.role !== "admin") return forbidden;
    const { webhooks } = this.#scope.stores;
    if (webhooks.get(id) === null) return unknown(id);
    const { items, next_cursor } = webhooks.page(id, query.limit, query.cursor);
    return ok({ items: items.map(deliveryViewOf), next_cursor });
  }
  /** Tried anew from the first wait on, under the id it always had. One that is still open stays as it is. */
  async redeliver(caller: Caller, id: string, delivery_id: string): Promise<Result<DeliveryView>> {
    return this.#changeOne(caller, id, (tx, row) => {
      const { webhooks, events } = tx.stores;
      const delivery = webhooks.delivery(delivery_id);
      if (delivery === null || delivery.webhook_id !== id)
        return refuse("delivery_not_found", `There is no delivery ${delivery_id} of this webhook, or none any more.`);
      if (delivery.state === "open") return ok(deliveryViewOf(delivery));
      if (row.status !== "active") return stopped(row);
      if (events.get(delivery.event_seq) === null)
        return refuse("not_in_this_state", "Its event is not kept any more, so there is nothing to send.");
      if (webhooks.openOfAll().total >= limits.webhook_open)
        return refuse("too_many", `${limits.webhook_open} deliveries of this scope are still to be made: try later.`);
      webhooks.settle({ ...delivery, state: "open", tried: 0, asked_at: null, next_at: tx.now, ended_at: null });
      tx.audit(
        "transition",
        { trace_id: "scope" },
        {
          ...{ actor: "user", decision: "webhook_redelivered" },
          details: { webhook_id: id, delivery_id, by: caller.subject },
        },
      );
      return this.#delivery(tx, delivery_id);
    });
  }

  #view(row: WebhookRow, now: number): WebhookView {
    const { failing_since, old_secret_until, ...rest } = row;
    const lives = old_secret_until !== null && old_secret_until > now;
    return {
      ...rest,
      failing_since: failing_since === null ? null : new Date(failing_since).toISOString(),
      open: this.#scope.stores.webhooks.open(row.id),
      old_secret_until: lives ? new Date(old_secret_until).toISOString() : null,
    };
  }
  #delivery(tx: Tx, id: string): Result<DeliveryView> {
    const row = tx.stores.webhooks.delivery(id);
    return row === null ? refuse("delivery_not_found", `There is no delivery ${id}.`) : ok(deliveryViewOf(row));
  }
  async #changeOne<T>(caller: Caller, id: string, change: (tx: Tx, row: WebhookRow) => Result<T>): Promise<Result<T>> {
    return this.#change(caller, (tx) => {
      const row = tx.stores.webhooks.get(id);
      return row === null ? unknown(id) : change(tx, row);
    });
  }
  async #change<T>(caller: Caller, change: (tx: Tx) => Result<T>): Promise<Result<T>> {
    if (caller.role !== "admin") return forbidden;
    const done = this.#scope.commit(change);
    await this.#after();
    return done;
  }
}

const forbidden = refuse("forbidden", "Webhooks need the role admin.");
function unknown(id: string) {
  return refuse("webhook_not_found", `There is no webhook ${id} in this scope.`);
}
function stopped({ why }: WebhookRow) {
  return refuse("not_in_this_state", `This webhook is disabled (${why ?? "nobody said why"}): enable it first.`);
}
function deed(tx: Tx, caller: Caller) {
  return { scope_id: tx.scope.scope_id, by: caller.subject, now: tx.now };
}
