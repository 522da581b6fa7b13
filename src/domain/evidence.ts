/** What a verification saw and a patch changed, as messages carry it and views show it. */
import { z } from "zod";

export const verdicts = ["pass", "fail", "integrity_violation", "infra_error"] as const;

export const patchFile = z.strictObject({
  path: z.string(),
  change: z.enum(["added", "modified", "deleted"]),
  old_mode: z.string(),
  mode: z.string(),
});
export type PatchFile = z.infer<typeof patchFile>;

export const checkView = z.strictObject({
  argv: z.array(z.string()),
  exit_code: z.number().int().nullable(),
  timed_out: z.boolean(),
  duration_ms: z.number(),
  output: z.string(),
});
