/** Effects whose outcome is not on record, as people are shown them: what was asked, and what is known of it. [EFF-7] */
import { z } from "zod";

export const unknownEffect = z.strictObject({
  kind: z.enum(["tool_call", "publish"]),
  /** The attempt, or the verification that published. */
  attempt_id: z.string(),
  work_item_id: z.string().nullable(),
  call_id: z.string(),
  tool: z.string(),
  /** As it was asked; what cannot be seen is written out. */
  arguments: z.string(),
  /** `asking`: its sandbox has not answered yet. `unknown`: nobody can say any more. */
  state: z.enum(["asking", "unknown"]),
  /** What the other side said; null before it was asked. */
  answered: z.string().nullable(),
  /** `never`: it is not done again. `looked_up`: before it is done again, the other side is asked what stands there. */
  repeats: z.enum(["never", "looked_up"]),
  at: z.string(),
});
export type UnknownEffect = z.infer<typeof unknownEffect>;
