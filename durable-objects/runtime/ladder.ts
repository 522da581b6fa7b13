/**
 * An attempt that did not come to a merge: the next rung of its item's ladder, and a person when none is left. [LAD-*]
 */
import { cardTitle, emptyCard } from "../../src/domain/approval.ts";
import type { Card } from "../../src/domain/approval-view.ts";
import { type AttemptEnd, climb } from "../../src/domain/attempt.ts";
import type { ErrorCode } from "../../src/domain/message.ts";
import { isFinal } from "../../src/domain/task.ts";
import { limits } from "../../src/limits.ts";
import { approvedPlan, newAttempt } from "./dispatch.ts";
import { inWords, leaveOpen, openOfItem } from "./open-calls.ts";
import { ask } from "./plans.ts";
import type { AttemptRow, ItemRow, PlanRow, TaskRow } from "./rows.ts";
import { shownItem } from "./shown-item.ts";
import type { Tx } from "./tx.ts";

/** Ends an attempt that did not come to a merge, and takes the next rung. */
export function endAttempt(tx: Tx, task: TaskRow, attempt: AttemptRow, how: { end: AttemptEnd; detail: string }): void {
  const item = tx.rows.items.get(attempt.work_item_id);
  const plan = approvedPlan(tx, task);
  if (item === null || plan === null || isFinal(task.status)) return;
  const step = climb(
    {
      max_attempts: item.spec.max_attempts + item.extra,
      counted: item.counted,
      uncounted: item.uncounted,
      max_uncounted: limits.max_uncounted_attempts,
      consulted: item.consulted,
      replan_depth: 0,
      max_replan_depth: limits.max_replan_depth,
      on_stuck: item.spec.on_stuck,
      planner: tx.scope.planner,
    },
    how.end,
  );
  leaveOpen(tx, attempt);
  const ended = tx.rows.attempts.put({
    ...attempt,
    state: step.counted ? "failed" : "crashed",
    lease: null,
    ended_at: tx.at,
    error_code: step.error_code,
    detail: how.detail,
  });
  const told = tx.rows.items.put({
    ...item,
    counted: item.counted + (step.counted ? 1 : 0),
    uncounted: item.uncounted + (step.counted ? 0 : 1),
    guidance: [...item.guidance, `Attempt ${attempt.number} ended: ${how.detail}`].slice(-10),
  });
  const about = {
    work_item_id: item.id,
    attempt_id: attempt.id,
    attempt_number: attempt.number,
    rung: step.next,
    skipped: [...step.skipped],
  };
  tx.audit("transition", task, { decision: `attempt_${ended.state}`, reason: how.detail, details: about });
  const type = step.error_code === "timeout" ? "task_execution_timeout" : "task_execution_failed";
  tx.event(type, task, { surfaces: ["stream", "activity"], detail: how.detail, error_code: step.error_code, ...about });
  if (step.next === "retry") {
    newAttempt(tx, task, plan, told);
    tx.touch(task);
    return;
  }
  escalate(tx, task, plan, told, ended, step.skipped, step.error_code ?? "tool_failure");
}

function escalate(
  tx: Tx,
  task: TaskRow,
  plan: PlanRow,
  item: ItemRow,
  attempt: AttemptRow,
  skipped: readonly string[],
  error_code: ErrorCode,
): void {
  const card: Card = {
    ...emptyCard({
      kind: "escalation",
      title: cardTitle("escalation", task, item.spec.title),
      why: "Every way to recover is used up. Approve to allow one more attempt (your comment goes with it), or deny to end the task.",
      repo: task.repo,
      taint: task.taint,
      policy_hash: tx.scope.policy_hash,
      requested_by: "runtime",
    }),
    base_commit: attempt.baseline,
    publishes: task.branch,
    plan_hash: plan.plan_hash,
    environment: plan.environment,
    // One more attempt is signed for anew, so that neither a token's age nor its key's end stops what a person wants.
    items: [shownItem(item)],
    facts: [...item.guidance, ...skipped, ...openOfItem(tx.rows, task.id, item.id).map(inWords)],
  };
  ask(tx, task, {
    cause: `${attempt.id}/escalate`,
    card,
    rule: "no rung of the ladder is left",
    work_item_id: item.id,
    attempt_id: attempt.id,
  });
  const touched = tx.touch(task);
  tx.status(touched, "stuck", { detail: attempt.detail ?? "", attempt, error_code });
}
