/** The queues of a scope's runtime object in memory: they stand as they are told, and give back what they are given. */
import type { DeadLetterView, QueueDetail, QueueMove, QueueView } from "../../src/domain/queue-shapes.ts";
import { standingMoves } from "../../src/domain/queue-standing.ts";
import { ok, type Refusal, type Result, refuse } from "../../src/domain/refusal.ts";
import type { Caller, Page } from "../../src/domain/view.ts";
import type { PageQuery } from "../../src/http/doors.ts";
import { at, queueOf } from "./views.ts";

const missing = (code: Refusal["code"]) => refuse(code, "there is no such thing in this scope");

export class FakeQueues {
  /** Every call by name, so that a test can say that a door never reached the object. */
  readonly calls: string[] = [];
  readonly messages: string[] = [];
  /** Agents that do not answer. */
  silent: string[] = [];
  readonly queueRows = new Map<string, QueueDetail>(
    ["runtime_queue", "executor_queue", "proxy", "planner"].map((name) => [name, queueOf(name)]),
  );
  readonly letterRows = new Map<string, DeadLetterView[]>();

  async queues(): Promise<Result<{ queues: QueueView[]; silent: string[] }>> {
    return ok({ queues: [...this.queueRows.values()].map(({ leases, ...queue }) => queue), silent: this.silent });
  }
  async queueDetail(_: Caller, name: string): Promise<Result<QueueDetail>> {
    const queue = this.queueRows.get(name);
    return queue === undefined ? missing("queue_not_found") : ok(queue);
  }
  async deadLetters(_: Caller, name: string, query: PageQuery): Promise<Result<Page<DeadLetterView>>> {
    return this.queueRows.has(name) ? ok(paged(this.letterRows.get(name) ?? [], query)) : missing("queue_not_found");
  }
  async moveQueue(caller: Caller, name: string, asked: { move: QueueMove; reason: string }) {
    this.calls.push("moveQueue");
    const queue = this.queueRows.get(name);
    if (queue === undefined) return missing("queue_not_found");
    const state = standingMoves[queue.state][asked.move];
    const moved = state === queue.state ? queue : { ...queue, state, by: caller.subject, at, reason: asked.reason };
    this.queueRows.set(name, moved);
    return ok(moved);
  }
  async requeueLetter(caller: Caller, name: string, message_id: string, reason: string) {
    if (!this.queueRows.has(name)) return missing("queue_not_found");
    const letters = this.letterRows.get(name) ?? [];
    const letter = letters.find((each) => each.message_id === message_id);
    if (letter === undefined) return missing("dead_letter_not_found");
    if (letter.card?.status === "denied") return refuse("not_in_this_state", "it was dropped", { state: "dropped" });
    const left = letters.filter((each) => each !== letter);
    this.letterRows.set(name, left);
    this.messages.push(`${caller.subject}: ${reason}`);
    return ok({ requeued: 1, left: left.length });
  }
  async requeueLetters(caller: Caller, name: string, reason: string) {
    if (!this.queueRows.has(name)) return missing("queue_not_found");
    const requeued = this.letterRows.get(name)?.length ?? 0;
    this.letterRows.set(name, []);
    this.messages.push(`${caller.subject}: ${reason}`);
    return ok({ requeued, left: 0 });
  }
}

export function paged<T>(rows: T[], query: PageQuery): Page<T> {
  const from = query.cursor === null ? 0 : Number(query.cursor);
  const to = from + query.limit;
  return { items: rows.slice(from, to), next_cursor: to < rows.length ? String(to) : null };
}
