/**
 * What the product answers when it will not do a thing: one closed list. A refusal is a value,
 * never an exception; the HTTP door turns each into one problem with one status.
 */
export const refusalCodes = [
  "bad_request",
  "invalid_plan",
  "unauthenticated",
  "forbidden",
  "not_found",
  "task_not_found",
  "approval_not_found",
  "agent_not_found",
  "repo_not_found",
  "queue_not_found",
  "dead_letter_not_found",
  "attempt_not_found",
  "standing_approval_not_found",
  "memory_not_found",
  "webhook_not_found",
  "delivery_not_found",
  "hook_not_found",
  "already_resolved",
  "content_changed",
  "not_in_this_state",
  "denied_by_policy",
  "precondition_required",
  "precondition_failed",
  "idempotency_mismatch",
  "idempotency_in_flight",
  "repo_not_registered",
  "repo_unreachable",
  "repo_not_allowed",
  "ref_not_found",
  "body_too_large",
  "too_many",
  "unavailable",
  "newer_data",
] as const;
export type RefusalCode = (typeof refusalCodes)[number];

/** `detail` is a sentence for the person who asked: what is wrong and what to do. `extra` joins the problem body. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly detail: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}
export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}
export function refuse(
  code: RefusalCode,
  detail: string,
  extra?: Readonly<Record<string, unknown>>,
): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal: extra === undefined ? { code, detail } : { code, detail, extra } };
}
