import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, it } from "vitest";
import { hookMade, hookTaken } from "../../src/domain/hooks.ts";
import type { EventView } from "../../src/domain/record-view.ts";
import { page } from "../../src/domain/view.ts";
import { deliveryView, webhookMade, webhookView } from "../../src/domain/webhooks.ts";
import { planOf } from "./plan-of.ts";
import { openRoad, type Road, until } from "./road.ts";

interface Post {
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly answered: number | "cut";
}
/** For each delivery it is not there at the first try, busy at the second, and takes it from the third on. */
class Receiver {
  readonly posts: Post[] = [];
  readonly #server: Server;
  constructor() {
    this.#server = createServer((request, response) => void this.#take(request, response));
  }
  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const before = this.tries(headers["webhook-id"] ?? "").length;
    const answered = before === 0 ? ("cut" as const) : before === 1 ? 503 : 200;
    this.posts.push({ headers, body: Buffer.concat(chunks).toString(), answered });
    if (answered === "cut") request.socket.destroy();
    else response.writeHead(answered).end();
  }
  tries(id: string): Post[] {
    return this.posts.filter(({ headers }) => headers["webhook-id"] === id);
  }
  taken(): Post[] {
    return this.posts.filter(({ answered }) => answered === 200);
  }
  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/in`;
  }
  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

let road: Road;
const receiver = new Receiver();
beforeAll(async () => {
  road = await openRoad({ env: { WEBHOOK_LOOPBACK: "true" } });
});
afterAll(async () => {
  receiver.close();
  await road.close();
});

const wanted = ["task_created", "plan_ready", "approval_resolved", "merge_result", "task_complete"];
const plan = planOf([{ id: "only", steps: ["echo x > src/x.txt"], verify: [["grep", "-q", "x", "src/x.txt"]] }]);

it("[WBH-60] a receiver that is down for two tries and a service whose power fails in between: each event arrives as signed, none is lost", async () => {
  const url = await receiver.open();
  const made = await road.client.post("/api/webhooks", { url, events: wanted }, webhookMade);
  const id = await road.ask(plan);
  await until("the first try", async () => (receiver.posts.length > 0 ? true : null));
  await road.service.kill();
  await road.service.restart();
  await road.countersign(id);
  expect(await road.ended(id)).toMatchObject({ status: "done" });
  await until("a second try", async () => (receiver.posts.some(({ answered }) => answered === 503) ? true : null));
  await road.service.kill();
  await road.service.restart();
  const told = (await road.events(id)).filter(({ type }) => wanted.includes(type));
  expect(told.map(({ type }) => type)).toEqual(wanted);
  await until(
    "every event to be taken",
    async () => {
      const bodies = receiver.taken().map(({ body }): EventView => JSON.parse(body));
      return told.every(({ seq }) => bodies.some((one) => one.seq === seq)) ? true : null;
    },
    120_000,
  );

  const webhook = new Webhook(made.secret);
  for (const { body, headers } of receiver.posts) expect(told).toContainEqual(webhook.verify(body, headers));
  const deliveries = await until("every delivery to be done", async () => {
    const { items } = await road.client.get(`/api/webhooks/${made.id}/deliveries`, page(deliveryView));
    return items.every(({ state }) => state === "done") ? items : null;
  });
  expect(deliveries.map(({ event_seq }) => event_seq).toSorted()).toEqual(told.map(({ seq }) => seq).toSorted());
  for (const { id: delivery, tries } of deliveries) {
    // A crash between a POST and its commit makes the POST again: never fewer than three, all under the one id.
    const posts = receiver.tries(delivery);
    expect(posts.length).toBeGreaterThanOrEqual(3);
    expect(tries).toBeGreaterThanOrEqual(2);
    expect(new Set(posts.map(({ body }) => body)).size).toBe(1);
  }
  expect(await road.client.get(`/api/webhooks/${made.id}`, webhookView)).toMatchObject({ status: "active", open: 0 });
});

it("[HOOK-40] a signed request from outside becomes a task that waits for a person, once, and survives a power cut", async () => {
  const asked = { name: "ci", repo: road.repo.url, title: "[{name}] {title}" };
  const hook = await road.client.post("/api/hooks", asked, hookMade);
  const body = JSON.stringify({ title: "The build broke", plan });
  const send = async (id: string, secret = hook.secret) => {
    const at = new Date();
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
      "webhook-signature": new Webhook(secret).sign(id, at, body),
    };
    return fetch(road.service.url + hook.path, { method: "POST", headers, body });
  };
  const first = await send("build-1");
  expect(first.status).toBe(202);
  const { task_id } = hookTaken.parse(await first.json());
  await road.service.kill();
  await road.service.restart();
  expect(hookTaken.parse(await (await send("build-1")).json())).toEqual({ task_id });
  expect((await send("build-2", "whsec_c2VjcmV0")).status).toBe(401);
  const card = await road.card(task_id, "plan");
  expect(card.card.taint).toBe("outsider");
  expect(await road.task(task_id)).toMatchObject({ title: "[ci] The build broke", created_by: "hook:ci" });
  await road.approve(card);
  expect(await road.ended(task_id)).toMatchObject({ status: "done" });
});
