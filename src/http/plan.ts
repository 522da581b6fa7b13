/** Refuses a plan that cannot be right before anything of it is stored, with every problem and its place. [HTTP-12] */
import { parsePlan } from "../domain/plan.ts";
import { runnerProblems } from "../domain/plan-runners.ts";
import { Refused } from "./problem.ts";

export function demandPlan(markdown: string, executorMind: boolean): void {
  const parsed = parsePlan(markdown);
  const problems = parsed.ok ? runnerProblems(markdown, parsed.plan, executorMind) : parsed.problems;
  const [first] = problems;
  if (parsed.ok && first === undefined) return;
  const where = first === undefined ? "" : ` Line ${first.line}: ${first.message}`;
  throw new Refused(
    "invalid_plan",
    `The plan has ${problems.length} problem(s); correct them and send it again.${where}`,
    {
      problems,
    },
  );
}
