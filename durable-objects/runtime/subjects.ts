/** What a decision on a card is about, as the statements that are signed for it name it. [DEC-*] */
import type { Subject } from "../../src/domain/token.ts";
import type { ApprovalRow, ScopeRows, TaskRow } from "./rows.ts";
import { callSubject, itemSubject, patchSubject } from "./tokens.ts";

/**
 * The item that an escalation lets try again, if it is still the one its plan brought and the card shows. Null for a
 * card without an item, and for one of before items stood on escalations.
 */
export function itemAgain(
  rows: ScopeRows,
  scope_id: string,
  task: TaskRow,
  { work_item_id, card }: ApprovalRow,
): { key: string; subject: Subject } | null {
  const item = work_item_id === null ? null : rows.items.get(work_item_id);
  const plan = item === null ? null : rows.plans.get(item.plan_id);
  if (item === null || plan === null || plan.status !== "approved") return null;
  const subject = itemSubject(scope_id, task, plan, item);
  const same =
    subject.type === "work_item" &&
    subject.plan_hash === plan.plan_hash &&
    subject.plan_hash === card.plan_hash &&
    subject.item_hash === item.item_hash &&
    card.items.some(({ item_hash }) => item_hash === subject.item_hash);
  return same ? { key: item.id, subject } : null;
}

/** What an approval of this card must be signed for: one statement a subject, by the subject's key. */
export function subjectsOf(rows: ScopeRows, scope_id: string, card: ApprovalRow): { key: string; subject: Subject }[] {
  const task = rows.tasks.get(card.task_id);
  if (task === null) return [];
  switch (card.kind) {
    case "plan": {
      const plan = card.plan_id === null ? null : rows.plans.get(card.plan_id);
      if (plan === null) return [];
      return rows.items
        .ofTask(task.id)
        .filter((item) => item.plan_id === plan.id)
        .map((item) => ({ key: item.id, subject: itemSubject(scope_id, task, plan, item) }));
    }
    case "tool_call": {
      const call = card.attempt_id === null ? null : rows.calls.get(`${card.attempt_id}/${card.call_id}`);
      return call === null || card.card.tool === null
        ? []
        : [{ key: call.id, subject: callSubject(call, card.card.tool.workspace_tree) }];
    }
    case "gate": {
      const attempt = card.attempt_id === null ? null : rows.attempts.get(card.attempt_id);
      return attempt === null ? [] : [{ key: attempt.id, subject: patchSubject(attempt) }];
    }
    case "escalation": {
      const again = itemAgain(rows, scope_id, task, card);
      return again === null ? [] : [again];
    }
    default:
      return [];
  }
}
