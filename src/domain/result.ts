/**
 * What the runtime hands to an executor or the verifier, and what they hand back. Parsed at both ends:
 * the runtime believes nothing of a result that does not fit. [RES-*]
 */
import { z } from "zod";
import { checkView, patchFile, verdicts } from "./evidence.ts";
import { insightKinds } from "./insight.ts";
import { grant } from "./plan-shape.ts";
import { presets } from "./presets.ts";
import { recovery, stuckReasons } from "./stuck.ts";

const environment = z.strictObject({
  setup: z.array(z.array(z.string())),
  hosts: z.array(z.string()),
  cache: z.array(z.string()),
});
export type Environment = z.infer<typeof environment>;

const verifyCheck = z.strictObject({ run: z.array(z.string()).min(1), timeout_s: z.number().positive() });
const limits = z.strictObject({ memory_mb: z.number(), processes: z.number(), file_mb: z.number() });

/** Where the work happens and from which commit. `bundle_key` brings commits the source does not have yet. */
const workspace = z.strictObject({
  repo: z.string(),
  baseline: z.string(),
  bundle_key: z.string().nullable(),
  worktree: z.string(),
  environment,
  limits,
});

/** A call that waited for a person: the workspace it was asked in, and where the steps go on. */
export const suspension = z.strictObject({
  call_id: z.string(),
  step: z.number().int(),
  tool: z.string(),
  arguments: z.string(),
  patch_key: z.string(),
  tree: z.string(),
  /** Of a loop: where its conversation is stored. */
  transcript_key: z.string().exactOptional(),
  /** What a person said when they refused the call: the loop goes on with it as the call's result. */
  denied: z.string().exactOptional(),
  /** Nobody decided in time: the loop goes on with that, which is not a no. */
  unanswered: z.string().exactOptional(),
  /** What the agent said right before the call, for who decides about it. */
  words: z.string().exactOptional(),
});
export type Suspension = z.infer<typeof suspension>;
/** What a suspended loop waits to call when it is not a tool, but its model: the budget is used up. */
export const modelCallTool = "model_call";

/** What an executor that thinks is told besides: nothing of another item, nothing of another attempt's conversation. */
export const mindOrder = z.strictObject({
  goal: z.string(),
  allow: grant,
  protect: z.array(z.string()),
  checks: z.array(z.array(z.string())),
  skills: z.array(z.string()),
  /** What the item says it works on. */
  touches: z.array(z.string()).exactOptional(),
  preset: z.enum(presets),
});
export type MindOrder = z.infer<typeof mindOrder>;

/** Payload of `execution_request`: everything a stateless executor needs for one attempt. */
export const executionOrder = workspace.extend({
  attempt_id: z.string(),
  work_item_id: z.string(),
  title: z.string(),
  /** 0 at first, one more each time a suspended attempt goes on. Names the sandbox together with the attempt. */
  entry: z.number().int(),
  runner: z.string(),
  steps: z.array(z.string()),
  section: z.string(),
  /** What earlier attempts ended with, and what a person or the planner said since. */
  guidance: z.array(z.string()),
  /** What the planner said when it was asked about the item. */
  planner_guidance: z.array(z.string()).exactOptional(),
  minutes: z.number(),
  /** Sandboxes of earlier attempts: gone before a new one is made. */
  clear: z.array(z.string()),
  /** Calls of earlier attempts whose outcome nobody told: asked of their sandboxes before those are gone. */
  look_up: z
    .array(z.strictObject({ sandbox: z.string(), attempt_id: z.string(), call_id: z.string() }))
    .exactOptional(),
  resume: suspension.nullable(),
  /** Present for the runner `loop`. */
  mind: mindOrder.exactOptional(),
});
export type ExecutionOrder = z.infer<typeof executionOrder>;

export const patchRef = z.strictObject({
  key: z.string(),
  bytes: z.number().int(),
  tree: z.string(),
  files: z.array(patchFile),
});

/** Payload of `execution_result`. `lease_id` and `epoch` are those of the request it answers. */
export const executionResult = z.strictObject({
  task_id: z.string(),
  attempt_id: z.string(),
  entry: z.number().int(),
  lease_id: z.string(),
  epoch: z.number().int(),
  end: z.enum(["finished", "suspended", "crashed", "cancelled"]),
  success: z.boolean(),
  output: z.string(),
  events: z.array(
    z.strictObject({ event_type: z.string(), message: z.string(), data: z.record(z.string(), z.string()) }),
  ),
  tool_errors: z.array(z.strictObject({ tool_name: z.string(), error_message: z.string(), raw: z.string() })),
  duration_ms: z.number(),
  exit_code: z.number().int().nullable(),
  patch: patchRef.nullable(),
  suspension: suspension.nullable(),
  /** Of a loop that did not get on: why, and which recovery is left for the runtime. */
  stuck: z
    .strictObject({ reason: z.enum(stuckReasons), next: z.enum(["decompose", "ask_person"]), detail: z.string() })
    .exactOptional(),
  /** What the loop did about being stuck since its attempt began, in order. */
  recoveries: z.array(recovery).exactOptional(),
  /** What the executor found worth remembering. */
  insights: z.array(z.strictObject({ kind: z.enum(insightKinds), text: z.string() })).exactOptional(),
});
export type ExecutionResult = z.infer<typeof executionResult>;

/** Payload of `verification_request`: check a patch on `parent`, or publish what was merged. */
export const verificationOrder = z.discriminatedUnion("stage", [
  workspace.extend({
    stage: z.literal("verify"),
    verification_id: z.string(),
    attempt_id: z.string(),
    work_item_id: z.string(),
    title: z.string(),
    /** Commit to check the patch on: the baseline at first, the branch's tip when it has moved since. */
    parent: z.string(),
    patch_key: z.string(),
    protect: z.array(z.string()),
    checks: z.array(verifyCheck),
    at_s: z.number().int(),
  }),
  z.strictObject({
    stage: z.literal("publish"),
    verification_id: z.string(),
    repo: z.string(),
    branch: z.string(),
    commit: z.string(),
    bundle_key: z.string(),
  }),
]);
export type VerificationOrder = z.infer<typeof verificationOrder>;

/** Payload of `verification_result`. */
export const verificationResult = z.discriminatedUnion("stage", [
  z.strictObject({
    stage: z.literal("verify"),
    verification_id: z.string(),
    attempt_id: z.string(),
    verdict: z.enum(verdicts),
    detail: z.string(),
    checks: z.array(checkView),
    parent: z.string(),
    commit: z.string().nullable(),
    bundle_key: z.string().nullable(),
    conflicts: z.array(z.string()),
  }),
  z.strictObject({
    stage: z.literal("publish"),
    verification_id: z.string(),
    ok: z.boolean(),
    detail: z.string(),
    retryable: z.boolean(),
    /** Whether it was pushed could not be found out. */
    unknown: z.boolean().exactOptional(),
  }),
]);
export type VerificationResult = z.infer<typeof verificationResult>;

/** Name of an attempt's sandbox. Letters the host's own folder names may hold. */
export function sandboxId(scope: string, attempt: string, entry: number): string {
  return `${scope}.${attempt}.${entry}`;
}
