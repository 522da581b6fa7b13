/**
 * Another plan for what is left of a task: asked of the planner once nothing runs beside it any more, put before a
 * person like every plan, and put in the old one's place when they approve. What is done stays. [LAD-*]
 */
import type { JsonValue } from "../../src/domain/message.ts";
import { replanning } from "../../src/domain/payloads.ts";
import { spendingOf } from "./accounts.ts";
import { toldOf } from "./consult.ts";
import { approvedPlan } from "./dispatch.ts";
import type { RungRow } from "./mind-rows.ts";
import type { PlanRow, TaskRow } from "./rows.ts";
import { endRung, replansOf, waitingRungs } from "./rungs.ts";
import { isOver, type Tx } from "./tx.ts";

/** Sends what is held as soon as the siblings have finished: then what is done, and what failed, is known. */
export function askWhenQuiet(tx: Tx, given: TaskRow): void {
  const task = tx.rows.tasks.get(given.id) ?? given;
  const plan = approvedPlan(tx, task);
  const waiting = waitingRungs(tx.rows, task.id);
  const held = waiting.filter(({ state }) => state === "held");
  const [first] = held;
  const busy = tx.rows.attempts.ofTask(task.id).some((attempt) => !isOver(attempt));
  if (plan === null || first === undefined || busy || waiting.length > held.length) return;
  for (const row of held) tx.rows.rungs.put({ ...row, state: "open" });
  const decompose = held.every(({ to }) => to === "decompose");
  const counted = tx.rows.tasks.put({
    ...task,
    replans: task.replans + (decompose ? 0 : 1),
    decomposes: task.decomposes + (decompose ? 1 : 0),
  });
  const items = tx.rows.items.ofTask(task.id);
  const stuck = items.filter((item) => held.some((row) => row.work_item_id === item.id));
  const spent = spendingOf(tx.rows, task.id);
  const payload: Record<string, JsonValue> = replanning.parse({
    replan_id: first.id,
    repo: task.repo,
    ref: task.ref,
    base_commit: task.tip?.commit ?? plan.base_commit,
    goal: plan.goal,
    done: items.filter(({ outcome }) => outcome === "done").map(({ spec }) => `${spec.id}: ${spec.title}`),
    failures: stuck.flatMap((item) => [
      ...toldOf(item).map((said) => `${item.spec.title}: ${said}`),
      ...item.planner_guidance.map((said) => `${item.spec.title}: guidance that was followed: ${said}`),
    ]),
    depth: decompose ? counted.decomposes : counted.replans,
    ...(task.budget === null ? {} : { budget: task.budget }),
    spent: { tokens: spent.tokens, usd: spent.usd },
    mode: decompose ? "decompose" : "other_approach",
    work_item_id: first.work_item_id,
  });
  const fields = { message_kind: "replan_request", recipient: "planner", content: first.why, payload } as const;
  const about = { work_item_id: first.work_item_id, plan_markdown: plan.markdown };
  tx.send(tx.message(counted, first.id, { ...fields, ...about }));
  tx.touch(counted);
}

/** What a card says of a plan that takes another's place. */
export function replaces(tx: Tx, task: TaskRow): string[] {
  const plan = approvedPlan(tx, task);
  if (plan === null) return [];
  const done = tx.rows.items.ofTask(task.id).filter(({ outcome }) => outcome === "done");
  const why = replansOf(tx.rows, task.id).map(({ why }) => `Why another plan: ${why}`);
  return [
    `It replaces version ${plan.version} of the plan, "${plan.title}": approving it ends that one's open items and their approvals.`,
    done.length === 0
      ? "Nothing of the old plan is done."
      : `Done, and kept on the branch: ${done.map(({ spec }) => spec.title).join("; ")}`,
    ...why,
  ];
}

/** The planner has answered; a person decides. */
export function replanned(tx: Tx, task: TaskRow): void {
  for (const row of openReplans(tx, task)) endRung(tx, task, row, "answered", "another plan came");
}
export function openReplans(tx: Tx, task: TaskRow): RungRow[] {
  return replansOf(tx.rows, task.id).filter(({ state }) => state === "open");
}

/** A plan was approved: every other one in force gives way to it, with its open items and their tokens. */
export function supersedeOthers(tx: Tx, task: TaskRow, going: PlanRow): void {
  const void_reason = `version ${going.version} of the plan was approved in its place`;
  for (const plan of tx.rows.plans.ofTask(task.id)) {
    if (plan.status !== "approved" || plan.id === going.id) continue;
    tx.rows.plans.put({ ...plan, status: "superseded" });
    const items = tx.rows.items.ofTask(task.id).filter((item) => item.plan_id === plan.id);
    for (const attempt of tx.rows.attempts.ofTask(task.id))
      if (!isOver(attempt) && items.some(({ id }) => id === attempt.work_item_id)) tx.callOff(attempt, void_reason);
    for (const card of tx.rows.approvals.ofTask(task.id)) {
      const its = card.plan_id === plan.id || items.some(({ id }) => id === card.work_item_id);
      if (card.status === "pending" && its) tx.supersede(card, void_reason);
    }
    for (const item of items) {
      if (item.outcome === "done") continue;
      const grant = item.grant === null ? null : { ...item.grant, life: "void" as const, void_reason };
      tx.rows.items.put({ ...item, outcome: item.outcome === "open" ? "blocked" : item.outcome, grant });
    }
    tx.audit("transition", task, { decision: "plan_superseded", reason: void_reason, details: { plan_id: plan.id } });
  }
}
