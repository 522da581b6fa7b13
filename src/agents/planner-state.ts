/** What a planner keeps between two steps, and the ways its work ends. Data only. [PLR-*] */
import { z } from "zod";
import type { Given } from "../domain/asked-budget.ts";
import { type ErrorCode, taint } from "../domain/message.ts";
import { researchState } from "../domain/research.ts";
import { loopState } from "./mind.ts";
import type { PlannerPhase } from "./planner-tools.ts";
import type { Outgoing } from "./step.ts";

export const planMind = z.strictObject({
  loop: loopState,
  research: researchState,
  base_commit: z.string(),
  /** Plans handed in that had problems. */
  bad_plans: z.number().int(),
  /** Whether it was told that a plan of its own asks for more than the task was given. */
  over_told: z.boolean().default(false),
  /** Notes that were looked at, by key. */
  heard: z.array(z.string()),
  /** What came while calls were open: told before the model is asked again. */
  untold: z.array(z.string()),
  /** Set once its time or its questions are used up: the step by which it must have ended. */
  ends_by: z.number().int().nullable(),
});
export type PlanMind = z.infer<typeof planMind>;

/** What the run that took a `research_result` leaves for the run that asked. */
export const researchNote = z.strictObject({
  research_id: z.string(),
  text: z.string(),
  taint,
  failed: z.boolean(),
  at: z.number(),
});
export type ResearchNote = z.infer<typeof researchNote>;

/** What the phase ends with; how it becomes a message is the phase's. */
export type PlannerEnd =
  | { readonly kind: "plan"; readonly markdown: string; readonly title: string; readonly base_commit: string }
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "guidance"; readonly text: string }
  | { readonly kind: "failed"; readonly error_code: ErrorCode; readonly detail: string }
  /** The runtime has gone on without it. */
  | { readonly kind: "dropped" };

export interface PlannerOrder {
  readonly phase: PlannerPhase;
  readonly repo: string;
  readonly task_id: string;
  /** Of a plan to replace: the same document again is no other plan. */
  readonly not_again: string | null;
  readonly mode: "other_approach" | "decompose";
  /** What the task was given to spend. */
  readonly given: Given;
  /** How it ends, as messages. */
  end(ended: PlannerEnd): readonly Outgoing[];
}

/** What one step changes besides its loop. */
export interface Hand {
  state: PlanMind;
  readonly send: (Outgoing & { readonly key: string })[];
  ended: PlannerEnd | null;
}
