/**
 * What an executor answered: stale answers kept for the record, a call that waits put before a person, and a
 * finished patch held to what the plan grants. [OUTC-*]
 */
import { cardTitle, emptyCard } from "../../src/domain/approval.ts";
import type { Card } from "../../src/domain/approval-view.ts";
import { inGithubFolder } from "../../src/domain/github/folder.ts";
import { patchVerdict } from "../../src/domain/grant.ts";
import type { Message } from "../../src/domain/message.ts";
import { type ExecutionResult, executionResult, type Suspension } from "../../src/domain/result.ts";
import { standingOfSubject } from "../../src/domain/standing-subject.ts";
import { visibleLine } from "../../src/domain/visible.ts";
import { gateResult, type ResultGated, stoppedByGate } from "./gates.ts";
import { endAttempt } from "./ladder.ts";
import { verify } from "./merging.ts";
import { ask } from "./plans.ts";
import type { AttemptRow, ItemRow, TaskRow } from "./rows.ts";
import { isThinking, putAway } from "./thinkers.ts";
import type { VerifiedTokens } from "./tokens.ts";
import type { Tx } from "./tx.ts";

/** Takes an `execution_result`. One that comes late is kept for the record and changes nothing. */
export function acceptResult(tx: Tx, message: Message, verified: VerifiedTokens): void {
  const result = executionResult.parse(message.payload);
  const attempt = tx.rows.attempts.get(result.attempt_id);
  const task = attempt === null ? null : tx.rows.tasks.get(attempt.task_id);
  const item = attempt === null ? null : tx.rows.items.get(attempt.work_item_id);
  const current =
    attempt?.state === "running" &&
    attempt.entry === result.entry &&
    attempt.lease?.lease_id === result.lease_id &&
    attempt.lease.epoch === result.epoch;
  if (attempt === null || task === null || item === null || !current || message.sender !== attempt.agent) {
    const details = { attempt_id: result.attempt_id, entry: result.entry, epoch: result.epoch };
    tx.audit("effect", message, {
      actor: "executor",
      decision: "stale_result",
      reason: "the attempt has gone on without it",
      details,
    });
    return;
  }
  const acked = tx.stores.queue.ack({ lease_id: result.lease_id, epoch: result.epoch }, tx.now);
  if (acked.ok) tx.facts(acked.value);
  const told = attempt.recoveries ?? [];
  const { recoveries = told, insights = [] } = result;
  const given: AttemptRow = { ...attempt, lease: null, ...(recoveries.length === 0 ? {} : { recoveries }) };
  const about = { work_item_id: item.id, attempt_id: attempt.id, attempt_number: attempt.number };
  // An attempt that went on after a decision tells all of them again. They are the loop's own words: no gate holds them.
  for (const recovery of recoveries.slice(told.length)) tellRecovery(tx, task, attempt, recovery);
  const gated = gateResult(tx, task, given, message);
  // Words that a gate holds up reach nobody: not the next attempt, not the Stream, not the memory.
  const freed = gated.blocked || gated.asks.length > 0 || insights.length === 0 ? given : { ...given, insights };
  if (gated.blocked && (result.end === "suspended" || result.success)) {
    const end = { kind: "error", error_code: "gate_blocked", retryable: false } as const;
    return endAttempt(tx, task, { ...freed, patch: result.patch }, { end, detail: stoppedByGate });
  }
  const detail = gated.blocked || gated.asks.length > 0 ? stoppedByGate : message.content;
  switch (result.end) {
    // Who calls an attempt off ends it here first, so one that its agent gave up by itself was lost.
    case "cancelled":
    case "crashed":
      return endAttempt(tx, task, freed, { end: { kind: "crashed" }, detail });
    case "suspended":
      return suspend(tx, task, item, freed, result.suspension, gated);
    case "finished":
      if (result.success && result.patch !== null) {
        tx.event("task_execution_complete", task, {
          actor: message.sender,
          detail,
          ...about,
        });
        const executed = { ...freed, patch: result.patch, detail: message.content };
        return holdToGrant(tx, task, item, executed, verified, gated);
      }
      return endAttempt(
        tx,
        task,
        { ...freed, patch: result.patch },
        {
          end:
            result.stuck === undefined
              ? {
                  kind: "error",
                  error_code: message.error_code ?? "tool_failure",
                  retryable: message.retryable ?? false,
                }
              : { kind: "stuck", next: result.stuck.next },
          detail,
        },
      );
  }
}

