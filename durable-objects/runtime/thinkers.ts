/**
 * Attempts whose agent may not think on because a budget is used up: put away without a card of their own, for the
 * budget has one. They go on with what is granted there. [MIND-*]
 */
import { modelCallTool, type Suspension } from "../../src/domain/result.ts";
import { approvedPlan, resumeAttempt } from "./dispatch.ts";
import type { ApprovalRow, AttemptRow, ItemRow, TaskRow } from "./rows.ts";
import type { Tx } from "./tx.ts";

export function isThinking(suspension: Suspension | null): boolean {
  return suspension?.tool === modelCallTool;
}

/** The card may have been decided while its agent was on its way to wait for it: then it is asked anew at once. */
export function putAway(tx: Tx, task: TaskRow, item: ItemRow, attempt: AttemptRow, suspension: Suspension): void {
  const away = tx.rows.attempts.put({ ...attempt, state: "suspended", suspension });
  const about = { work_item_id: item.id, attempt_id: attempt.id, attempt_number: attempt.number };
  tx.audit("transition", task, { decision: "attempt_suspended", reason: "the budget is used up", details: about });
  const open = (card: ApprovalRow) => card.kind === "budget" && card.status === "pending";
  const asked = tx.rows.approvals.ofTask(task.id).some((card) => open(card) && card.work_item_id === item.id);
  if (asked) {
    tx.touch(task);
    return;
  }
  const plan = approvedPlan(tx, task);
  if (plan !== null) resumeAttempt(tx, task, plan, item, away);
}

/** More was granted to the item: what thinks for it goes on where it was. */
export function resumeThinkers(tx: Tx, task: TaskRow, work_item_id: string): void {
  const plan = approvedPlan(tx, task);
  const item = tx.rows.items.get(work_item_id);
  if (plan === null || item === null) return;
  for (const attempt of tx.rows.attempts.ofTask(task.id))
    if (attempt.work_item_id === item.id && attempt.state === "suspended" && isThinking(attempt.suspension))
      resumeAttempt(tx, task, plan, item, attempt);
}
