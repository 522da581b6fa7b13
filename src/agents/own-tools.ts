/**
 * Tools that are a role's own: described by one schema each, from which the model's offer, the reading of its
 * arguments and what it is told when they are wrong all follow. [PLR-*] [PRX-*]
 */
import { z } from "zod";
import type { MindTool, ReadArguments, ToolMove } from "./mind.ts";

export function ownTool(
  name: string,
  description: string,
  schema: z.ZodType,
  more: { readonly ends?: boolean } = {},
): MindTool {
  // The draft's address says nothing to a model.
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: "input" });
  return {
    offer: { name, description, parameters },
    ends: more.ends ?? false,
    read: (args) => readBy(schema, args),
  };
}

/** Some models say `null` for what they leave out. */
function readBy(schema: z.ZodType, args: unknown): ReadArguments {
  const given =
    typeof args === "object" && args !== null && !Array.isArray(args)
      ? Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
      : args;
  const read = schema.safeParse(given);
  return read.success
    ? { ok: true, value: read.data }
    : { ok: false, why: z.prettifyError(read.error).slice(0, 1_000) };
}

export function told(text: string): ToolMove {
  return { kind: "result", text, is_error: false };
}
export function refusedCall(text: string): ToolMove {
  return { kind: "result", text, is_error: true };
}
