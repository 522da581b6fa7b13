/** The door of what is on record: the audit. [HTTP-20] */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { type AuditView, auditTypes } from "../domain/record-view.ts";
import type { Page } from "../domain/view.ts";
import { asks, json, pageOf, pageQuery, problems, shapes } from "./openapi.ts";
import type { AuditQuery, DoorEnv, DoorPorts } from "./ports.ts";
import { Refused } from "./problem.ts";
import { whenInvalid } from "./validation.ts";

const audit = createRoute({
  method: "get",
  path: "/api/audit",
  summary: "Search the audit",
  description:
    "In the order rows were stored: each object's rows by seq, and a row that arrives late comes after what was stored before it. " +
    "So a reader who keeps the last cursor misses nothing. Sort by `created_at` to see the order of events.",
  ...asks("viewer", "audit"),
  request: {
    query: pageQuery.extend({
      trace_id: z.string().min(1).max(64).optional(),
      event_type: z.enum(auditTypes).optional(),
    }),
  },
  responses: { 200: json("A page of audit events", shapes.auditPage), ...problems(400, 401, 500, 503) },
});

export const records = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid }).openapi(audit, async (c) => {
  const { trace_id, event_type, ...rest } = c.req.valid("query");
  const query = { ...pageOf(rest), trace_id: trace_id ?? null, event_type: event_type ?? null };
  return c.json(await search(c.var.ports, c.var.caller.scope_id, query), 200);
});

async function search(ports: DoorPorts, scope: string, query: AuditQuery): Promise<Page<AuditView>> {
  try {
    return await ports.audit(scope, query);
  } catch (error) {
    console.error("audit search failed", error);
    throw new Refused(
      "unavailable",
      "The audit cannot be searched now; tasks and approvals go on. Try again in a moment.",
    );
  }
}
