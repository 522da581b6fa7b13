/**
 * `Models` by way of the AI SDK, which is used as an adapter only: one call of one model, no retries, no tool that it
 * could run by itself. Whatever goes wrong comes out as a ModelFailure. Runs in workerd and in Node. [MODEL-*]
 */
import type { LanguageModel, ModelMessage, ToolSet } from "ai";
import {
  type CallSignal,
  type ModelAnswer,
  ModelFailure,
  type ModelRequest,
  type ModelRole,
  type Models,
} from "../agents/models.ts";
import { type ModelName, nameOf } from "../domain/model-list.ts";
import { limits } from "../limits.ts";
import { costOf, sentText } from "./model-cost.ts";
import { type FailedCall, failed, failureOf } from "./model-failures.ts";
import { Hearing, NoAnswer } from "./model-hearing.ts";
import { withoutKeys } from "./model-keys.ts";
import { fetchOf, type Line } from "./model-line.ts";
import { messagesOf } from "./model-messages.ts";
import type { Providers } from "./model-providers.ts";
import { mostUsd } from "./prices.ts";

type Sdk = typeof import("ai");

export interface ModelsSpec {
  readonly lists: Readonly<Record<ModelRole, readonly ModelName[]>>;
  readonly providers: Providers;
  readonly timeout_ms?: number;
}

export class SdkModels implements Models {
  readonly #lists: ModelsSpec["lists"];
  readonly #providers: Providers;
  readonly #timeout_ms: number;

  constructor(spec: ModelsSpec) {
    this.#lists = spec.lists;
    this.#providers = spec.providers;
    this.#timeout_ms = spec.timeout_ms ?? limits.model_timeout_ms;
  }

  configured(role: ModelRole): readonly string[] {
    return this.#lists[role].map(nameOf);
  }

  /** By the dearest of the role's models: nobody knows which will answer in the end. */
  mostUsd(role: ModelRole, input_tokens: number, output_tokens: number): number | null {
    const known = this.configured(role).flatMap((model) => mostUsd(model, input_tokens, output_tokens) ?? []);
    return known.length === 0 ? null : Math.max(...known);
  }

  async call(request: ModelRequest): Promise<ModelAnswer> {
    const list = this.#lists[request.role];
    const picked = list[request.attempt % Math.max(1, list.length)];
    if (picked === undefined)
      throw new ModelFailure("not_configured", `No model is configured for the ${request.role}.`, { model: "" });
    const model = nameOf(picked);
    const messages = messagesOf(request.turns);
    const hearing = new Hearing();
    const line: Line = { answered: false, stream: true, broken: false, endless: false };
    const deadline = new Deadline(request.signal);
    // Its warnings would be printed: settings a model does not know, which are left out.
    globalThis.AI_SDK_LOG_WARNINGS = false;
    try {
      const opened = await this.#providers.open(picked, fetchOf(line));
      const sdk = await import("ai");
      // The time is the provider's: what loading took is not held against it.
      deadline.start(this.#timeout_ms);
      const parts = streamOf(sdk, opened, request, messages, deadline.signal);
      await hear(parts, hearing, line);
      const answer = withoutKeys(hearing.answer(), this.#providers.keys());
      return { model, ...answer, ...costOf(model, request, messages, hearing) };
    } catch (error) {
      const call: FailedCall = {
        model,
        answered: line.answered,
        others: request.attempt + 1 < list.length,
        keys: this.#providers.keys(),
        sent: sentText(request),
        spent: costOf(model, request, messages, hearing),
        now_ms: Date.now(),
      };
      if (deadline.passed) throw failed("timeout", `it was given ${this.#timeout_ms} ms`, call);
      // Whoever asked is gone; the provider may charge for it all the same.
      if (request.signal?.aborted === true) throw failed("timeout", "it was called off", call);
      if (line.endless) throw failed("malformed", "its answer is too long", call);
      if (line.broken) throw failed("cut", "", call);
      // Something else than a stream, a page of a proxy for one, never had a middle to end in.
      if (line.answered && !line.stream && !hearing.any) throw failed("malformed", "it is no stream of events", call);
      throw error instanceof NoAnswer ? failed(error.code, error.message, call) : failureOf(error, call);
    } finally {
      deadline.end();
    }
  }
}

/** What may be kept at Anthropic for the next call, which begins with the same texts; others do so unasked. */
const keep = { anthropic: { cacheControl: { type: "ephemeral" as const } } };

function streamOf(
  { streamText, tool, jsonSchema }: Sdk,
  model: LanguageModel,
  request: ModelRequest,
  messages: readonly ModelMessage[],
  signal: AbortSignal,
) {
  const tools: ToolSet = Object.fromEntries(
    request.tools.map(({ name, description, parameters }) => [
      name,
      // Without `execute` nothing is run by the SDK; a schema of ours is JSON by its type already.
      tool({ description, inputSchema: jsonSchema(parameters as Parameters<Sdk["jsonSchema"]>[0]) }),
    ]),
  );
  const last = messages.at(-1);
  return streamText({
    model,
    ...(request.instructions === ""
      ? {}
      : { instructions: { role: "system" as const, content: request.instructions, providerOptions: keep } }),
    messages: last === undefined ? [] : [...messages.slice(0, -1), { ...last, providerOptions: keep }],
    ...(request.tools.length === 0 ? {} : { tools, toolChoice: request.must_call ? "required" : "auto" }),
    maxOutputTokens: request.max_output_tokens,
    ...(request.temperature === null ? {} : { temperature: request.temperature }),
    // What OpenAI is sent is not for it to keep.
    providerOptions: { openai: { store: false } },
    // No `streamRetries`, not even 0: with it, the SDK keeps all calls of an answer back until its end, without a bound.
    maxRetries: 0,
    abortSignal: signal,
    // It would print them; they are thrown below.
    onError: () => undefined,
  }).stream;
}

async function hear(parts: ReturnType<typeof streamOf>, hearing: Hearing, line: Line): Promise<void> {
  const reader = parts.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      hearing.take(value);
      if (hearing.any) line.answered = true;
    }
  } finally {
    // Nobody waits for it: a provider that does not answer may never let go.
    reader.cancel().catch(() => undefined);
  }
}

/**
 * The time one call may take, and as long as somebody wants its answer. The SDK ends its stream at the signal, also when
 * the provider does not heed it.
 */
class Deadline {
  readonly #abort = new AbortController();
  readonly #wanted: CallSignal | undefined;
  readonly #calledOff = () => this.#abort.abort();
  #timer: ReturnType<typeof setTimeout> | undefined;
  passed = false;
  constructor(wanted: CallSignal | undefined) {
    this.#wanted = wanted;
    if (wanted?.aborted === true) this.#abort.abort();
    wanted?.addEventListener("abort", this.#calledOff);
  }
  start(ms: number): void {
    this.#timer = setTimeout(() => {
      this.passed = true;
      this.#abort.abort();
    }, ms);
  }
  get signal(): AbortSignal {
    return this.#abort.signal;
  }
  end(): void {
    clearTimeout(this.#timer);
    this.#wanted?.removeEventListener("abort", this.#calledOff);
    this.#abort.abort();
  }
}
