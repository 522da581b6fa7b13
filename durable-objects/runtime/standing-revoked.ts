/**
 * A standing approval taken back: from this commit on it speaks for nothing, and what it spoke for and is not done
 * stops where it is and waits for a person. What is published or over stays. [STA-28] to [STA-31]
 */

import type { Card } from "../../src/domain/approval-view.ts";
import { joinTaint } from "../../src/domain/message.ts";
import { isFinal } from "../../src/domain/task.ts";
import type { Caller } from "../../src/domain/view.ts";
import { approvedPlan, itemsOf } from "./dispatch.ts";
import { endLife } from "./lives.ts";
import { ask } from "./plans.ts";
import type { ApprovalRow, ItemRow, PlanRow, TaskRow } from "./rows.ts";
import type { StandingRow, StandingUse } from "./standing.ts";
import { isOver, type Tx } from "./tx.ts";

export function revokeStanding(tx: Tx, caller: Caller, row: StandingRow, reason: string): StandingRow {
  if (row.status === "revoked") return row;
  const ended = { by: caller.subject, at: tx.at, reason };
  const revoked = tx.stores.standing.put({ ...row, status: "revoked", ended });
  const why = `the standing approval "${row.name}" was revoked: ${reason}`;
  const stopped = tx.stores.standing.usesOf(row.id, row.uses).filter((use) => stop(tx, caller, use, why));
  const about = { standing_id: row.id, uses_left: row.uses_left, by: caller.subject };
  tx.audit(
    "approval",
    { trace_id: "scope" },
    {
      ...{ actor: "user", decision: "standing_revoked", reason },
      details: { ...about, stopped: stopped.map(({ task_id }) => task_id) },
    },
  );
  const detail = `The standing approval "${row.name}" was revoked: ${reason}`;
  tx.event("standing_changed", null, { actor: caller.subject, surfaces: ["review", "activity"], detail, ...about });
  return revoked;
}

/** Whether there was anything to stop. */
function stop(tx: Tx, caller: Caller, use: StandingUse, why: string): boolean {
  const task = tx.rows.tasks.get(use.task_id);
  const card = tx.rows.approvals.get(use.approval_id);
  if (task === null || card === null || isFinal(task.status)) return false;
  const plan = approvedPlan(tx, task);
  // A person may have approved the same plan, or another one, since.
  if (plan === null || plan.id !== card.plan_id) return false;
  const items = itemsOf(tx, plan);
  if (task.publishing !== null || items.every(({ outcome }) => outcome === "done")) {
    // Nothing of the plan is left to approve anew: its work is kept and stays unpublished.
    tx.finish(task, "cancelled", { reason: why, actor: caller.subject });
    return true;
  }
  for (const pending of tx.rows.approvals.ofTask(task.id))
    if (pending.status === "pending" && (pending.attempt_id !== null || pending.work_item_id !== null))
      tx.supersede(pending, why);
  for (const attempt of tx.rows.attempts.ofTask(task.id)) if (!isOver(attempt)) tx.callOff(attempt, why);
  for (const item of itemsOf(tx, plan)) voidGrant(tx, item, why);
  endLife(tx, card.id, "void");
  askAgain(tx, task, { plan: tx.rows.plans.put({ ...plan, status: "in_review" }), card, why });
  return true;
}

function voidGrant(tx: Tx, item: ItemRow, void_reason: string): void {
  const state = item.outcome === "done" ? item.state : "slung";
  const grant = item.grant === null ? null : { ...item.grant, life: "void" as const, void_reason };
  tx.rows.items.put({ ...item, state, grant });
}

/** The same plan before a person. No standing approval looks at it: somebody has just said no to one. */
function askAgain(tx: Tx, task: TaskRow, from: { plan: PlanRow; card: ApprovalRow; why: string }): void {
  const { plan, card, why } = from;
  const done = itemsOf(tx, plan).flatMap(({ spec, outcome }) =>
    outcome === "done" ? [`Already done: ${spec.title}`] : [],
  );
  const again: Card = {
    ...card.card,
    why: "What approved this plan was taken back, so its work has stopped. Approve to let it go on.",
    facts: [`Stopped: ${why}`, ...done, ...card.card.facts],
    taint: joinTaint(card.card.taint, task.taint),
    policy_hash: tx.scope.policy_hash,
  };
  ask(tx, task, {
    cause: `${card.id}/revoked`,
    card: again,
    rule: "its standing approval was revoked",
    plan_id: plan.id,
  });
  tx.touch(tx.rows.tasks.get(task.id) ?? task);
}
