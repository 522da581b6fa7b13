/** What is demanded now of whoever decides a stored card, and whose yes to it fell with their token. [APP-40] [DEC-70] */
import { type Deciding, linkBy, type Needs, needsOf } from "../../src/domain/deciding.ts";
import type { ApprovalRules } from "../../src/domain/policy-approvals.ts";
import type { Caller } from "../../src/domain/view.ts";
import type { ApprovalRow } from "./rows.ts";
import type { ScopeStores } from "./tx.ts";

export type NeedsStores = Pick<ScopeStores, "rows" | "people">;

export function needsFor({ rows, people }: NeedsStores, rules: ApprovalRules, card: ApprovalRow): Needs {
  const plan = card.kind === "plan" && card.plan_id !== null ? rows.plans.get(card.plan_id) : null;
  const created_by = rows.tasks.get(card.task_id)?.created_by ?? null;
  const needs = needsOf(rules, card, { created_by, plan_version: plan?.version ?? 0 });
  // What is over stays as it was decided.
  const said = card.status === "pending" ? card.decisions.filter(({ decision }) => decision === "approve") : [];
  const revoked = [...new Set(said.map(({ by }) => by))].filter((by) => people.hasLost(by));
  return revoked.length === 0 ? needs : { ...needs, revoked };
}
/** With whoever else made the link of their session. [APP-49] */
export function decidingBy({ people }: Pick<NeedsStores, "people">, caller: Caller): Caller & Deciding {
  return { ...caller, ...linkBy(caller.subject, people.makerOf(caller.credential_id)) };
}
