/** What a yes does, by the kind of its card: tokens issued and attached, and what waited goes on, in the decision's commit. [DEC-*] */
import { parsePlan } from "../../src/domain/plan.ts";
import { grantBudget } from "./budgets.ts";
import { approvedPlan, dispatch, itemsOf, newAttempt, resumeAttempt } from "./dispatch.ts";
import { letThrough } from "./held.ts";
import { lived } from "./lives.ts";
import { rememberPlan } from "./memory.ts";
import { verify } from "./merging.ts";
import { storePlan } from "./plans.ts";
import { proceed } from "./progress.ts";
import { supersedeOthers } from "./replan.ts";
import type { ApprovalRow } from "./rows.ts";
import { attemptAndItem, type Scene } from "./scene.ts";
import { aboutToken, consumeToken } from "./tokens.ts";

/** The token of a subject: issued, its nonce consumed by its first verification, attached. Null when the rows moved since it was signed. */
function attach({ tx, task, card, prepared }: Scene, key: string): string | null {
  const jws = prepared.issued.get(key);
  if (jws === undefined) return null;
  const token = { approval_id: card.id, subject: key, jws };
  tx.audit("approval", task, { actor: "approval_engine", decision: "issued", details: aboutToken(token) });
  return consumeToken(tx, task, token) ? jws : null;
}
function attached(card: ApprovalRow): ApprovalRow {
  return { ...card, life: lived(card.life, ["issue", "verify", "attach"]) };
}

export const approved: Record<ApprovalRow["kind"], (scene: Scene) => void> = {
  plan(scene) {
    const { tx, task, card } = scene;
    const plan = card.plan_id === null ? null : tx.rows.plans.get(card.plan_id);
    if (plan === null) return;
    const going = tx.rows.plans.put({ ...plan, status: "approved" });
    supersedeOthers(tx, task, going);
    rememberPlan(tx, task, going);
    for (const item of itemsOf(tx, going)) {
      const jws = attach(scene, item.id);
      tx.rows.items.put({
        ...item,
        grant: jws === null ? null : { jws, approval_id: card.id, life: "attached", void_reason: null },
      });
    }
    tx.rows.approvals.put(attached(card));
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
    tx.rows.approvals.put(attached(card));
    resumeAttempt(tx, task, plan, found.item, found.attempt);
    tx.touch(task);
  },
  gate(scene) {
    const { tx, task, card, prepared } = scene;
    const held = tx.rows.held.get(card.id);
    if (held !== null) return letThrough(tx, task, card, held);
    const found = attemptAndItem(scene);
    if (found === null || found.attempt.state !== "executed") return;
    attach(scene, found.attempt.id);
    tx.rows.approvals.put(attached(card));
    verify(tx, task, found.item, { ...found.attempt, gate_passed: true }, prepared.verified);
  },
  escalation(scene) {
    const { tx, task, card, decision, prepared } = scene;
    const plan = approvedPlan(tx, task);
    const item = card.work_item_id === null ? null : tx.rows.items.get(card.work_item_id);
    if (plan !== null && item !== null) {
      const comment =
        decision.comment === null || decision.comment === "" ? [] : [`A person said: ${decision.comment}`];
      const jws = attach(scene, item.id);
      const grant =
        jws === null ? item.grant : { jws, approval_id: card.id, life: "attached" as const, void_reason: null };
      if (jws !== null) tx.rows.approvals.put(attached(card));
      const guidance = [...item.guidance, ...comment].slice(-10);
      newAttempt(tx, task, plan, tx.rows.items.put({ ...item, grant, extra: item.extra + 1, guidance }));
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
  budget({ tx, task, card, decision }) {
    grantBudget(tx, task, card, decision);
  },
};

/** Whether messages of that name wait in an agent's object, and not in the runtime's. */
function isAgent(name: string | null): name is string {
  return name !== null && !["user", "runtime", "runtime_queue", "executor_queue"].includes(name);
}
