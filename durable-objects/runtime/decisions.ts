/**
 * A person's decision. What must be signed is prepared before the transaction; inside it the card is read again,
 * the decision taken, and decided, issued, verified, attached and what follows are one commit. [DEC-*]
 */
import { decide, stepLife } from "../../src/domain/approval.ts";
import { parsePlan } from "../../src/domain/plan.ts";
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import { isFinal } from "../../src/domain/task.ts";
import type { Caller, Decision } from "../../src/domain/view.ts";
import { approvedPlan, dispatch, itemsOf, newAttempt, resumeAttempt } from "./dispatch.ts";
import { dropped } from "./dropped.ts";
import { endAttempt } from "./ladder.ts";
import { verify } from "./merging.ts";
import { storePlan } from "./plans.ts";
import { giveUpItem, proceed } from "./progress.ts";
import type { ApprovalRow, AttemptRow, ItemRow, TaskRow } from "./rows.ts";
import { isStillTrue } from "./shown.ts";
import { cancelTask, userMessage } from "./tasks.ts";
import type { VerifiedTokens } from "./tokens.ts";
import type { Tx } from "./tx.ts";

/** Signed tokens by the key of their subject, and the good ones among all tokens of the task. */
export interface Prepared {
  readonly issued: ReadonlyMap<string, string>;
  readonly verified: VerifiedTokens;
}

export function takeDecision(
  tx: Tx,
  caller: Caller,
  card: ApprovalRow,
  decision: Decision,
  prepared: Prepared,
): Result<ApprovalRow> {
  const task = tx.rows.tasks.get(card.task_id);
  const asShown =
    decision.decision !== "approve" || task === null || isStillTrue(tx.rows, tx.scope.scope_id, task, card);
  const possible = decide(card, decision);
  const status =
    possible.ok && !asShown
      ? refuse("content_changed", "What is stored is not what this card shows. Deny it.", {
          content_hash: card.content_hash,
        })
      : possible;
  if (!status.ok) {
    tx.audit("approval", task ?? { trace_id: "" }, {
      actor: "user",
      decision: "refused",
      reason: status.refusal.detail,
      details: { approval_id: card.id, by: caller.subject },
    });
    return status;
  }
  const said = { decision: decision.decision, by: caller.subject, comment: decision.comment, at: tx.at };
  const decided = tx.rows.approvals.put({
    ...card,
    status: status.value,
    life: "decided",
    resolved_at: tx.at,
    decisions: [...card.decisions, said],
  });
  const about = { approval_id: card.id, kind: card.kind, content_hash: card.content_hash, by: caller.subject };
  if (task === null) return ok(decided);
  tx.audit("approval", task, { actor: "user", decision: decision.decision, reason: decision.comment, details: about });
  tx.event("approval_resolved", task, {
    actor: caller.subject,
    surfaces: ["review", "stream"],
    detail: inWords(card, decision),
    status: status.value,
    ...about,
  });
  const scene: Scene = { tx, caller, card: decided, decision, task, prepared };
  if (isFinal(task.status)) return ok(decided);
  if (decision.decision === "approve") approved[card.kind](scene);
  else denied[card.kind](scene);
  return ok(tx.rows.approvals.get(card.id) ?? decided);
}

interface Scene {
  readonly tx: Tx;
  readonly caller: Caller;
  readonly card: ApprovalRow;
  readonly decision: Decision;
  readonly task: TaskRow;
  readonly prepared: Prepared;
}

function inWords(card: ApprovalRow, decision: Decision): string {
  if (decision.decision === "approve") return card.kind === "plan" ? "Approved, executing now." : "Approved, going on.";
  return decision.decision === "deny" ? `Denied: ${decision.comment}` : `Changes asked for: ${decision.comment}`;
}

/** The token of a subject: issued, its nonce consumed by its first verification, attached. Null when the rows moved since it was signed. */
function attach({ tx, task, card, prepared }: Scene, key: string): string | null {
  const jws = prepared.issued.get(key);
  if (jws === undefined) return null;
  const details = { approval_id: card.id, subject: key };
  tx.audit("approval", task, { actor: "approval_engine", decision: "issued", details });
  tx.audit("verify", task, { actor: "approval_engine", decision: "consumed", details });
  return jws;
}
function attachedLife(card: ApprovalRow): ApprovalRow["life"] {
  let life = card.life;
  for (const event of ["issue", "verify", "attach"] as const) {
    const next = stepLife(life, event);
    if (next.ok) life = next.value;
  }
  return life;
}

function attemptAndItem({ tx, card }: Scene): { attempt: AttemptRow; item: ItemRow } | null {
  const attempt = card.attempt_id === null ? null : tx.rows.attempts.get(card.attempt_id);
  const item = attempt === null ? null : tx.rows.items.get(attempt.work_item_id);
  return attempt === null || item === null ? null : { attempt, item };
}

