/** One measurement: what is counted and timed, never what was said. Rows are numbered per object, like audit. */
import { z } from "zod";

export const telemetryNames = [
  "queue_depth_sample",
  "queue_wait_ms",
  "lease_duration_ms",
  "lease_heartbeat",
  "lease_expired",
] as const;

export const telemetryView = z.strictObject({
  object: z.string(),
  seq: z.number().int(),
  event_name: z.enum(telemetryNames),
  scope_id: z.string(),
  trace_id: z.string().nullable(),
  queue_name: z.string().nullable(),
  message_id: z.string().nullable(),
  value: z.number(),
  labels: z.record(z.string(), z.union([z.string(), z.number()])),
  created_at: z.string(),
});
export type TelemetryView = z.infer<typeof telemetryView>;
/** A measurement before its object numbers it. */
export type Telemetry = Omit<TelemetryView, "object" | "seq" | "created_at">;
