/**
 * A call that a person did not allow. Steps cannot go on without it; an agent that thinks is told what was said, or that
 * nobody said anything, and finds another way within the same attempt. [MIND-*]
 */
import type { Suspension } from "../../src/domain/result.ts";
import { approvedPlan, resumeAttempt } from "./dispatch.ts";
import type { AttemptRow, ItemRow, TaskRow } from "./rows.ts";
import type { Tx } from "./tx.ts";

/** False when the attempt has to end with its call. */
export function goesOnWithout(
  tx: Tx,
  task: TaskRow,
  found: { readonly attempt: AttemptRow; readonly item: ItemRow },
  answer: Pick<Suspension, "denied"> | Pick<Suspension, "unanswered">,
): boolean {
  const { attempt, item } = found;
  const plan = approvedPlan(tx, task);
  if (item.spec.runner !== "loop" || plan === null || attempt.suspension === null) return false;
  resumeAttempt(tx, task, plan, item, { ...attempt, suspension: { ...attempt.suspension, ...answer } });
  tx.touch(task);
  return true;
}
