/**
 * The runners this version has. A plan may name others; it is refused before anybody signs it, because an item that
 * nothing carries out must never look done. [PLAN-*]
 */
import type { Plan, PlanProblem } from "./plan.ts";

export const runners: readonly string[] = ["steps"];

/** One problem for each item whose runner is not here, at the line that names the item. */
export function runnerProblems(markdown: string, plan: Pick<Plan, "items">): PlanProblem[] {
  return plan.items
    .filter((item) => !runners.includes(item.runner))
    .map((item) => ({
      ...placeOf(markdown, item.id),
      message: `${item.id}: the runner ${item.runner} is not part of this version; write runner: steps, with the steps as fenced sh blocks`,
    }));
}

function placeOf(markdown: string, id: string): { line: number; column: number } {
  const named = new RegExp(`(?:^|[\\s{,-])id:\\s*["']?${id}["']?(?=[\\s,}]|$)`);
  const lines = markdown.split("\n");
  const index = lines.findIndex((line) => named.test(line));
  return { line: index + 1 || 1, column: Math.max(lines[index]?.indexOf("id:") ?? 0, 0) + 1 };
}
