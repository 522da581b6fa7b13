/** Doors of outgoing webhooks. A secret is derived here, from the deployment's key, and shown this once. [WBH-*] */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { secretText, signingSecret } from "../domain/webhook-signature.ts";
import { type WebhookView, webhookUrl } from "../domain/webhooks.ts";
import { asks, body, id, json, pageOf, pageQuery, problems, sends, shapes, whole } from "./openapi.ts";
import type { CallerEnv, DoorEnv } from "./ports.ts";
import { take } from "./problem.ts";
import { whenInvalid } from "./validation.ts";

const found = problems(401, 403, 404, 500, 503);
const list = createRoute({
  method: "get",
  path: "/api/webhooks",
  summary: "List outgoing webhooks, without their secrets",
  ...asks("admin", "webhooks"),
  responses: { 200: json("All webhooks", whole(shapes.webhook)), ...problems(401, 403, 500, 503) },
});
const create = createRoute({
  method: "post",
  path: "/api/webhooks",
  summary: "Have events posted to an address",
  description:
    "Each event of the scope that is wanted is posted as GET /api/events shows it, at least once and in no promised order, signed as Standard Webhooks has it. `*` is every event but `agent_output`. `secret` is shown this once.",
  ...sends("admin", "webhooks"),
  request: { body: body(shapes.webhookInput) },
  responses: {
    201: json("The webhook and its secret", shapes.webhookMade),
    ...problems(400, 401, 403, 413, 415, 429, 500, 503),
  },
});
const show = createRoute({
  method: "get",
  path: "/api/webhooks/{id}",
  summary: "Show a webhook",
  ...asks("admin", "webhooks"),
  request: { params: id },
  responses: { 200: json("The webhook", shapes.webhook), ...found },
});
const remove = createRoute({
  method: "delete",
  path: "/api/webhooks/{id}",
  summary: "Remove a webhook and all that was to be delivered to it",
  ...asks("admin", "webhooks"),
  request: { params: id },
  responses: { 200: json("The webhook as it stood last", shapes.webhook), ...found },
});
const enable = createRoute({
  method: "post",
  path: "/api/webhooks/{id}/enable",
  summary: "Enable a webhook; what was held for it is delivered",
  ...asks("admin", "webhooks"),
  request: { params: id },
  responses: { 200: json("The webhook", shapes.webhook), ...found },
});
const disable = createRoute({
  method: "post",
  path: "/api/webhooks/{id}/disable",
  summary: "Disable a webhook; what was still to be delivered is held, later events are not kept for it",
  ...asks("admin", "webhooks"),
  request: { params: id },
  responses: { 200: json("The webhook", shapes.webhook), ...found },
});
const rotate = createRoute({
  method: "post",
  path: "/api/webhooks/{id}/rotate",
  summary: "Give a webhook a new secret",
  description: "For 24 hours the secret before signs as well. `secret` is shown this once.",
  ...asks("admin", "webhooks"),
  request: { params: id },
  responses: { 200: json("The webhook and its new secret", shapes.webhookMade), ...found },
});
const test = createRoute({
  method: "post",
  path: "/api/webhooks/{id}/test",
  summary: "Send a webhook an event of type webhook_test",
  ...asks("admin", "webhooks"),
  request: { params: id },
  responses: { 202: json("The delivery", shapes.delivery), ...problems(401, 403, 404, 409, 500, 503) },
});
const deliveries = createRoute({
  method: "get",
  path: "/api/webhooks/{id}/deliveries",
  summary: "List what was delivered to a webhook and what is still to be, newest first",
  ...asks("admin", "webhooks"),
  request: { params: id, query: pageQuery },
  responses: { 200: json("A page of deliveries", shapes.deliveryPage), ...problems(400, 401, 403, 404, 500, 503) },
});
const one = z.strictObject({ id: z.string().min(1).max(128), delivery: z.string().min(1).max(128) });
const redeliver = createRoute({
  method: "post",
  path: "/api/webhooks/{id}/deliveries/{delivery}/redeliver",
  summary: "Deliver one again, under the same webhook-id",
  ...asks("admin", "webhooks"),
  request: { params: one },
  responses: { 202: json("The delivery", shapes.delivery), ...problems(401, 403, 404, 409, 429, 500, 503) },
});

export const webhooks = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid })
  .openapi(list, async (c) =>
    c.json({ items: take(await c.var.runtime.webhooks(c.var.caller)), next_cursor: null }, 200),
  )
  .openapi(create, async (c) => {
    const input = c.req.valid("json");
    const url = take(webhookUrl(input.url, c.var.ports.webhookLoopback));
    return c.json(withSecret(c, take(await c.var.runtime.addWebhook(c.var.caller, { ...input, url }))), 201);
  })
  .openapi(show, async (c) => c.json(take(await c.var.runtime.webhook(c.var.caller, c.req.valid("param").id)), 200))
  .openapi(remove, async (c) =>
    c.json(take(await c.var.runtime.removeWebhook(c.var.caller, c.req.valid("param").id)), 200),
  )
  .openapi(enable, async (c) =>
    c.json(take(await c.var.runtime.moveWebhook(c.var.caller, c.req.valid("param").id, "enable")), 200),
  )
  .openapi(disable, async (c) =>
    c.json(take(await c.var.runtime.moveWebhook(c.var.caller, c.req.valid("param").id, "disable")), 200),
  )
  .openapi(rotate, async (c) =>
    c.json(withSecret(c, take(await c.var.runtime.rotateWebhook(c.var.caller, c.req.valid("param").id))), 200),
  )
  .openapi(test, async (c) => c.json(take(await c.var.runtime.testWebhook(c.var.caller, c.req.valid("param").id)), 202))
  .openapi(deliveries, async (c) => {
    const page = pageOf(c.req.valid("query"));
    return c.json(take(await c.var.runtime.webhookDeliveries(c.var.caller, c.req.valid("param").id, page)), 200);
  })
  .openapi(redeliver, async (c) => {
    const asked = c.req.valid("param");
    return c.json(take(await c.var.runtime.redeliver(c.var.caller, asked.id, asked.delivery)), 202);
  });

function withSecret(c: Context<CallerEnv>, view: WebhookView): WebhookView & { secret: string } {
  const { scope_id } = c.var.caller;
  const of = { use: "webhook", scope_id, id: view.id, version: view.secret_version } as const;
  return { ...view, secret: secretText(signingSecret(c.var.ports.scopeMacKey, of)) };
}
