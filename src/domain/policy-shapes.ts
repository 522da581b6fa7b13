/** What the API says of a scope's policy: each version as it was stored, who made it and why, and what it answers. */
import { z } from "zod";
import { taint } from "./message.ts";
import { argumentDepth, nestedAtMost } from "./nesting.ts";
import { trustRoles } from "./policy-call.ts";

/** One version without its document. `changed_by` is null where the service itself made it. */
export const policyVersion = z.strictObject({
  version: z.number().int(),
  /** SHA-256 of the RFC 8785 form of the document, in lower-case hex. It is the ETag too. */
  policy_hash: z.string(),
  changed_at: z.string(),
  changed_by: z.string().nullable(),
  reason: z.string().nullable(),
});
export type PolicyVersion = z.infer<typeof policyVersion>;
/** `policy` is the document whose hash `policy_hash` is. What it leaves out has the default. */
export const policyView = policyVersion.extend({ policy: z.record(z.string(), z.unknown()) });
export type PolicyView = z.infer<typeof policyView>;

/** One place of the document: null where nothing stood, or stands. */
export const policyMove = z.strictObject({
  path: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
});
export type PolicyMove = z.infer<typeof policyMove>;
/** `changed` is false when the same content was in force already: then no version was made. */
export const policyChanged = policyView.extend({
  changed: z.boolean(),
  changes: z.array(policyMove),
  more_changes: z.number().int(),
});
export type PolicyChanged = z.infer<typeof policyChanged>;

export const reasonText = z.string().trim().max(2_000);

export const answerView = z.strictObject({
  decision: z.enum(["run", "ask", "deny"]),
  /** `argument:<id>`, `tool:<name>`, `role:<role>`, `gate:<id>`, `token`, `default`, or `arguments` where they cannot be judged. */
  rule: z.string(),
  reason: z.string(),
});
/** What gates only remarked stands in `notes`. */
export const evaluationView = answerView.extend({
  notes: z.array(z.strictObject({ gate: z.string(), reason: z.string() })),
  policy_hash: z.string(),
});
export const replayView = z.strictObject({
  task_id: z.string(),
  /** The policy in force, and the candidate. */
  policy_hash: z.string(),
  candidate_hash: z.string(),
  /** Calls answered under both, and older ones that were left out. */
  checked: z.number().int(),
  left_out: z.number().int(),
  changed: z.array(
    z.strictObject({
      call_id: z.string(),
      attempt_id: z.string(),
      tool: z.string(),
      /** Cut to 2 KB. */
      arguments: z.string(),
      before: answerView,
      after: answerView,
    }),
  ),
});
export type ReplayView = z.infer<typeof replayView>;

const words = z.array(z.string().max(4_000)).max(200).default([]);
/** One call, or all the calls of a task. `policy` is a candidate: without it one call is answered by the policy in force. */
export const evaluateInput = z
  .strictObject({
    call: z
      .strictObject({
        tool: z.string().min(1).max(200),
        args: z
          .unknown()
          .default({})
          .refine((args) => nestedAtMost(argumentDepth, args), { error: "is nested too deep to judge" }),
      })
      .optional(),
    task_id: z.string().min(1).max(128).optional(),
    policy: z.unknown().optional(),
    role: z.enum(trustRoles).optional(),
    taint: taint.optional(),
    holds_secret: z.boolean().optional(),
    /** As an approved item carries it; `steps` are the blocks of a `steps` item, granted word for word. */
    grant: z
      .strictObject({ tools: words, paths: words, commands: words, hosts: words, secrets: words, steps: words })
      .optional(),
  })
  .superRefine((asked, context) => {
    const say = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    if ((asked.call === undefined) === (asked.task_id === undefined))
      say("call", "give either call, for one call, or task_id, for the calls of a task");
    if (asked.task_id === undefined) return;
    if (asked.policy === undefined) say("policy", "is needed with task_id: it is what the calls are tried on");
    for (const key of ["role", "taint", "holds_secret", "grant"] as const)
      if (asked[key] !== undefined) say(key, "goes with call: a recorded call brings its own");
  });
export type EvaluateInput = z.infer<typeof evaluateInput>;
