/** What a decision on a card is about, as the statements that are signed for it name it. [DEC-*] */
import type { Subject } from "../../src/domain/token.ts";
import type { ApprovalRow, ScopeRows } from "./rows.ts";
import { callSubject, itemSubject, patchSubject } from "./tokens.ts";

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
    default:
      return [];
  }
}
