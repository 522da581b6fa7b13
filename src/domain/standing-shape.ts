/**
 * A standing approval as it is written, stored and shown: what a person says yes to in advance, inside which bounds,
 * until when and how many times. What is not listed is not allowed. [STA-1]
 */
import { z } from "zod";
import { limits } from "../limits.ts";
import { taint } from "./message.ts";
import { environment, grant, writtenItem } from "./plan-shape.ts";
import { programName } from "./shell-peeled.ts";
import { inShell } from "./shell-shells.ts";
import { wrappers } from "./shell-wrapper-table.ts";
import { unwrap } from "./shell-wrappers.ts";
import { visible, visibleLine } from "./visible.ts";

/** The lists of a plan's own grant, so that what no plan may say no bound can say either. */
const { tools, paths, commands, hosts, secrets } = grant.shape;
const maxNamed = 50;

const exactWords = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .refine((text) => !/[*\s]\*|\*/.test(text), { error: "names one check word for word, without *" });

const amounts = z.strictObject({
  tokens: z.int().nonnegative().max(1_000_000_000).nullable().default(null),
  usd: z.number().nonnegative().max(1_000_000).nullable().default(null),
  minutes: z.number().positive().max(1_000_000).nullable().default(null),
});

export const standingBounds = z.strictObject({
  /** Who may use it: the people, by the name tasks show, whose tasks it speaks for. */
  who: z.array(z.string().min(1).max(200)).min(1, { error: "names at least one person" }).max(maxNamed),
  /** A task must carry all of them, set by somebody who may approve. */
  labels: z.array(z.string().min(1).max(60)).max(20).default([]),
  repos: z.array(z.string().min(1).max(2048)).min(1, { error: "names at least one repository" }).max(maxNamed),
  runners: z.array(writtenItem.shape.runner.unwrap()).min(1).max(20).default(["steps"]),
  tools,
  paths,
  commands,
  hosts,
  secrets,
  /** What set-up may run and reach; set-up runs with the network open. */
  environment: z
    .strictObject({ setup: commands, hosts: environment.shape.hosts, cache: environment.shape.cache })
    .prefault({}),
  /** Every item must keep these from change. */
  protect: paths,
  /** Every item must run these checks, word for word. An item without a check never fits. */
  verify: z.array(exactWords).min(1, { error: "names at least one check that every item runs" }).max(maxNamed),
  /** The most that a task may have read. */
  taint: taint.default("member"),
  /** What one plan may state, and what all plans of any 24 hours may state together. */
  budget: z
    .strictObject({
      plan: amounts.prefault({}),
      day: amounts.extend({ plans: z.int().min(1).max(10_000).nullable().default(null) }).prefault({}),
    })
    .prefault({}),
});
export type StandingBounds = z.infer<typeof standingBounds>;
export type Amounts = z.infer<typeof amounts>;

/** What nobody can have meant, asked of new ones only: stored ones stay readable. */
const namedBounds = standingBounds.superRefine(({ who, labels, commands, environment }, context) => {
  const wrong = (path: (string | number)[], message: string) => context.addIssue({ code: "custom", path, message });
  for (const [at, name] of who.entries())
    if (name.includes("*") || /^standing:/i.test(name) || visibleLine(name) !== name)
      wrong(["who", at], "names one person as tasks show them, such as grace#abc123");
  for (const [at, label] of labels.entries())
    if (visibleLine(label) !== label) wrong(["labels", at], "holds a character that nobody sees");
  for (const [path, list] of [
    [["commands"], commands],
    [["environment", "setup"], environment.setup],
  ] as const)
    for (const [at, command] of list.entries())
      if (/^\s*\S*\*/.test(command)) wrong([...path, at], "begins with a program's own name, without *");
      else if (runsAnything(command)) wrong([...path, at], "names what it runs behind its first program, without *");
});
/** `sudo **`, `sh *`, `env **`: a wildcard stands for the program, or for the script. */
function runsAnything(command: string): boolean {
  const words = command.trim().split(/\s+/);
  const name = programName(words[0] ?? "");
  if (!Object.hasOwn(wrappers, name) && inShell(name, words) === null) return false;
  const { layers, scripts } = unwrap(words);
  const files = layers.flatMap((layer) => inShell(programName(layer[0] ?? ""), layer)?.code ?? []);
  const named = [...layers.map(([program = ""]) => program), ...files, ...scripts.map(({ text }) => text)];
  return named.some((word) => word.includes("*"));
}
const seen = (text: string) => visible(text) === text;
const unseen = { error: "holds a character that nobody sees" };

/** Body of POST /api/standing-approvals. */
export const standingInput = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(120)
    .refine((name) => visibleLine(name) === name, unseen),
  reason: z.string().trim().min(1).max(2_000).refine(seen, unseen),
  bounds: namedBounds,
  /** The end, in ISO 8601 with a zone. */
  until: z.iso.datetime({ offset: true }),
  uses: z.int().min(1).max(limits.standing_uses),
});
export type StandingInput = z.infer<typeof standingInput>;
export const standingRevocation = z.strictObject({ reason: z.string().trim().min(1).max(2_000) });

export const standingStatuses = ["active", "used_up", "expired", "revoked"] as const;
export const standingView = z.strictObject({
  id: z.string(),
  status: z.enum(standingStatuses),
  name: z.string(),
  reason: z.string(),
  bounds: standingBounds,
  until: z.string(),
  uses: z.number().int(),
  uses_left: z.number().int(),
  made_by: z.string(),
  made_at: z.string(),
  /** Who or what ended it, once it is no longer active. */
  ended: z.strictObject({ by: z.string(), at: z.string(), reason: z.string() }).nullable(),
  /** The newest uses, newest first. */
  used: z.array(z.strictObject({ approval_id: z.string(), task_id: z.string(), at: z.string() })),
});
export type StandingView = z.infer<typeof standingView>;

/** Why a standing approval did not speak for a plan, kept beside the plan's card. */
export const standingNote = z.strictObject({ id: z.string(), name: z.string(), why: z.string() });
export type StandingNote = z.infer<typeof standingNote>;
