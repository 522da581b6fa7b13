/**
 * An attempt that did not come to a merge: the next rung of its item's ladder, and a person when none is left. [LAD-*]
 */
import { cardTitle, emptyCard } from "../../src/domain/approval.ts";
import type { Card } from "../../src/domain/approval-view.ts";
import { type AttemptEnd, climb, climbOn, type Rung } from "../../src/domain/attempt.ts";
import type { ErrorCode } from "../../src/domain/message.ts";
import { isFinal } from "../../src/domain/task.ts";
import { limits } from "../../src/limits.ts";
import { consult } from "./consult.ts";
import { approvedPlan, newAttempt } from "./dispatch.ts";
import type { RungRow } from "./mind-rows.ts";
import { inWords, leaveOpen, openOfItem } from "./open-calls.ts";
import { ask } from "./plans.ts";
import { askWhenQuiet } from "./replan.ts";
import type { AttemptRow, ItemRow, PlanRow, TaskRow } from "./rows.ts";
import { endRung, ladderOf, takeRung } from "./rungs.ts";
import { shownItem } from "./shown-item.ts";
import type { Tx } from "./tx.ts";

/** Ends an attempt that did not come to a merge, and takes the next rung. */
export function endAttempt(tx: Tx, task: TaskRow, attempt: AttemptRow, how: { end: AttemptEnd; detail: string }): void {
  const item = tx.rows.items.get(attempt.work_item_id);
  const plan = approvedPlan(tx, task);
  if (item === null || plan === null || isFinal(task.status)) return;
  const step = climb(ladderOf(tx, task, item), how.end);
  leaveOpen(tx, attempt);
  const ended = tx.rows.attempts.put({
    ...attempt,
    state: step.counted ? "failed" : "crashed",
    lease: null,
    ended_at: tx.at,
    error_code: step.error_code,
    detail: how.detail,
  });
  const told = tx.rows.items.put({
    ...item,
    counted: item.counted + (step.counted ? 1 : 0),
    uncounted: item.uncounted + (step.counted ? 0 : 1),
    guidance: [...item.guidance, `Attempt ${attempt.number} ended: ${how.detail}${warnings(attempt)}`].slice(-10),
  });
  const about = {
    work_item_id: item.id,
    attempt_id: attempt.id,
    attempt_number: attempt.number,
    rung: step.next,
    skipped: [...step.skipped],
  };
  tx.audit("transition", task, { decision: `attempt_${ended.state}`, reason: how.detail, details: about });
  const type = step.error_code === "timeout" ? "task_execution_timeout" : "task_execution_failed";
  tx.event(type, task, { surfaces: ["stream", "activity"], detail: how.detail, error_code: step.error_code, ...about });
  const { next, skipped, error_code } = step;
  take(
    tx,
    { task, plan, item: told, attempt: ended },
    { from: "attempt", to: next, why: how.detail, skipped, error_code },
  );
  askWhenQuiet(tx, task);
}

/** What a failed attempt would have others beware of is told to the same item's next ones, and to nobody else. */
function warnings({ insights = [] }: AttemptRow): string {
  const told = insights.filter(({ kind, text }) => kind === "gotcha" && text.trim() !== "");
  if (told.length === 0) return "";
  const lines = told.slice(0, limits.memory_insights_at_once).map(({ text }) => `\nIt warned of: ${text.trim()}`);
  return lines.join("").slice(0, limits.guidance_chars);
}

interface Stuck {
  readonly task: TaskRow;
  readonly plan: PlanRow;
  readonly item: ItemRow;
  readonly attempt: AttemptRow;
}
interface Step {
  readonly from: RungRow["from"];
  readonly to: Rung;
  readonly why: string;
  readonly skipped: readonly string[];
  readonly error_code: ErrorCode | null;
}
function take(tx: Tx, stuck: Stuck, { from, to, why, skipped, error_code }: Step): void {
  const { task, plan, item, attempt } = stuck;
  const state = to === "consult" ? "open" : to === "replan" || to === "decompose" ? "held" : "taken";
  const due = to === "consult" ? { due_at: tx.now + limits.consult_timeout_ms } : {};
  const rung = takeRung(tx, task, attempt, { from, to, why, skipped: [...skipped], state, ...due });
  switch (to) {
    case "merge":
      return;
    case "retry":
      newAttempt(tx, task, plan, item);
      break;
    case "consult":
      consult(tx, task, plan, item, rung);
      break;
    case "replan":
    case "decompose":
      break;
    case "escalate":
      return escalate(tx, task, plan, item, attempt, skipped, error_code ?? "tool_failure");
  }
  tx.touch(tx.rows.tasks.get(task.id) ?? task);
}

/** Nothing came of a rung on which the planner was asked: the next one is taken. */
export function climbPast(
  tx: Tx,
  task: TaskRow,
  rung: RungRow,
  how: { state: "failed" | "timeout"; why: string },
): void {
  endRung(tx, task, rung, how.state, how.why);
  const plan = approvedPlan(tx, task);
  const item = tx.rows.items.get(rung.work_item_id);
  const attempt = tx.rows.attempts.get(rung.attempt_id);
  const asked = rung.to === "consult" || rung.to === "replan" || rung.to === "decompose" ? rung.to : null;
  if (plan === null || item?.outcome !== "open" || item.plan_id !== plan.id || attempt === null || asked === null)
    return;
  const { next, skipped } = climbOn(ladderOf(tx, task, item), asked, how.why);
  const error_code = how.state === "timeout" ? "timeout" : attempt.error_code;
  take(tx, { task, plan, item, attempt }, { from: asked, to: next, why: `${asked}: ${how.why}`, skipped, error_code });
  askWhenQuiet(tx, task);
}

function escalate(
  tx: Tx,
  task: TaskRow,
  plan: PlanRow,
  item: ItemRow,
  attempt: AttemptRow,
  skipped: readonly string[],
  error_code: ErrorCode,
): void {
  const card: Card = {
    ...emptyCard({
      kind: "escalation",
      title: cardTitle("escalation", task, item.spec.title),
      why: "Every way to recover is used up. Approve to allow one more attempt (your comment goes with it), or deny to end the task.",
      repo: task.repo,
      taint: task.taint,
      policy_hash: tx.scope.policy_hash,
      requested_by: "runtime",
    }),
    base_commit: attempt.baseline,
    publishes: task.branch,
    goal: plan.goal,
    plan_hash: plan.plan_hash,
    environment: plan.environment,
    // One more attempt is signed for anew, so that neither a token's age nor its key's end stops what a person wants.
    items: [shownItem(item)],
    facts: [...item.guidance, ...skipped, ...openOfItem(tx.rows, task.id, item.id).map(inWords)],
  };
  ask(tx, task, {
    cause: `${attempt.id}/escalate`,
    card,
    rule: "no rung of the ladder is left",
    work_item_id: item.id,
    attempt_id: attempt.id,
  });
  const touched = tx.touch(task);
  tx.status(touched, "stuck", { detail: attempt.detail ?? "", attempt, error_code });
}
