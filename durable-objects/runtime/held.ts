/**
 * What becomes of a message that a gate holds: let through, it goes on as if it had just come, and no gate asks about
 * it again; dropped, its task ends with it unless something else of the task goes on. [GATE-*]
 */
import { heldBytes } from "../../src/domain/gate-card.ts";
import { joinTaint, type Message } from "../../src/domain/message.ts";
import { acceptPlan } from "./arrivals.ts";
import type { HeldRow } from "./held-rows.ts";
import type { ApprovalRow, ScopeRows, TaskRow } from "./rows.ts";
import { hasRead } from "./taints.ts";
import { sayWords, sendUser } from "./tasks.ts";
import type { Tx } from "./tx.ts";

/** Whether the card is of a held message, and shows exactly that one. Null when it is of something else. */
export function showsHeld(rows: ScopeRows, card: ApprovalRow): boolean | null {
  const held = rows.held.get(card.id);
  return held === null ? null : card.card.tool?.arguments === heldBytes(held.message);
}

export function letThrough(tx: Tx, task: TaskRow, card: ApprovalRow, held: HeldRow): void {
  tx.rows.held.remove(held.id);
  const knowing = hasRead(tx, task, held.read);
  const message: Message = { ...held.message, taint: joinTaint(held.message.taint, knowing.taint) };
  switch (message.message_kind) {
    case "user_message":
      sendUser(tx, knowing, message, card.card.requested_by);
      break;
    case "plan_result":
      acceptPlan(tx, knowing, message);
      break;
    case "agent_message":
      sayWords(tx, message);
      break;
    default:
      throw new Error(`nothing lets a ${message.message_kind} through a gate`);
  }
  tx.touch(tx.rows.tasks.get(task.id) ?? knowing);
}

/** By a no, or because the card's time is over. */
export function dropHeld(
  tx: Tx,
  task: TaskRow,
  held: HeldRow,
  why: { reason: string; actor: string; error_code: "approval_denied" | "timeout" },
): void {
  const { reason, actor, error_code } = why;
  tx.rows.held.remove(held.id);
  const about = { message_id: held.message.message_id, gate: held.gate };
  tx.audit("effect", task, { actor: "gate_runner", decision: "dropped", reason, details: about });
  if (!held.carries_task) {
    tx.touch(task);
    return;
  }
  const expired = error_code === "timeout";
  const ended = tx.finish(task, expired ? "failed" : "denied", { reason, actor, ...(expired ? { error_code } : {}) });
  tx.status(ended, "failed", { detail: expired ? reason : `denied: ${reason}`, attempt: null, error_code });
}
