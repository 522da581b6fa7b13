/**
 * A person's decision. What must be signed is prepared before the transaction; inside it the card is read again,
 * the decision taken, and decided, issued, verified, attached and what follows are one commit. [DEC-*]
 */
import { decide } from "../../src/domain/approval.ts";
import type { Decision } from "../../src/domain/approval-view.ts";
import { approvalsOf, type Deciding, hasExpired, type Made } from "../../src/domain/deciding.ts";
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import { saidHash } from "../../src/domain/said.ts";
import { standingOfSubject } from "../../src/domain/standing-subject.ts";
import { isFinal } from "../../src/domain/task.ts";
import type { Caller } from "../../src/domain/view.ts";
import { approved } from "./approved.ts";
import { denied } from "./denied.ts";
import { expire } from "./expiry.ts";
import { commentRefused } from "./gates.ts";
import { rememberDecision } from "./memory.ts";
import { decidingBy, needsFor } from "./needs.ts";
import type { ApprovalRow, TaskRow } from "./rows.ts";
import type { Prepared, Scene } from "./scene.ts";
import { isStillTrue } from "./shown.ts";
import { approversHash } from "./tokens.ts";
import type { Tx } from "./tx.ts";

/** `again`: somebody else approved, or the policy changed, since the tokens were signed. Prepare anew. */
export function takeDecision(
  tx: Tx,
  caller: Caller,
  given: ApprovalRow,
  decision: Decision,
  prepared: Prepared,
): Result<ApprovalRow> | "again" {
  // Its time is over, although no alarm has said so yet: that came first.
  const card = hasExpired(given, tx.now) ? expire(tx, given, prepared.verified) : given;
  const task = tx.rows.tasks.get(card.task_id);
  const status = possible(tx, { caller, card, decision, task });
  if (!status.ok) {
    tx.audit("approval", task ?? { trace_id: "" }, {
      actor: "user",
      decision: "refused",
      reason: status.refusal.detail,
      details: { approval_id: card.id, by: caller.subject },
    });
    return status;
  }
  const said = madeBy(tx.scope.scope_id, card, decidingBy(tx.stores, caller), decision, prepared.at);
  const decisions = [...card.decisions, said];
  const needs = needsFor(tx.stores, tx.scope.policy.approvals, card);
  if (status.value === "approved" && prepared.signed_for !== approversHash(approvalsOf(needs, { ...card, decisions })))
    return "again";
  const about = { approval_id: card.id, kind: card.kind, content_hash: card.content_hash, by: caller.subject };
  const link = said.link_by === undefined ? {} : { link_made_by: said.link_by };
  const fallen = { ...link, ...(needs.revoked === undefined ? {} : { not_counted: needs.revoked }) };
  if (status.value === "pending") {
    const waiting = tx.rows.approvals.put({ ...card, decisions });
    const counted = { approvals: approvalsOf(needs, waiting).length, needed: needs.approvers, proof: said.proof };
    if (task === null) return ok(waiting);
    tx.audit("approval", task, {
      ...{ actor: "user", decision: "approve", reason: decision.comment },
      details: { ...about, ...counted, ...fallen },
    });
    const detail = `Approved by one of ${needs.approvers}. Another person must approve it too.`;
    tx.event("approval_recorded", task, {
      ...{ actor: caller.subject, surfaces: ["review"], detail },
      ...about,
      ...counted,
    });
    return ok(waiting);
  }
  const winner = { by: caller.subject, what: decision.decision, at: said.at, reason: decision.comment };
  const settled = { status: status.value, life: "decided", resolved_at: tx.at, decisions, winner } as const;
  const decided = tx.rows.approvals.put({ ...card, ...settled });
  if (task === null) return ok(decided);
  tx.audit("approval", task, {
    ...{ actor: standingOfSubject(caller.subject) === null ? "user" : "approval_engine", decision: decision.decision },
    reason: decision.comment,
    details: { ...about, proof: said.proof, ...fallen },
  });
  tx.event("approval_resolved", task, {
    actor: caller.subject,
    surfaces: ["review", "stream"],
    detail: inWords(card, decision),
    status: status.value,
    ...about,
  });
  if (standingOfSubject(caller.subject) === null)
    rememberDecision(tx, task, decided, { what: decision.decision, comment: decision.comment });
  const scene: Scene = { tx, caller, card: decided, decision, task, prepared };
  if (isFinal(task.status)) return ok(decided);
  if (decision.decision === "approve") approved[card.kind](scene);
  else denied[card.kind](scene);
  return ok(tx.rows.approvals.get(card.id) ?? decided);
}

function possible(
  tx: Tx,
  asked: { caller: Caller; card: ApprovalRow; decision: Decision; task: TaskRow | null },
): ReturnType<typeof decide> {
  const { caller, card, decision, task } = asked;
  // They were let in before the signatures were made, which takes time.
  if (tx.stores.people.isRevoked(caller.credential_id))
    return refuse("unauthenticated", "Your token was revoked while you decided: nothing was decided.");
  const needs = needsFor(tx.stores, tx.scope.policy.approvals, card);
  const status = decide(card, decision, { caller: decidingBy(tx.stores, caller), needs });
  const asShown =
    decision.decision !== "approve" || task === null || isStillTrue(tx.rows, tx.scope.scope_id, task, card);
  if (status.ok && asShown) return (task === null ? null : commentRefused(tx, caller, card, task, decision)) ?? status;
  if (!status.ok) return status;
  return refuse("content_changed", "What is stored is not what this card shows. Deny it.", {
    content_hash: card.content_hash,
  });
}

/** The decision as it is stored and signed. */
export function madeBy(scope_id: string, card: ApprovalRow, caller: Deciding, decision: Decision, at: string): Made {
  const { content_hash, comment } = decision;
  const link = caller.link_by === undefined ? {} : { link_by: caller.link_by };
  const made = {
    decision: decision.decision,
    by: caller.subject,
    comment,
    at,
    proof: caller.via,
    content_hash,
    ...link,
  };
  return { ...made, said: saidHash(scope_id, card.id, made) };
}

function inWords(card: ApprovalRow, decision: Decision): string {
  if (decision.decision === "approve") return card.kind === "plan" ? "Approved, executing now." : "Approved, going on.";
  return decision.decision === "deny" ? `Denied: ${decision.comment}` : `Changes asked for: ${decision.comment}`;
}

/** A nonce that follows from its bytes, in hex: 128 bits. */
export function nonceOf(bytes: Uint8Array): string {
  return Array.from(bytes.slice(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
