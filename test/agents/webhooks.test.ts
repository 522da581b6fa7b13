/** Outgoing webhooks in a scope's runtime: events become deliveries, deliveries orders, and results what follows. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Crew } from "../../durable-objects/runtime/crew.ts";
import { nextWebhookDue, orderDue } from "../../durable-objects/runtime/webhooks.ts";
import { WebhooksDoor } from "../../durable-objects/runtime/webhooks-door.ts";
import { build, type Message } from "../../src/domain/message.ts";
import { type PostAnswer, webhookOrder } from "../../src/domain/webhook-order.ts";
import type { WebhookView } from "../../src/domain/webhooks.ts";
import { limits } from "../../src/limits.ts";
import { callerOf, HeldScope, must, scopeId } from "../fakes/held-scope.ts";

const admin = callerOf("ada#adm001", "admin");
const url = "https://hooks.example/services/T0/B0/a-secret-path";
const ok: PostAnswer = { kind: "answered", status: 200, retry_after_ms: null, text: "thanks" };
const down: PostAnswer = { kind: "failed", why: "it could not be reached (ECONNREFUSED)" };
const status = (code: number): PostAnswer => ({ kind: "answered", status: code, retry_after_ms: null, text: "no" });

let held: HeldScope;
let door: WebhooksDoor;
beforeEach(() => {
  held = new HeldScope();
  door = new WebhooksDoor(held.scope, async () => {});
});
afterEach(() => held.close());

const add = async (events: string[] = ["task_created"], more: object = {}): Promise<WebhookView> =>
  must(await door.addWebhook(admin, { url, events, description: "", ...more }));
const happen = (count = 1, type: "task_created" | "queue_changed" = "task_created", fields: object = {}) =>
  held.scope.commit((tx) => {
    for (let at = 0; at < count; at++) tx.event(type, null, { detail: `event ${at}`, ...fields });
  });
const order = () => held.scope.commit(orderDue);
/** Orders that left since the last time, oldest first. */
function ordered() {
  const sent = held.scope.stores.outbox.due(held.now, 1_000).map(({ message }) => message);
  held.scope.sql.transaction(() => held.scope.stores.outbox.confirm(sent.map(({ message_id }) => message_id)));
  return sent
    .filter(({ message_kind }) => message_kind === "webhook_order")
    .map((message) => ({ message, order: webhookOrder.parse(message.payload) }));
}
type Ordered = ReturnType<typeof ordered>[number];
let results = 0;
function result({ order: { delivery_id, try: which } }: Ordered, answer: PostAnswer): Message {
  return build({
    ...{ message_id: `result-${++results}`, trace_id: delivery_id, scope_id: scopeId, taint: "web" },
    ...{ message_kind: "webhook_result", sender: "courier", recipient: "runtime_queue", content: "said" },
    payload: { delivery_id, try: which, at: new Date(held.now).toISOString(), ms: 5, answer },
    created_at: new Date(held.now).toISOString(),
  });
}
const answer = (one: Ordered, how: PostAnswer) => held.mailroom.deliver(result(one, how));
const deliveries = async (id: string) =>
  must(await door.webhookDeliveries(admin, id, { limit: 200, cursor: null })).items;
const view = async (id: string) => must(await door.webhook(admin, id));
/** Orders what is due and answers it; gives back what was ordered. */
async function round(how: PostAnswer): Promise<Ordered[]> {
  order();
  const orders = ordered();
  for (const one of orders) await answer(one, how);
  return orders;
}
const audited = () => held.scope.stores.audit.after(0, 10_000);
const events = () => held.scope.stores.events.after(0, 10_000).events;

