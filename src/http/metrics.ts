/** Doors of what is measured: single measurements as stored, and what they add up to, for Prometheus. [HTTP-56] [HTTP-57] */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { metricsText } from "../domain/metrics.ts";
import { telemetryNames, telemetryView } from "../domain/telemetry.ts";
import { page } from "../domain/view.ts";
import { asks, json, pageOf, pageQuery, problems } from "./openapi.ts";
import type { DoorEnv } from "./ports.ts";
import { Refused, take } from "./problem.ts";
import { whenInvalid } from "./validation.ts";

const contentType = "text/plain; version=0.0.4; charset=utf-8";

const measured = createRoute({
  method: "get",
  path: "/api/telemetry",
  summary: "Search the measurements of the last 30 days",
  description: "In the order they were stored, which is not quite the order they were made: some arrive late.",
  ...asks("viewer", "audit"),
  request: {
    query: pageQuery.extend({
      event_name: z.enum(telemetryNames).optional(),
      queue_name: z.string().min(1).max(64).optional(),
      since: z.iso.datetime({ offset: true }).optional(),
    }),
  },
  responses: {
    200: json("A page of measurements", page(telemetryView).clone().openapi("TelemetryPage")),
    ...problems(400, 401, 500, 503),
  },
});
const metrics = createRoute({
  method: "get",
  path: "/api/metrics",
  summary: "Show counters, histograms and queue depths for Prometheus",
  description:
    "Text format 0.0.4. Totals are kept by the scope's objects: they never fall, whatever becomes of stored measurements.",
  ...asks("viewer", "audit"),
  responses: {
    200: { description: "Metrics", content: { "text/plain": { schema: z.string() } } },
    ...problems(401, 500, 503),
  },
});

export const measurements = new OpenAPIHono<DoorEnv>({ defaultHook: whenInvalid })
  .openapi(measured, async (c) => {
    const { event_name, queue_name, since, ...rest } = c.req.valid("query");
    const query = {
      ...pageOf(rest),
      scope_id: c.var.caller.scope_id,
      event_name: event_name ?? null,
      queue_name: queue_name ?? null,
      // As the rows are written, so that text compares as time.
      since: since === undefined ? null : new Date(since).toISOString(),
    };
    try {
      return c.json(await c.var.ports.records.telemetryPage(query), 200);
    } catch (error) {
      console.error("telemetry search failed", error);
      throw new Refused("unavailable", "Measurements cannot be searched now; GET /api/metrics still answers.");
    }
  })
  .openapi(metrics, async (c) => {
    const figures = take(await c.var.runtime.figures(c.var.caller));
    return c.text(metricsText(figures, c.var.ports.now()), 200, { "content-type": contentType });
  });
