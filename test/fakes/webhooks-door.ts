/** The webhooks and hooks of a scope's runtime object in memory; they deliver nothing. */
import type { HookBody, HookInput, HookView } from "../../src/domain/hooks.ts";
import { ok, type Refusal, type Result, refuse } from "../../src/domain/refusal.ts";
import type { Caller, Page } from "../../src/domain/view.ts";
import type { DeliveryView, WebhookInput, WebhookView } from "../../src/domain/webhooks.ts";
import type { PageQuery } from "../../src/http/doors.ts";
import { FakeMemory } from "./memory-door.ts";
import { paged } from "./queues-door.ts";
import { at } from "./views.ts";

export const webhookBody = { url: "https://hooks.example/in", events: ["task_complete"] };
export function webhookOf(id: string, more: Partial<WebhookView> = {}): WebhookView {
  const input = { ...webhookBody, description: "" };
  const made = { created_by: "ada", created_at: at, secret_version: 1, old_secret_until: null };
  return { id, ...input, status: "active", why: null, failing_since: null, open: 0, ...made, ...more };
}
export function deliveryOf(id: string, more: Partial<DeliveryView> = {}): DeliveryView {
  const event = { event_seq: 1, event_type: "task_complete" };
  const stands = { state: "done", tries: 1, next_at: null, last: null, created_at: at, ended_at: at } as const;
  return { id, webhook_id: "webhook-1", ...event, ...stands, ...more };
}
export function hookOf(id: string, more: Partial<HookView> = {}): HookView {
  const input = { name: "ci", repo: "https://git.example/a/b", ref: "HEAD", title: "{title}", labels: [] };
  const made = { created_by: "ada", created_at: at, secret_version: 1, old_secret_until: null };
  return { id, ...input, max_per_hour: 20, path: `/hooks/${id}`, ...made, ...more };
}
const missing = (code: Refusal["code"]) => refuse(code, "there is no such thing in this scope");

export class FakeWebhooks extends FakeMemory {
  readonly webhookRows = new Map<string, WebhookView>();
  readonly deliveryRows = new Map<string, DeliveryView>();
  readonly hookRows = new Map<string, HookView>();
  /** Versions of the secrets of each hook, where they are not just its own. */
  readonly hookVersions = new Map<string, readonly number[]>();
  readonly ran: { id: string; message_id: string; body: HookBody }[] = [];
  /** What the next request to a hook is refused with. */
  hookRefusal: Refusal | null = null;

  async webhooks(): Promise<Result<WebhookView[]>> {
    return ok([...this.webhookRows.values()]);
  }
  async webhook(_: Caller, id: string): Promise<Result<WebhookView>> {
    const found = this.webhookRows.get(id);
    return found === undefined ? missing("webhook_not_found") : ok(found);
  }
  async addWebhook(caller: Caller, input: WebhookInput): Promise<Result<WebhookView>> {
    const id = `webhook-${this.webhookRows.size + 1}`;
    const made = webhookOf(id, { ...input, created_by: caller.subject });
    this.webhookRows.set(id, made);
    return ok(made);
  }
  async removeWebhook(caller: Caller, id: string): Promise<Result<WebhookView>> {
    const found = await this.webhook(caller, id);
    this.webhookRows.delete(id);
    return found;
  }
  async moveWebhook(caller: Caller, id: string, to: "enable" | "disable"): Promise<Result<WebhookView>> {
    return this.#put(await this.webhook(caller, id), { status: to === "enable" ? "active" : "disabled" });
  }
  async rotateWebhook(caller: Caller, id: string): Promise<Result<WebhookView>> {
    const found = await this.webhook(caller, id);
    return found.ok ? this.#put(found, { secret_version: found.value.secret_version + 1 }) : found;
  }
  #put(found: Result<WebhookView>, more: Partial<WebhookView>): Result<WebhookView> {
    if (!found.ok) return found;
    const next = { ...found.value, ...more };
    this.webhookRows.set(next.id, next);
    return ok(next);
  }
  async testWebhook(caller: Caller, id: string): Promise<Result<DeliveryView>> {
    const found = await this.webhook(caller, id);
    return found.ok ? ok(deliveryOf("delivery-t", { webhook_id: id, state: "open" })) : found;
  }
  async webhookDeliveries(caller: Caller, id: string, query: PageQuery): Promise<Result<Page<DeliveryView>>> {
    const found = await this.webhook(caller, id);
    return found.ok ? ok(paged([...this.deliveryRows.values()], query)) : found;
  }
  async redeliver(caller: Caller, id: string, delivery_id: string): Promise<Result<DeliveryView>> {
    const found = await this.webhook(caller, id);
    if (!found.ok) return found;
    const delivery = this.deliveryRows.get(delivery_id);
    return delivery === undefined ? missing("delivery_not_found") : ok({ ...delivery, state: "open" });
  }

  async hooks(): Promise<Result<HookView[]>> {
    return ok([...this.hookRows.values()]);
  }
  async addHook(caller: Caller, input: HookInput & { id: string }): Promise<Result<HookView>> {
    const made = hookOf(input.id, { ...input, created_by: caller.subject });
    this.hookRows.set(made.id, made);
    return ok(made);
  }
  async removeHook(_: Caller, id: string): Promise<Result<HookView>> {
    const found = this.hookRows.get(id);
    this.hookRows.delete(id);
    return found === undefined ? missing("hook_not_found") : ok(found);
  }
  async rotateHook(_: Caller, id: string): Promise<Result<HookView>> {
    const found = this.hookRows.get(id);
    if (found === undefined) return missing("hook_not_found");
    const rotated = { ...found, secret_version: found.secret_version + 1 };
    this.hookRows.set(id, rotated);
    return ok(rotated);
  }
  async hookSecrets(_: string, id: string): Promise<readonly number[]> {
    this.calls.push("hookSecrets");
    const found = this.hookRows.get(id);
    return this.hookVersions.get(id) ?? (found === undefined ? [] : [found.secret_version]);
  }
  async runHook(_: string, id: string, sent: { message_id: string; body: HookBody }) {
    this.calls.push("runHook");
    if (this.hookRefusal !== null) return { ok: false as const, refusal: this.hookRefusal };
    const before = this.ran.findIndex((one) => one.id === id && one.message_id === sent.message_id);
    if (before !== -1) return ok({ task_id: `task-${before + 1}`, replay: true });
    return ok({ task_id: `task-${this.ran.push({ id, ...sent })}`, replay: false });
  }
}
