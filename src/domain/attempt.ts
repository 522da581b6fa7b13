/**
 * A work item's ladder: attempt -> verify -> retry -> consult -> re-plan -> escalate. The runtime owns it;
 * each rung is used up before the next. [LAD-*]
 */
import type { ErrorCode } from "./message.ts";

/** How one attempt ended, as the ladder sees it. */
export type AttemptEnd =
  | { readonly kind: "verdict"; readonly verdict: "pass" | "fail" | "integrity_violation" | "infra_error" }
  | { readonly kind: "error"; readonly error_code: ErrorCode; readonly retryable: boolean }
  | { readonly kind: "crashed" }
  | { readonly kind: "conflict" };

export interface LadderState {
  readonly max_attempts: number;
  /** Attempts that ended in a verdict or an error of their own. */
  readonly counted: number;
  /** Attempts lost to crashes and infrastructure: they take a number but do not count. */
  readonly uncounted: number;
  readonly max_uncounted: number;
  readonly consulted: boolean;
  readonly replan_depth: number;
  readonly max_replan_depth: number;
  readonly on_stuck: "consult_planner" | "replan" | "escalate";
  /** Whether a planner model is configured: without one its rungs are passed over, and the record says so. */
  readonly planner: boolean;
}

export type Rung = "merge" | "retry" | "consult" | "replan" | "escalate";
export interface Climb {
  readonly next: Rung;
  readonly counted: boolean;
  readonly error_code: ErrorCode | null;
  /** Rungs that could not be used, each with its reason: audited, and shown on the card. */
  readonly skipped: readonly string[];
}

function codeOf(end: AttemptEnd): ErrorCode | null {
  switch (end.kind) {
    case "verdict":
      return end.verdict === "pass" ? null : end.verdict === "infra_error" ? "tool_failure" : "verification_failed";
    case "error":
      return end.error_code;
    case "crashed":
    case "conflict":
      return "tool_failure";
  }
}

/** The next rung after an attempt ended; `state` counts it not yet. */
export function climb(state: LadderState, end: AttemptEnd): Climb {
  const error_code = codeOf(end);
  if (error_code === null) return { next: "merge", counted: true, error_code, skipped: [] };
  const counted = !(end.kind === "crashed" || (end.kind === "verdict" && end.verdict === "infra_error"));
  const skipped: string[] = [];
  const up = (next: Rung): Climb => ({ next, counted, error_code, skipped });

  const final = end.kind === "error" && !end.retryable;
  if (final) {
    skipped.push(`retry: ${error_code} would end the same way`);
    return up("escalate");
  }
  if (counted ? state.counted + 1 < state.max_attempts : state.uncounted + 1 < state.max_uncounted) return up("retry");
  if (!counted) {
    skipped.push(`retry: ${state.max_uncounted} attempts were lost to crashes`);
    return up("escalate");
  }
  if (state.on_stuck === "consult_planner" && !state.consulted) {
    if (state.planner) return up("consult");
    skipped.push("consult: no planner model configured");
  }
  if (state.on_stuck !== "escalate" && state.replan_depth < state.max_replan_depth) {
    if (state.planner) return up("replan");
    skipped.push("re-plan: no planner model configured");
  }
  return up("escalate");
}
