/** What follows once an item's fate is known: the next items, the publication, or the task's end. [DSP-*] */
import { isFinal } from "../../src/domain/task.ts";
import { approvedPlan, dispatch, failItem, itemsOf } from "./dispatch.ts";
import { publish } from "./publishing.ts";
import { askWhenQuiet } from "./replan.ts";
import type { ItemRow, TaskRow } from "./rows.ts";
import { replansOf, waitingRungs } from "./rungs.ts";
import type { VerifiedTokens } from "./tokens.ts";
import type { Tx } from "./tx.ts";
import { isOpen } from "./where.ts";

/** After an item's fate is known: the next items start, or the task publishes, or it ends. */
export function proceed(tx: Tx, task: TaskRow, verified: VerifiedTokens): void {
  const plan = approvedPlan(tx, task);
  if (plan === null || isFinal(task.status)) return;
  dispatch(tx, task);
  askWhenQuiet(tx, task);
  const items = itemsOf(tx, plan);
  if (items.every((item) => item.outcome === "done")) return publish(tx, task, verified);
  const failed = items.find((item) => item.outcome === "failed");
  const busy = tx.rows.attempts
    .ofTask(task.id)
    .some((attempt) => isOpen(attempt) || attempt.state === "suspended" || attempt.state === "executed");
  const planning = waitingRungs(tx.rows, task.id).length > 0 || replansOf(tx.rows, task.id).length > 0;
  if (failed !== undefined && !busy && !planning) {
    const last = tx.rows.attempts.ofTask(task.id).findLast((attempt) => attempt.work_item_id === failed.id);
    const reason = `${failed.spec.title}: ${last?.detail ?? "failed"}`;
    const ended = tx.finish(task, "failed", { reason, error_code: last?.error_code ?? "tool_failure" });
    tx.status(ended, "failed", {
      detail: reason,
      attempt: last ?? null,
      error_code: last?.error_code ?? "tool_failure",
    });
    return;
  }
  tx.touch(tx.rows.tasks.get(task.id) ?? task);
}

export function giveUpItem(tx: Tx, task: TaskRow, item: ItemRow): void {
  const plan = approvedPlan(tx, task);
  if (plan !== null) failItem(tx, plan, item);
}
