/**
 * An approval that became too old before its work was done: the same plan comes before a person again. What is done
 * stays done; what was under way begins anew once somebody has approved again. [DEC-63]
 */
import { ask } from "./plans.ts";
import type { PlanRow, TaskRow } from "./rows.ts";
import { isOver, type Tx } from "./tx.ts";

export function renew(tx: Tx, task: TaskRow, plan: PlanRow): void {
  const { rows } = tx;
  const void_reason = "the approval is too old";
  const before = rows.approvals.ofTask(task.id);
  for (const card of before) if (card.status === "pending") tx.supersede(card, "the plan is to be approved again");
  for (const attempt of rows.attempts.ofTask(task.id)) if (!isOver(attempt)) tx.callOff(attempt, void_reason);
  for (const item of rows.items.ofTask(task.id))
    if (item.plan_id === plan.id && item.grant !== null)
      rows.items.put({ ...item, grant: { ...item.grant, life: "void", void_reason } });
  rows.plans.put({ ...plan, status: "in_review" });
  const last = before.findLast(
    (card) => card.kind === "plan" && card.plan_id === plan.id && card.status === "approved",
  );
  if (last === undefined) return;
  const card = {
    ...last.card,
    why: "The approval of this plan is too old for what is left of it. Approve the same plan again to go on; what is done stays done.",
    taint: task.taint,
    policy_hash: tx.scope.policy_hash,
  };
  ask(tx, task, { cause: `${last.id}/again`, card, rule: "an approval holds for 30 days", plan_id: plan.id });
  tx.touch(task);
}
