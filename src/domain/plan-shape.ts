/**
 * What stands in a plan: the keys a person may write with their defaults, and the plan as the product
 * keeps it. Keys that are not here are refused; absent keys grant nothing. [PLAN-*]
 */
import { z } from "zod";
import { limits } from "../limits.ts";
import { globProblem } from "./glob.ts";
import { hiddenCharacter } from "./plan-document.ts";
import { presets } from "./presets.ts";

const maxListed = 200;
const hostPresets = ["npm", "pip", "cargo", "go", "apt"] as const;

function text(max: number): z.ZodString {
  return z
    .string()
    .trim()
    .min(1, { error: "must not be empty" })
    .max(max, { error: `has at most ${max} characters` })
    .refine((value) => !hiddenCharacter.test(value), { error: "has a character nobody can see: remove it" });
}
/** One line, kept as it is written. */
function line(max: number): z.ZodString {
  return text(max).refine((value) => !value.includes("\n"), { error: "must be one line" });
}
function list<T extends z.ZodType>(of: T, max = maxListed): z.ZodArray<T> {
  return z.array(of).max(max, { error: `has at most ${max} entries` });
}
function named(pattern: RegExp, say: string): z.ZodString {
  return z.string().regex(pattern, { error: say });
}

export const itemIdPattern = /^[a-z][a-z0-9-]{0,31}$/;
const itemId = named(itemIdPattern, "must be a-z, 0-9 and -, begin with a letter and have at most 32 characters");
const toolName = named(/^[a-z][a-z0-9_]{0,63}$/, "must be a tool's name: a-z, 0-9 and _");
const secretName = named(/^[A-Z][A-Z0-9_]{0,63}$/, "must be a secret's name: A-Z, 0-9 and _");
const slug = named(/^[a-z0-9][a-z0-9._/-]{0,63}$/, "must be a-z, 0-9, dot, / and -");
const glob = z.string().superRefine((value, context) => {
  const problem =
    globProblem(value) ??
    (hiddenCharacter.test(value) || /[\t\n]/.test(value) ? "a glob has a character nobody can see: remove it" : null);
  if (problem !== null) context.addIssue({ code: "custom", message: problem });
});
/** Names only: an address, a single label or a wildcard would open more than a reader expects. */
const hostName = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const host = z.string().refine((value) => (hostPresets as readonly string[]).includes(value) || hostName.test(value), {
  error: `must be a host name in lower case, or one of ${hostPresets.join(", ")}`,
});
const command = line(500).superRefine((value, context) => {
  const words = value.split(/\s+/);
  if (/[;&|<>()$`"'\\]/.test(value))
    context.addIssue({
      code: "custom",
      message:
        "a command grant is the words of one command, without quotes, redirects or other shell signs; for a word with a blank in it write *",
    });
  if (words.some((word, index) => word.includes("**") && (word !== "**" || index < words.length - 1)))
    context.addIssue({ code: "custom", message: "** stands alone and last in a command grant" });
});
const word = z
  .string()
  .max(4000, { error: "has at most 4000 characters" })
  .refine((value) => !hiddenCharacter.test(value), { error: "has a character nobody can see: remove it" });
const argv = z
  .array(word)
  .min(1, { error: "must name a program" })
  .max(100, { error: "has at most 100 words" })
  .refine((words) => words[0] !== "", { error: "must begin with the name of a program" });

const amount = z
  .number()
  .nonnegative({ error: "must not be negative" })
  .max(1_000_000, { error: "is at most 1000000" });
const tokens = z
  .int()
  .nonnegative({ error: "must not be negative" })
  .max(1_000_000_000, { error: "is at most 1000000000" });
const minutes = z
  .number()
  .positive({ error: "must be more than 0" })
  .max(10_080, { error: "is at most 10080 (a week)" });
const planBudget = z.strictObject({
  tokens: tokens.default(0),
  usd: amount.default(0),
  minutes: minutes.nullable().default(null),
});
const itemBudget = z.strictObject({
  tokens: tokens.nullable().default(null),
  usd: amount.nullable().default(null),
  minutes: minutes.nullable().default(null),
});

export const environment = z.strictObject({
  setup: list(argv, 20).default([]),
  hosts: list(host, 50).default([]),
  cache: list(z.enum(hostPresets), 5).default([]),
});
export type Environment = z.infer<typeof environment>;

export const grant = z.strictObject({
  tools: list(toolName).default([]),
  paths: list(glob).default([]),
  commands: list(command).default([]),
  hosts: list(host, 50).default([]),
  secrets: list(secretName, 50).default([]),
});
/** What approving an item lets it do, and nothing more. */
export type Grant = z.infer<typeof grant>;

const check = z.strictObject({
  run: argv,
  timeout_s: z
    .int()
    .min(1, { error: "is at least 1" })
    .max(3600, { error: "is at most 3600" })
    .default(limits.check_timeout_ms / 1000),
});
const verify = z.union([
  z.literal("none"),
  list(check, 50).min(1, { error: "is empty: name a check, or write `verify: none`" }),
]);

/** An item as it is written. */
export const writtenItem = z.strictObject({
  id: itemId,
  title: line(200).optional(),
  runner: named(/^(?:loop|steps|cli:[a-z][a-z0-9-]{0,31})$/, "must be loop, steps or cli:<name>").default("loop"),
  depends_on: list(itemId, limits.plan_items).default([]),
  touches: z.strictObject({ paths: list(glob).optional(), services: list(slug, 50).default([]) }).optional(),
  allow: grant.prefault({}),
  protect: list(glob).default([]),
  verify,
  max_attempts: z
    .int()
    .min(1, { error: "is at least 1" })
    .max(10, { error: "is at most 10" })
    .default(limits.max_attempts),
  on_stuck: z.enum(["consult_planner", "replan", "escalate"]).default("consult_planner"),
  budget: itemBudget.prefault({}),
  skills: list(slug, 50).default([]),
  /** Absent is DEFAULT, and stays absent: what is stored and hashed of a plan that names none is what it was. */
  preset: z.enum(presets, { error: `must be one of ${presets.join(", ")}` }).exactOptional(),
  input_artifacts_from: list(itemId, limits.plan_items).default([]),
});
export type WrittenItem = z.infer<typeof writtenItem>;

/** The front matter without its items, which are read one by one so that one bad item hides no other's problems. */
export const writtenHead = z.strictObject({
  title: line(200),
  goal: text(10_000),
  budget: planBudget.prefault({}),
  environment: environment.prefault({}),
  items: z
    .array(z.unknown())
    .min(1, { error: "is empty: a plan has at least one item" })
    .max(limits.plan_items, { error: `has at most ${limits.plan_items} entries: split the plan` }),
});

/** An item as it is kept, hashed and carried out. */
export const planItem = writtenItem.extend({
  title: z.string(),
  touches: z.strictObject({ paths: z.array(z.string()), services: z.array(z.string()) }),
  allow: grant,
  /** What is written, and what defines the checks; `!file` for one that the item may change all the same. */
  protect: z.array(z.string()),
  budget: itemBudget,
  /** The item's section, as markdown. */
  section: z.string(),
  /** The fenced `sh` blocks of a `steps` item, verbatim and in order. */
  steps: z.array(z.string()),
});
export type PlanItem = z.infer<typeof planItem>;

export const plan = z.strictObject({
  title: z.string(),
  goal: z.string(),
  budget: planBudget,
  environment,
  items: z.array(planItem),
});
export type Plan = z.infer<typeof plan>;
