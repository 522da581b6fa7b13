/**
 * A budget that is used up: one card for the account, whoever asked, and what a person's answer does. What they add
 * is their own approval; the plan's bytes stay as they were signed. [CHG-*] [BUD-*]
 */
import { cardTitle, emptyCard } from "../../src/domain/approval.ts";
import type { Card, Decision } from "../../src/domain/approval-view.ts";
import { type Account, remainingIn, storedAccount } from "./accounts.ts";
import { takeBackAsked } from "./lives.ts";
import { leaveOpen } from "./open-calls.ts";
import { ask } from "./plans.ts";
import { giveUpItem, proceed } from "./progress.ts";
import type { ApprovalRow, AttemptRow, TaskRow } from "./rows.ts";
import { resumeThinkers } from "./thinkers.ts";
import type { VerifiedTokens } from "./tokens.ts";
import { isOver, type Tx } from "./tx.ts";

/** Asks once while a card is open. */
export function askForBudget(tx: Tx, task: TaskRow, account: Account, attempt: AttemptRow | null): void {
  const { row, limit, item, plan } = account;
  const named = { work_item_id: item?.id ?? null, plan_id: item === null ? (plan?.id ?? null) : null };
  const cards = tx.rows.approvals.ofTask(task.id);
  const open = (card: ApprovalRow) => card.kind === "budget" && card.status === "pending";
  if (cards.some((card) => open(card) && card.work_item_id === named.work_item_id && card.plan_id === named.plan_id))
    return;
  const { input_tokens, output_tokens, usd, unknown_price, calls } = row.spent;
  const what = inWords(account);
  const left = remainingIn(account);
  const card: Card = {
    ...emptyCard({
      kind: "budget",
      title: cardTitle("budget", task, item?.spec.title ?? ""),
      why: `${what} is used up. Approve with an amount to go on where it stopped, or deny to end it for lack of budget.`,
      repo: task.repo,
      taint: task.taint,
      policy_hash: tx.scope.policy_hash,
      requested_by: attempt?.agent ?? "runtime",
    }),
    budget: { tokens: limit.tokens, usd: limit.usd, minutes: null },
    plan_hash: plan?.plan_hash ?? null,
    facts: [
      `Spent: ${input_tokens} tokens in and ${output_tokens} out of ${limit.tokens}; calls of a model: ${calls}`,
      `In dollars: $${usd.toFixed(4)}${limit.usd === null ? ", no limit" : ` of $${limit.usd}`}${unknown_price ? "; more in truth, for the price of a model is unknown" : ""}`,
      `Left: ${left.tokens} tokens${left.usd === null ? "" : ` and $${left.usd.toFixed(4)}`}, and the next call of a model may take more`,
      ...(row.spent.estimated ? ["A part of it is estimated: the provider did not say."] : []),
    ],
  };
  tx.rows.accounts.put({ ...row, asked: row.asked + 1 });
  const attempt_id = attempt?.id ?? null;
  ask(tx, task, {
    ...{ cause: `${row.id}/budget/${row.asked}`, card, rule: "the budget is used up" },
    ...named,
    ...(attempt_id === null ? {} : { attempt_id }),
  });
  tx.event("budget_used_up", task, { surfaces: ["stream", "review"], detail: `${what} is used up.`, ...named });
  const touched = tx.touch(tx.rows.tasks.get(task.id) ?? task);
  tx.status(touched, "blocked", { detail: `${what} is used up`, attempt, error_code: "budget_exceeded" });
}
function inWords({ kind, item }: Account): string {
  if (kind === "item") return `The budget of "${item?.spec.title ?? ""}"`;
  return kind === "plan" ? "The planner's part of the plan's budget" : "The task's budget";
}

/** Of a card that names neither item nor plan, the task's own. */
function accountId(card: ApprovalRow): string {
  if (card.work_item_id !== null) return `${card.task_id}:item:${card.work_item_id}`;
  return card.plan_id === null ? `${card.task_id}:task` : `${card.task_id}:plan:${card.plan_id}`;
}

export function grantBudget(tx: Tx, task: TaskRow, card: ApprovalRow, decision: Decision): void {
  const { tokens = 0, usd = 0 } = (decision.decision === "approve" ? decision.amount : null) ?? {};
  const row = storedAccount(tx.rows, accountId(card), task.id);
  const extra = { tokens: row.extra.tokens + tokens, usd: row.extra.usd + usd };
  tx.rows.accounts.put({ ...row, extra });
  const details = { account: row.id, approval_id: card.id, tokens, usd };
  tx.audit("transition", task, { decision: "budget_raised", reason: decision.comment, details });
  if (card.work_item_id !== null) resumeThinkers(tx, task, card.work_item_id);
  tx.touch(tx.rows.tasks.get(task.id) ?? task);
}

/** No more is granted, or nobody said so in time: an item fails for it; without the planner's part, the task does. */
export function refuseBudget(
  tx: Tx,
  task: TaskRow,
  card: ApprovalRow,
  how: { reason: string; verified: VerifiedTokens },
): void {
  const row = storedAccount(tx.rows, accountId(card), task.id);
  tx.rows.accounts.put({ ...row, closed: true });
  const item = card.work_item_id === null ? null : tx.rows.items.get(card.work_item_id);
  const detail = `no more budget: ${how.reason}`;
  if (item === null) {
    const ended = tx.finish(task, "failed", { reason: detail, error_code: "budget_exceeded" });
    tx.status(ended, "failed", { detail, attempt: null, error_code: "budget_exceeded" });
    return;
  }
  for (const attempt of tx.rows.attempts.ofTask(task.id)) {
    if (attempt.work_item_id !== item.id || isOver(attempt)) continue;
    if (attempt.state === "suspended") {
      leaveOpen(tx, attempt);
      takeBackAsked(tx, attempt, detail);
    } else tx.callOff(attempt, detail);
    const left = tx.rows.attempts.get(attempt.id) ?? attempt;
    const ended = { state: "failed", lease: null, ended_at: tx.at, error_code: "budget_exceeded", detail } as const;
    tx.rows.attempts.put({ ...left, ...ended });
    const about = { work_item_id: item.id, attempt_id: attempt.id, attempt_number: attempt.number };
    tx.audit("transition", task, { decision: "attempt_failed", reason: detail, details: about });
    tx.event("task_execution_failed", task, {
      ...{ surfaces: ["stream", "activity"], detail, error_code: "budget_exceeded" },
      ...about,
    });
  }
  giveUpItem(tx, task, item);
  proceed(tx, task, how.verified);
}
