/**
 * What a model says, taken in part by part, so that what had come is known also when the rest never does. Tool calls
 * keep the text the model wrote as their arguments: reading it is the loop's. [MODEL-*]
 */
import type { LanguageModelUsage, TextStreamPart, ToolSet } from "ai";
import type { ModelAnswer, ModelCall } from "../agents/models.ts";
import { limits } from "../limits.ts";

/** Why what was heard is no answer. */
export class NoAnswer extends Error {
  readonly code: "cut" | "malformed" | "timeout";
  constructor(code: "cut" | "malformed" | "timeout", message: string) {
    super(message);
    this.code = code;
  }
}

export class Hearing {
  #text = "";
  /** Thoughts are not kept, but paid. */
  #thought = "";
  readonly #calls: ModelCall[] = [];
  readonly #written = new Map<string, string>();
  /** Characters of all that came, and calls that were begun: added to, since summing up at each piece grows as its square. */
  #chars = 0;
  #begun = 0;
  #finish: ModelAnswer["finish"] | null = null;
  #usage: LanguageModelUsage | null = null;
  #wordsOnly = false;

  take(part: TextStreamPart<ToolSet>): void {
    switch (part.type) {
      case "text-delta":
        this.#text += part.text;
        return this.#came(part.text);
      case "reasoning-delta":
        this.#thought += part.text;
        return this.#came(part.text);
      case "tool-input-start":
        if (part.providerExecuted === true) throw new NoAnswer("malformed", "it ran a tool of its own");
        this.#begun += 1;
        this.#came(part.toolName);
        this.#written.set(part.id, "");
        return;
      case "tool-input-delta":
        this.#came(part.delta);
        this.#written.set(part.id, (this.#written.get(part.id) ?? "") + part.delta);
        return;
      case "tool-call":
        if (part.providerExecuted === true) throw new NoAnswer("malformed", "it ran a tool of its own");
        return this.#called(part.toolCallId, part.toolName, part.input);
      case "error":
        // That it may answer in words although it was told to call is the loop's to mend.
        if (!(part.error instanceof Error) || part.error.name !== "AI_ToolChoiceViolationError") throw part.error;
        this.#wordsOnly = true;
        return;
      case "abort":
        throw new NoAnswer("timeout", "");
      case "finish-step":
        this.#usage = part.usage;
        this.#finish = this.#finishOf(part.finishReason, part.rawFinishReason);
        return;
      default:
        return;
    }
  }

  /** All that came, for counting. */
  get heard(): string {
    const calls = [...this.#written.values(), ...this.#calls.map((call) => call.tool)];
    return [this.#text, this.#thought, ...calls].join("");
  }

  get any(): boolean {
    return this.#text !== "" || this.#thought !== "" || this.#written.size > 0 || this.#calls.length > 0;
  }

  get usage(): LanguageModelUsage | null {
    return this.#usage;
  }

  /** Throws when it ended without an end. */
  answer(): Pick<ModelAnswer, "text" | "calls" | "finish"> {
    if (this.#finish === null) throw new NoAnswer("cut", "");
    return { text: this.#text, calls: this.#calls, finish: this.#finish };
  }

  #finishOf(reason: string, raw: string | undefined): ModelAnswer["finish"] {
    if (reason === "length") return "length";
    if (reason === "content-filter") return "refused";
    if (reason === "interrupted" || raw === "stream-truncated") throw new NoAnswer("cut", "");
    if (reason === "error" && !this.#wordsOnly) throw new NoAnswer("malformed", "it ended with an error");
    if (reason === "other" && raw === undefined && !this.any) throw new NoAnswer("cut", "");
    return this.#calls.length > 0 ? "calls" : "stop";
  }

  #called(call_id: string, tool: string, input: unknown): void {
    const written = this.#written.get(call_id);
    const call = { call_id, tool, arguments: argumentsOf(written, input) };
    this.#calls.push(call);
    this.#came(written === undefined ? tool + call.arguments : "");
  }

  #came(text: string): void {
    if (Math.max(this.#begun, this.#calls.length) > limits.model_answer_calls)
      throw new NoAnswer("malformed", "it calls too many tools");
    // Text of three bytes a character would pass by up to three times the limit: it bounds memory, not a row.
    this.#chars += text.length;
    if (this.#chars > limits.model_answer_bytes) throw new NoAnswer("malformed", "its answer is too long");
  }
}

function argumentsOf(written: string | undefined, input: unknown): string {
  if (written !== undefined && written.trim() !== "") return written;
  // What could not be read comes through as the text it was.
  return typeof input === "string" ? input : JSON.stringify(input ?? {});
}
