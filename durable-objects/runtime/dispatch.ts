/**
 * From an approved plan to attempts under way: which items may run now, and the order an executor gets. [DSP-*]
 */
import { derivedId } from "../../src/domain/ids.ts";
import { blockedBy, readyItems } from "../../src/domain/plan-order.ts";
import { type ExecutionOrder, type MindOrder, sandboxId } from "../../src/domain/result.ts";
import { limits } from "../../src/limits.ts";
import type { AttemptRow, ItemRow, PlanRow, TaskRow } from "./rows.ts";
import { replansOf, waitingRungs } from "./rungs.ts";
import { readRepository } from "./taints.ts";
import { isOver, type Tx } from "./tx.ts";

export function approvedPlan(tx: Tx, task: TaskRow): PlanRow | null {
  return tx.rows.plans.ofTask(task.id).findLast((plan) => plan.status === "approved") ?? null;
}
export function itemsOf(tx: Tx, plan: PlanRow): ItemRow[] {
  return tx.rows.items.ofTask(plan.task_id).filter((item) => item.plan_id === plan.id);
}

/** Starts an attempt for every item whose time has come. */
export function dispatch(tx: Tx, task: TaskRow): void {
  const plan = approvedPlan(tx, task);
  // Another plan is on its way: what runs ends, and nothing of this one is begun.
  if (plan === null || replansOf(tx.rows, task.id).length > 0) return;
  const items = itemsOf(tx, plan);
  const attempts = tx.rows.attempts.ofTask(task.id);
  const byId = new Map(items.map((item) => [item.spec.id, item]));
  const progress = (id: string) => {
    const item = byId.get(id);
    if (item === undefined || item.outcome === "failed" || item.outcome === "blocked") return "failed" as const;
    if (item.outcome === "done") return "done" as const;
    return attempts.some((attempt) => attempt.work_item_id === item.id && !isOver(attempt)) || isAsked(tx, item)
      ? ("running" as const)
      : ("open" as const);
  };
  for (const spec of readyItems(
    items.map((item) => item.spec),
    progress,
  )) {
    const item = byId.get(spec.id);
    if (item !== undefined) newAttempt(tx, task, plan, item);
  }
}
/** An item that waits for a person's answer, or for the planner's, does not start by itself. */
function isAsked(tx: Tx, item: ItemRow): boolean {
  const mine = ({ work_item_id }: { work_item_id: string | null }) => work_item_id === item.id;
  return (
    tx.rows.approvals.ofTask(item.task_id).some((card) => card.status === "pending" && mine(card)) ||
    waitingRungs(tx.rows, item.task_id).some(mine)
  );
}

export function newAttempt(tx: Tx, task: TaskRow, plan: PlanRow, item: ItemRow): AttemptRow {
  const number = item.attempts + 1;
  const id = `${item.id}.${number}`;
  const attempt = tx.rows.attempts.put({
    id,
    task_id: task.id,
    work_item_id: item.id,
    number,
    state: "due",
    agent: null,
    baseline: task.tip?.commit ?? plan.base_commit,
    bundle_key: task.tip?.bundle_key ?? null,
    entry: 0,
    message_id: derivedId(id, "execution_request", 0),
    lease: null,
    error_code: null,
    detail: null,
    started_at: null,
    ended_at: null,
    patch: null,
    suspension: null,
    gate_passed: false,
    beat_at: 0,
    asked_at: null,
    after_step: null,
  });
  const counted = tx.rows.items.put({ ...item, attempts: number, state: "slung" });
  request(tx, task, plan, counted, attempt);
  if (number === 1 && item.spec.depends_on.length > 0)
    tx.event("work_item_unblocked", task, { work_item_id: item.id, detail: item.spec.title });
  return attempt;
}

/** A suspended attempt goes on: the same attempt, a fresh sandbox, the call it waited for. */
export function resumeAttempt(tx: Tx, task: TaskRow, plan: PlanRow, item: ItemRow, attempt: AttemptRow): void {
  const entry = attempt.entry + 1;
  const message_id = derivedId(attempt.id, "execution_request", entry);
  request(
    tx,
    task,
    plan,
    item,
    tx.rows.attempts.put({ ...attempt, entry, message_id, state: "due", agent: null, lease: null }),
  );
}