describe("from an event to its deliveries", () => {
  it("[WBH-10] each wanted event is one delivery to each webhook that wants it, in the commit of the event", async () => {
    const first = await add();
    const second = await add(["*"]);
    const third = await add(["task_failed"]);
    happen(2);
    expect((await deliveries(first.id)).map(({ event_type }) => event_type)).toEqual(["task_created", "task_created"]);
    // It also hears that it was made itself, and the third.
    expect((await deliveries(second.id)).length).toBe(4);
    expect(await deliveries(third.id)).toEqual([]);
    const before = events().length;
    expect(() =>
      held.scope.commit((tx) => {
        tx.event("task_created", null);
        throw new Error("undone");
      }),
    ).toThrow("undone");
    expect([events().length, (await deliveries(first.id)).length]).toEqual([before, 2]);
  });
  it("[WBH-11] what the courier itself does, and what becomes of its messages, is delivered to nobody", async () => {
    const { id } = await add(["*"]);
    happen();
    order();
    const [one] = ordered();
    if (one === undefined) throw new Error("nothing was ordered");
    const before = (await deliveries(id)).length;
    await held.mailroom.observe(one.message);
    const said = result(one, ok);
    await held.mailroom.observe(said);
    await held.mailroom.deliver(said);
    held.scope.commit((tx) => {
      for (const type of ["agent_working", "agent_idle", "state_changed"] as const)
        tx.event(type, null, { actor: "courier", agent: "courier" });
    });
    // Nobody can take the order: its death is told to people, and is no delivery either.
    await held.mailroom.letterDied("courier", {
      head: { ...one.message, task_id: null },
      ...{ place: "inbox", death: 1, reason: "it has stopped" },
    });
    expect(events().some(({ type }) => type === "dead_letter")).toBe(true);
    expect((await deliveries(id)).length).toBe(before);
    expect(held.scope.stores.outbox.waiting()).toBe(0);
  });
  it("[WBH-12] an order carries the event as the API shows it, the address and which secrets sign, and no secret", async () => {
    const { id } = await add();
    happen(1, "task_created", { branch: "b" });
    order();
    const [one] = ordered();
    const event = events().find(({ type }) => type === "task_created");
    expect(one?.order).toMatchObject({ webhook_id: id, try: 1, url, secret_versions: [1] });
    expect(JSON.parse(one?.order.body ?? "")).toEqual(event);
    expect(one?.message).toMatchObject({ recipient: "courier", sender: "runtime", task_id: null, taint: "web" });
    expect(JSON.stringify(one?.message)).not.toContain("whsec_");
    expect(held.scope.directory.agent("courier")).not.toBeNull();
    order();
    expect(ordered()).toEqual([]);
  });
  it("[WBH-12] of one webhook two are under way at once, of the scope three", async () => {
    const slow = await add();
    happen(5);
    order();
    expect(ordered().map(({ order: { webhook_id } }) => webhook_id)).toEqual([slow.id, slow.id]);
    const quick = await add();
    happen(5);
    order();
    expect(ordered().map(({ order: { webhook_id } }) => webhook_id)).toEqual([quick.id]);
    order();
    expect(ordered()).toEqual([]);
    // Nothing more can be ordered, so nothing wakes the scope before the first of them is taken for lost.
    expect(nextWebhookDue(held.scope.stores.webhooks)).toBe(held.now + limits.webhook_lost_ms);
  });
});

