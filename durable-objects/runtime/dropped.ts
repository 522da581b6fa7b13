/**
 * What becomes of a task when a person drops one of its messages for good: what waited for it ends with that reason,
 * so that no open task is left that nothing will move. [DL-14]
 */
import { stalls } from "../../src/domain/delivery.ts";
import { endAttempt } from "./ladder.ts";
import type { ApprovalRow, TaskRow } from "./rows.ts";
import { isOpen, type Tx } from "./tx.ts";

export function dropped(tx: Tx, task: TaskRow, card: ApprovalRow): void {
  const stalled = card.message_kind === null ? "nothing" : stalls[card.message_kind];
  const what = (card.message_kind ?? "message").replaceAll("_", " ");
  const reason = `a person dropped its ${what}, which could not be delivered`;
  const attempt = card.attempt_id === null ? null : tx.rows.attempts.get(card.attempt_id);
  if (stalled === "attempt" && attempt !== null && isOpen(attempt)) {
    tx.callOff(attempt, reason);
    const ended = tx.rows.attempts.get(attempt.id) ?? attempt;
    endAttempt(tx, task, ended, { end: { kind: "crashed" }, detail: reason });
    return;
  }
  if (stalled === "attempt" && card.attempt_id === null && task.publishing !== null) {
    tx.finish(task, "failed", { reason: `Not published: ${reason}`, error_code: "tool_failure" });
    return;
  }
  if (stalled === "planning" && tx.rows.plans.ofTask(task.id).every((plan) => plan.status === "superseded")) {
    tx.finish(task, "failed", { reason: `No plan: ${reason}`, error_code: "tool_failure" });
    return;
  }
  tx.touch(task);
}
