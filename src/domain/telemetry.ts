/**
 * One measurement: what is counted and timed, never what was said. Rows are numbered per object, like audit. What they
 * add up to is kept by the object itself and shown by `metrics.ts`. [TEL-*]
 */
import { z } from "zod";

export const telemetryNames = [
  "queue_depth_sample",
  "queue_wait_ms",
  "lease_duration_ms",
  "lease_heartbeat",
  "lease_expired",
] as const;
export type TelemetryName = (typeof telemetryNames)[number];

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

/** Upper bounds of the histograms' buckets; one more takes what is longer than all. */
export const bucketsMs = [10, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 1_800_000];

/** All measurements of one name, queue and bucket since the object began: how many, and their sum. */
export interface TelemetryTotal {
  readonly event_name: TelemetryName;
  readonly queue_name: string;
  /** Place in `bucketsMs`. */
  readonly bucket: number;
  readonly count: number;
  readonly sum: number;
}
