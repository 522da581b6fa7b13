/** What a no does, by the kind of its card: its words reach whoever asked as they were written. [DEC-*] */
import { hashOfCall } from "./ask-log.ts";
import { refuseBudget } from "./budgets.ts";
import { dropped } from "./dropped.ts";
import { dropHeld } from "./held.ts";
import { endAttempt } from "./ladder.ts";
import { giveUpItem, proceed } from "./progress.ts";
import type { ApprovalRow } from "./rows.ts";
import { attemptAndItem, type Scene } from "./scene.ts";
import { askForChanges, cancelTask } from "./tasks.ts";
import { goesOnWithout } from "./without.ts";

export const denied: Record<ApprovalRow["kind"], (scene: Scene) => void> = {
  plan(scene) {
    const { tx, task, card, decision } = scene;
    const plan = card.plan_id === null ? null : tx.rows.plans.get(card.plan_id);
    if (decision.decision === "request_changes") {
      if (plan !== null) tx.rows.plans.put({ ...plan, status: "superseded" });
      askForChanges(tx, task, scene.caller, { card, comment: decision.comment });
      return;
    }
    if (plan !== null) tx.rows.plans.put({ ...plan, status: "denied" });
    const ended = tx.finish(task, "denied", { reason: decision.comment, actor: scene.caller.subject });
    tx.status(ended, "failed", {
      detail: `denied: ${decision.comment ?? ""}`,
      attempt: null,
      error_code: "approval_denied",
    });
  },
  tool_call(scene) {
    const { tx, task, card, decision } = scene;
    const found = attemptAndItem(scene);
    const call = tx.rows.calls.get(`${card.attempt_id}/${card.call_id}`);
    if (call !== null) {
      tx.rows.calls.put({ ...call, state: "refused" });
      const said = { by: scene.caller.subject, reason: decision.comment ?? "" };
      tx.stores.asks.refused({ task_id: task.id, call_hash: hashOfCall(call) }, said, tx.now);
    }
    if (decision.decision === "deny" && decision.stop) {
      cancelTask(tx, scene.caller, task, decision.comment);
      return;
    }
    if (found === null || found.attempt.state !== "suspended") return;
    if (goesOnWithout(tx, task, found, { denied: decision.comment ?? "" })) return;
    const reason = `the call was denied: ${decision.comment ?? ""}`;
    endAttempt(tx, task, found.attempt, {
      end: { kind: "error", error_code: "approval_denied", retryable: false },
      detail: reason,
    });
  },
  gate(scene) {
    const { tx, task, card, decision, caller } = scene;
    const held = tx.rows.held.get(card.id);
    const no = { reason: decision.comment ?? "", actor: caller.subject, error_code: "approval_denied" } as const;
    if (held !== null) return dropHeld(tx, task, held, no);
    const found = attemptAndItem(scene);
    if (found === null || found.attempt.state !== "executed") return;
    const reason = `the result was not let through: ${decision.comment ?? ""}`;
    endAttempt(tx, task, found.attempt, {
      end: { kind: "error", error_code: "gate_blocked", retryable: false },
      detail: reason,
    });
  },
  escalation(scene) {
    const { tx, task, card, decision, prepared } = scene;
    const item = card.work_item_id === null ? null : tx.rows.items.get(card.work_item_id);
    if (item !== null) {
      giveUpItem(tx, task, item);
      proceed(tx, task, prepared.verified);
      return;
    }
    tx.finish(task, "denied", { reason: decision.comment, actor: scene.caller.subject });
  },
  dead_letter({ tx, task, card }) {
    dropped(tx, task, card);
  },
  budget({ tx, task, card, decision, prepared }) {
    refuseBudget(tx, task, card, { reason: decision.comment ?? "denied", verified: prepared.verified });
  },
};
