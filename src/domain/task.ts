/**
 * A task: its status, the phase derived from its least advanced open work, and the phases passed on the way. [TASK-*]
 */
import type { approvalKinds, attemptStates, phases, taskStatuses } from "./view.ts";

export type TaskStatus = (typeof taskStatuses)[number];
export type Phase = (typeof phases)[number];
export type AttemptState = (typeof attemptStates)[number];
export type ApprovalKind = (typeof approvalKinds)[number];

export const finalStatuses: readonly TaskStatus[] = ["done", "denied", "failed", "cancelled"];
export function isFinal(status: TaskStatus): boolean {
  return finalStatuses.includes(status);
}

export interface TaskFacts {
  readonly status: TaskStatus;
  readonly routed: boolean;
  /** Whether a question of the planner's is open. */
  readonly researching?: boolean;
  readonly plan: "none" | "in_review" | "approved";
  readonly items: readonly {
    readonly outcome: "open" | "done" | "failed" | "blocked";
    /** State of its newest attempt, if it has one. */
    readonly attempt: AttemptState | null;
    /** Whether an earlier attempt failed its verification. */
    readonly failed_before: boolean;
  }[];
}

const order: readonly Phase[] = [
  "discovery",
  "context_gathering",
  "spec_creation",
  "planning",
  "coding",
  "fixing",
  "qa",
  "merging",
  "complete",
];

function phaseOfItem(item: TaskFacts["items"][number]): Phase {
  if (item.outcome === "done") return "merging";
  if (item.attempt === "verifying" || item.attempt === "executed") return "qa";
  if (item.attempt === "merging" || item.attempt === "done") return "merging";
  return item.failed_before ? "fixing" : "coding";
}

export function phaseOf(task: TaskFacts): Phase {
  if (task.status === "done") return "complete";
  if (isFinal(task.status)) return "error";
  if (task.plan === "in_review") return "planning";
  if (task.plan === "none" && task.researching === true) return "context_gathering";
  if (task.plan === "none") return task.routed ? "spec_creation" : "discovery";
  // What has failed for good, and what waits for it, is no open work: its siblings show where the task is.
  const alive = task.items.filter((item) => item.outcome === "open" || item.outcome === "done").map(phaseOfItem);
  return order.find((phase) => alive.includes(phase)) ?? "coding";
}

/**
 * The phases that start when a task moves from one to another, the last being the one it is in now.
 * Forward, every phase between is passed (an empty one starts and completes at once), but `fixing`
 * only when it is the goal; backward there is nothing between.
 */
export function phasePath(from: Phase | null, to: Phase): readonly Phase[] {
  if (from === to) return [];
  const start = from === null ? -1 : order.indexOf(from);
  const end = order.indexOf(to);
  if (end < 0 || end < start || from === "error") return [to];
  return order.slice(start + 1, end + 1).filter((phase) => phase !== "fixing" || phase === to);
}

/** What a task that waits is waiting for: the newest of its pending cards, once nothing else of it runs. */
export function statusWhile(
  open_attempts: number,
  pending: readonly ApprovalKind[],
): { status: "active" | "waiting"; waiting_on: ApprovalKind | null } {
  const asked = pending.at(-1) ?? null;
  return asked === null || open_attempts > 0
    ? { status: "active", waiting_on: null }
    : { status: "waiting", waiting_on: asked };
}
