/**
 * What a task has read, and from where: its row rises with each message, repository and call, never falls, and every
 * message the runtime takes is at least as tainted as its task. [TAINT-*] [INV-04]
 */
import type { ToolCall } from "../../src/agents/bus.ts";
import type { Card } from "../../src/domain/approval-view.ts";
import { joinTaint, type Message, type Taint } from "../../src/domain/message.ts";
import { touchOf } from "../../src/domain/policy-call.ts";
import { keepTaint, readAlso, readByCall } from "../../src/domain/taint.ts";
import { contentHash } from "../../src/domain/token.ts";
import type { ApprovalRow, AttemptRow, ItemRow, TaskRow } from "./rows.ts";
import type { Tx } from "./tx.ts";

/** Writes it on the stored task, and gives back the caller's copy with it. */
export function hasRead(tx: Tx, task: TaskRow, read: { taint: Taint; source: string }): TaskRow {
  const stored = tx.rows.tasks.get(task.id) ?? task;
  const next = readAlso(stored, { ...read, at: tx.at });
  const { taint, taint_sources } = tx.rows.tasks.put(next);
  if (taint !== stored.taint) {
    tx.audit("transition", task, {
      decision: "taint_raised",
      reason: read.source,
      details: { task_id: task.id, from: stored.taint, to: taint },
    });
    const reason = `its task now rests on ${taint} content`;
    for (const card of tx.rows.approvals.ofTask(task.id))
      if (card.status === "pending")
        showAnew(tx, next, card, {
          reason,
          card: keepTaint(next, { ...card.card, taint_sources: card.card.taint_sources ?? [] }),
        });
  }
  return { ...task, taint, taint_sources };
}

/** Who decides must know what the task rests on now: a yes to the card as it was is refused. */
export function showAnew(tx: Tx, task: TaskRow, row: ApprovalRow, now: { reason: string; card: Card }): void {
  const { reason, card } = now;
  const content_hash = contentHash(card);
  tx.rows.approvals.put({ ...row, card, content_hash });
  const about = { approval_id: row.id, kind: row.kind, content_hash };
  tx.audit("approval", task, {
    actor: "approval_engine",
    decision: "shown_anew",
    reason,
    details: { ...about, before: row.content_hash },
  });
  tx.event("approval_requested", task, { surfaces: ["review"], detail: card.title, ...about });
}

/** The repository at its base commit is by members. */
export function readRepository(tx: Tx, task: TaskRow, commit: string): TaskRow {
  return hasRead(tx, task, { taint: "member", source: `repository at ${commit.slice(0, 12)}` });
}

/** On record before the call runs: what it may bring back is in the run from then on. */
export function readByRunning(tx: Tx, task: TaskRow, item: ItemRow, attempt: AttemptRow, call: ToolCall): void {
  const touch = touchOf({ tool: call.tool, args: JSON.parse(call.arguments) });
  const read = readByCall(touch, item.spec.allow);
  if (read === null) return;
  hasRead(tx, task, { taint: read.taint, source: `${call.call_id} of ${attempt.id} ${read.from}` });
}

/** A message as the runtime takes it: below its task's taint it is raised, and above it the task is. */
export function takenIn(tx: Tx, message: Message): Message {
  const task = message.task_id === null ? null : tx.rows.tasks.get(message.task_id);
  if (task === null) return message;
  const taint = joinTaint(task.taint, message.taint);
  if (taint !== task.taint)
    hasRead(tx, task, { taint: message.taint, source: `${message.message_kind} from ${message.sender}` });
  if (taint === message.taint) return message;
  tx.audit("effect", message, {
    decision: "taint_raised",
    reason: "it came with less taint than its task has",
    details: { message_id: message.message_id, from: message.taint, to: taint },
  });
  return { ...message, taint };
}
