/** A plan that arrived: held to its rules, then put in review; and what follows when none came. [PLAN-R*] [LAD-*] */
import { cardTitle, emptyCard } from "../../src/domain/approval.ts";
import type { Card } from "../../src/domain/approval-view.ts";
import { sha256Hex } from "../../src/domain/canonical.ts";
import type { Message } from "../../src/domain/message.ts";
import { planResult } from "../../src/domain/payloads.ts";
import { parsePlan } from "../../src/domain/plan.ts";
import { runnerProblems } from "../../src/domain/plan-runners.ts";
import { isFinal } from "../../src/domain/task.ts";
import { approvedPlan } from "./dispatch.ts";
import { climbPast } from "./ladder.ts";
import { ask, storePlan } from "./plans.ts";
import { openReplans, replanned } from "./replan.ts";
import type { TaskRow } from "./rows.ts";
import type { Tx } from "./tx.ts";

/** Takes a `plan_result` seen on the bus. */
export function acceptPlan(tx: Tx, task: TaskRow, message: Message): void {
  if (isFinal(task.status)) return;
  if (message.error_code !== null || message.plan_markdown === null) {
    if (noOtherPlan(tx, task, message.content)) return;
    return planFailed(tx, task, message);
  }
  const payload = planResult.safeParse(message.payload);
  const plan = parsePlan(message.plan_markdown);
  const problem = plan.ok
    ? runnerProblems(message.plan_markdown, plan.plan, tx.scope.has_mind("executor"))[0]
    : plan.problems[0];
  if (!plan.ok || problem !== undefined || !payload.success) {
    const first = problem === undefined ? "it names no commit" : `line ${problem.line}: ${problem.message}`;
    const reason = `The plan that came back is not valid: ${first}`;
    if (!noOtherPlan(tx, task, reason)) tx.finish(task, "failed", { reason, error_code: "tool_failure" });
    return;
  }
  const same = approvedPlan(tx, task)?.plan_hash === sha256Hex(message.plan_markdown);
  if (same && noOtherPlan(tx, task, "the plan that came back is the one that failed")) return;
  storePlan(tx, task, {
    cause: message.message_id,
    markdown: message.plan_markdown,
    base_commit: payload.data.base_commit,
    plan: plan.plan,
  });
  replanned(tx, task);
  tx.touch(tx.rows.tasks.get(task.id) ?? task);
}

/** Whether another plan was waited for: then each item that wanted one takes its next rung. */
function noOtherPlan(tx: Tx, task: TaskRow, why: string): boolean {
  const open = openReplans(tx, task);
  for (const rung of open) climbPast(tx, tx.rows.tasks.get(task.id) ?? task, rung, { state: "failed", why });
  return open.length > 0;
}

function planFailed(tx: Tx, task: TaskRow, message: Message): void {
  const plan = tx.rows.plans.ofTask(task.id).at(-1);
  if (plan === undefined) {
    tx.finish(task, "failed", { reason: message.content, error_code: message.error_code ?? "tool_failure" });
    return;
  }
  const changes = tx.rows.approvals
    .ofTask(task.id)
    .findLast((card) => card.kind === "plan")
    ?.decisions.at(-1)?.comment;
  const card: Card = {
    ...emptyCard({
      kind: "escalation",
      title: cardTitle("escalation", task, plan.title),
      why: "The plan could not be revised. Approve to review the same plan again, or deny to end the task.",
      repo: task.repo,
      taint: task.taint,
      policy_hash: tx.scope.policy_hash,
      requested_by: "planner",
    }),
    plan_hash: plan.plan_hash,
    facts: [message.content, ...(changes ? [`Changes asked for: ${changes}`] : [])],
  };
  ask(tx, task, { cause: message.message_id, card, rule: "no rung of the ladder is left", plan_id: plan.id });
  tx.touch(task);
}
