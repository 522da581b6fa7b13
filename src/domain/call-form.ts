/**
 * Whether a tool call has a form that can be judged, shown and compared byte by byte: arguments in their one canonical
 * spelling, so that no two readers find two values in them. What has none is refused, whatever the policy. [WORST-4]
 */
import { limits } from "../limits.ts";
import { byteLength, canonicalJson } from "./canonical.ts";
import { argumentDepth, nestedAtMost } from "./nesting.ts";

interface Formed {
  readonly call_id: string;
  readonly tool: string;
  readonly arguments: string;
}

/** Null when it has one. */
export function whyNoForm({ call_id, tool, arguments: given }: Formed): string | null {
  if (Math.max(call_id.length, tool.length) > limits.call_name_chars) return "its name or its id is too long";
  if (byteLength(given) > limits.call_arguments_bytes) return "its arguments are too large";
  let read: unknown;
  try {
    read = JSON.parse(given);
  } catch {
    return "its arguments are not JSON";
  }
  if (!nestedAtMost(argumentDepth, read)) return "its arguments are nested too deep to be judged";
  try {
    return canonicalJson(read) === given ? null : "its arguments are not in their canonical spelling";
  } catch {
    return "its arguments hold what JSON cannot say";
  }
}
