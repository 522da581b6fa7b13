/** How deep each queue is, measured once a tick while it changes and every ten seconds while it does not. */
import { noFacts, type QueueFacts } from "../src/domain/queue.ts";
import { limits } from "../src/limits.ts";
import { depthOf } from "./queue-view.ts";
import type { Sql } from "./sql.ts";

export class DepthSamples {
  readonly #sql: Sql;
  /** Only saves measuring the same twice: after a restart each queue is measured anew. */
  readonly #last = new Map<string, { readonly at: number; readonly depth: string }>();
  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The value is how many rows are queued; the labels say how many of them are eligible, and what else stands. */
  take(scope_id: string, queues: readonly string[], now: number): QueueFacts {
    const telemetry = queues.flatMap((queue) => {
      const { queued, eligible, leased, dead } = depthOf(this.#sql, queue, now);
      const depth = `${queued} ${eligible} ${leased} ${dead}`;
      const last = this.#last.get(queue);
      if (last !== undefined && last.depth === depth && now < last.at + limits.depth_sample_ms) return [];
      this.#last.set(queue, { at: now, depth });
      const event_name = "queue_depth_sample" as const;
      const labels = { eligible, leased, dead };
      return [{ event_name, scope_id, trace_id: null, queue_name: queue, message_id: null, value: queued, labels }];
    });
    return { ...noFacts, telemetry };
  }
}
