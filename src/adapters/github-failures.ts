/**
 * What went wrong with a call of GitHub, in our own closed list of codes, with what to do next. Of GitHub's own words a
 * short, made-safe text is kept: no token, no key, no header. [GHA-12] [GHA-13] [GHA-14]
 */
import { z } from "zod";
import { GithubFailure, type GithubFailureCode } from "../agents/github-port.ts";
import { visibleLine } from "../domain/visible.ts";
import { limits } from "../limits.ts";

/** A failure of which the HTTP status is known too: callers inside the adapter tell "gone" and "refused" by it. */
export class Answered extends GithubFailure {
  readonly status: number | null;
  constructor(code: GithubFailureCode, message: string, status: number | null, retry_after_ms: number | null = null) {
    super(code, message, retry_after_ms);
    this.status = status;
  }
}
/** Our own reader of answers gave up. */
export class Unreadable extends Error {}

/** Codes of which the status, and the words where it says too little, tell which. */
type Told = Exclude<GithubFailureCode, "not_configured">;
const words: Readonly<Record<Told, string>> = {
  unauthorized: "GitHub does not accept the App's credentials: check GITHUB_APP_ID and GITHUB_PRIVATE_KEY",
  suspended: "The App's installation is suspended or removed, or no longer covers the repository",
  forbidden: "GitHub does not let the App do this: check its permissions, and that its installation accepted them",
  not_found: "GitHub knows nothing there",
  invalid: "GitHub refuses what was sent",
  rate_limited: "GitHub wants fewer calls",
  unavailable: "GitHub does not answer as it should, try again later",
};

export interface SentCall {
  /** What must not stand in any message. */
  readonly secrets: readonly string[];
  readonly now_ms: number;
}

export function failed(
  code: Told,
  theirs: string,
  call: SentCall,
  status: number | null = null,
  wait_ms: number | null = null,
): Answered {
  const safe = madeSafe(theirs, call.secrets);
  return new Answered(code, safe === "" ? `${words[code]}.` : `${words[code]}: ${safe}`, status, wait_ms);
}

/** The sender's errors by their shape. */
const thrown = z.object({
  response: z.object({
    status: z.number(),
    headers: z.record(z.string(), z.union([z.string(), z.number()]).optional()),
    data: z.unknown(),
  }),
});

export function failureOf(error: unknown, call: SentCall): Answered {
  if (error instanceof Answered) return error;
  const seen = thrown.safeParse(error);
  if (!seen.success) return failed("unavailable", silence(error), call);
  const { status, headers, data } = seen.data.response;
  const theirs = said(data);
  const code = codeOf(status, headers, theirs);
  const wait_ms =
    code === "rate_limited" ? (waitOf(headers, call.now_ms) ?? limits.github_retry_after_unsaid_ms) : null;
  return failed(code, `${status} ${theirs}`, call, status, wait_ms);
}

function codeOf(status: number, headers: Headers, theirs: string): Told {
  if (status === 429) return "rate_limited";
  if (status === 403) {
    if (has(headers, "retry-after") || headers["x-ratelimit-remaining"] === "0") return "rate_limited";
    if (/rate limit|abuse detection/i.test(theirs)) return "rate_limited";
    return /suspended/i.test(theirs) ? "suspended" : "forbidden";
  }
  if (status === 401) return "unauthorized";
  if (status === 451) return "forbidden";
  if (status === 404 || status === 410) return "not_found";
  return status >= 500 || status === 408 ? "unavailable" : "invalid";
}

type Headers = Readonly<Record<string, string | number | undefined>>;
function has(headers: Headers, name: string): boolean {
  return headers[name] !== undefined && headers[name] !== "";
}

/** By `retry-after` (seconds or a date), else by the end of the hour's quota; null when neither stands there. */
function waitOf(headers: Headers, now_ms: number): number | null {
  const after = String(headers["retry-after"] ?? "");
  const date_ms = Date.parse(after);
  const reset_s = Number(headers["x-ratelimit-reset"] || Number.NaN);
  const spent = String(headers["x-ratelimit-remaining"] ?? "0") === "0";
  const wait_ms = /^\d{1,9}$/.test(after)
    ? Number(after) * 1_000
    : Number.isFinite(date_ms)
      ? date_ms - now_ms
      : spent && Number.isFinite(reset_s)
        ? reset_s * 1_000 - now_ms
        : null;
  if (wait_ms === null) return null;
  return Math.min(limits.github_retry_after_max_ms, Math.max(limits.github_retry_after_least_ms, Math.ceil(wait_ms)));
}

const body = z.object({
  message: z.string().catch(""),
  errors: z
    .array(z.union([z.string(), z.object({ message: z.string() }).transform(({ message }) => message)]).catch(""))
    .catch([]),
});
/** What GitHub says is wrong; a page of HTML says nothing. */
function said(data: unknown): string {
  const read = body.safeParse(data);
  if (!read.success) return "";
  return [read.data.message, ...read.data.errors.slice(0, 5)].filter((text) => text !== "").join("; ");
}

/** Why there was no answer: of what was thrown only its kind, its text could hold anything. */
function silence(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (cause instanceof Unreadable) return cause.message;
  if (cause instanceof Error && (cause.name === "TimeoutError" || cause.name === "AbortError"))
    return `there was no answer within ${limits.github_call_ms} ms`;
  return "the connection failed";
}

/** Tokens by their beginnings (`ghs_`, `ghp_`, `github_pat_`), JSON web tokens, and the ones of this very call. */
const tokens = /\b(?:gh[a-z]_|github_pat_|eyJ)[A-Za-z0-9_.-]{8,}/g;
function madeSafe(text: string, secrets: readonly string[]): string {
  let safe = text;
  for (const secret of secrets) if (secret !== "") safe = safe.replaceAll(secret, "[secret]");
  const line = visibleLine(safe.replace(tokens, "[secret]").replace(/\s+/g, " ").trim());
  return line.length <= limits.github_failure_chars ? line : `${line.slice(0, limits.github_failure_chars)}...`;
}
