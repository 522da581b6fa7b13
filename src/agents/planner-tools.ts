/**
 * The planner's tools: it asks the crew, looks things up, has a plan checked, and ends with a plan, an answer, guidance
 * or the reason why there is none. None of them touches a repository. [PLR-*] [RSC-*]
 */
import { z } from "zod";
import { type Plan, type PlanProblem, parsePlan } from "../domain/plan.ts";
import { runnerProblems } from "../domain/plan-runners.ts";
import { limits } from "../limits.ts";
import { memorySearch } from "./lookups.ts";
import type { MindTool } from "./mind.ts";
import { ownTool } from "./own-tools.ts";

const text = (most: number) => z.string().trim().min(1).max(most);
export const asking = z.strictObject({
  task: text(limits.research_task_chars),
  return_format: text(500),
  max_tokens: z.number().int().min(20).max(limits.research_tokens).default(500),
});
export const planGiven = z.strictObject({ plan_markdown: z.string().min(1).max(limits.plan_bytes) });
export const answering = z.strictObject({ text: text(16_000) });
export const givingUp = z.strictObject({ reason: text(4_000) });
export const guiding = z.strictObject({ guidance: text(8_000) });

export const requestResearch = ownTool(
  "request_research",
  "Asks the crew one question about the repository or the web. It does not wait: the answer comes later. `return_format` says how the answer should look, `max_tokens` how long it may be.",
  asking,
);
export const awaitResearch = ownTool(
  "await_research",
  "Waits for the questions under way. Use it when there is nothing else to do before an answer comes.",
  z.strictObject({}),
);
const validatePlan = ownTool(
  "validate_plan",
  "Checks a plan document and returns its problems, each with its line. It hands nothing in.",
  planGiven,
);
const submitPlan = ownTool(
  "submit_plan",
  "Hands in the plan document and ends the work. A plan with problems comes back with them.",
  planGiven,
);
const answer = ownTool(
  "answer",
  "Answers the person directly, when the wish needs no change of the repository. Ends the work.",
  answering,
  { ends: true },
);
const giveUp = ownTool("give_up", "Ends the work without a plan. Say why there can be none.", givingUp, { ends: true });
const guide = ownTool("guide", "Gives the crew the advice for its next attempt. Ends the work.", guiding, {
  ends: true,
});

export type PlannerPhase = "plan" | "revise" | "replan" | "consult";

/** `last`: its time or its questions are used up, so that it can only end. */
export function plannerTools(phase: PlannerPhase, last: boolean): readonly MindTool[] {
  if (phase === "consult") return [memorySearch, guide];
  const asks = last ? [] : [requestResearch, awaitResearch];
  return [...asks, memorySearch, validatePlan, submitPlan, ...(phase === "plan" ? [answer] : []), giveUp];
}

export type Judged =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly words: string; readonly problems: readonly PlanProblem[] };

const problemsShown = 20;
/** Whether the runtime would take this plan; else every problem where it stands. */
export function judgePlan(markdown: string, has_executor_mind: boolean): Judged {
  const parsed = parsePlan(markdown);
  const problems = parsed.ok ? runnerProblems(markdown, parsed.plan, has_executor_mind) : parsed.problems;
  if (parsed.ok && problems.length === 0) return { ok: true, plan: parsed.plan };
  const shown = problems.slice(0, problemsShown).map((one) => `line ${one.line}, column ${one.column}: ${one.message}`);
  const more = problems.length > shown.length ? [`and ${problems.length - shown.length} more`] : [];
  return { ok: false, problems, words: `The plan has ${problems.length} problems:\n${[...shown, ...more].join("\n")}` };
}
