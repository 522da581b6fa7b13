/**
 * What went wrong with a call of a model, in our own closed list of codes. Of what the provider said only a short,
 * made-safe text is kept: no key, no header, nothing of the prompt. [MODEL-*]
 */
import { z } from "zod";
import { ModelFailure, type ModelFailureCode, type Usage } from "../agents/models.ts";
import { visibleLine } from "../domain/visible.ts";
import { limits } from "../limits.ts";
import { keyless } from "./model-keys.ts";

/** What is known of the call that failed. */
export interface FailedCall {
  readonly model: string;
  /** The provider took the request and began to answer. */
  readonly answered: boolean;
  /** The role's list holds models that this call has not tried yet. */
  readonly others: boolean;
  /** What must not stand in any message: the keys, and the text that was sent. */
  readonly keys: readonly string[];
  readonly sent: string;
  /** What it has cost, as far as can be told from the texts. */
  readonly spent: { readonly usage: Usage; readonly usd: number | null };
  readonly now_ms: number;
}

/** The SDK's errors by their shape: their classes would have to be loaded to be asked. */
const thrown = z.object({
  name: z.string().catch(""),
  message: z.string().catch(""),
  statusCode: z.number().optional().catch(undefined),
  responseHeaders: z.record(z.string(), z.string()).catch({}),
});
type Thrown = z.infer<typeof thrown>;

interface Kind {
  readonly code: ModelFailureCode;
  /** The same model may answer the same call later. */
  readonly later: boolean;
  readonly words: string;
}
const kinds: Readonly<Record<Exclude<ModelFailureCode, "not_configured">, Omit<Kind, "code">>> = {
  unreachable: { later: true, words: "The model's provider cannot be reached" },
  rate_limited: { later: true, words: "The model's provider wants fewer calls" },
  overloaded: { later: true, words: "The model's provider has a failure of its own" },
  timeout: { later: true, words: "The model did not answer in time" },
  cut: { later: true, words: "The model's answer ended in the middle" },
  malformed: { later: true, words: "The model's answer is not of its provider's format" },
  unauthorized: { later: false, words: "The model's provider does not accept the key" },
  too_long: { later: false, words: "The conversation is longer than the model takes" },
  rejected: { later: false, words: "The model's provider refuses the call" },
};

export function failureOf(error: unknown, call: FailedCall): ModelFailure {
  if (error instanceof ModelFailure) return error;
  const seen = thrown.catch({ name: "", message: String(error), responseHeaders: {} }).parse(error);
  const code = codeOf(seen, call);
  // Our own reader's words on a broken answer would repeat the answer.
  return failed(code, code === "malformed" || code === "cut" ? "" : seen.message, call, waitOf(seen, call.now_ms));
}

export function failed(
  code: keyof typeof kinds,
  theirs: string,
  call: FailedCall,
  wait_ms: number | null = null,
): ModelFailure {
  const { words, later } = kinds[code];
  const safe = madeSafe(theirs, call);
  return new ModelFailure(code, safe === "" ? `${words}.` : `${words}: ${safe}`, {
    model: call.model,
    retryable: later || call.others,
    spent: call.answered || code === "timeout" ? call.spent : null,
    wait_ms,
  });
}

const tooLong =
  /context[ _](?:length|window)|maximum context|prompt (?:is|was) too long|too many (?:input )?tokens|input token count|request too large|reduce the length/i;
const outOfCredit = /insufficient[ _]quota|credit balance|billing/i;

function codeOf({ name, message, statusCode: status }: Thrown, { answered }: FailedCall): keyof typeof kinds {
  if (status !== undefined && status >= 300) {
    if (status === 401 || status === 403) return "unauthorized";
    if (status === 413 || (status < 500 && status !== 429 && tooLong.test(message))) return "too_long";
    if (status === 429) return outOfCredit.test(message) ? "rejected" : "rate_limited";
    if (status === 408) return "timeout";
    return status >= 500 ? "overloaded" : "rejected";
  }
  if (/^AI_(?:JSONParse|TypeValidation|InvalidStreamPart|EmptyResponseBody)Error$/.test(name)) return "malformed";
  if (name === "AI_InvalidResponseDataError") return /finish reason/.test(message) ? "cut" : "malformed";
  if (name === "AI_APICallError") {
    if (status === undefined && tooLong.test(message)) return "too_long";
    return status !== undefined || answered ? "malformed" : "unreachable";
  }
  if (name === "AI_StreamProviderError") return tooLong.test(message) ? "too_long" : "overloaded";
  // Of what came, not of the way it came: an answer nested too deep to be read, for one.
  if (answered && (name === "RangeError" || name === "SyntaxError")) return "malformed";
  // What the SDK finds wrong with a request before it is sent.
  if (/^AI_(?:InvalidPrompt|InvalidArgument|UnsupportedFunctionality|NoSuchModel|LoadAPIKey)/.test(name))
    return "rejected";
  return answered ? "cut" : "unreachable";
}

/** Seconds, milliseconds or a date, as providers write it; never longer than we would wait for anybody. */
function waitOf({ responseHeaders: headers }: Thrown, now_ms: number): number | null {
  const precise = Number.parseFloat(headers["retry-after-ms"] ?? "");
  const said = headers["retry-after"] ?? "";
  const wait = Number.isFinite(precise)
    ? precise
    : /^\d+(?:\.\d+)?$/.test(said)
      ? Number(said) * 1_000
      : Date.parse(said) - now_ms;
  return Number.isFinite(wait) ? Math.min(Math.max(0, Math.ceil(wait)), limits.model_retry_after_max_ms) : null;
}

const keyLike = /\b(?:Bearer\s+\S+|AIza[\w-]{8,}|(?:sk|pk|rk|key|gsk|xai)[-_][\w*-]{6,})/g;
/** So many characters in a row are not the same by chance; looked for at every half of it. */
const repeated_chars = 20;

function madeSafe(words: string, { keys, sent }: FailedCall): string {
  const text = keyless(words.trim().replace(/\s+/g, " "), keys).replace(keyLike, "[key]");
  const flat = sent.replace(/\s+/g, " ");
  for (let at = 0; at + repeated_chars <= text.length; at += repeated_chars / 2)
    if (flat.includes(text.slice(at, at + repeated_chars))) return "its words repeat what was sent and are left out";
  const line = visibleLine(text);
  return line.length > limits.model_failure_chars ? `${line.slice(0, limits.model_failure_chars - 1)}…` : line;
}
