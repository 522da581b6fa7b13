/** The form in which objects ship their audit and telemetry to D1. */
import { z } from "zod";
import { telemetryView } from "./telemetry.ts";
import { auditView } from "./view.ts";

/** What an object sends over the queue `records`. Its rows are confirmed to it, by the last seq of each list, once stored. */
export const recordsBatch = z.strictObject({
  object: z.string(),
  audit: z.array(auditView).max(100),
  telemetry: z.array(telemetryView).max(500),
});
export type RecordsBatch = z.infer<typeof recordsBatch>;
