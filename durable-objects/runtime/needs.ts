/** What is demanded now of whoever decides a stored card. [APP-40] */
import { type Needs, needsOf } from "../../src/domain/deciding.ts";
import type { ApprovalRules } from "../../src/domain/policy-approvals.ts";
import type { ApprovalRow, ScopeRows } from "./rows.ts";

export function needsFor(rows: ScopeRows, rules: ApprovalRules, card: ApprovalRow): Needs {
  const plan = card.kind === "plan" && card.plan_id !== null ? rows.plans.get(card.plan_id) : null;
  const created_by = rows.tasks.get(card.task_id)?.created_by ?? null;
  return needsOf(rules, card, { created_by, plan_version: plan?.version ?? 0 });
}