const approved: Record<ApprovalRow["kind"], (scene: Scene) => void> = {
  plan(scene) {
    const { tx, task, card } = scene;
    const plan = card.plan_id === null ? null : tx.rows.plans.get(card.plan_id);
    if (plan === null) return;
    const going = tx.rows.plans.put({ ...plan, status: "approved" });
    for (const item of itemsOf(tx, going)) {
      const jws = attach(scene, item.id);
      tx.rows.items.put({
        ...item,
        grant: jws === null ? null : { jws, approval_id: card.id, life: "attached", void_reason: null },
      });
    }
    tx.rows.approvals.put({ ...card, life: attachedLife(card) });
    dispatch(tx, task);
    tx.touch(task);
  },
  tool_call(scene) {
    const { tx, task, card } = scene;
    const found = attemptAndItem(scene);
    const plan = approvedPlan(tx, task);
    const call = tx.rows.calls.get(`${card.attempt_id}/${card.call_id}`);
    if (found === null || plan === null || call === null || found.attempt.state !== "suspended") return;
    const jws = attach(scene, call.id);
    const grant = jws === null ? null : { jws, approval_id: card.id, life: "attached" as const, void_reason: null };
    tx.rows.calls.put({
      ...call,
      state: grant === null ? "waiting" : "allowed",
      tree: card.card.tool?.workspace_tree ?? null,
      grant,
    });
    tx.rows.approvals.put({ ...card, life: attachedLife(card) });
    resumeAttempt(tx, task, plan, found.item, found.attempt);
    tx.touch(task);
  },
  gate(scene) {
    const { tx, task, card, prepared } = scene;
    const found = attemptAndItem(scene);
    if (found === null || found.attempt.state !== "executed") return;
    attach(scene, found.attempt.id);
    tx.rows.approvals.put({ ...card, life: attachedLife(card) });
    verify(tx, task, found.item, { ...found.attempt, gate_passed: true }, prepared.verified);
  },
  escalation(scene) {
    const { tx, task, card, decision, prepared } = scene;
    const plan = approvedPlan(tx, task);
    const item = card.work_item_id === null ? null : tx.rows.items.get(card.work_item_id);
    if (plan !== null && item !== null) {
      const comment =
        decision.comment === null || decision.comment === "" ? [] : [`A person said: ${decision.comment}`];
      newAttempt(
        tx,
        task,
        plan,
        tx.rows.items.put({ ...item, extra: item.extra + 1, guidance: [...item.guidance, ...comment].slice(-10) }),
      );
      proceed(tx, task, prepared.verified);
      return;
    }
    const last = card.plan_id === null ? null : tx.rows.plans.get(card.plan_id);
    const reading = last === null ? null : parsePlan(last.markdown);
    if (last !== null && reading?.ok === true)
      storePlan(tx, task, {
        cause: card.id,
        markdown: last.markdown,
        base_commit: last.base_commit,
        plan: reading.plan,
      });
  },
  dead_letter({ tx, task, card }) {
    if (card.message_id !== null) {
      tx.stores.outbox.revive(card.message_id, tx.now);
      tx.facts(tx.stores.queue.requeueDead("runtime_queue", card.message_id, tx.now).facts);
      for (const name of [card.agent_id, card.recipient]) if (isAgent(name)) tx.revive(task.id, name, card.message_id);
    }
    tx.touch(task);
  },
  budget({ tx, task }) {
    tx.touch(task);
  },
};

const denied: Record<ApprovalRow["kind"], (scene: Scene) => void> = {
  plan(scene) {
    const { tx, task, card, decision } = scene;
    const plan = card.plan_id === null ? null : tx.rows.plans.get(card.plan_id);
    if (decision.decision === "request_changes") {
      if (plan !== null) tx.rows.plans.put({ ...plan, status: "superseded" });
      const text = `Change the plan: ${decision.comment}`;
      userMessage(tx, task, {
        cause: card.id,
        text,
        plan: null,
        more: { revise: true, previous_plan: card.plan_id ?? "" },
      });
      tx.touch(task);
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
    if (call !== null) tx.rows.calls.put({ ...call, state: "refused" });
    if (decision.decision === "deny" && decision.stop) {
      cancelTask(tx, scene.caller, task, decision.comment);
      return;
    }
    if (found === null || found.attempt.state !== "suspended") return;
    const reason = `the call was denied: ${decision.comment ?? ""}`;
    endAttempt(tx, task, found.attempt, {
      end: { kind: "error", error_code: "approval_denied", retryable: false },
      detail: reason,
    });
  },
  gate(scene) {
    const { tx, task, decision } = scene;
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
  budget({ tx, task, decision }) {
    tx.finish(task, "failed", { reason: decision.comment, error_code: "budget_exceeded" });
  },
};

/** Whether messages of that name wait in an agent's object, and not in the runtime's. */
function isAgent(name: string | null): name is string {
  return name !== null && !["user", "runtime", "runtime_queue", "executor_queue"].includes(name);
}

/** A nonce that follows from its bytes, in hex: 128 bits. */
export function nonceOf(bytes: Uint8Array): string {
  return Array.from(bytes.slice(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
