/** The messages of the simulation: whole envelopes, whose content says what their consumers do with them. */

import { derivedId } from "../../../src/domain/ids.ts";
import { derive, type Message } from "../../../src/domain/message.ts";

/** `plain` is done; `poison` never is; `work` makes the runtime queue an order for the crew. */
export type Sort = "plain" | "poison" | "work";
export interface Content {
  /** Decides priority and most deliveries. */
  readonly sign: "a" | "b" | "c";
  readonly sort: Sort;
  /** How many messages may still follow from this one, one after another. */
  readonly hops: number;
}
export function write({ sign, sort, hops }: Content): string {
  return `${sign} ${sort} ${hops}`;
}
export function read(message: Pick<Message, "content">): Content {
  const [sign, sort, hops] = message.content.split(" ");
  return {
    sign: sign === "a" || sign === "b" ? sign : "c",
    sort: sort === "poison" || sort === "work" ? sort : "plain",
    hops: Number(hops ?? 0),
  };
}

type Named = Pick<
  Message,
  "message_id" | "trace_id" | "scope_id" | "message_kind" | "sender" | "recipient" | "content"
>;
const blank = {
  taint: "owner" as const,
  ...{ task_id: null, parent_task_id: null, work_item_id: null, attempt_number: null, payload: {} },
  ...{ error_code: null, retryable: null, origin_agent: null, urgency: "informational" as const },
  ...{ plan_markdown: null, constraints: null, artifacts: null, approval_token: null },
};
/** A message nobody caused. */
export function first(named: Named, now: number): Message {
  return { ...blank, ...named, created_at: new Date(now).toISOString() };
}
/** A message that follows from another, as the product derives it. */
export function next(
  cause: Message,
  cause_id: string,
  index: number,
  given: Pick<Message, "message_kind" | "sender" | "recipient" | "content"> & { readonly payload?: Message["payload"] },
  now: number,
): Message {
  const message_id = derivedId(cause_id, given.message_kind, index);
  return derive(cause, { ...given, message_id, created_at: new Date(now).toISOString() });
}

/** An order as the runtime gives it, as far as queues care. */
export function order(attempt_id: string): Message["payload"] {
  return {
    ...{ attempt_id, work_item_id: "item", title: "An item", entry: 0, runner: "steps", steps: ["true"], section: "" },
    ...{ guidance: [], minutes: 30, clear: [], resume: null, repo: "/repo", baseline: "0", bundle_key: null },
    ...{ worktree: "tree", environment: { setup: [], hosts: [], cache: [] } },
    limits: { memory_mb: 512, processes: 64, file_mb: 64 },
  };
}
export function answer(attempt_id: string, lease: { lease_id: string; epoch: number }): Message["payload"] {
  return {
    ...{ task_id: "task", attempt_id, entry: 0, lease_id: lease.lease_id, epoch: lease.epoch, end: "finished" },
    ...{ success: true, output: "", events: [], tool_errors: [], duration_ms: 0, exit_code: 0, patch: null },
    suspension: null,
  };
}
