/**
 * Nobody's yes in advance spends more on a task than it was asked with, or than a task has where nothing was stated: what
 * it has spent in all its life and what this plan may spend count together. [STA-44] to [STA-47]
 */

import { limits } from "../limits.ts";
import type { Card } from "./approval-view.ts";
import { besideAsked, dollars, type Given, haveIn, isMore, type Spending, tokensIn } from "./asked-budget.ts";
import type { Amounts } from "./standing-shape.ts";

interface Task {
  readonly created_by: string;
  readonly budget: Given;
  readonly spent: Spending;
  readonly own_left: Spending;
}

/** `bound`: what the standing approval says of one plan. Above what a task has by default, it stands in its place. */
export function overTask(task: Task, asks: Card["budget"], bound: Amounts): string | null {
  const { budget, created_by } = task;
  const plan = { tokens: asks?.tokens ?? 0, usd: asks?.usd ?? 0, minutes: asks?.minutes ?? null };
  const beside = besideAsked(budget, plan);
  if (beside?.over === true) return `${created_by} ${beside.words}`;
  const most = (unit: "tokens" | "usd" | "minutes") => {
    const stated = budget?.[unit];
    const has = haveIn(null)[unit];
    if (stated !== undefined) return { most: stated, whose: `that ${created_by} gave this task` };
    return (bound[unit] ?? 0) > has
      ? { most: bound[unit] ?? 0, whose: "it allows a plan" }
      : { most: has, whose: `that ${unit === "minutes" ? "an attempt" : "a task"} has by default` };
  };
  const minutes = plan.minutes ?? limits.attempt_minutes;
  const long = most("minutes");
  if (isMore(minutes, long.most)) return `${minutes} minutes are more than the ${long.most} ${long.whose}`;
  const { spent } = task;
  // Without tokens of its own it is paid from what is left of the task's.
  const own = plan.tokens === 0;
  const all = most("tokens");
  const tokens = own ? task.own_left.tokens : plan.tokens;
  const paid = most("usd");
  const usd = own ? task.own_left.usd : plan.usd;
  if (isMore(spent.tokens + tokens, all.most)) return more(tokens, spent.tokens, all, tokensIn);
  if (!own && usd === 0) return `no limit in dollars is more than the ${dollars(paid.most)} ${paid.whose}`;
  return isMore(spent.usd + usd, paid.most) ? more(usd, spent.usd, paid, dollars) : null;
}
function more(
  asked: number,
  spent: number,
  { most, whose }: { readonly most: number; readonly whose: string },
  words: (amount: number) => string,
): string {
  const gone = spent === 0 ? "" : `${words(spent)} are spent on this task already; with them, `;
  return `${gone}the ${words(asked)} of this plan are more than the ${words(most)} ${whose}`;
}
