/**
 * Who pays for thinking, and whether it may go on. A plan's budget is parted into its items' shares and the planner's
 * part; before a plan the task's own budget pays. What was spent only grows. [BUD-*]
 */
import type { Plan } from "./plan-shape.ts";

/** The least of a plan's budget that stays the planner's: research, consulting, planning again. */
export const plannerShare = 0.2;

/** `usd` null: no limit in dollars. */
export interface Limit {
  readonly tokens: number;
  readonly usd: number | null;
}
/** What an account has paid. `unknown_price`: at least one call's price nobody knows, so `usd` is too little. */
export interface Spent {
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly usd: number;
  readonly unknown_price: boolean;
  readonly estimated: boolean;
}
export const nothingSpent: Spent = {
  calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  usd: 0,
  unknown_price: false,
  estimated: false,
};
export interface Cost {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly usd: number | null;
  readonly estimated: boolean;
}

/** Neither less than before nor more than can be counted, whatever is added. */
export function grown(before: number, more: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, before + Math.max(0, more));
}
export function charge(spent: Spent, cost: Cost): Spent {
  return {
    calls: spent.calls + 1,
    input_tokens: grown(spent.input_tokens, cost.input_tokens),
    output_tokens: grown(spent.output_tokens, cost.output_tokens),
    usd: grown(spent.usd, cost.usd ?? 0),
    unknown_price: spent.unknown_price || cost.usd === null,
    estimated: spent.estimated || cost.estimated,
  };
}
export function sumOf(all: readonly Spent[]): Spent {
  return all.reduce(
    (sum, each) => ({
      calls: sum.calls + each.calls,
      input_tokens: grown(sum.input_tokens, each.input_tokens),
      output_tokens: grown(sum.output_tokens, each.output_tokens),
      usd: grown(sum.usd, each.usd),
      unknown_price: sum.unknown_price || each.unknown_price,
      estimated: sum.estimated || each.estimated,
    }),
    nothingSpent,
  );
}

/** What is left. Below zero by at most one call, since a call is let go only while something is left. */
export function leftOf(limit: Limit, spent: Spent): { readonly tokens: number; readonly usd: number | null } {
  return {
    tokens: limit.tokens - spent.input_tokens - spent.output_tokens,
    usd: limit.usd === null ? null : limit.usd - spent.usd,
  };
}

/** What calls under way may cost. A call whose price nobody knows is charged no dollars, so it keeps none back. */
export interface Reserved {
  readonly tokens: number;
  readonly usd: number;
}

/**
 * `go` while something is left besides what calls under way may cost. `taken`: they may use up all of it, so it is
 * asked again when they have ended. `used_up`: a person is asked.
 */
export function mayCall(limit: Limit, spent: Spent, reserved: Reserved): "go" | "taken" | "used_up" {
  const left = leftOf(limit, spent);
  if (left.tokens <= 0 || (left.usd !== null && left.usd <= 0)) return "used_up";
  const dollars = left.usd === null || left.usd - reserved.usd > 0;
  return left.tokens - reserved.tokens > 0 && dollars ? "go" : "taken";
}

type Budgeted = Pick<Plan, "budget"> & {
  readonly items: readonly (Pick<Plan["items"][number], "id" | "runner"> & {
    readonly budget: { readonly tokens: number | null; readonly usd: number | null };
  })[];
};

/**
 * A plan's budget in parts: an item has the share it states; those that think and state none part what is left of
 * four fifths; the rest is the planner's. A plan that states no dollars has no limit in dollars.
 */
export function sharesOf(plan: Budgeted): { readonly items: ReadonlyMap<string, Limit>; readonly planner: Limit } {
  const tokens = parts(plan, "tokens");
  const usd = plan.budget.usd === 0 ? null : parts(plan, "usd");
  const items = plan.items.map(({ id }, index): [string, Limit] => [
    id,
    { tokens: Math.floor(tokens.items[index] ?? 0), usd: usd === null ? null : (usd.items[index] ?? 0) },
  ]);
  const given = items.reduce((sum, [, limit]) => sum + limit.tokens, 0);
  return { items: new Map(items), planner: { tokens: plan.budget.tokens - given, usd: usd?.planner ?? null } };
}
function parts(plan: Budgeted, unit: "tokens" | "usd"): { items: number[]; planner: number } {
  const total = plan.budget[unit];
  const stated = plan.items.reduce((sum, item) => sum + (item.budget[unit] ?? 0), 0);
  const silent = plan.items.filter((item) => item.budget[unit] === null && item.runner !== "steps").length;
  const each = silent === 0 ? 0 : Math.max(0, total * (1 - plannerShare) - stated) / silent;
  const items = plan.items.map((item) => item.budget[unit] ?? (item.runner === "steps" ? 0 : each));
  return { items, planner: total - items.reduce((sum, part) => sum + part, 0) };
}

/** The items that think and have nothing to think with. */
export function unpaid(plan: Budgeted): string[] {
  const shares = sharesOf(plan);
  return plan.items
    .filter(({ runner }) => runner === "loop")
    .map(({ id }) => id)
    .filter((id) => {
      const share = shares.items.get(id);
      return share === undefined || share.tokens <= 0 || (share.usd !== null && share.usd <= 0);
    });
}

/** What a person adds to an account. What has no limit in dollars is given none by it. */
export function withMore(limit: Limit, more: { readonly tokens: number; readonly usd: number }): Limit {
  return { tokens: limit.tokens + more.tokens, usd: limit.usd === null ? null : limit.usd + more.usd };
}
