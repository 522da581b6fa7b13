/**
 * The accounts of a task's thinking as they are stored: an item's share, the planner's part of the approved plan, or
 * the task's own while no plan pays. [CHG-*]
 */
import type { Payer } from "../../src/agents/mind-bus.ts";
import type { Spending } from "../../src/domain/asked-budget.ts";
import {
  type Limit,
  leftOf,
  nothingSpent,
  type Reserved,
  type Spent,
  sharesOf,
  sumOf,
  withMore,
} from "../../src/domain/budget.ts";
import { limits } from "../../src/limits.ts";
import type { AccountRow, ThoughtRow } from "./mind-rows.ts";
import type { ItemRow, PlanRow, ScopeRows, TaskRow } from "./rows.ts";

export interface Account {
  readonly kind: "task" | "plan" | "item";
  readonly limit: Limit;
  readonly row: AccountRow;
  readonly plan: PlanRow | null;
  readonly item: ItemRow | null;
}

/** An account is stored from its first charge, or its first card. */
export function storedAccount(rows: ScopeRows, id: string, task_id: string): AccountRow {
  const fresh = { id, task_id, spent: nothingSpent, extra: { tokens: 0, usd: 0 }, asked: 0, closed: false };
  return rows.accounts.get(id) ?? fresh;
}
function open(rows: ScopeRows, task: TaskRow, about: Omit<Account, "row">): Account {
  const name = about.item?.id ?? about.plan?.id ?? "";
  const id = `${task.id}:${about.kind}${name === "" ? "" : `:${name}`}`;
  const row = storedAccount(rows, id, task.id);
  return { ...about, row, limit: withMore(about.limit, row.extra) };
}

export function taskAccount(rows: ScopeRows, task: TaskRow): Account {
  const limit = { tokens: task.budget?.tokens ?? limits.task_tokens, usd: task.budget?.usd ?? limits.task_usd };
  return open(rows, task, { kind: "task", limit, plan: null, item: null });
}
function shares(rows: ScopeRows, plan: PlanRow) {
  const items = rows.items.ofTask(plan.task_id).filter((item) => item.plan_id === plan.id);
  return {
    items,
    parts: sharesOf({ budget: { ...plan.budget, minutes: null }, items: items.map(({ spec }) => spec) }),
  };
}
/** Who pays for what is not an attempt's. A plan that states no tokens leaves it to the task. */
export function plannerAccount(rows: ScopeRows, task: TaskRow): Account {
  const plan = rows.plans.ofTask(task.id).findLast((row) => row.status === "approved") ?? null;
  if (plan === null || plan.budget.tokens === 0) return taskAccount(rows, task);
  return open(rows, task, { kind: "plan", limit: shares(rows, plan).parts.planner, plan, item: null });
}
export function itemAccount(rows: ScopeRows, task: TaskRow, item: ItemRow): Account | null {
  const plan = rows.plans.get(item.plan_id);
  const limit = plan === null ? undefined : shares(rows, plan).parts.items.get(item.spec.id);
  return limit === undefined ? null : open(rows, task, { kind: "item", limit, plan, item });
}
export function accountOf(rows: ScopeRows, task: TaskRow, payer: Payer): Account | null {
  if (payer.kind === "task") return plannerAccount(rows, task);
  const item = rows.items.get(rows.attempts.get(payer.attempt_id)?.work_item_id ?? "");
  return item === null ? null : itemAccount(rows, task, item);
}

export interface Remaining {
  readonly tokens: number;
  /** Null when there is no limit in dollars, or when a call's price is unknown. */
  readonly usd: number | null;
}
export function remainingIn({ limit, row }: Account): Remaining {
  const left = leftOf(limit, row.spent);
  const usd = left.usd === null || row.spent.unknown_price ? null : Math.max(0, left.usd);
  return { tokens: Math.max(0, left.tokens), usd };
}
/** What the task as a whole may still spend: under an approved plan, all of the plan's accounts. */
export function remainingOf(rows: ScopeRows, task: TaskRow): Remaining {
  const planner = plannerAccount(rows, task);
  if (planner.plan === null) return remainingIn(planner);
  const items = shares(rows, planner.plan).items.flatMap((item) => itemAccount(rows, task, item) ?? []);
  const all = [planner, ...items].map(remainingIn);
  return {
    tokens: all.reduce((sum, each) => sum + each.tokens, 0),
    usd: all.reduce<number | null>((sum, { usd }) => (sum === null || usd === null ? null : sum + usd), 0),
  };
}
/** For whom an attempt works: of an item that thinks, its own share; else what the whole task has. */
export function remainingFor(rows: ScopeRows, task: TaskRow, attempt: { work_item_id: string } | null): Remaining {
  const item = attempt === null ? null : rows.items.get(attempt.work_item_id);
  const own = item?.spec.runner === "loop" ? itemAccount(rows, task, item) : null;
  return own === null ? remainingOf(rows, task) : remainingIn(own);
}
/** Of all its accounts; and what its calls under way may cost, for it will be spent when they end. */
export function spendingOf(rows: ScopeRows, task_id: string): Spending & Pick<Spent, "unknown_price"> {
  const { input_tokens, output_tokens, usd, unknown_price } = spentOf(rows, task_id);
  const kept = keptBack(rows, (row) => row.task_id === task_id);
  return { tokens: input_tokens + output_tokens + kept.tokens, usd: usd + kept.usd, unknown_price };
}
/** Of the task's own account: a plan that states no tokens leaves it to pay. */
export function ownLeft(rows: ScopeRows, task: TaskRow): Spending {
  const { limit, row } = taskAccount(rows, task);
  const left = leftOf(limit, row.spent);
  const kept = keptBack(rows, ({ account }) => account === row.id);
  return { tokens: Math.max(0, left.tokens - kept.tokens), usd: Math.max(0, (left.usd ?? 0) - kept.usd) };
}
/** What calls under way may cost. */
export function keptBack(rows: ScopeRows, whose: (row: ThoughtRow) => boolean): Reserved {
  const open = rows.thoughts.withStatus("open").filter(whose);
  return {
    tokens: open.reduce((sum, { reserve_tokens }) => sum + reserve_tokens, 0),
    usd: open.reduce((sum, { reserve_usd }) => sum + (reserve_usd ?? 0), 0),
  };
}
export function spentOf(rows: ScopeRows, task_id: string): Spent {
  return sumOf(rows.accounts.ofTask(task_id).map(({ spent }) => spent));
}
