/**
 * A plan stored as the exact bytes it came in and put before a person, and cards in general. [PLAN-R*]
 */

import { cardTitle, emptyCard } from "../../src/domain/approval.ts";
import type { Card } from "../../src/domain/approval-view.ts";
import { besideAsked, besideDefault, spentWords } from "../../src/domain/asked-budget.ts";
import { sha256Hex } from "../../src/domain/canonical.ts";
import { expiryOf } from "../../src/domain/deciding.ts";
import { derivedId } from "../../src/domain/ids.ts";
import type { Plan } from "../../src/domain/plan.ts";
import { remarksOn } from "../../src/domain/plan-remarks.ts";
import { keepTaint } from "../../src/domain/taint.ts";
import { contentHash } from "../../src/domain/token.ts";
import { visibleLine } from "../../src/domain/visible.ts";
import { spendingOf } from "./accounts.ts";
import { replaces } from "./replan.ts";
import type { ApprovalRow, ItemRow, PlanRow, TaskRow } from "./rows.ts";
import { shownItem } from "./shown-item.ts";
import { itemSubject } from "./tokens.ts";
import type { Tx } from "./tx.ts";

/** Puts a plan in review. An earlier version, its card and its tokens give way to it. */
export function storePlan(
  tx: Tx,
  task: TaskRow,
  given: { cause: string; markdown: string; base_commit: string; plan: Plan },
): void {
  const { rows } = tx;
  const earlier = rows.plans.ofTask(task.id);
  for (const plan of earlier) if (plan.status === "in_review") rows.plans.put({ ...plan, status: "superseded" });
  // What a person said is not over because a plan came.
  for (const card of rows.approvals.ofTask(task.id))
    if (card.status === "pending" && rows.held.get(card.id) === null) tx.supersede(card, "a newer plan came");

  const { plan } = given;
  const hash = sha256Hex(given.markdown);
  const id = `p${derivedId(given.cause, "plan", 0).slice(0, 15)}`;
  const stored = rows.plans.put({
    id,
    task_id: task.id,
    version: earlier.length + 1,
    status: "in_review",
    title: plan.title,
    goal: plan.goal,
    plan_hash: hash,
    markdown: given.markdown,
    base_commit: given.base_commit,
    environment: plan.environment,
    minutes: plan.budget.minutes,
    budget: { tokens: plan.budget.tokens, usd: plan.budget.usd },
    // Put in review again, it is still that model's.
    written_by: earlier.find(({ plan_hash }) => plan_hash === hash)?.written_by ?? writerOf(tx, task, given.cause),
  });
  // What is merged already stays where it is: the branch goes on from there.
  const base_commit = task.tip === null ? given.base_commit : task.base_commit;
  const routed = { ...task, routed: true, base_commit };
  const items = plan.items.map((spec, ord) => {
    const item: ItemRow = {
      id: `${id}.${spec.id}`,
      task_id: task.id,
      plan_id: id,
      ord,
      spec,
      item_hash: "",
      state: "slung",
      outcome: "open",
      attempts: 0,
      counted: 0,
      uncounted: 0,
      extra: 0,
      consulted: false,
      guidance: [],
      planner_guidance: [],
      grant: null,
    };
    const subject = itemSubject(tx.scope.scope_id, routed, stored, item);
    return rows.items.put({ ...item, item_hash: subject.type === "work_item" ? subject.item_hash : "" });
  });
  tx.event("plan_ready", task, { surfaces: ["review"], detail: plan.title, plan_id: id, version: stored.version });
  const card = ask(tx, routed, {
    cause: given.cause,
    card: planCard(tx, routed, stored, plan, items),
    rule: "plans are approved by a person",
    plan_id: id,
  });
  tx.stores.standing.consider(card.id, tx.now);
  tx.touch(routed);
}

