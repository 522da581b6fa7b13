/** Queues and dead letters as text: whatever came from outside stays on its line, and nothing in it hides. [CLI-1] */
import type { z } from "zod";
import type { deadLetterView, leaseView, queueDetail, queueView } from "../domain/queue-shapes.ts";
import { visibleLine } from "../domain/visible.ts";
import { countOf } from "./counts.ts";

type Queue = z.infer<typeof queueView>;

export function queueRow(queue: Queue): string {
  const oldest = queue.oldest_at === null ? "" : `  oldest ${queue.oldest_at}`;
  const dead = queue.dead + (queue.outbox?.dead ?? 0);
  return `${visibleLine(queue.name).padEnd(16)}  ${queue.state.padEnd(8)}  ${queue.queued} queued  ${queue.leased} leased  ${dead} dead${oldest}`;
}

export function queueText(queue: z.infer<typeof queueDetail>): string {
  const lines = [
    queueRow(queue),
    ...(queue.by === null ? [] : [field(queue.state, `by ${queue.by} at ${queue.at ?? "?"}`)]),
    ...(queue.reason === null || queue.reason === "" ? [] : [field("reason", queue.reason)]),
    ...(queue.outbox === null
      ? []
      : [field("outbox", `${queue.outbox.waiting} waiting, ${queue.outbox.dead} given up`)]),
    ...queue.leases.map(leaseLine),
  ];
  return lines.join("\n");
}

function leaseLine(lease: z.infer<typeof leaseView>): string {
  const { message_id, message_kind, holder, leased_at, expires_at, deliveries, heartbeats } = lease;
  const held = `held by ${visibleLine(holder)} since ${leased_at} until ${expires_at}`;
  return `  ${visibleLine(message_id)}  ${visibleLine(message_kind)}  ${held}, delivery ${deliveries}, ${countOf(heartbeats, "heartbeat")}`;
}

export function deadLetterText(letter: z.infer<typeof deadLetterView>): string {
  const { message_id, message_kind, at, died_in, sender, recipient, deliveries, task_id, card } = letter;
  const way = `${visibleLine(sender)} to ${visibleLine(recipient)}`;
  const lines = [
    `${visibleLine(message_id)}  ${visibleLine(message_kind)}  ${way}  given up at ${at} in the ${died_in} after ${countOf(deliveries, "try", "tries")}`,
    field("reason", letter.reason),
    ...(task_id === null ? [] : [field("task", task_id)]),
    ...(card === null ? [] : [field("card", `${card.id}, ${card.status === "denied" ? "dropped" : card.status}`)]),
  ];
  return lines.join("\n");
}

function field(name: string, value: string): string {
  return `  ${name.padEnd(10)}${visibleLine(value)}`;
}
