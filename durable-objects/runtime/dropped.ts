/**
 * What becomes of a task when a person drops one of its messages for good: what waited for it ends with that reason,
 * so that no open task is left that nothing will move. [DL-14]
 */
import { stalls } from "../../src/domain/delivery.ts";
import { climbPast, endAttempt } from "./ladder.ts";
import { openReplans } from "./replan.ts";
import type { ApprovalRow, AttemptRow, TaskRow } from "./rows.ts";
import type { Tx } from "./tx.ts";
import { isOpen } from "./where.ts";

/** `whose`: who let it go, before the name of the message. */
export function dropped(tx: Tx, task: TaskRow, card: ApprovalRow, whose = "a person dropped its"): void {
  const stalled = card.message_kind === null ? "nothing" : stalls[card.message_kind];
  const what = (card.message_kind ?? "message").replaceAll("_", " ");
  const reason = `${whose} ${what}, which could not be delivered`;
  const lost = stalled === "attempt" && task.publishing === null ? lostWith(tx, task, card) : [];
  for (const attempt of lost) {
    tx.callOff(attempt, reason);
    const ended = tx.rows.attempts.get(attempt.id) ?? attempt;
    endAttempt(tx, tx.rows.tasks.get(task.id) ?? task, ended, { end: { kind: "crashed" }, detail: reason });
  }
  if (lost.length > 0) return;
  if (stalled === "attempt" && card.attempt_id === null && task.publishing !== null) {
    tx.finish(task, "failed", { reason: `Not published: ${reason}`, error_code: "tool_failure" });
    return;
  }
  const planAnew = card.message_kind === "replan_request" || card.message_kind === "plan_result";
  const replans = planAnew ? openReplans(tx, task) : [];
  for (const rung of replans) climbPast(tx, tx.rows.tasks.get(task.id) ?? task, rung, { state: "failed", why: reason });
  if (replans.length > 0) return;
  if (stalled === "planning" && tx.rows.plans.ofTask(task.id).every((plan) => plan.status === "superseded")) {
    tx.finish(task, "failed", { reason: `No plan: ${reason}`, error_code: "tool_failure" });
    return;
  }
  tx.touch(task);
}

/**
 * A letter that can no longer be read does not say which attempt it was about: then each that waits for a message
 * begins anew, for one of them would wait for ever. One that runs is watched by its lease.
 */
function lostWith(tx: Tx, task: TaskRow, card: ApprovalRow): AttemptRow[] {
  const attempts = tx.rows.attempts.ofTask(task.id).filter(isOpen);
  return card.attempt_id === null
    ? attempts.filter(({ state }) => state !== "running")
    : attempts.filter(({ id }) => id === card.attempt_id);
}
