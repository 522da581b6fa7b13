/** A message that its addressee can never take: kept, named, and put before a person. [DL-*] */
import { emptyCard } from "../../src/domain/approval.ts";
import type { Message } from "../../src/domain/message.ts";
import type { Card } from "../../src/domain/view.ts";
import { ask } from "./plans.ts";
import type { Tx } from "./tx.ts";

/** Told again while its card waits, or after a person dropped it, it asks nothing more; dead once more after it was sent again, it does. */
export function deadLetterCard(tx: Tx, message: Message, reason: string): void {
  const task = message.task_id === null ? null : tx.rows.tasks.get(message.task_id);
  const before =
    task === null ? [] : tx.rows.approvals.ofTask(task.id).filter((card) => card.message_id === message.message_id);
  if (before.some((card) => card.status !== "approved")) return;
  const about = { message_id: message.message_id, message_kind: message.message_kind, recipient: message.recipient };
  tx.audit("effect", message, { decision: "dead_letter", reason, details: about });
  if (task === null) return;
  const card: Card = {
    ...emptyCard({
      kind: "dead_letter",
      title: `A message could not be delivered: ${message.message_kind} to ${message.recipient}`,
      why: "Approve to send it again, or deny to drop it.",
      repo: task.repo,
      taint: message.taint,
      policy_hash: tx.scope.policy_hash,
      requested_by: message.sender,
    }),
    facts: [`Reason: ${reason}`, `Message: ${message.message_id}`],
  };
  const { message_id, recipient } = message;
  ask(tx, task, {
    cause: `${message_id}.${before.length}`,
    card,
    rule: "a dead letter is decided by a person",
    message_id,
    recipient,
  });
  tx.touch(task);
}
