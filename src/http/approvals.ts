/** Doors of approvals: what waits for a person, and the person's decision. [HTTP-17] [HTTP-18] */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { approvalStatuses } from "../domain/view.ts";
import { asks, body, id, json, pageOf, pageQuery, problems, sends, shapes } from "./openapi.ts";
import type { DoorEnv } from "./ports.ts";
import { take } from "./problem.ts";
import { whenInvalid } from "./validation.ts";

const list = createRoute({
  method: "get",
  path: "/api/approvals",
  summary: "List approvals, newest first",
  ...asks("viewer", "approvals"),
  request: { query: pageQuery.extend({ status: z.enum(approvalStatuses).optional() }) },
  responses: { 200: json("A page of approvals", shapes.approvalPage), ...problems(400, 401, 500, 503) },
});
const show = createRoute({
  method: "get",
  path: "/api/approvals/{id}",
  summary: "Show an approval with the card a decision binds",
  ...asks("viewer", "approvals"),
  request: { params: id },
  responses: { 200: json("The approval", shapes.approval), ...problems(401, 404, 500, 503) },
});
const decided = {
  200: json("The approval after the decision", shapes.approval),
  ...problems(400, 401, 403, 404, 409, 413, 415, 500, 503),
};
const approve = createRoute({
  method: "post",
  path: "/api/approvals/{id}/approve",
  summary: "Approve what the card shows",
  description:
    "`content_hash` is the card's hash as you saw it; another is refused with `content_changed`. `needs` of the approval says who may approve and how many: the card stays `pending` until that many different people did. `amount` belongs to a budget card alone. Who comes second gets 409 `already_resolved` with the `winner`.",
  ...sends("approver", "approvals"),
  request: { params: id, body: body(shapes.approveInput) },
  responses: decided,
});
const deny = createRoute({
  method: "post",
  path: "/api/approvals/{id}/deny",
  summary: "Deny, with a reason",
  ...sends("approver", "approvals"),
  request: { params: id, body: body(shapes.denyInput) },
  responses: decided,
});
const requestChanges = createRoute({
  method: "post",
  path: "/api/approvals/{id}/request-changes",
  summary: "Ask the planner for another version",
  ...sends("approver", "approvals"),
  request: { params: id, body: body(shapes.changesInput) },
  responses: decided,
});

export const approvals = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid })
  .openapi(list, async (c) => {
    const query = c.req.valid("query");
    const found = await c.var.runtime.approvals(c.var.caller, { ...pageOf(query), status: query.status ?? null });
    return c.json(take(found), 200);
  })
  .openapi(show, async (c) => c.json(take(await c.var.runtime.approval(c.var.caller, c.req.valid("param").id)), 200))
  .openapi(approve, async (c) => {
    const { content_hash, comment, amount } = c.req.valid("json");
    const given = { decision: "approve", content_hash, comment: comment ?? null } as const;
    const decision = amount === undefined ? given : { ...given, amount };
    return c.json(take(await c.var.runtime.decide(c.var.caller, c.req.valid("param").id, decision)), 200);
  })
  .openapi(deny, async (c) => {
    const { reason, stop, content_hash } = c.req.valid("json");
    const decision = { decision: "deny", content_hash: content_hash ?? null, comment: reason, stop } as const;
    return c.json(take(await c.var.runtime.decide(c.var.caller, c.req.valid("param").id, decision)), 200);
  })
  .openapi(requestChanges, async (c) => {
    const { reason, comments, content_hash } = c.req.valid("json");
    const comment = [reason, ...comments.map((line) => `- ${line}`)].join("\n");
    const decision = { decision: "request_changes", content_hash: content_hash ?? null, comment } as const;
    return c.json(take(await c.var.runtime.decide(c.var.caller, c.req.valid("param").id, decision)), 200);
  });
