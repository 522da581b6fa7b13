/** Queues and dead letters as the service would show them. */
import type { DeadLetterView, QueueDetail } from "../../src/domain/queue-shapes.ts";

const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

/** What one agent gave up: once in its inbox, once as a sender. */
export function lettersOf(name: string): DeadLetterView[] {
  const letter = { message_kind: "agent_message", deliveries: 5, at: ago(12), task_id: "task-1", card: null };
  return [
    {
      ...letter,
      message_id: "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
      ...{ died_in: "inbox", reason: "a bug of ours\u202e; delivered 5 times, the most allowed", sender: "crew-1" },
      recipient: name,
      card: { id: "card-1", status: "pending" },
    },
    {
      ...letter,
      message_id: "ffee2c3d4e5f60718293a4b5c6d7e8f9",
      ...{ died_in: "outbox", reason: "there is no agent zoe", sender: name, recipient: "zoe" },
      task_id: null,
    },
  ];
}
export function queuesOf(): QueueDetail[] {
  const open = { state: "open" as const, by: null, at: null, reason: null, leases: [] };
  const quiet = { ...open, queued: 0, leased: 0, dead: 0, oldest_at: null, outbox: { waiting: 0, dead: 0 } };
  const lease = {
    message_id: "77aa2c3d4e5f60718293a4b5c6d7e8f9",
    message_kind: "execution_request",
    holder: "crew-1",
    leased_at: ago(2),
    expires_at: ago(-3),
    deliveries: 1,
    heartbeats: 12,
  };
  return [
    { ...quiet, name: "runtime_queue" },
    { ...quiet, name: "executor_queue", queued: 3, leased: 1, oldest_at: ago(9), leases: [lease], outbox: null },
    { ...quiet, name: "proxy", dead: 1, outbox: { waiting: 0, dead: 1 } },
    { ...quiet, name: "planner", state: "paused", by: "grace", at: ago(30), reason: "A wrong model is configured" },
  ];
}
