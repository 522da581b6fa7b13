/**
 * The rungs that were taken, each on record where people look: the audit, the events, the task. What of them still
 * waits for the planner is read from here. [LAD-*]
 */
import type { LadderState, Rung } from "../../src/domain/attempt.ts";
import { derivedId } from "../../src/domain/ids.ts";
import { limits } from "../../src/limits.ts";
import type { RungRow } from "./mind-rows.ts";
import type { AttemptRow, ItemRow, ScopeRows, TaskRow } from "./rows.ts";
import type { Tx } from "./tx.ts";

export function takeRung(
  tx: Tx,
  task: TaskRow,
  attempt: AttemptRow,
  step: Pick<RungRow, "from" | "why" | "skipped" | "state"> & { readonly to: Rung; readonly due_at?: number },
): RungRow {
  const { from, to, why, skipped, state, due_at = null } = step;
  const row = tx.rows.rungs.put({
    id: `r${derivedId(attempt.id, `rung:${from}:${to}`, 0).slice(0, 15)}`,
    task_id: task.id,
    work_item_id: attempt.work_item_id,
    attempt_id: attempt.id,
    attempt_number: attempt.number,
    ...{ from, to, why, skipped, state, due_at },
    at: tx.at,
    detail: null,
  });
  const details = { ...about(row), from, to, skipped, due_at };
  tx.audit("transition", task, { decision: "rung", reason: why, details });
  tx.event("rung", task, {
    // That an attempt failed stands in the Stream already: only what is more than trying again is told there.
    surfaces: to === "retry" ? ["activity"] : ["stream", "activity"],
    detail: `${inWords[to]}: ${why}`,
    why,
    ...about(row),
    ...{ from, to, skipped },
  });
  return row;
}
const inWords: Record<Rung, string> = {
  merge: "Merged",
  retry: "Trying again",
  decompose: "Asking the planner for smaller items",
  consult: "Asking the planner for guidance",
  replan: "Asking the planner for another approach",
  escalate: "Asking a person",
};

/** How a rung ended that somebody was asked on. */
export function endRung(tx: Tx, task: TaskRow, row: RungRow, state: RungRow["state"], detail: string): void {
  const ended = tx.rows.rungs.put({ ...row, state, due_at: null, detail });
  const details = { ...about(ended), rung: ended.to, state };
  tx.audit("transition", task, { decision: `rung_${state}`, reason: detail, details });
  tx.event("rung", task, { detail, why: detail, ...about(ended), from: ended.from, to: ended.to, state });
}
function about({ id, work_item_id, attempt_id, attempt_number }: RungRow) {
  return { rung_id: id, work_item_id, attempt_id, attempt_number };
}

export function isReplan(row: RungRow): boolean {
  return row.to === "replan" || row.to === "decompose";
}
/** Rungs on which an answer is waited for, or will be. */
export function waitingRungs(rows: ScopeRows, task_id: string): RungRow[] {
  return rows.rungs.ofTask(task_id).filter(({ state }) => state === "held" || state === "open");
}
/** The re-plans of the plan in force, from when one is wanted until another plan is approved in its place. */
export function replansOf(rows: ScopeRows, task_id: string): RungRow[] {
  const plan = rows.plans.ofTask(task_id).findLast((row) => row.status === "approved");
  if (plan === undefined) return [];
  const wanted = (row: RungRow) => isReplan(row) && ["held", "open", "answered"].includes(row.state);
  return rows.rungs
    .ofTask(task_id)
    .filter((row) => wanted(row) && rows.items.get(row.work_item_id)?.plan_id === plan.id);
}
/** The task is over: nobody's answer counts any more. */
export function voidRungs(tx: Tx, task: TaskRow): void {
  for (const row of waitingRungs(tx.rows, task.id)) endRung(tx, task, row, "void", "the task is over");
}

export function ladderOf(tx: Tx, task: TaskRow, item: ItemRow): LadderState {
  return {
    max_attempts: item.spec.max_attempts + item.extra,
    counted: item.counted,
    uncounted: item.uncounted,
    max_uncounted: limits.max_uncounted_attempts,
    consulted: item.consulted,
    replan_depth: task.replans,
    max_replan_depth: limits.max_replan_depth,
    decompose_depth: task.decomposes,
    max_decompose_depth: limits.decompose_depth,
    on_stuck: item.spec.on_stuck,
    planner: tx.scope.has_mind("planner"),
  };
}
