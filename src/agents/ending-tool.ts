/** A tool by which a model ends its loop: nothing is run, and its arguments are the role's answer. [MIND-*] */
import { z } from "zod";
import type { MindTool } from "./mind.ts";

export function endingTool(name: string, description: string, shape: z.ZodObject): MindTool {
  const { $schema: _, ...parameters } = z.toJSONSchema(shape);
  return {
    offer: { name, description, parameters },
    ends: true,
    read(args) {
      const read = shape.safeParse(args);
      if (read.success) return { ok: true, value: read.data };
      return { ok: false, why: `${z.prettifyError(read.error)}. Expected: ${JSON.stringify(parameters)}` };
    },
  };
}
