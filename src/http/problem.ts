/**
 * Every answer that is not a success: RFC 9457 `application/problem+json` with a code from one closed
 * list, one status for each code, and a sentence that says what to do. [HTTP-1] [HTTP-2]
 */
import { z } from "@hono/zod-openapi";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { RefusalCode, Result } from "../domain/refusal.ts";

/** The domain's refusals, and what only HTTP can do wrong. */
export type ProblemCode = RefusalCode | "method_not_allowed" | "unsupported_media_type" | "internal";

export const problemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string(),
    trace_id: z.string(),
    /** With `bad_request`: which fields are wrong. */
    errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
    /** With `invalid_plan`: where in the document. */
    problems: z.array(z.strictObject({ line: z.number(), column: z.number(), message: z.string() })).optional(),
  })
  .openapi("Problem");

/** The one place where a code gets its status. */
export function statusOf(code: ProblemCode): ContentfulStatusCode {
  switch (code) {
    case "bad_request":
      return 400;
    case "unauthenticated":
      return 401;
    case "forbidden":
    case "denied_by_policy":
      return 403;
    case "not_found":
    case "task_not_found":
    case "approval_not_found":
    case "agent_not_found":
    case "repo_not_found":
    case "queue_not_found":
    case "dead_letter_not_found":
    case "attempt_not_found":
    case "standing_approval_not_found":
    case "memory_not_found":
    case "webhook_not_found":
    case "delivery_not_found":
    case "hook_not_found":
      return 404;
    case "method_not_allowed":
      return 405;
    case "already_resolved":
    case "content_changed":
    case "not_in_this_state":
    case "idempotency_in_flight":
      return 409;
    case "precondition_failed":
      return 412;
    case "body_too_large":
      return 413;
    case "unsupported_media_type":
      return 415;
    case "invalid_plan":
    case "idempotency_mismatch":
    case "repo_not_registered":
    case "repo_unreachable":
    case "repo_not_allowed":
    case "ref_not_found":
      return 422;
    case "precondition_required":
      return 428;
    case "too_many":
      return 429;
    case "internal":
      return 500;
    case "unavailable":
    case "newer_data":
      return 503;
    default:
      return code satisfies never;
  }
}

/** A refusal on its way to `onError`; the only thing the doors throw on purpose. */
export class Refused extends Error {
  readonly code: ProblemCode;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    code: ProblemCode,
    detail: string,
    extra: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
    this.name = "Refused";
    this.code = code;
    this.extra = extra;
    this.headers = headers;
  }
}

/** The value of a result, or its refusal thrown: a handler below reads as the road on which all goes well. */
export function take<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new Refused(result.refusal.code, result.refusal.detail, result.refusal.extra);
}

export function problem(refused: Refused, traceId: string): Response {
  const status = statusOf(refused.code);
  const words = refused.code.replaceAll("_", " ");
  const body = {
    ...refused.extra,
    type: `urn:countersign:problem:${refused.code}`,
    title: words.charAt(0).toUpperCase() + words.slice(1),
    status,
    detail: refused.message,
    code: refused.code,
    trace_id: traceId,
  };
  const headers = new Headers({ "content-type": "application/problem+json", ...refused.headers });
  if (status === 401 && !headers.has("www-authenticate")) headers.set("www-authenticate", 'Bearer realm="countersign"');
  if ((status === 429 || status === 503) && !headers.has("retry-after")) headers.set("retry-after", "5");
  return new Response(JSON.stringify(body), { status, headers });
}

/** Turns whatever a handler threw into a refusal. What nobody expected is `internal`, and says nothing of itself. */
export function refusedBy(error: unknown): Refused {
  if (error instanceof Refused) return error;
  if (error instanceof Error && error.name === "NewerData")
    return new Refused("newer_data", "This scope's data was written by newer code. Deploy that code again.");
  if (isFull(error))
    return new Refused(
      "unavailable",
      "This scope's storage is full, so nothing of this was written and nothing was lost: free room on the disk, or raise the account's limit, and ask again.",
    );
  if (isPassing(error))
    return new Refused("unavailable", "The scope is busy or just restarting: try again in a moment.");
  return new Refused("internal", "Something broke on our side: try again, and report the trace_id if it stays.");
}

/** SQLite writes all of a transaction or nothing; how the platform passes its error on, only the text says. */
function isFull(error: unknown): boolean {
  return error instanceof Error && /SQLITE_FULL|database or disk is full/.test(error.message);
}

/** Durable Objects, and the adapters, mark errors that a second call may not meet. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("retryable" in error && error.retryable === true) || ("overloaded" in error && error.overloaded === true);
}