describe("from a result to what follows", () => {
  it("[WBH-13] a delivery that is answered 2xx is done; the answer's beginning is kept, shown escaped", async () => {
    const { id } = await add();
    happen();
    await round({ ...ok, text: `hid\u202eden${"x".repeat(600)}` } as PostAnswer);
    const [one] = await deliveries(id);
    expect(one).toMatchObject({ state: "done", tries: 1, next_at: null, last: { status: 200, ms: 5 } });
    expect(one?.last?.words).toContain("hid⟦U+202E⟧den");
    expect([...(one?.last?.words ?? "")].length).toBe(limits.webhook_answer_chars);
    expect((await view(id)).open).toBe(0);
    expect(nextWebhookDue(held.scope.stores.webhooks)).toBeNull();
  });
  it("[WBH-13] one that fails is tried again after each wait under the same id, eight times, and is dead then", async () => {
    const { id } = await add();
    happen();
    const ids = new Set<string>();
    const messages = new Set<string>();
    const waits: number[] = [];
    for (let tried = 1; tried <= 8; tried++) {
      const [one, ...more] = await round(down);
      expect([one?.order.try, more]).toEqual([tried, []]);
      ids.add(one?.order.delivery_id ?? "");
      messages.add(one?.message.message_id ?? "");
      const next = nextWebhookDue(held.scope.stores.webhooks);
      if (next === null) break;
      waits.push(next - held.now);
      held.now = next - 1;
      expect(await round(down)).toEqual([]);
      held.now = next;
    }
    expect(waits).toEqual([...limits.webhook_retry_ms]);
    expect([ids.size, messages.size]).toEqual([1, 8]);
    const [dead] = await deliveries(id);
    expect(dead).toMatchObject({ state: "dead", tries: 8, next_at: null, last: { status: null, words: down.why } });
    expect((await view(id)).status).toBe("active");
  });
  it("[WBH-14] 410 disables it at once, on record and in the feed, and holds what was still to be sent", async () => {
    const { id } = await add();
    happen(4);
    order();
    const [first, second] = ordered();
    if (first === undefined || second === undefined) throw new Error("two are under way");
    await answer(first, status(410));
    expect(await view(id)).toMatchObject({ status: "disabled", open: 0, why: expect.stringContaining("410") });
    expect((await deliveries(id)).map(({ state }) => state).toSorted()).toEqual(["dead", "held", "held", "held"]);
    // The one that was under way arrived after all.
    await answer(second, ok);
    expect((await deliveries(id)).map(({ state }) => state).toSorted()).toEqual(["dead", "done", "held", "held"]);
    const disabled = audited().filter(({ decision }) => decision === "webhook_disabled");
    expect(disabled).toMatchObject([{ details: { webhook_id: id, by: null } }]);
    expect(events().at(-1)).toMatchObject({ type: "webhook_changed", what: "disabled", webhook_id: id });
    happen();
    expect((await deliveries(id)).length).toBe(4);
    expect(nextWebhookDue(held.scope.stores.webhooks)).toBeNull();
  });
  it("[WBH-14] nothing but failures for three days disables it; one success in between begins them anew", async () => {
    const { id } = await add();
    const fail = async () => {
      happen();
      await round(down);
    };
    await fail();
    expect((await view(id)).failing_since).toBe(new Date(held.now).toISOString());
    held.now += limits.webhook_failing_ms - 1;
    happen();
    expect((await round(ok)).length).toBe(2);
    expect((await view(id)).failing_since).toBeNull();
    await fail();
    held.now += limits.webhook_failing_ms - 1;
    await fail();
    expect((await view(id)).status).toBe("active");
    held.now += 1;
    await fail();
    expect(await view(id)).toMatchObject({ status: "disabled", why: expect.stringContaining("3 days") });
  });
  it("[WBH-15] too many open deliveries disable the webhook that has most of them, and none of them is gone", async () => {
    const full = await add();
    const small = await add();
    happen(2);
    held.sql.run("UPDATE webhooks SET open = ? WHERE id = ?", limits.webhook_open - 3, full.id);
    happen();
    expect((await view(full.id)).status).toBe("disabled");
    expect((await view(small.id)).status).toBe("active");
    expect((await deliveries(full.id)).map(({ state }) => state)).toEqual(["held", "held", "held"]);
    expect((await view(small.id)).open).toBe(3);
    expect(audited().at(-1)).toMatchObject({ decision: "webhook_disabled", reason: expect.stringContaining("10000") });
    expect(events().at(-1)).toMatchObject({ type: "webhook_changed", actor: "runtime" });
  });
  it("[WBH-16] a try that nobody told the end of is made again; its late success counts, its late failure does not", async () => {
    const { id } = await add();
    happen();
    order();
    const [lost] = ordered();
    if (lost === undefined) throw new Error("nothing was ordered");
    held.now += limits.webhook_lost_ms;
    order();
    expect(await deliveries(id)).toMatchObject([
      { state: "open", tries: 1, last: { words: expect.stringContaining("nobody") } },
    ]);
    held.now += limits.webhook_retry_ms[0];
    order();
    const [again] = ordered();
    expect(again?.order).toMatchObject({ delivery_id: lost.order.delivery_id, try: 2 });
    await answer(lost, down);
    expect(await deliveries(id)).toMatchObject([{ state: "open", next_at: null }]);
    await answer(lost, ok);
    expect(await deliveries(id)).toMatchObject([{ state: "done", tries: 2 }]);
    if (again !== undefined) await answer(again, down);
    expect(await deliveries(id)).toMatchObject([{ state: "done", tries: 2 }]);
  });
  it("[WBH-16] the same result twice counts once, and one of a delivery nobody knows counts for nothing", async () => {
    const { id } = await add();
    happen();
    order();
    const [one] = ordered();
    if (one === undefined) throw new Error("nothing was ordered");
    await answer(one, down);
    await answer(one, down);
    expect(await deliveries(id)).toMatchObject([{ state: "open", tries: 1 }]);
    await answer({ ...one, order: { ...one.order, delivery_id: "nobody-knows" } }, status(410));
    expect((await view(id)).status).toBe("active");
  });
});

