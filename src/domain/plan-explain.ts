/** Turns what zod found into sentences a person can act on, with the place in the document. [PLAN-*] */
import type { z } from "zod";
import type { PlanProblem } from "./plan-document.ts";
import type { FrontMatter } from "./plan-yaml.ts";

type Issue = z.core.$ZodIssue;
type RawIssue = z.core.$ZodRawIssue;

/** Parses `value`, found at `path` of the front matter. A value, or the problems it has. */
export function readShape<T>(
  schema: z.ZodType<T>,
  value: unknown,
  from: { readonly matter: FrontMatter; readonly path: readonly PropertyKey[]; readonly name: string },
): { readonly value: T | null; readonly problems: readonly PlanProblem[] } {
  const parsed = schema.safeParse(value, { error: sentence, reportInput: true });
  if (parsed.success) return { value: parsed.data, problems: [] };
  return { value: null, problems: parsed.error.issues.flatMap((issue) => explain(issue, [])) };

  function explain(issue: Issue, above: readonly PropertyKey[]): PlanProblem[] {
    const path = [...above, ...issue.path];
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => ({
        ...from.matter.atKey([...from.path, ...path], key),
        message: `${label(path)}unknown key "${key.slice(0, 60)}": remove it or correct its spelling`,
      }));
    // Of a choice between a word and a list, say what is wrong with the list when a list was written.
    const branch = issue.code === "invalid_union" && Array.isArray(issue.input) ? issue.errors.at(-1) : undefined;
    if (branch !== undefined) return branch.flatMap((inner) => explain(inner, path));
    return [{ ...from.matter.at([...from.path, ...path]), message: `${label(path)}${issue.message}` }];
  }
  function label(path: readonly PropertyKey[]): string {
    const inside = path.map((step) => (typeof step === "number" ? `[${step + 1}]` : `.${String(step)}`)).join("");
    const whole = from.name === "" ? inside.replace(/^\./, "") : from.name + inside;
    return whole === "" ? "" : `${whole}: `;
  }
}

const kinds: Record<string, string> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  array: "a list",
  object: "a map of keys",
  boolean: "true or false",
};

/** For what the schemas give no sentence of their own. */
function sentence(issue: RawIssue): string | undefined {
  if (issue.code === "invalid_type") {
    const kind = kinds[issue.expected] ?? issue.expected;
    return issue.input === undefined ? `is missing: write ${kind}` : `must be ${kind}`;
  }
  if (issue.code === "invalid_value")
    return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
  if (issue.code === "invalid_union")
    return issue.input === undefined
      ? "is missing: list the checks, or write `verify: none`"
      : "must be a list of checks, or `none`";
  return undefined;
}
