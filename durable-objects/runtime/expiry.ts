/**
 * A card that nobody decided in its time: it ends as expired, never as denied, and whoever waited for it is told so,
 * in one commit. [APP-45] [DEC-47] [DEC-48]
 */

import { isFinal } from "../../src/domain/task.ts";
import { refuseBudget } from "./budgets.ts";
import { dropped } from "./dropped.ts";
import { dropHeld } from "./held.ts";
import { endAttempt } from "./ladder.ts";
import { giveUpItem, proceed } from "./progress.ts";
import type { ApprovalRow, TaskRow } from "./rows.ts";
import { attemptAndItem } from "./scene.ts";
import type { VerifiedTokens } from "./tokens.ts";
import type { Tx } from "./tx.ts";
import { goesOnWithout } from "./without.ts";

/** Returns the card as it ended. Its task, if it goes on, does so without it. */
export function expire(tx: Tx, card: ApprovalRow, verified: VerifiedTokens): ApprovalRow {
  const reason = `the approval expired: nobody decided by ${card.expires_at}`;
  const winner = { by: "runtime", what: "expire", at: tx.at, reason } as const;
  const ended = tx.rows.approvals.put({ ...card, status: "expired", life: "void", resolved_at: tx.at, winner });
  const task = tx.rows.tasks.get(card.task_id);
  const about = { approval_id: card.id, kind: card.kind, content_hash: card.content_hash };
  tx.audit("approval", task ?? { trace_id: "" }, {
    actor: "approval_engine",
    decision: "expired",
    reason,
    details: { ...about, expires_at: card.expires_at, approvals: card.decisions.length },
  });
  tx.event("approval_resolved", task, {
    surfaces: ["review", "stream"],
    detail: `Expired: ${reason}`,
    status: "expired",
    ...about,
  });
  if (task !== null && !isFinal(task.status)) whenExpired[card.kind]({ tx, card: ended, task, reason, verified });
  return tx.rows.approvals.get(card.id) ?? ended;
}

interface Ended {
  readonly tx: Tx;
  readonly card: ApprovalRow;
  readonly task: TaskRow;
  readonly reason: string;
  readonly verified: VerifiedTokens;
}

/** Like a no, but for the word: asking once more would meet the same silence, so nothing retries by itself. */
const whenExpired: Record<ApprovalRow["kind"], (ended: Ended) => void> = {
  plan({ tx, task, card, reason }) {
    const plan = card.plan_id === null ? null : tx.rows.plans.get(card.plan_id);
    if (plan !== null) tx.rows.plans.put({ ...plan, status: "superseded" });
    endTask(tx, task, reason);
  },
  tool_call(ended) {
    const { tx, card } = ended;
    const call = tx.rows.calls.get(`${card.attempt_id}/${card.call_id}`);
    if (call !== null) tx.rows.calls.put({ ...call, state: "void" });
    const found = attemptAndItem(ended);
    const loop = found?.attempt.state === "suspended" ? found : null;
    if (loop !== null && goesOnWithout(tx, ended.task, loop, { unanswered: ended.reason })) return;
    endAttemptOf(ended, "suspended");
  },
  gate(ended) {
    const { tx, task, card, reason } = ended;
    const held = tx.rows.held.get(card.id);
    if (held !== null) return dropHeld(tx, task, held, { reason, actor: "runtime", error_code: "timeout" });
    endAttemptOf(ended, "executed");
  },
  escalation({ tx, task, card, reason, verified }) {
    const item = card.work_item_id === null ? null : tx.rows.items.get(card.work_item_id);
    if (item === null) return endTask(tx, task, reason);
    giveUpItem(tx, task, item);
    proceed(tx, task, verified);
  },
  dead_letter({ tx, task, card }) {
    dropped(tx, task, card, "nobody decided in time about its");
  },
  budget({ tx, task, card, reason, verified }) {
    refuseBudget(tx, task, card, { reason, verified });
  },
};

function endTask(tx: Tx, task: TaskRow, reason: string): void {
  const error_code = "timeout";
  const ended = tx.finish(task, "failed", { reason, error_code });
  tx.status(ended, "failed", { detail: reason, attempt: null, error_code });
}
function endAttemptOf({ tx, task, card, reason }: Ended, waiting: "suspended" | "executed"): void {
  const found = attemptAndItem({ tx, card });
  if (found === null || found.attempt.state !== waiting) return;
  const end = { kind: "error", error_code: "timeout", retryable: false } as const;
  endAttempt(tx, task, found.attempt, { end, detail: reason });
}
