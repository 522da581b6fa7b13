/**
 * The runners this version has. A plan may name others; it is refused before anybody signs it, because an item that
 * nothing carries out must never look done. [PLAN-*]
 */
import { unpaid } from "./budget.ts";
import type { Plan, PlanProblem } from "./plan.ts";

/** Why nothing would carry out an item with this runner, and what to write or set instead; null when it runs. */
export function whyNotRun(runner: string, has_executor_mind: boolean): string | null {
  if (runner === "steps" || (runner === "loop" && has_executor_mind)) return null;
  const instead = "write runner: steps, with the steps as fenced sh blocks";
  return runner === "loop"
    ? `the runner loop needs a model, and none is configured: set MODEL_EXECUTOR to provider/model with that provider's key, or ${instead}`
    : `the runner ${runner} is not part of this version; ${instead}`;
}

/** One problem for each item whose runner is not here, or that thinks without a budget, at the line that names the item. */
export function runnerProblems(
  markdown: string,
  plan: Pick<Plan, "items" | "budget">,
  has_executor_mind: boolean,
): PlanProblem[] {
  const broke = new Set(unpaid(plan));
  return plan.items.flatMap((item) => {
    const why = whyNotRun(item.runner, has_executor_mind) ?? (broke.has(item.id) ? noMoney : null);
    return why === null ? [] : [{ ...placeOf(markdown, item.id), message: `${item.id}: ${why}` }];
  });
}

const noMoney =
  "an item that thinks needs a budget: give the plan budget.tokens above 0, and leave this item a part of its four fifths";

function placeOf(markdown: string, id: string): { line: number; column: number } {
  const named = new RegExp(`(?:^|[\\s{,-])id:\\s*["']?${id}["']?(?=[\\s,}]|$)`);
  const lines = markdown.split("\n");
  const index = lines.findIndex((line) => named.test(line));
  return { line: index + 1 || 1, column: Math.max(lines[index]?.indexOf("id:") ?? 0, 0) + 1 };
}
