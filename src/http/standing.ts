/**
 * Doors of standing approvals: what was approved in advance, inside which bounds, and taking it back. Making one is a
 * decision, so it takes an approver. [HTTP-115] to [HTTP-119]
 */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { hashOf } from "../domain/canonical.ts";
import { keyTwice } from "../domain/json-twice.ts";
import { repoUrl } from "../domain/repo.ts";
import type { Idempotency } from "./doors.ts";
import { asks, body, id, json, pageOf, pageQuery, problems, sends, shapes } from "./openapi.ts";
import type { DoorEnv } from "./ports.ts";
import { Refused, take } from "./problem.ts";
import { whenInvalid } from "./validation.ts";

const list = createRoute({
  method: "get",
  path: "/api/standing-approvals",
  summary: "List standing approvals, newest first",
  ...asks("viewer", "approvals"),
  request: { query: pageQuery },
  responses: { 200: json("A page of standing approvals", shapes.standingPage), ...problems(400, 401, 500, 503) },
});
const show = createRoute({
  method: "get",
  path: "/api/standing-approvals/{id}",
  summary: "Show a standing approval, its bounds and what it approved last",
  ...asks("viewer", "approvals"),
  request: { params: id },
  responses: { 200: json("The standing approval", shapes.standing), ...problems(401, 404, 500, 503) },
});
const create = createRoute({
  method: "post",
  path: "/api/standing-approvals",
  summary: "Approve plans in advance, inside stated bounds",
  description:
    "A plan that comes into review and lies inside every bound is approved by it, and each use is on record. What is not listed is not allowed. It never speaks for what the policy wants two approvers or a session for.",
  ...sends("approver", "approvals"),
  request: {
    body: body(shapes.standingInput),
    headers: z.object({
      "idempotency-key": z
        .string()
        .regex(/^[\x21-\x7e]{1,255}$/, "use 1 to 255 visible ASCII characters")
        .optional()
        .describe("The same key with the same body gives the first answer again for 24 hours"),
    }),
  },
  responses: {
    201: {
      ...json("It is in force", shapes.standing),
      headers: {
        location: { description: "Where it is", schema: { type: "string" } },
        "idempotent-replay": { description: "`true` when this answer was given before", schema: { type: "string" } },
      },
    },
    ...problems(400, 401, 403, 409, 413, 415, 422, 429, 500, 503),
  },
});
const revoke = createRoute({
  method: "delete",
  path: "/api/standing-approvals/{id}",
  summary: "Revoke a standing approval",
  description:
    "At once: it speaks for nothing more, and work it approved that is not done stops and waits for a person. A task whose work is all done and not yet published is cancelled. Again, it answers as it stands.",
  ...sends("approver", "approvals"),
  request: { params: id, body: body(shapes.standingRevocation) },
  responses: {
    200: json("The standing approval as it stands now", shapes.standing),
    ...problems(400, 401, 403, 404, 413, 415, 500, 503),
  },
});

export const standing = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid })
  .openapi(list, async (c) =>
    c.json(take(await c.var.runtime.standingApprovals(c.var.caller, pageOf(c.req.valid("query")))), 200),
  )
  .openapi(show, async (c) =>
    c.json(take(await c.var.runtime.standingApproval(c.var.caller, c.req.valid("param").id)), 200),
  )
  .openapi(create, async (c) => {
    const input = c.req.valid("json");
    const twice = keyTwice(await c.req.text());
    if (twice !== null)
      throw new Refused("bad_request", `The key ${JSON.stringify(twice.slice(0, 80))} stands twice: leave one out.`);
    const key = c.req.valid("header")["idempotency-key"];
    const idempotency: Idempotency | null =
      key === undefined ? null : { route: "POST /api/standing-approvals", key, body_hash: hashOf(input) };
    // In the one form that tasks name them in.
    const repos = input.bounds.repos.map((url) => take(repoUrl(url, c.var.ports.localHost, c.var.ports.gitOrigin)));
    const asked = { ...input, bounds: { ...input.bounds, repos } };
    const made = take(await c.var.runtime.addStandingApproval(c.var.caller, asked, idempotency));
    c.header("location", `/api/standing-approvals/${made.body.id}`);
    if (made.replay) c.header("idempotent-replay", "true");
    return c.json(made.body, 201);
  })
  .openapi(revoke, async (c) => {
    const { reason } = c.req.valid("json");
    const done = await c.var.runtime.revokeStandingApproval(c.var.caller, c.req.valid("param").id, reason);
    return c.json(take(done), 200);
  });
