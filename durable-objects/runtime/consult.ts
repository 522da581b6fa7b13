/** A stuck item put before the planner, once: what became of its attempts, and until when an answer counts. [LAD-*] */
import type { JsonValue } from "../../src/domain/message.ts";
import { limits } from "../../src/limits.ts";
import { itemAccount, remainingIn } from "./accounts.ts";
import type { RungRow } from "./mind-rows.ts";
import type { ItemRow, PlanRow, TaskRow } from "./rows.ts";
import type { Tx } from "./tx.ts";

/** Nothing of the item runs meanwhile. */
export function consult(tx: Tx, task: TaskRow, plan: PlanRow, item: ItemRow, rung: RungRow): void {
  const asked = tx.rows.items.put({ ...item, consulted: true });
  const account = itemAccount(tx.rows, task, asked);
  const payload: Record<string, JsonValue> = {
    consult_id: rung.id,
    work_item_id: item.id,
    title: item.spec.title,
    goal: plan.goal,
    section: item.spec.section,
    failures: toldOf(item),
    budget_remaining_tokens: account === null ? null : remainingIn(account).tokens,
    answer_by: new Date(rung.due_at ?? tx.now + limits.consult_timeout_ms).toISOString(),
  };
  const fields = { message_kind: "consult_planner", recipient: "planner", content: rung.why, payload } as const;
  const about = { work_item_id: item.id, attempt_number: rung.attempt_number };
  tx.send(tx.message(task, rung.id, { ...fields, ...about }));
}

/** What became of an item's attempts, and what people said of it, each kept short. */
export function toldOf(item: ItemRow): string[] {
  return item.guidance.map((said) => said.slice(0, limits.failure_chars));
}
