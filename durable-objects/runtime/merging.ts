/**
 * From a patch to the published branch: verification asked for, its verdict taken, the branch's row moved only
 * from the commit that was verified on, and the push of exactly that commit. [MRG-*]
 *
 * The branch is a row. A candidate is built and checked on a named parent; the row moves only if it is still at
 * that parent, otherwise the candidate is built and checked again on the new tip. So no lock is held while
 * models, commands or git run.
 */
import { withoutSkips } from "../../src/domain/github/words.ts";
import { derivedId } from "../../src/domain/ids.ts";
import type { Message } from "../../src/domain/message.ts";
import { type VerificationOrder, verificationResult } from "../../src/domain/result.ts";
import { approvedPlan, sandboxLimits } from "./dispatch.ts";
import { endAttempt } from "./ladder.ts";
import { rememberInsights } from "./memory.ts";
import { proceed } from "./progress.ts";
import { published, requestVerification } from "./publishing.ts";
import type { AttemptRow, ItemRow, TaskRow } from "./rows.ts";
import { checkItem, type VerifiedTokens } from "./tokens.ts";
import type { Tx } from "./tx.ts";

/** Sends the attempt's patch to the verifier, on the branch as it is now. */
export function verify(tx: Tx, task: TaskRow, item: ItemRow, attempt: AttemptRow, verified: VerifiedTokens): void {
  const plan = approvedPlan(tx, task);
  const { patch } = attempt;
  if (plan === null || patch === null) return;
  const refused = checkItem(tx, "verification", task, item, verified);
  if (refused !== null) return blocked(tx, task, attempt, refused);

  const rounds = tx.rows.verifications.ofTask(task.id).filter((row) => row.attempt_id === attempt.id).length;
  const parent = rounds === 0 ? attempt.baseline : (task.tip?.commit ?? attempt.baseline);
  const bundle_key = rounds === 0 ? attempt.bundle_key : (task.tip?.bundle_key ?? attempt.bundle_key);
  const id = `v${derivedId(attempt.id, "verification", rounds).slice(0, 15)}`;
  tx.rows.verifications.put({
    id,
    task_id: task.id,
    attempt_id: attempt.id,
    round: rounds,
    state: "open",
    parent,
    verdict: null,
    detail: "",
    checks: [],
    commit: null,
  });
  tx.rows.attempts.put({ ...attempt, state: rounds === 0 ? "verifying" : "merging" });
  const order: VerificationOrder = {
    stage: "verify",
    verification_id: id,
    attempt_id: attempt.id,
    work_item_id: item.id,
    title: commitMessage(task, item),
    parent,
    patch_key: patch.key,
    protect: [...item.spec.protect],
    checks:
      item.spec.verify === "none"
        ? []
        : item.spec.verify.map((check) => ({ run: [...check.run], timeout_s: check.timeout_s })),
    at_s: Math.floor(tx.now / 1000),
    repo: task.repo,
    baseline: attempt.baseline,
    bundle_key,
    worktree: `.runtime/worktrees/${tx.scope.scope_id}/${item.id}/${id}`,
    environment: plan.environment,
    limits: sandboxLimits,
  };
  requestVerification(tx, task, id, order, attempt);
  tx.touch(task);
}

function commitMessage(task: TaskRow, item: ItemRow): string {
  return `${withoutSkips(item.spec.title)}\n\nTask: ${task.id}\nWork-item: ${item.id}\nItem-hash: ${item.item_hash}`;
}
function blocked(tx: Tx, task: TaskRow, attempt: AttemptRow, reason: string): void {
  endAttempt(tx, task, attempt, {
    end: { kind: "error", error_code: "gate_blocked", retryable: false },
    detail: reason,
  });
}

/** Takes a `verification_result`. */
export function acceptVerification(tx: Tx, message: Message, verified: VerifiedTokens): void {
  const result = verificationResult.parse(message.payload);
  if (result.stage === "publish") return published(tx, message, result);
  const row = tx.rows.verifications.get(result.verification_id);
  const attempt = row === null ? null : tx.rows.attempts.get(row.attempt_id);
  const task = attempt === null ? null : tx.rows.tasks.get(attempt.task_id);
  const item = attempt === null ? null : tx.rows.items.get(attempt.work_item_id);
  const current = attempt?.state === "verifying" || attempt?.state === "merging";
  if (row?.state !== "open" || attempt === null || task === null || item === null || !current) {
    const details = { verification_id: result.verification_id };
    tx.audit("effect", message, {
      actor: "verification_runner",
      decision: "stale_result",
      reason: "nobody waits for it any more",
      details,
    });
    return;
  }
  const { verdict, detail, checks, commit } = result;
  tx.rows.verifications.put({ ...row, state: "done", verdict, detail, checks, commit });
  const about = {
    work_item_id: item.id,
    attempt_id: attempt.id,
    attempt_number: attempt.number,
    verification_id: row.id,
    verdict,
  };
  tx.event("verification_result", task, { actor: "verifier", detail, ...about });
  tx.audit("effect", task, {
    actor: "verification_runner",
    decision: verdict,
    reason: detail,
    details: { ...about, checks: checks.length, commit },
  });
  if (verdict === "pass" && commit !== null && result.bundle_key !== null) {
    merge(tx, task, item, attempt, { parent: row.parent, commit, bundle_key: result.bundle_key }, verified);
    return;
  }
  const conflict = result.conflicts.length > 0;
  endAttempt(tx, task, attempt, {
    end: conflict ? { kind: "conflict" } : { kind: "verdict", verdict: verdict === "pass" ? "infra_error" : verdict },
    detail,
  });
}

/** Moves the branch's row to the verified commit, or has the candidate built again on where the branch is now. */
function merge(
  tx: Tx,
  task: TaskRow,
  item: ItemRow,
  attempt: AttemptRow,
  candidate: { parent: string; commit: string; bundle_key: string },
  verified: VerifiedTokens,
): void {
  const plan = approvedPlan(tx, task);
  if (plan === null) return;
  const tip = task.tip?.commit ?? plan.base_commit;
  const about = { work_item_id: item.id, attempt_id: attempt.id, commit: candidate.commit, parent: candidate.parent };
  if (tip !== candidate.parent) {
    tx.audit("merge", task, {
      decision: "rebuild",
      reason: "the branch moved since the candidate was built",
      details: { ...about, tip },
    });
    return verify(tx, task, item, attempt, verified);
  }
  const refused = checkItem(tx, "merge", task, item, verified);
  if (refused !== null) return blocked(tx, task, attempt, refused);
  const merged = { ...task, tip: { commit: candidate.commit, bundle_key: candidate.bundle_key } };
  tx.rows.attempts.put({ ...attempt, state: "done", ended_at: tx.at });
  const checked = tx.rows.items.get(item.id) ?? item;
  tx.rows.items.put({
    ...checked,
    state: "done",
    outcome: "done",
    grant: checked.grant === null ? null : { ...checked.grant, life: "executed" },
  });
  // What did not pass, or what a person refused, teaches nobody else.
  rememberInsights(tx, task, `${attempt.id}.${attempt.entry}`, attempt.insights);
  tx.audit("merge", task, { decision: "merged", details: about });
  tx.event("merge_result", task, { detail: item.spec.title, ...about });
  proceed(tx, tx.touch(merged), verified);
}
