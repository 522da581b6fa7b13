/**
 * What a decision needs before its transaction: the time it is given, and, when it is the last yes needed, one signed
 * token a subject, each naming everybody who approved. A first yes of two signs nothing. [DEC-40] [DEC-42]
 */
import { decide } from "../../src/domain/approval.ts";
import type { Decision } from "../../src/domain/approval-view.ts";
import { approvalsOf } from "../../src/domain/deciding.ts";
import type { Caller } from "../../src/domain/view.ts";
import { madeBy } from "./decisions.ts";
import { decidingBy, needsFor } from "./needs.ts";
import type { ApprovalRow } from "./rows.ts";
import type { Prepared } from "./scene.ts";
import type { Scope } from "./scope.ts";
import type { Signatures } from "./signatures.ts";
import { approversHash } from "./tokens.ts";

export async function prepare(
  scope: Scope,
  signatures: Signatures,
  asked: { caller: Caller; card: ApprovalRow; decision: Decision },
): Promise<Prepared> {
  const { card, decision } = asked;
  const caller = decidingBy(scope.stores, asked.caller);
  const at = new Date(Date.now()).toISOString();
  const needs = needsFor(scope.stores, scope.policies.inForce().policy.approvals, card);
  const status = decide(card, decision, { caller, needs });
  if (!status.ok || status.value !== "approved")
    return { issued: new Map(), verified: await signatures.ofTask(card.task_id), at, signed_for: null };
  const made = madeBy(caller.scope_id, card, caller, decision, at);
  const approvers = approvalsOf(needs, { ...card, decisions: [...card.decisions, made] });
  const issued = await signatures.issueFor(caller, card, approvers);
  const known = await signatures.ofTask(card.task_id);
  return { issued, verified: new Set([...known, ...issued.values()]), at, signed_for: approversHash(approvers) };
}
