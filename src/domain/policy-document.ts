/**
 * A policy as somebody wrote it: taken whole or not at all, with every problem by its place and what is allowed
 * there. What passes is what is stored and hashed. [PDT-1] [PDT-2] [PDT-3]
 */
import type { z } from "zod";
import { limits } from "../limits.ts";
import { byteLength } from "./canonical.ts";
import { saysNothing } from "./gate-texts.ts";
import { type Policy, policySchema } from "./policy.ts";

export interface PolicyProblem {
  /** Keys and places joined by dots; empty for the document itself. */
  readonly path: string;
  readonly message: string;
}
export type PolicyReading =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly too_large: boolean; readonly problems: readonly PolicyProblem[] };

/** A policy is five deep. */
const maxDepth = 10;
const maxProblems = 50;

export function readPolicy(value: unknown): PolicyReading {
  // Before anything walks it by recursion, and before a schema passes over what it does not see.
  const odd = oddKey(value, [], 0);
  if (odd !== null) return { ok: false, too_large: false, problems: [odd] };
  const bytes = byteLength(JSON.stringify(value) ?? "");
  if (bytes > limits.policy_bytes) {
    const message = `the policy has ${bytes} bytes; at most ${limits.policy_bytes} are kept`;
    return { ok: false, too_large: true, problems: [{ path: "", message }] };
  }
  const read = policySchema.safeParse(value);
  const problems = read.success ? [...twice(read.data), ...neverFires(read.data)] : read.error.issues.flatMap(inWords);
  if (read.success && problems.length === 0) return { ok: true, policy: read.data };
  return { ok: false, too_large: false, problems: problems.slice(0, maxProblems) };
}

/** `__proto__` is no key that a table can hold, so a setting written there would be lost without a word. */
function oddKey(value: unknown, path: readonly string[], depth: number): PolicyProblem | null {
  if (typeof value !== "object" || value === null) return null;
  if (depth > maxDepth) return { path: path.join("."), message: "is nested too deep: a policy is not" };
  for (const [key, inner] of Object.entries(value)) {
    const at = [...path, key];
    const odd =
      key === "__proto__"
        ? { path: at.join("."), message: 'the key "__proto__" cannot be used: remove it' }
        : oddKey(inner, at, depth + 1);
    if (odd !== null) return odd;
  }
  return null;
}

/** An answer names its rule by its id, so two rules cannot share one. */
function twice({ arguments: rules, gates }: Policy): PolicyProblem[] {
  const of = (name: string, list: readonly { readonly id: string }[]): PolicyProblem[] =>
    list.flatMap(({ id }, at) => {
      const first = list.findIndex((other) => other.id === id);
      const message = `the id "${id}" is taken by ${name}.${first}: each has its own`;
      return first === at ? [] : [{ path: `${name}.${at}.id`, message }];
    });
  return [...of("arguments", rules), ...of("gates", gates)];
}

/** A gate that can never fire, or that fires at every text, is a mistake. Stored ones stay as they are. */
function neverFires({ gates }: Policy): PolicyProblem[] {
  return gates.flatMap((one, at) => {
    if (one.check === "path_matches" && one.trigger === "every_user_message") {
      const message = "a person's words change no file, so a gate on paths never fires here: use another trigger";
      return [{ path: `gates.${at}.trigger`, message }];
    }
    if (one.check !== "text_contains") return [];
    return one.params.any.flatMap((word, index) =>
      saysNothing(word)
        ? [
            {
              path: `gates.${at}.params.any.${index}`,
              message: "a word of blanks, or of what nobody sees, is in nearly every text: leave it out",
            },
          ]
        : [],
    );
  });
}

function inWords(issue: z.core.$ZodIssue): PolicyProblem[] {
  const path = issue.path.join(".");
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({
        path: [...issue.path, key].join("."),
        message: `unknown key "${key}": remove it or check its spelling`,
      }));
    case "invalid_key":
      return [{ path, message: issue.issues[0]?.message ?? issue.message }];
    case "invalid_value":
      return [{ path, message: `must be one of ${issue.values.map((each) => JSON.stringify(each)).join(", ")}` }];
    case "invalid_type":
      return [{ path, message: `must be ${kinds[issue.expected] ?? issue.expected}` }];
    default:
      return [{ path, message: issue.message }];
  }
}
const kinds: Readonly<Record<string, string>> = {
  record: "an object of settings by name",
  object: "an object",
  array: "a list",
  string: "text",
  int: "a whole number",
};
