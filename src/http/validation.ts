/**
 * What a request that does not fit its shape is told: every field that is wrong, and one plain
 * sentence about the first. [HTTP-9]
 */
import type { Hook } from "@hono/zod-openapi";
import type { z } from "zod";
import type { DoorEnv } from "./ports.ts";
import { Refused } from "./problem.ts";

const places: Record<string, string> = { json: "body", query: "query", header: "headers" };

export const whenInvalid: Hook<unknown, DoorEnv, string, undefined> = (result) => {
  if (result.success) return;
  // An id that no id can look like names nothing.
  if (result.target === "param") throw new Refused("not_found", "There is no such thing: check the address.");
  const errors = result.error.issues.flatMap(flat);
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more, see errors)` : "";
  const where = first === undefined || first.path === "" ? "" : `${first.path}: `;
  throw new Refused(
    "bad_request",
    `The ${places[result.target] ?? "request"} is not right: ${where}${first?.message}${more}. Correct it and send it again.`,
    {
      errors,
    },
  );
};

function flat(issue: z.core.$ZodIssue): { path: string; message: string }[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      path: [...issue.path, key].join("."),
      message: `unknown field "${key}": remove it or check its spelling`,
    }));
  return [{ path: issue.path.join("."), message: issue.message }];
}