/** What a loop did about being stuck, before it was left to the ladder. */
function tellRecovery(
  tx: Tx,
  task: TaskRow,
  attempt: AttemptRow,
  { action, reason, detail }: NonNullable<ExecutionResult["recoveries"]>[number],
): void {
  const about = { work_item_id: attempt.work_item_id, attempt_id: attempt.id, action, stuck: reason };
  tx.event("recovery", task, { actor: attempt.agent ?? "executor", detail, why: `${reason}: ${action}`, ...about });
  tx.audit("transition", task, { actor: "executor", decision: "recovery", reason: detail, details: about });
}

/** What an attempt waits for while a person is asked about one call: a card bound to the workspace as it was stored. */
function suspend(
  tx: Tx,
  task: TaskRow,
  item: ItemRow,
  attempt: AttemptRow,
  suspension: ExecutionResult["suspension"],
  gated: ResultGated,
): void {
  if (suspension === null)
    return endAttempt(tx, task, attempt, { end: { kind: "crashed" }, detail: "it stopped without saying why" });
  if (isThinking(suspension) && item.spec.runner === "loop") return putAway(tx, task, item, attempt, suspension);
  const call = tx.rows.calls.get(`${attempt.id}/${suspension.call_id}`);
  // Only what was told to wait may ask: not what ran, nor what is denied, nor other bytes than were judged.
  const waits = call?.state === "waiting" && call.tool === suspension.tool && call.arguments === suspension.arguments;
  if (!waits)
    return endAttempt(tx, task, attempt, {
      end: { kind: "crashed" },
      detail: "it stopped for a call that does not wait",
    });
  tx.rows.attempts.put({ ...attempt, state: "suspended", suspension });
  const card: Card = {
    ...emptyCard({
      kind: "tool_call",
      title: cardTitle("tool_call", task, item.spec.title),
      why: call.reason,
      repo: task.repo,
      taint: task.taint,
      policy_hash: tx.scope.policy_hash,
      requested_by: attempt.agent ?? "executor",
    }),
    base_commit: attempt.baseline,
    tool: { name: suspension.tool, arguments: suspension.arguments, workspace_tree: suspension.tree },
    facts: [
      `Work item: ${item.spec.title}`,
      ...whereInAttempt(item, attempt, suspension),
      // Who allows the call has been asked this too.
      ...gated.asks.map(inFacts),
    ],
  };
  ask(tx, task, {
    cause: `${attempt.id}/${attempt.entry}/${suspension.call_id}`,
    card,
    rule: call.rule,
    work_item_id: item.id,
    attempt_id: attempt.id,
    call_id: suspension.call_id,
  });
  tx.event("tool_approval_pending", task, {
    surfaces: ["review"],
    detail: card.title,
    attempt_id: attempt.id,
    tool_name: suspension.tool,
  });
  tx.touch(task);
}

/** Steps are counted. A loop has none to count: its own words say what it is about, unless a gate holds words up. */
function whereInAttempt(item: ItemRow, { number, after_step }: AttemptRow, suspension: Suspension): string[] {
  if (item.spec.runner !== "loop")
    return [`Attempt ${number}, step ${suspension.step + 1} of ${item.spec.steps.length}`];
  const words = after_step === null ? (suspension.words ?? "") : "";
  const said = visibleLine(words.slice(0, wordsMax).toWellFormed());
  return [
    `Attempt ${number}, call ${suspension.call_id} of an agent that chooses its own steps`,
    ...(said === "" ? [] : [`Before the call the agent wrote (its words, not checked): "${said}"`]),
  ];
}
const wordsMax = 600;

