/**
 * A message that was given up: kept, named, and put before a person, once for each of its deaths: as a card when it
 * belongs to a task that goes on, else as an event in Review; it stands in its queue until it is sent again. [DL-*]
 */
import { emptyCard } from "../../src/domain/approval.ts";
import type { Card } from "../../src/domain/approval-view.ts";
import { isFinal } from "../../src/domain/task.ts";
import { type Death, type LetterHead, outboxPlace } from "../letters.ts";
import { syncDied } from "./github-sync.ts";
import { ask } from "./plans.ts";
import type { ApprovalRow, AttemptRow, TaskRow } from "./rows.ts";
import type { Tx } from "./tx.ts";

/** How the runtime's own letters are held. */
export const ownHolder = "runtime";
/** Batches of its own letters the runtime hears of in one transaction. */
const maxBatches = 20;

/** `holder` is the agent whose inbox or outbox it stands in, or the runtime. Hearing of the same death again says nothing. */
export function hearOfDeath(tx: Tx, holder: string, died: Death): void {
  const { head, place, death, reason } = died;
  const { message_id, message_kind, recipient } = head;
  const key = { holder, place, message_id, death };
  if (!tx.stores.heard.isNews(key)) return;
  const task = taskOf(tx, head);
  // Nobody has to decide about work that is lost here: its attempt ends, and another takes its place; nor about a look at GitHub.
  const mended = syncDied(tx, head) || place === "executor_queue";
  const card = mended || task === null || isFinal(task.status) ? null : cardFor(tx, task, head, reason);
  tx.stores.heard.hear(key, card?.id ?? null);
  const queue = queueOf(holder, place);
  tx.audit("effect", head, {
    decision: "dead_letter",
    reason,
    details: { message_id, message_kind, recipient, queue, died_in: place === outboxPlace ? "outbox" : "inbox" },
  });
  tx.event("dead_letter", task, {
    actor: holder,
    surfaces: card === null && !mended ? ["review", "activity"] : ["activity"],
    detail: `${message_kind.replaceAll("_", " ")} to ${recipient}: ${reason}`,
    queue,
    message_id,
    message_kind,
    recipient,
  });
}

/** A letter that can no longer be read still has its row's trace, which is its task's. */
function taskOf(tx: Tx, { task_id, trace_id }: LetterHead): TaskRow | null {
  if (task_id !== null) return tx.rows.tasks.get(task_id);
  return tx.rows.tasks.all().find((task) => task.trace_id === trace_id) ?? null;
}

/** What died in the runtime's own queues and outbox. */
export function hearOwn(tx: Tx): void {
  for (let batch = 0; batch < maxBatches; batch++) {
    const untold = tx.stores.letters.untold("runtime_queue");
    if (untold.length === 0) return;
    for (const died of untold) {
      hearOfDeath(tx, ownHolder, died);
      tx.stores.letters.told(died);
    }
  }
}

/** The queue under whose name a letter is found. */
function queueOf(holder: string, place: string): string {
  if (holder !== ownHolder) return holder;
  return place === outboxPlace ? "runtime_queue" : place;
}

/** While a card waits, the same message asks nothing more; nor does one that a person dropped. */
function cardFor(tx: Tx, task: TaskRow, head: LetterHead, reason: string): ApprovalRow | null {
  const { message_id, message_kind, recipient, sender } = head;
  const before = tx.rows.approvals.ofTask(task.id).filter((card) => card.message_id === message_id);
  const waiting = before.find((card) => card.status === "pending");
  if (waiting !== undefined) return waiting;
  if (before.some((card) => card.status === "denied")) return null;
  const card: Card = {
    ...emptyCard({
      kind: "dead_letter",
      title: `A message could not be delivered: ${message_kind} to ${recipient}`,
      why: "Approve to send it again, or deny to drop it for good: what waits for it then ends.",
      repo: task.repo,
      taint: head.taint,
      policy_hash: tx.scope.policy_hash,
      requested_by: sender,
    }),
    facts: [`Reason: ${reason}`, `Message: ${message_id}`],
  };
  const asked = ask(tx, task, {
    cause: `${message_id}.${before.length}`,
    card,
    rule: "a dead letter is decided by a person",
    message_id,
    message_kind,
    recipient,
    work_item_id: head.work_item_id,
    attempt_id: attemptOf(tx, head)?.id ?? null,
  });
  tx.touch(task);
  return asked;
}

function attemptOf(tx: Tx, { task_id, work_item_id, attempt_number }: LetterHead): AttemptRow | null {
  const attempts = task_id === null || work_item_id === null ? [] : tx.rows.attempts.ofTask(task_id);
  return attempts.find((row) => row.work_item_id === work_item_id && row.number === attempt_number) ?? null;
}