describe("what an admin does", () => {
  it("[WBH-17] disabled, it holds what is open; enabled, that goes on and nothing of the time between is sent", async () => {
    const { id } = await add();
    happen(2);
    must(await door.moveWebhook(admin, id, "disable"));
    happen(3);
    order();
    expect(ordered()).toEqual([]);
    expect((await deliveries(id)).map(({ state }) => state)).toEqual(["held", "held"]);
    must(await door.moveWebhook(admin, id, "disable"));
    const enabled = must(await door.moveWebhook(admin, id, "enable"));
    expect(enabled).toMatchObject({ status: "active", why: null, open: 2 });
    expect((await round(ok)).length).toBe(2);
    const said = audited().filter(({ decision }) => decision?.startsWith("webhook_"));
    expect(said.map(({ decision }) => decision)).toEqual(["webhook_made", "webhook_disabled", "webhook_enabled"]);
  });
  it("[WBH-17] a dead or done delivery is sent again under its own id, with all its tries anew; an open one stays as it is", async () => {
    const { id } = await add();
    happen();
    const [first] = await round(ok);
    const delivery_id = first?.order.delivery_id ?? "";
    expect(must(await door.redeliver(admin, id, delivery_id))).toMatchObject({ state: "open", tries: 1 });
    expect(must(await door.redeliver(admin, id, delivery_id))).toMatchObject({ state: "open", tries: 1 });
    expect((await view(id)).open).toBe(1);
    const [second] = await round(down);
    expect(second?.order).toMatchObject({ delivery_id, try: 2 });
    held.now += limits.webhook_retry_ms[0];
    expect(second?.order.body).toBe(first?.order.body);
    expect(await round(ok)).toHaveLength(1);
    const refused = await door.redeliver(admin, id, "no-such-delivery");
    expect(refused).toMatchObject({ ok: false, refusal: { code: "delivery_not_found" } });
    must(await door.moveWebhook(admin, id, "disable"));
    expect(await door.redeliver(admin, id, delivery_id)).toMatchObject({ refusal: { code: "not_in_this_state" } });
    const other = await add();
    expect(await door.redeliver(admin, other.id, delivery_id)).toMatchObject({
      refusal: { code: "delivery_not_found" },
    });
  });
  it("[WBH-17] a try of one's own goes to this webhook alone, whatever events it wants", async () => {
    const { id } = await add(["task_failed"]);
    const other = await add(["*"]);
    const made = must(await door.testWebhook(admin, id));
    expect(made).toMatchObject({ event_type: "webhook_test", state: "open" });
    expect((await deliveries(other.id)).map(({ event_type }) => event_type)).not.toContain("webhook_test");
    const [one] = await round(ok);
    expect(JSON.parse(one?.order.body ?? "")).toMatchObject({ type: "webhook_test", actor: admin.subject });
    must(await door.moveWebhook(admin, id, "disable"));
    expect(await door.testWebhook(admin, id)).toMatchObject({ refusal: { code: "not_in_this_state" } });
  });
  it("[WBH-18] for 24 hours after a rotation the secret before signs along, and no older one ever", async () => {
    const { id } = await add();
    const versions = async () => {
      happen();
      return (await round(ok))[0]?.order.secret_versions;
    };
    must(await door.rotateWebhook(admin, id));
    expect(await versions()).toEqual([2, 1]);
    const rotated = must(await door.rotateWebhook(admin, id));
    expect(rotated).toMatchObject({ secret_version: 3, old_secret_until: expect.any(String) });
    expect(await versions()).toEqual([3, 2]);
    held.now += limits.webhook_old_secret_ms;
    expect(await versions()).toEqual([3]);
    expect((await view(id)).old_secret_until).toBeNull();
  });
  it("[WBH-19] it takes an admin, there are at most twenty, and a removed one leaves nothing behind", async () => {
    const made = await add();
    for (const role of ["viewer", "submitter", "approver"] as const) {
      const caller = callerOf("eve#x", role);
      const asked = [
        door.webhooks(caller),
        door.webhook(caller, made.id),
        door.addWebhook(caller, { url, events: ["*"], description: "" }),
        door.moveWebhook(caller, made.id, "disable"),
        door.rotateWebhook(caller, made.id),
        door.testWebhook(caller, made.id),
        door.webhookDeliveries(caller, made.id, { limit: 1, cursor: null }),
        door.redeliver(caller, made.id, "x"),
        door.removeWebhook(caller, made.id),
      ];
      for (const refused of await Promise.all(asked)) expect(refused).toMatchObject({ refusal: { code: "forbidden" } });
    }
    happen();
    order();
    const [one] = ordered();
    expect(must(await door.removeWebhook(admin, made.id)).id).toBe(made.id);
    if (one !== undefined) await answer(one, down);
    expect(await door.webhook(admin, made.id)).toMatchObject({ refusal: { code: "webhook_not_found" } });
    expect(held.sql.all("SELECT 1 FROM webhook_deliveries")).toEqual([]);
    for (let at = 0; at < limits.webhooks_per_scope; at++) await add();
    expect(await door.addWebhook(admin, { url, events: ["*"], description: "" })).toMatchObject({
      refusal: { code: "too_many" },
    });
  });
  it("[WBH-20] what ended is forgotten after thirty days, or when there is too much of it; what is open never is", async () => {
    const { id } = await add();
    happen(2);
    await round(ok);
    happen();
    held.now += limits.webhook_kept_ms + 1;
    const { webhooks } = held.scope.stores;
    webhooks.prune(held.now);
    expect((await deliveries(id)).map(({ state }) => state)).toEqual(["open"]);
    await round(ok);
    happen(3);
    await round(ok);
    webhooks.prune(held.now, 2);
    expect((await deliveries(id)).map(({ state }) => state)).toEqual(["open", "done"]);
  });
  it("[WBH-20] an event that is not kept any more cannot be sent: its delivery is dead and says so", async () => {
    const { id } = await add();
    happen();
    held.sql.run("DELETE FROM events");
    order();
    expect(ordered()).toEqual([]);
    expect(await deliveries(id)).toMatchObject([
      { state: "dead", last: { words: expect.stringContaining("not kept") } },
    ]);
    const [dead] = await deliveries(id);
    expect(await door.redeliver(admin, id, dead?.id ?? "")).toMatchObject({ refusal: { code: "not_in_this_state" } });
  });
  it("[WBH-21] of an address only the host is told: neither the audit nor an event nor a message's words hold its path", async () => {
    const { id } = await add(["*"]);
    must(await door.rotateWebhook(admin, id));
    must(await door.testWebhook(admin, id));
    happen();
    await round(status(410));
    must(await door.moveWebhook(admin, id, "enable"));
    must(await door.removeWebhook(admin, id));
    const told = JSON.stringify([audited(), events()]);
    expect(told).toContain("hooks.example");
    expect(told).not.toContain("a-secret-path");
    expect(told).not.toContain("whsec_");
  });
  it("[WBH-22] an object that restarts goes on where it stood, and the courier is started with the first order", async () => {
    const { id } = await add();
    happen();
    await round(down);
    held.reopen();
    door = new WebhooksDoor(held.scope, async () => {});
    held.now = nextWebhookDue(held.scope.stores.webhooks) ?? 0;
    expect((await round(ok)).map(({ order: { try: which } }) => which)).toEqual([2]);
    expect(await deliveries(id)).toMatchObject([{ state: "done", tries: 2 }]);
    const started: string[] = [];
    const agent = (name: string) => ({ start: async () => void started.push(name) });
    // Only `start` is asked of it here.
    await new Crew(held.scope, agent as unknown as ConstructorParameters<typeof Crew>[1]).start(held.now);
    expect(started).toContain("courier");
  });
});
