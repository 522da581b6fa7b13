/** Shapes of answers that more than one command reads. */
import { z } from "zod";

/** All there is, in one answer. */
export function wholeOf<T extends z.ZodType>(item: T) {
  return z.strictObject({ items: z.array(item), next_cursor: z.null() });
}
