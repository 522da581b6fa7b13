/** What the scope's rows look like from outside. */
import { z } from "zod";
import { type ApprovalView, approvalView } from "../../src/domain/approval-view.ts";
import type { ApprovalRules } from "../../src/domain/policy-approvals.ts";
import type { UnknownEffect } from "../../src/domain/unknown.ts";
import type {
  attemptView,
  itemView,
  phaseView,
  planView,
  rungView,
  spentView,
  TaskSummary,
  TaskView,
  ThoughtView,
  verificationView,
} from "../../src/domain/view.ts";
import { remainingOf, spentOf } from "./accounts.ts";
import type { RungRow, ThoughtRow } from "./mind-rows.ts";
import { type NeedsStores, needsFor } from "./needs.ts";
import { unknownEffects } from "./open-calls.ts";
import type { PhaseRow } from "./phase-rows.ts";
import type { ApprovalRow, AttemptRow, ItemRow, PlanRow, ScopeRows, TaskRow, VerificationRow } from "./rows.ts";

export function taskSummaryOf(task: TaskRow, unknown: readonly UnknownEffect[] = []): TaskSummary {
  return {
    id: task.id,
    trace_id: task.trace_id,
    title: task.title,
    status: task.status,
    waiting_on: task.waiting_on,
    phase: task.phase ?? "discovery",
    repo: { url: task.repo, ref: task.ref },
    labels: task.labels,
    branch: task.published === null ? null : task.branch,
    created_by: task.created_by,
    created_at: task.created_at,
    updated_at: task.updated_at,
    ended_at: task.ended_at,
    error_code: task.error_code,
    reason: task.reason,
    unknown_effects: [...unknown],
  };
}

export function taskViewOf(rows: ScopeRows, task: TaskRow): TaskView {
  const plan = rows.plans.ofTask(task.id).at(-1) ?? null;
  const verifications = rows.verifications.ofTask(task.id);
  return {
    ...taskSummaryOf(task, unknownEffects(rows).get(task.id)),
    description: task.description,
    budget: task.budget,
    base_commit: task.base_commit,
    commit: task.published ?? task.tip?.commit ?? null,
    plan: plan === null ? null : planViewOf(plan),
    items:
      plan === null
        ? []
        : rows.items
            .ofTask(task.id)
            .filter((item) => item.plan_id === plan.id)
            .map(itemViewOf),
    attempts: rows.attempts.ofTask(task.id).map((attempt) =>
      attemptViewOf(
        attempt,
        verifications.filter((row) => row.attempt_id === attempt.id),
      ),
    ),
    phases: rows.phases.ofTask(task.id).map(phaseViewOf),
    ...(task.gate_notes.length > 0 ? { gate_notes: task.gate_notes } : {}),
    spent: spentViewOf(rows, task),
    rungs: rows.rungs.ofTask(task.id).map(rungViewOf),
    ...researchViewOf(rows, task.id),
    pending_approvals: rows.approvals.ofTask(task.id).flatMap((card) => (card.status === "pending" ? [card.id] : [])),
  };
}

function spentViewOf(rows: ScopeRows, task: TaskRow): z.infer<typeof spentView> {
  const { usd, unknown_price, ...spent } = spentOf(rows, task.id);
  const left = remainingOf(rows, task);
  return {
    ...spent,
    usd: unknown_price ? null : usd,
    unknown_price,
    remaining_tokens: left.tokens,
    remaining_usd: left.usd,
  };
}
function researchViewOf(rows: ScopeRows, task_id: string): Pick<TaskView, "research"> {
  const asked = rows.research.ofTask(task_id);
  const research = { open: 0, answered: 0, timed_out: 0, cancelled: 0 };
  for (const { state } of asked) research[state] += 1;
  return asked.length === 0 ? {} : { research };
}
function rungViewOf({ id, task_id, attempt_id, due_at, ...row }: RungRow): z.infer<typeof rungView> {
  return row;
}
export function thoughtViewOf(row: ThoughtRow): ThoughtView {
  const { id, role, agent, attempt_id, why, prompt, model, state, usage, usd, failure, at, ended_at } = row;
  return {
    ...{ id, role, agent, attempt_id, why, prompt, model, state, usd, failure, at, ended_at },
    input_tokens: usage?.input_tokens ?? null,
    output_tokens: usage?.output_tokens ?? null,
    cached_tokens: usage?.cached_tokens ?? null,
    estimated: usage?.estimated ?? false,
  };
}

function planViewOf(plan: PlanRow): z.infer<typeof planView> {
  const { id, version, status, title, goal, plan_hash, markdown } = plan;
  return { id, version, status, title, goal, plan_hash, markdown };
}
function itemViewOf(item: ItemRow): z.infer<typeof itemView> {
  return {
    id: item.id,
    item_id: item.spec.id,
    title: item.spec.title,
    runner: item.spec.runner,
    state: item.state,
    outcome: item.outcome,
    depends_on: [...item.spec.depends_on],
    attempts_used: item.attempts,
    // One that was lost counts for nothing, and guidance gives one beyond the plan's.
    max_attempts: Math.max(item.spec.max_attempts + item.extra + item.uncounted, item.attempts),
  };
}
function attemptViewOf(attempt: AttemptRow, verifications: readonly VerificationRow[]): z.infer<typeof attemptView> {
  return {
    id: attempt.id,
    work_item_id: attempt.work_item_id,
    number: attempt.number,
    state: attempt.state,
    agent: attempt.agent,
    baseline: attempt.baseline,
    error_code: attempt.error_code,
    detail: attempt.detail,
    started_at: attempt.started_at,
    ended_at: attempt.ended_at,
    patch: attempt.patch === null ? null : { files: attempt.patch.files, bytes: attempt.patch.bytes },
    verifications: verifications.flatMap((row) => verificationViewOf(row)),
    ...(attempt.recoveries === undefined ? {} : { recoveries: attempt.recoveries }),
  };
}
function verificationViewOf(row: VerificationRow): z.infer<typeof verificationView>[] {
  const { verdict, detail, checks, parent, commit } = row;
  return verdict === null ? [] : [{ verdict, detail, checks, parent, commit }];
}
function phaseViewOf({ phase, outcome, started_at, duration_ms, tokens }: PhaseRow): z.infer<typeof phaseView> {
  return { phase, outcome, started_at, duration_ms, tokens };
}

/** Only what a view has leaves: a field of ours more, and every client that reads cards would refuse the answer. */
const cardShown = z.object(approvalView.shape);
export function approvalViewOf(stores: NeedsStores, rules: ApprovalRules, row: ApprovalRow): ApprovalView {
  return cardShown.parse({ ...row, needs: needsFor(stores, rules, row) });
}
