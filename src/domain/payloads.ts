/**
 * What each kind of message carries besides its words, for every kind that somebody sends. `check` holds a message
 * to it when it is built and again when it arrives. [MSG-12]
 */
import { z } from "zod";
import type { MessageKind } from "./message.ts";
import { executionOrder, executionResult, verificationOrder, verificationResult } from "./result.ts";

/** What a person said of a task, passed on by the proxy: the repository it is about, and what it follows. */
const said = z.strictObject({
  repo: z.string(),
  ref: z.string(),
  follow_up: z.boolean().optional(),
  revise: z.boolean().optional(),
  previous_plan: z.string().optional(),
});
/** Payload of a `plan_result` with a plan: the commit the plan is for. */
export const planResult = z.strictObject({ base_commit: z.string() });
/** What the runtime is told to show, and whether the task ends with it. `version` lets it drop words that come late. */
export const words = z.strictObject({
  route: z.enum(["direct", "planner", "plan"]),
  ends_task: z.boolean(),
  version: z.number().int().nullable(),
});
const nothing = z.strictObject({});

export const payloads: Partial<Record<MessageKind, z.ZodType>> = {
  user_message: said.partial(),
  plan_request: said,
  plan_result: z.union([planResult, nothing]),
  execution_request: executionOrder,
  execution_result: executionResult,
  verification_request: verificationOrder,
  verification_result: verificationResult,
  agent_message: z.union([words, nothing]),
};