function inFacts({ gate, reason }: { readonly gate: string; readonly reason: string }): string {
  return `The gate "${gate}" asks: ${reason}`;
}

/**
 * The patch may touch what the item was granted and nothing else, whatever command made it; and what gates ask about
 * the result is asked here, before anything is made of it.
 */
function holdToGrant(
  tx: Tx,
  task: TaskRow,
  item: ItemRow,
  attempt: AttemptRow,
  verified: VerifiedTokens,
  { asks }: ResultGated,
): void {
  const verdict = patchVerdict(attempt.patch?.files ?? [], item.spec);
  const executed = tx.rows.attempts.put({ ...attempt, state: "executed" });
  const outside = verdict.kind === "outside" ? verdict.paths : [];
  const unseen = unseenByAnybody(tx, item, attempt);
  const [first] = asks;
  if (outside.length + unseen.length === 0 && first === undefined) return verify(tx, task, item, executed, verified);
  const beyond = [...outside, ...unseen].map(({ path, why }) => `${path}: ${why}`);
  const facts = [...beyond, ...asks.map(inFacts)];
  const held = outside.length > 0 ? "what the plan does not grant" : "files that no person has approved";
  const reason = beyond.length > 0 ? `The result touches ${held}: ${beyond.join("; ")}` : stoppedByGate;
  const paths = [...outside, ...unseen].map(({ path }) => path);
  const about = { attempt_id: attempt.id, paths, gates: asks.map(({ gate }) => gate) };
  tx.audit("gate_block", task, {
    actor: "gate_runner",
    decision: beyond.length > 0 ? "blocked" : "ask",
    reason: beyond.length > 0 ? reason : facts.join("; "),
    details: about,
  });
  const files = outside.length > 0 ? "files that the plan does not grant" : held;
  const what = beyond.length > 0 ? `The result touches ${files}` : (facts[0] ?? "");
  const card: Card = {
    ...emptyCard({
      kind: "gate",
      title: cardTitle("gate", task, item.spec.title),
      why: `${what}. Approve to let this one result pass to verification.`,
      repo: task.repo,
      taint: task.taint,
      policy_hash: tx.scope.policy_hash,
      requested_by: attempt.agent ?? "executor",
    }),
    base_commit: attempt.baseline,
    tool: {
      name: "patch",
      arguments: JSON.stringify(attempt.patch?.files ?? []),
      workspace_tree: attempt.patch?.tree ?? "",
    },
    facts,
  };
  ask(tx, task, {
    cause: `${attempt.id}/gate`,
    card,
    rule: first === undefined || beyond.length > 0 ? "patch_held_to_grant" : `gate:${first.gate}`,
    work_item_id: item.id,
    attempt_id: attempt.id,
  });
  const touched = tx.touch(task);
  tx.status(touched, "blocked", { detail: reason, attempt, error_code: "gate_blocked" });
}

/** Under .github a person says yes to each change: to the very plan that names it, else to this result. */
function unseenByAnybody(
  tx: Tx,
  { task_id, plan_id }: ItemRow,
  { patch }: AttemptRow,
): { path: string; why: string }[] {
  const touched = (patch?.files ?? []).filter(({ path }) => inGithubFolder(path));
  if (touched.length === 0) return [];
  const cards = tx.rows.approvals.ofTask(task_id).filter((card) => card.kind === "plan" && card.plan_id === plan_id);
  const said = cards.flatMap(({ decisions }) => decisions);
  const seen = said.some(({ decision, by }) => decision === "approve" && standingOfSubject(by) === null);
  const why = "it is under .github, and no person has approved this plan";
  return seen ? [] : touched.map(({ path }) => ({ path, why }));
}