function request(tx: Tx, asked: TaskRow, plan: PlanRow, item: ItemRow, attempt: AttemptRow): void {
  const task = readRepository(tx, asked, attempt.baseline);
  const { scope_id } = tx.scope;
  const tried = tx.rows.attempts.ofTask(task.id).filter((other) => other.work_item_id === item.id);
  const clear = tried.flatMap((other) => sandboxesOf(scope_id, other, attempt));
  const open = new Map(tried.map((other) => [other.id, sandboxId(scope_id, other.id, other.entry)]));
  const look_up = tx.rows.calls.ofTask(task.id).flatMap(({ attempt_id, call_id, state }) => {
    const sandbox = open.get(attempt_id);
    return state === "asking" && sandbox !== undefined ? [{ sandbox, attempt_id, call_id }] : [];
  });
  const order: ExecutionOrder = {
    attempt_id: attempt.id,
    work_item_id: item.id,
    title: item.spec.title,
    entry: attempt.entry,
    runner: item.spec.runner,
    steps: [...item.spec.steps],
    section: item.spec.section,
    guidance: item.guidance,
    ...(item.planner_guidance.length > 0 ? { planner_guidance: item.planner_guidance } : {}),
    minutes: plan.minutes ?? limits.attempt_minutes,
    clear,
    ...(look_up.length > 0 ? { look_up } : {}),
    resume: attempt.suspension,
    repo: task.repo,
    baseline: attempt.baseline,
    bundle_key: attempt.bundle_key,
    worktree: `.runtime/worktrees/${scope_id}/${item.id}/${attempt.number}-${attempt.entry}`,
    environment: plan.environment,
    limits: sandboxLimits,
    ...(item.spec.runner === "loop" ? { mind: mindOf(plan, item) } : {}),
  };
  const message = tx.message(task, attempt.id, {
    message_kind: "execution_request",
    recipient: "executor_queue",
    content: item.spec.title,
    payload: { ...order },
    work_item_id: item.id,
    attempt_number: attempt.number,
    approval_token: item.grant?.jws ?? null,
  });
  const named = { ...message, message_id: attempt.message_id };
  const { outcome, facts } = tx.stores.queue.enqueue("executor_queue", named, {}, tx.now);
  tx.facts(facts);
  // The queue is being emptied: like every sender's, the request waits in the outbox until it is resumed.
  if (outcome === "closed") tx.send(named);
}
/** Of an attempt that was ever begun, the sandbox of every entry: one that was left alive in an earlier entry counts too. */
function sandboxesOf(scope_id: string, attempt: AttemptRow, next: AttemptRow): string[] {
  const before = attempt.id === next.id ? next.entry : attempt.entry + (attempt.agent === null ? 0 : 1);
  return Array.from({ length: before }, (_, entry) => sandboxId(scope_id, attempt.id, entry));
}
/** What an agent that thinks is told of its item: nothing of another's. */
function mindOf(plan: PlanRow, { spec }: ItemRow): MindOrder {
  return {
    goal: plan.goal,
    allow: spec.allow,
    protect: [...spec.protect],
    checks: spec.verify === "none" ? [] : spec.verify.map(({ run }) => run),
    skills: [...spec.skills],
    touches: [...spec.touches.paths],
    preset: spec.preset ?? "DEFAULT",
  };
}
export const sandboxLimits = {
  memory_mb: limits.sandbox_memory_mb,
  processes: limits.sandbox_processes,
  file_mb: limits.sandbox_file_mb,
};

/** An item that will not be done: what depends on it is blocked, its siblings finish. */
export function failItem(tx: Tx, plan: PlanRow, item: ItemRow): void {
  tx.rows.items.put({ ...item, outcome: "failed" });
  const items = itemsOf(tx, plan);
  const blocked = blockedBy(
    items.map((each) => each.spec),
    item.spec.id,
  );
  for (const each of items)
    if (blocked.includes(each.spec.id) && each.outcome === "open") tx.rows.items.put({ ...each, outcome: "blocked" });
}
