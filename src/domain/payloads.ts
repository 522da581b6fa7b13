/**
 * What each kind of message carries besides its words, for every kind that somebody sends. `check` holds a message
 * to it when it is built and again when it arrives. [MSG-12]
 */
import { z } from "zod";
import { githubAnswer, githubEvent, githubRequest, githubShown, githubSync } from "./github/shapes.ts";
import type { MessageKind } from "./message.ts";
import { executionOrder, executionResult, verificationOrder, verificationResult } from "./result.ts";
import { webhookOrder, webhookResult } from "./webhook-order.ts";

/** By unit: tokens, usd, minutes. */
const given = z.record(z.string(), z.number());

/** What a person said of a task, passed on by the proxy: the repository it is about, and what it follows. */
const said = z.strictObject({
  repo: z.string(),
  ref: z.string(),
  /** What the task was given to spend, where that was stated. */
  budget: given.exactOptional(),
  follow_up: z.boolean().optional(),
  revise: z.boolean().optional(),
  previous_plan: z.string().optional(),
  /** Of changes asked for: that plan's text. */
  previous_markdown: z.string().optional(),
});
/** Payload of a `plan_result` with a plan: the commit the plan is for. */
export const planResult = z.strictObject({ base_commit: z.string() });
/** What the runtime is told to show, and whether the task ends with it. `version` lets it drop words that come late. */
export const words = z.strictObject({
  route: z.enum(["direct", "planner", "plan"]),
  ends_task: z.boolean(),
  version: z.number().int().nullable(),
  /** How the task ends with them; `failed` when it is not said. A question that is answered is done. */
  ended_as: z.enum(["done", "failed"]).exactOptional(),
});
/** Payload of `consult_planner`: the item that is stuck, what became of its attempts, and until when an answer counts. */
export const consultation = z.strictObject({
  consult_id: z.string(),
  work_item_id: z.string(),
  title: z.string(),
  goal: z.string(),
  section: z.string(),
  failures: z.array(z.string()),
  budget_remaining_tokens: z.number().int().nullable(),
  answer_by: z.string(),
});
export const guidance = z.strictObject({ consult_id: z.string() });
/** Payload of `replan_request`; the plan to replace travels as the message's own plan. */
export const replanning = z.strictObject({
  replan_id: z.string(),
  repo: z.string(),
  ref: z.string(),
  base_commit: z.string(),
  goal: z.string(),
  /** Items that are done and stay, by id and title; what failed, as told by its attempts. */
  done: z.array(z.string()),
  failures: z.array(z.string()),
  depth: z.number().int(),
  /** What the task was given to spend, where that was stated. */
  budget: given.exactOptional(),
  /** What it has spent in all; of older messages nobody says. */
  spent: given.exactOptional(),
  /** `decompose`: the same approach in smaller items. */
  mode: z.enum(["other_approach", "decompose"]),
  work_item_id: z.string(),
});
/** Payload of `research_request`; the question is the message's content, its form and length its constraints. */
export const researchRequest = z.strictObject({
  research_id: z.string(),
  /** The run that asks: the message that opened it. */
  plan_run_id: z.string(),
  repo: z.string(),
  commit: z.string(),
  /** An answer after this counts for nothing. */
  answer_by: z.string(),
});
/** Payload of `research_result`; the answer is the message's content. `taint` joins all that was read for it. */
export const researchResult = z.strictObject({
  research_id: z.string(),
  plan_run_id: z.string(),
  lease_id: z.string(),
  epoch: z.number().int(),
  taint: z.enum(["owner", "member", "outsider", "web"]),
  /** It was longer than was asked for. */
  cut: z.boolean(),
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
  consult_planner: consultation,
  planner_guidance: guidance,
  replan_request: replanning,
  research_request: researchRequest,
  research_result: researchResult,
  agent_message: z.union([words, nothing]),
  github_event: githubEvent,
  github_request: githubRequest,
  github_sync: githubSync,
  github_shown: githubShown,
  github_answer: githubAnswer,
  webhook_order: webhookOrder,
  webhook_result: webhookResult,
};