/** The run whose answer the plan is, if it asked a model: what answered it last. */
function writerOf(tx: Tx, task: TaskRow, cause: string): string | null {
  const said = tx.rows.thoughts.ofTask(task.id).findLast(({ run_id, model, failure }) => {
    return model !== null && failure === null && derivedId(run_id, "plan_result", 0) === cause;
  });
  return said === undefined ? null : `the planner, prompt ${said.prompt}, model ${said.model}`;
}
function wroteIt({ written_by }: PlanRow): string[] {
  return written_by === null ? [] : [`Written by a model, not by a person: ${written_by}`];
}
function besideGiven(tx: Tx, { id, budget, created_by }: TaskRow, asked: Plan["budget"]): string[] {
  const words = besideAsked(budget, asked)?.words ?? besideDefault(budget, asked);
  const { unknown_price, ...spent } = spendingOf(tx.rows, id);
  const gone = spentWords(budget, spent, unknown_price);
  return [...(words === null ? [] : [`${visibleLine(created_by)} ${words}`]), ...(gone === null ? [] : [gone])];
}

function planCard(tx: Tx, task: TaskRow, stored: PlanRow, plan: Plan, items: readonly ItemRow[]): Card {
  return {
    ...emptyCard({
      kind: "plan",
      title: cardTitle("plan", task, plan.title),
      why: "Nothing of a plan runs before a person has approved it.",
      repo: task.repo,
      taint: task.taint,
      policy_hash: tx.scope.policy_hash,
      requested_by: task.created_by,
    }),
    base_commit: stored.base_commit,
    publishes: task.branch,
    goal: stored.goal,
    plan_hash: stored.plan_hash,
    environment: stored.environment,
    items: items.map(shownItem),
    facts: [
      ...wroteIt(stored),
      ...besideGiven(tx, task, plan.budget),
      ...replaces(tx, task),
      ...remarksOn(plan, tx.scope.policy, task.taint, tx.scope),
    ],
    budget: plan.budget,
  };
}

/** Whoever decides sees who asked and where, what is hidden in their words, and what was changed of them since. */
function withOrigin(tx: Tx, { id, asked }: TaskRow, card: Card): Card & Required<Pick<Card, "taint_sources">> {
  const whole = { ...card, taint_sources: card.taint_sources ?? [] };
  if (asked === null) return whole;
  const { by, where, hidden } = asked;
  const changes = tx.stores.github.thread(id)?.edits.map(({ fact }) => fact) ?? [];
  const facts = [...changes.filter((fact) => !card.facts.includes(fact)), ...card.facts];
  return { ...whole, facts, asked_by: { by, where }, ...(hidden.length === 0 ? {} : { hidden }) };
}

/** Puts a card before a person. The same cause asks once. */
export function ask(
  tx: Tx,
  task: TaskRow,
  asked: { cause: string; card: Card; rule: string } & Partial<
    Pick<
      ApprovalRow,
      "plan_id" | "work_item_id" | "attempt_id" | "call_id" | "message_id" | "recipient" | "message_kind"
    >
  >,
): ApprovalRow {
  const stored = tx.rows.tasks.get(task.id) ?? task;
  const card = keepTaint(stored, withOrigin(tx, stored, asked.card));
  const id = `a${derivedId(asked.cause, `card:${card.kind}`, 0).slice(0, 15)}`;
  const known = tx.rows.approvals.get(id);
  if (known !== null) return known;
  const row = tx.rows.approvals.put({
    id,
    kind: card.kind,
    task_id: task.id,
    agent_id: card.requested_by,
    tool_name: card.tool?.name ?? null,
    arguments: card.tool?.arguments ?? null,
    requested_at: tx.at,
    status: "pending",
    resolved_at: null,
    card,
    content_hash: contentHash(card),
    rule: asked.rule,
    decisions: [],
    // Stored, so that a policy edited later neither shortens nor lengthens what was asked already.
    expires_at: expiryOf(tx.scope.policy.approvals, card.kind, tx.now),
    winner: null,
    life: "requested",
    plan_id: asked.plan_id ?? null,
    work_item_id: asked.work_item_id ?? null,
    attempt_id: asked.attempt_id ?? null,
    call_id: asked.call_id ?? null,
    message_id: asked.message_id ?? null,
    recipient: asked.recipient ?? null,
    message_kind: asked.message_kind ?? null,
  });
  const about = { approval_id: id, kind: card.kind, content_hash: row.content_hash };
  tx.audit("approval", task, { actor: "approval_engine", decision: "requested", reason: asked.rule, details: about });
  tx.event("approval_requested", task, { surfaces: ["review"], detail: card.title, ...about });
  return row;
}
