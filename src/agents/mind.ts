/**
 * What a role brings to its loop, and what a loop keeps between two steps. The loop is the same for every role: it calls
 * the model, reads what it wants, has it run, and tells it the result; what ends it is a tool of the role's. [LOOP-*]
 */
import { z } from "zod";
import type { ErrorCode } from "../domain/message.ts";
import { recoveries, type StuckReason, stuckReasons } from "../domain/stuck.ts";
import type { Entry } from "./bus.ts";
import type { Payer } from "./mind-bus.ts";
import { type ModelRole, modelCall, type ToolOffer, type Turn } from "./models.ts";
import type { Effect } from "./step.ts";

/** The arguments of a call, read. `why` is for the model: what is wrong and how it should look. */
export type ReadArguments =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: string };

/** A tool of the role's. `ends`: calling it with good arguments is the loop's answer, and nothing is run. */
export interface MindTool {
  readonly offer: ToolOffer;
  readonly ends: boolean;
  read(args: unknown): ReadArguments;
}

/** What came of having a call run. `progress` is stored, and given back when the same call is looked at again. */
export type ToolMove =
  | { readonly kind: "result"; readonly text: string; readonly is_error: boolean; readonly output?: Uint8Array }
  | {
      readonly kind: "working";
      readonly progress: unknown;
      readonly wait_ms: number;
      readonly output?: Uint8Array;
      readonly effects?: readonly Effect[];
    }
  /** A person is asked about it: the run is put away until they answer. */
  | { readonly kind: "asks" }
  /** The run as a whole may not go on. */
  | { readonly kind: "stopped"; readonly entry: Exclude<Entry, { answer: "go" }> }
  | { readonly kind: "lost"; readonly detail: string };

/** What the loop needs of its role for one step. Made anew each step, from what is stored and nothing else. */
export interface Mind {
  readonly role: ModelRole;
  /** The prompt's name and version, for the record. */
  readonly prompt: string;
  readonly instructions: string;
  /** The same in fewer words, for a model that went astray. */
  readonly simpler: string;
  readonly tools: readonly MindTool[];
  readonly payer: Payer;
  readonly max_output_tokens: number;
  readonly temperature: number | null;
  readonly max_steps: number;
  /** Has one call run, or goes on with it. Called again with the same `call_id` it does nothing twice. */
  run(
    call: { readonly call_id: string; readonly tool: string; readonly value: unknown },
    progress: unknown,
  ): Promise<ToolMove>;
}

export const recovered = z.strictObject({
  reason: z.enum(stuckReasons),
  action: z.enum(recoveries),
  detail: z.string(),
});
export type Recovered = z.infer<typeof recovered>;

export const loopState = z.strictObject({
  /** `think`: the model is called next. `act`: its calls are run, in order. */
  at: z.enum(["think", "act"]),
  /** Model calls that answered: one a step. */
  steps: z.number().int(),
  /** Names the next call of the model. It grows with every commit that leads to one. */
  asked: z.number().int(),
  /** Failures in a row of the model call at hand; of those, the latest in a row that no repeat can mend. */
  failures: z.number().int(),
  refusals: z.number().int(),
  /** Calls in a row that may have been made in a life of the object that ended before it could say so. */
  lost: z.number().int(),
  /** The calls of the last answer that are not yet answered, the first being under way if `progress` is not null. */
  pending: z.array(modelCall),
  progress: z.unknown(),
  /** Answers with malformed calls, or in words alone, that were sent back, in a row. */
  repairs: z.number().int(),
  /** Calls that failed so far, and errors told in words. */
  tool_errors: z.number().int(),
  /** Digests of the latest calls and results, oldest first. */
  recent: z.array(z.string()),
  /** When a call last was begun, ended or said something, in ms since the epoch: asked only while one is under way. */
  moved_at: z.number(),
  recovered: z.array(recovered),
});
export type LoopState = z.infer<typeof loopState>;

/** One step of a loop. `turns` are added to the conversation in the step's commit. */
export type LoopMove = {
  readonly state: LoopState;
  readonly turns: readonly Turn[];
  readonly output?: Uint8Array;
  readonly effects?: readonly Effect[];
  /** What this step did about being stuck. It stands in `state.recovered` too. */
  readonly recovery?: Recovered;
  // `on` that waits for the budget: it is used up, and a person is asked for more.
} & (
  | { readonly kind: "on"; readonly wait_ms: number; readonly waits_for?: "budget" }
  /** The role's answer: the tool that ends, with its arguments as `read` gave them. `sendBack` refuses it. */
  | { readonly kind: "answered"; readonly call_id: string; readonly tool: string; readonly value: unknown }
  /** The first of `pending` waits for a person. */
  | { readonly kind: "asks" }
  | { readonly kind: "stopped"; readonly entry: Exclude<Entry, { answer: "go" }> }
  /** It does not get on by itself: what is left of the recoveries is the runtime's. */
  | {
      readonly kind: "stuck";
      readonly reason: StuckReason;
      readonly next: "decompose" | "ask_person";
      readonly detail: string;
    }
  | { readonly kind: "failed"; readonly error_code: ErrorCode; readonly retryable: boolean; readonly detail: string }
  | { readonly kind: "lost"; readonly detail: string }
);
