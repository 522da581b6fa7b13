/** Where a task stands, read from its rows: its status, what it waits for, and its phase. [TASK-*] */
import { isFinal, phaseOf, statusWhile } from "../../src/domain/task.ts";
import type { AttemptRow, ScopeRows, TaskRow } from "./rows.ts";
import { replansOf, waitingRungs } from "./rungs.ts";

const openAttempts: readonly AttemptRow["state"][] = ["due", "running", "verifying", "merging"];
export function isOpen(attempt: AttemptRow): boolean {
  return openAttempts.includes(attempt.state);
}

export function whereIs(
  rows: ScopeRows,
  task: TaskRow,
): Pick<TaskRow, "status" | "waiting_on"> & { phase: NonNullable<TaskRow["phase"]> } {
  const attempts = rows.attempts.ofTask(task.id);
  const pending = rows.approvals.ofTask(task.id).filter((card) => card.status === "pending");
  // The planner works on it, unless it waits for money itself.
  const broke = pending.some((card) => card.kind === "budget" && card.work_item_id === null);
  const planner = broke ? 0 : waitingRungs(rows, task.id).length;
  const waits = isFinal(task.status)
    ? { status: task.status, waiting_on: null }
    : statusWhile(
        attempts.filter(isOpen).length + (task.publishing === null ? 0 : 1) + planner,
        pending.map((card) => card.kind),
      );
  const plan = rows.plans.ofTask(task.id).findLast((row) => row.status !== "superseded");
  const items = plan === undefined ? [] : rows.items.ofTask(task.id).filter((item) => item.plan_id === plan.id);
  const phase = phaseOf({
    status: waits.status,
    routed: task.routed,
    researching: rows.research.ofTask(task.id).some((row) => row.state === "open"),
    // While another plan is written the task is where it was before its first.
    plan:
      plan === undefined || (plan.status === "approved" && isWritten(rows, task))
        ? "none"
        : plan.status === "approved"
          ? "approved"
          : "in_review",
    items: items.map((item) => ({
      outcome: item.outcome,
      attempt: attempts.findLast((attempt) => attempt.work_item_id === item.id)?.state ?? null,
      failed_before: attempts.some(
        (attempt) => attempt.work_item_id === item.id && attempt.error_code === "verification_failed",
      ),
    })),
  });
  return { ...waits, phase };
}
function isWritten(rows: ScopeRows, task: TaskRow): boolean {
  return replansOf(rows, task.id).some(({ state }) => state === "open" || state === "answered");
}
