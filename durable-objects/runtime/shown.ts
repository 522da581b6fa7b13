/**
 * What a person approves is what they were shown: a card is compared with the rows as they are stored now before
 * anything is signed for it. [DEC-7] [DEC-14] [DEC-16]
 */
import { sha256Hex } from "../../src/domain/canonical.ts";
import { contentHash } from "../../src/domain/token.ts";
import { showsHeld } from "./held.ts";
import type { ApprovalRow, ScopeRows, TaskRow } from "./rows.ts";
import { itemAgain } from "./subjects.ts";
import { itemSubject } from "./tokens.ts";

export function isStillTrue(rows: ScopeRows, scope_id: string, task: TaskRow, card: ApprovalRow): boolean {
  if (card.card.kind !== card.kind || contentHash(card.card) !== card.content_hash) return false;
  const { tool } = card.card;
  switch (card.kind) {
    case "plan":
      return plansMatch(rows, scope_id, task, card);
    case "tool_call": {
      const call = rows.calls.get(`${card.attempt_id}/${card.call_id}`);
      return call !== null && tool !== null && call.tool === tool.name && call.arguments === tool.arguments;
    }
    case "gate": {
      const held = showsHeld(rows, card);
      if (held !== null) return held;
      const patch = card.attempt_id === null ? null : (rows.attempts.get(card.attempt_id)?.patch ?? null);
      return (
        patch !== null &&
        tool !== null &&
        patch.tree === tool.workspace_tree &&
        JSON.stringify(patch.files) === tool.arguments
      );
    }
    case "escalation":
      return card.card.items.length === 0 || itemAgain(rows, scope_id, task, card) !== null;
    default:
      return true;
  }
}

function plansMatch(rows: ScopeRows, scope_id: string, task: TaskRow, { plan_id, card }: ApprovalRow): boolean {
  const plan = plan_id === null ? null : rows.plans.get(plan_id);
  if (plan === null || sha256Hex(plan.markdown) !== card.plan_hash) return false;
  const hashes = rows.items.ofTask(task.id).flatMap((item) => {
    const subject = item.plan_id === plan.id ? itemSubject(scope_id, task, plan, item) : null;
    return subject?.type === "work_item" ? [subject.item_hash] : [];
  });
  return hashes.length === card.items.length && card.items.every((item) => hashes.includes(item.item_hash));
}
