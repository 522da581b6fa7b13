/** How far the approval behind a card has come, kept on the card's row beside its status, and how a card is taken back. [APP-1] */
import { type LifeEvent, stepLife } from "../../src/domain/approval.ts";
import type { ApprovalRow, AttemptRow } from "./rows.ts";
import type { Tx } from "./tx.ts";

/** What cannot follow is left out: a card may have been voided meanwhile. */
export function lived(life: ApprovalRow["life"], events: readonly LifeEvent[]): ApprovalRow["life"] {
  return events.reduce((at, event) => {
    const next = stepLife(at, event);
    return next.ok ? next.value : at;
  }, life);
}

/** What was attached to a call has run, or never will. */
export function endLife(tx: Tx, approval_id: string, how: "execute" | "void"): void {
  const card = tx.rows.approvals.get(approval_id);
  if (card === null) return;
  const life = lived(card.life, how === "void" ? ["void"] : ["check", "execute"]);
  if (life !== card.life) tx.rows.approvals.put({ ...card, life });
}

/** A card that nobody needs to decide any more. */
export function takeBack(
  tx: Tx,
  card: ApprovalRow,
  reason: string,
  { by = "runtime", what = "supersede" }: { by?: string | undefined; what?: "supersede" | "cancel" },
): void {
  const winner = { by, what, at: tx.at, reason };
  tx.rows.held.remove(card.id);
  tx.rows.approvals.put({ ...card, status: "superseded", life: "void", resolved_at: tx.at, winner });
  const about = tx.rows.tasks.get(card.task_id) ?? { id: card.task_id, trace_id: "" };
  tx.audit("approval", about, {
    actor: "approval_engine",
    decision: "superseded",
    reason,
    details: { approval_id: card.id },
  });
  tx.event("approval_resolved", about, { approval_id: card.id, status: "superseded", detail: reason });
}

/** What an attempt that will not go on still asks of a person: a yes to it would come to nothing. */
export function takeBackAsked(tx: Tx, attempt: AttemptRow, reason: string): void {
  for (const card of tx.rows.approvals.ofTask(attempt.task_id)) {
    const its = card.kind === "tool_call" || card.kind === "gate";
    if (card.status === "pending" && card.attempt_id === attempt.id && its) takeBack(tx, card, reason, {});
  }
}
