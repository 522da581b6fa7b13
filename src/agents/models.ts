/**
 * A model as the agents see it: one call, in and out, in shapes of our own. Which provider answers, how it is spoken to
 * and with which key is the adapter's; nothing of that comes past here. [MODEL-*]
 */
import { z } from "zod";
import { limits } from "../limits.ts";

export const modelRoles = ["proxy", "planner", "executor"] as const;
export type ModelRole = (typeof modelRoles)[number];

/** A tool as a model is told of it. `parameters` is a JSON schema of an object. */
export interface ToolOffer {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A call as the model wrote it: its arguments may not even be JSON. */
export const modelCall = z.strictObject({
  call_id: z.string(),
  tool: z.string(),
  arguments: z.string(),
  /** A key of the deployment stood in it. It was taken out, so this is not what was asked for: it is never run. */
  holds_key: z.literal(true).exactOptional(),
});
export type ModelCall = z.infer<typeof modelCall>;

/**
 * One entry of a conversation. It is only ever added to: `cut` says that from here on the result texts of the turns
 * before `before` are left out, which is how a context becomes shorter without anything being forgotten on disk.
 */
export const turn = z.discriminatedUnion("kind", [
  /** What the model is told: the order at first, then notices of the runtime. */
  z.strictObject({ kind: z.literal("told"), text: z.string() }),
  z.strictObject({ kind: z.literal("said"), text: z.string(), calls: z.array(modelCall), model: z.string() }),
  z.strictObject({
    kind: z.literal("result"),
    call_id: z.string(),
    tool: z.string(),
    text: z.string(),
    is_error: z.boolean(),
  }),
  z.strictObject({ kind: z.literal("cut"), before: z.number().int(), why: z.string() }),
]);
export type Turn = z.infer<typeof turn>;

/** `estimated`: the provider never said, so the tokens were counted from the texts. */
export const usage = z.strictObject({
  input_tokens: z.number().int().nonnegative().max(limits.call_tokens),
  output_tokens: z.number().int().nonnegative().max(limits.call_tokens),
  cached_tokens: z.number().int().nonnegative().max(limits.call_tokens),
  estimated: z.boolean(),
});
export type Usage = z.infer<typeof usage>;

/** What a platform's own signal looks like from here: the call ends once it is aborted. */
export interface CallSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

export interface ModelRequest {
  readonly role: ModelRole;
  /** Grows with each failure of the same call: the role's list of models is gone through in order, round and round. */
  readonly attempt: number;
  readonly instructions: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolOffer[];
  /** The model may not answer in words alone. */
  readonly must_call: boolean;
  readonly max_output_tokens: number;
  readonly temperature: number | null;
  /** Nobody wants its answer any more once this is aborted. */
  readonly signal?: CallSignal | undefined;
}

export interface ModelAnswer {
  /** `provider/model`, as it is configured. */
  readonly model: string;
  readonly text: string;
  readonly calls: readonly ModelCall[];
  /** `length`: it was cut off at `max_output_tokens`. */
  readonly finish: "stop" | "calls" | "length" | "refused";
  readonly usage: Usage;
  /** In US dollars; null when nobody maintains a price of this model. */
  readonly usd: number | null;
}

export const modelFailureCodes = [
  "not_configured", // the role has no model
  "unreachable",
  "rate_limited",
  "overloaded", // the provider's own 5xx
  "timeout",
  "cut", // the answer ended in the middle
  "malformed", // the answer is not of the provider's format
  "unauthorized",
  "too_long", // more than the model's context holds
  "rejected", // any other 4xx
] as const;
export type ModelFailureCode = (typeof modelFailureCodes)[number];

/** Says what kind of failure it was, whether the same call may succeed later, and what it has cost all the same. */
export class ModelFailure extends Error {
  readonly code: ModelFailureCode;
  readonly retryable: boolean;
  readonly model: string;
  /** Null when the provider cannot have charged anything. */
  readonly spent: { readonly usage: Usage; readonly usd: number | null } | null;
  /** The provider's own word on when to come back. */
  readonly wait_ms: number | null;
  constructor(
    code: ModelFailureCode,
    message: string,
    more: {
      readonly model: string;
      readonly retryable?: boolean;
      readonly spent?: { readonly usage: Usage; readonly usd: number | null } | null;
      readonly wait_ms?: number | null;
    },
  ) {
    super(message);
    this.name = "ModelFailure";
    this.code = code;
    this.retryable = more.retryable ?? false;
    this.model = more.model;
    this.spent = more.spent ?? null;
    this.wait_ms = more.wait_ms ?? null;
  }
}

export interface Models {
  /** The role's models as `provider/model`, in order of preference. Empty: the role has no mind. */
  configured(role: ModelRole): readonly string[];
  /** What one call may cost at most, in US dollars; null, or nothing to ask, while nobody knows the price of any of them. */
  mostUsd?(role: ModelRole, input_tokens: number, output_tokens: number): number | null;
  /** One call of one model. Throws ModelFailure and nothing else. */
  call(request: ModelRequest): Promise<ModelAnswer>;
}
