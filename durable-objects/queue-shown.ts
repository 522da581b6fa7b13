/** One queue as people see and steer it, the same for an agent's inbox and for the runtime's own queues. [HTTP-70] */
import type { QueueDetail, QueueMove, QueueView } from "../src/domain/queue-shapes.ts";
import type { StandingOrder } from "../src/domain/queue-standing.ts";
import { limits } from "../src/limits.ts";
import type { DurableQueue } from "./durable-queue.ts";
import type { Letters, Shelf } from "./letters.ts";
import type { Stood } from "./queue-standing.ts";

interface QueueStores {
  readonly queue: DurableQueue;
  readonly letters: Letters;
}

export function shownQueue({ queue, letters }: QueueStores, shelf: Shelf): QueueView {
  const { state, by, at, reason } = queue.standing(shelf.queue);
  const outbox = shelf.outbox ? letters.outboxCounts() : null;
  return { ...queue.view(shelf.queue), name: shelf.owner, state, by, at, reason, outbox };
}
export function detailedQueue(stores: QueueStores, shelf: Shelf): QueueDetail {
  return { ...shownQueue(stores, shelf), leases: stores.queue.leases(shelf.queue, limits.leases_shown) };
}

export function moveQueue(
  queue: DurableQueue,
  name: string,
  move: QueueMove,
  order: StandingOrder,
  now: number,
): Stood {
  switch (move) {
    case "pause":
      return queue.pause(name, order, now);
    case "resume":
      return queue.resume(name, order, now);
    case "drain":
      return queue.drain(name, order, now);
  }
}
