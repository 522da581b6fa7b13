/**
 * A work item's ladder: attempt -> verify -> retry -> consult -> re-plan -> escalate. The runtime owns it;
 * each rung is used up before the next, in the order that one table says. [LAD-*]
 */
import type { ErrorCode } from "./message.ts";

export const rungs = ["attempt", "merge", "retry", "decompose", "consult", "replan", "escalate"] as const;
export type Rung = Exclude<(typeof rungs)[number], "attempt">;
/** `held`: it waits until what runs beside it has ended. `open`: somebody is asked. The rest is how it ended. */
export const rungStates = ["taken", "held", "open", "answered", "failed", "timeout", "void"] as const;

/** How one attempt ended, as the ladder sees it. */
export type AttemptEnd =
  | { readonly kind: "verdict"; readonly verdict: "pass" | "fail" | "integrity_violation" | "infra_error" }
  | { readonly kind: "error"; readonly error_code: ErrorCode; readonly retryable: boolean }
  /** A loop that did not get on, and what it leaves to the runtime of its recoveries. */
  | { readonly kind: "stuck"; readonly next: "decompose" | "ask_person" }
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
  readonly decompose_depth: number;
  readonly max_decompose_depth: number;
  readonly on_stuck: "consult_planner" | "replan" | "escalate";
  /** Whether a planner model is configured: without one its rungs are passed over, and the record says so. */
  readonly planner: boolean;
}

export interface Climb {
  readonly next: Rung;
  readonly counted: boolean;
  readonly error_code: ErrorCode | null;
  /** Rungs that could not be used, each with its reason: audited, and shown on the card. */
  readonly skipped: readonly string[];
}

/** What is tried after what, in order: the first rung that can be used is taken, and a person always can. */
export const order = {
  passed: ["merge"],
  failed: ["retry", "consult", "replan", "escalate"],
  lost: ["retry", "escalate"],
  /** It would end the same way again. */
  final: ["escalate"],
  stuck: ["decompose", "retry", "consult", "replan", "escalate"],
  asks_person: ["escalate"],
  /** Nothing came of asking the planner: for guidance, for smaller items, for another plan. */
  consult: ["replan", "escalate"],
  decompose: ["consult", "replan", "escalate"],
  replan: ["escalate"],
} as const satisfies Readonly<Record<string, readonly Rung[]>>;
export type After = keyof typeof order;

function afterEnd(end: AttemptEnd): After {
  switch (end.kind) {
    case "verdict":
      return end.verdict === "pass" ? "passed" : end.verdict === "infra_error" ? "lost" : "failed";
    case "error":
      return end.retryable ? "failed" : "final";
    case "stuck":
      return end.next === "decompose" ? "stuck" : "asks_person";
    case "crashed":
      return "lost";
    case "conflict":
      return "failed";
  }
}
function codeOf(end: AttemptEnd): ErrorCode | null {
  switch (end.kind) {
    case "verdict":
      return end.verdict === "pass" ? null : end.verdict === "infra_error" ? "tool_failure" : "verification_failed";
    case "error":
      return end.error_code;
    case "stuck":
    case "crashed":
    case "conflict":
      return "tool_failure";
  }
}

/** Whether a rung can be used. A reason is worth saying; null means that it was used up, or that nobody wanted it. */
type Usable = { readonly ok: true } | { readonly ok: false; readonly why: string | null };
const yes: Usable = { ok: true };
const no = (why: string | null = null): Usable => ({ ok: false, why });
const noPlanner = "no planner model configured";

function usable(rung: Rung, state: LadderState, after: After): Usable {
  switch (rung) {
    case "retry":
      if (after === "lost")
        return state.uncounted + 1 < state.max_uncounted
          ? yes
          : no(`retry: ${state.max_uncounted} attempts were lost to crashes`);
      return state.counted + 1 < state.max_attempts ? yes : no();
    case "decompose":
      if (state.on_stuck === "escalate") return no("decompose: the item goes to a person when it is stuck");
      if (state.decompose_depth >= state.max_decompose_depth)
        return no(`decompose: its task was parted ${state.decompose_depth} times`);
      return state.planner ? yes : no(`decompose: ${noPlanner}`);
    case "consult":
      if (state.on_stuck !== "consult_planner" || state.consulted) return no();
      return state.planner ? yes : no(`consult: ${noPlanner}`);
    case "replan":
      if (state.on_stuck === "escalate" || state.replan_depth >= state.max_replan_depth) return no();
      return state.planner ? yes : no(`re-plan: ${noPlanner}`);
    case "merge":
    case "escalate":
      return yes;
  }
}
function next(state: LadderState, after: After, first: readonly string[]): Pick<Climb, "next" | "skipped"> {
  const skipped = [...first];
  for (const rung of order[after]) {
    const can = usable(rung, state, after);
    if (can.ok) return { next: rung, skipped };
    if (can.why !== null) skipped.push(can.why);
  }
  return { next: "escalate", skipped };
}

/** The next rung after an attempt ended; `state` counts it not yet. */
export function climb(state: LadderState, end: AttemptEnd): Climb {
  const after = afterEnd(end);
  const error_code = codeOf(end);
  const first =
    after === "final"
      ? [`retry: ${error_code} would end the same way`]
      : after === "asks_person"
        ? ["retry: the agent tried every way it has and asks for a person"]
        : [];
  return { ...next(state, after, first), counted: after !== "lost", error_code };
}

/** The next rung after one that asked the planner came to nothing; `state` is as it was left then. */
export function climbOn(
  state: LadderState,
  from: "consult" | "decompose" | "replan",
  why: string,
): Pick<Climb, "next" | "skipped"> {
  return next(state, from, [`${from}: ${why}`]);
}
