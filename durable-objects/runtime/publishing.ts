/**
 * The push of exactly the commit that was verified and merged: asked of the verifier, tried again while that can
 * help, and the end of the task. [MRG-*]
 */
import { canonicalJson } from "../../src/domain/canonical.ts";
import { derivedId } from "../../src/domain/ids.ts";
import type { Message } from "../../src/domain/message.ts";
import type { VerificationOrder, VerificationResult } from "../../src/domain/result.ts";
import { isFinal } from "../../src/domain/task.ts";
import { approvedPlan, itemsOf } from "./dispatch.ts";
import { pushUnknown } from "./open-calls.ts";
import type { AttemptRow, PlanRow, TaskRow } from "./rows.ts";
import { checkItem, type VerifiedTokens } from "./tokens.ts";
import type { Tx } from "./tx.ts";

const maxPublishTries = 5;

/** Asks the verifier; the attempt is null for what concerns the whole task. */
export function requestVerification(
  tx: Tx,
  task: TaskRow,
  cause: string,
  order: VerificationOrder,
  attempt: AttemptRow | null,
): void {
  tx.send(
    tx.message(task, cause, {
      message_kind: "verification_request",
      recipient: "verifier",
      content: order.stage === "publish" ? `publish ${order.branch}` : (order.title.split("\n")[0] ?? ""),
      payload: { ...order },
      work_item_id: attempt?.work_item_id ?? null,
      attempt_number: attempt?.number ?? null,
    }),
  );
}

/** Every item is done: the branch is pushed. It is part of what the plan's approval grants, so its tokens are checked once more. */
export function publish(tx: Tx, task: TaskRow, verified: VerifiedTokens): void {
  const plan = approvedPlan(tx, task);
  if (plan === null || task.tip === null || task.publishing !== null) return;
  const refused = changedSince(tx, task, plan, verified);
  if (refused !== null) {
    tx.audit("gate_block", task, {
      actor: "gate_runner",
      decision: "blocked",
      reason: refused,
      details: { entry: "publish" },
    });
    tx.finish(task, "failed", { reason: `Not published: ${refused}`, error_code: "gate_blocked" });
    return;
  }
  sendPublish(tx, task, task.tip, 0);
}
function sendPublish(tx: Tx, task: TaskRow, tip: NonNullable<TaskRow["tip"]>, tries: number): void {
  const verification_id = `v${derivedId(task.id, "publish", tries).slice(0, 15)}`;
  const order: VerificationOrder = {
    stage: "publish",
    verification_id,
    repo: task.repo,
    branch: task.branch,
    commit: tip.commit,
    bundle_key: tip.bundle_key,
  };
  requestVerification(tx, task, verification_id, order, null);
  tx.touch({ ...task, publishing: { verification_id, tries } });
}

function changedSince(tx: Tx, task: TaskRow, plan: PlanRow, verified: VerifiedTokens): string | null {
  for (const item of itemsOf(tx, plan)) {
    const refused = checkItem(tx, "publish", task, item, verified);
    if (refused !== null) return refused;
  }
  return null;
}

export function published(tx: Tx, message: Message, result: Pushed): void {
  const task = message.task_id === null ? null : tx.rows.tasks.get(message.task_id);
  if (
    task === null ||
    isFinal(task.status) ||
    task.publishing?.verification_id !== result.verification_id ||
    task.tip === null
  ) {
    const { verification_id, ok, detail } = result;
    tx.audit("effect", message, {
      actor: "verification_runner",
      decision: "stale_result",
      reason: "nobody waits for it any more",
      details: { verification_id, ok, detail },
    });
    if (result.unknown === true && task !== null) pushIsUnknown(tx, task, result);
    return;
  }
  if (result.ok) {
    const done = tx.finish({ ...task, published: task.tip.commit }, "done", { reason: null });
    tx.status(done, "done", { detail: `${task.title} is on branch ${task.branch}.`, attempt: null });
    return;
  }
  const tries = task.publishing.tries + 1;
  if (result.retryable && tries < maxPublishTries)
    return sendPublish(tx, { ...task, publishing: null }, task.tip, tries);
  if (result.unknown === true) pushIsUnknown(tx, task, result);
  const reason =
    result.unknown === true
      ? `It is not known whether the branch was published: ${result.detail}`
      : `The branch could not be published: ${result.detail}`;
  const ended = tx.finish(task, "failed", { reason, error_code: "tool_failure" });
  tx.status(ended, "failed", { detail: reason, attempt: null, error_code: "tool_failure" });
}

type Pushed = Extract<VerificationResult, { stage: "publish" }>;
function pushIsUnknown(tx: Tx, task: TaskRow, { verification_id, detail }: Pushed): void {
  const asked = canonicalJson({ branch: task.branch, commit: task.tip?.commit ?? "" });
  pushUnknown(tx, { task_id: task.id, attempt_id: verification_id, arguments: asked }, detail);
}
/** Whether the task still waits for this publication: asked before each push. */
export function mayPublish(task: TaskRow | null, verification_id: string): boolean {
  return task !== null && !isFinal(task.status) && task.publishing?.verification_id === verification_id;
}
