/** The form in which objects ship their audit, telemetry and checkpoints to D1. */
import { z } from "zod";
import { auditView } from "./record-view.ts";
import { telemetryView } from "./telemetry.ts";

/** A signed checkpoint as it is kept: `hash` is SHA-256 of `jws`. */
export const checkpointRow = z.strictObject({
  scope_id: z.string(),
  seq: z.number().int().positive(),
  hash: z.string(),
  jws: z.string(),
  at: z.string(),
});
export type CheckpointRow = z.infer<typeof checkpointRow>;

/** What an object sends over the queue `records`. Its rows are confirmed to it, by the last seq of each list, once stored. */
export const recordsBatch = z
  .strictObject({
    object: z.string(),
    audit: z.array(auditView).max(100),
    telemetry: z.array(telemetryView).max(500),
    checkpoints: z.array(checkpointRow).max(20).optional(),
  })
  // A row of another object would be confirmed to one that never had it.
  .refine(({ object, audit, telemetry }) => [...audit, ...telemetry].every((row) => row.object === object), {
    message: "a row is another object's",
  })
  .refine(({ object, checkpoints }) => (checkpoints ?? []).every((row) => object === `${row.scope_id}/runtime`), {
    message: "a checkpoint is another scope's",
  });
export type RecordsBatch = z.infer<typeof recordsBatch>;
