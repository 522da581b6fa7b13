/**
 * What must hold of the work at every step: what is final stays so, a card is decided once, an item merged once, a
 * token consumed once, a call run once, attempts within their limits, and never two sandboxes at the steps of one item.
 */

import type { ApprovalRow, AttemptRow, ItemRow, TaskRow } from "../../../durable-objects/runtime/rows.ts";
import { limits } from "../../../src/limits.ts";
import type { Disk } from "../platform/disk.ts";
import type { Platform } from "../platform/platform.ts";
import type { Change } from "./changes.ts";
import { must, scopeOf } from "./queue-laws.ts";

const finalTask: readonly string[] = ["done", "denied", "failed", "cancelled"];
const finalAttempt: readonly string[] = ["done", "failed", "crashed", "cancelled"];

export class WorkLaws {
  readonly #platform: Platform;
  /** Things that may happen once: merges, decisions, ends, consumed tokens, runs of a call. */
  readonly #once = new Set<string>();
  readonly #boxes = new Set<string>();
  #begun = 0;
  readonly counts = {
    ...{ tasks_ended: 0, done: 0, merged: 0, decided: 0, calls_run: 0, published: 0, crashed_attempts: 0 },
    ...{ queue_moves: 0, sent_again: 0 },
  };

  constructor(platform: Platform) {
    this.#platform = platform;
    platform.watch.before = (method, args) => this.#host(method, args);
  }

  check(disk: Disk, changes: readonly Change[]): void {
    for (const { table, old, now } of changes) {
      if (now === null && table !== "audit_chain") continue;
      if (table === "audit_chain") this.#audited(disk, String(now?.body));
      else if (typeof now?.doc === "string") this.#noun(disk, table, doc(old?.doc ?? null), doc(now.doc));
    }
  }

  #noun(disk: Disk, table: string, old: unknown, now: unknown): void {
    const scope = scopeOf(disk.name);
    // The documents of these tables, as rows.ts wrote them.
    if (table === "tasks") this.#task(scope, old as TaskRow | null, now as TaskRow);
    if (table === "items") this.#item(now as ItemRow);
    if (table === "attempts") this.#attempt(old as AttemptRow | null, now as AttemptRow);
    if (table === "approvals") this.#card(old as ApprovalRow | null, now as ApprovalRow);
  }
  #task(scope: string, old: TaskRow | null, now: TaskRow): void {
    if (old === null) return;
    must(now.trace_id === old.trace_id, `task ${now.id}: its trace changes`);
    must(now.version >= old.version, `task ${now.id}: its version goes back`);
    if (finalTask.includes(old.status)) {
      must(now.status === old.status, `task ${now.id} of ${scope}: it was ${old.status} and is ${now.status}`);
      must(
        now.ended_at === old.ended_at && now.tip?.commit === old.tip?.commit,
        `task ${now.id}: changed after its end`,
      );
    } else if (finalTask.includes(now.status)) {
      this.counts.tasks_ended++;
      if (now.status === "done") this.counts.done++;
    }
  }
  #item(now: ItemRow): void {
    const most = now.spec.max_attempts + now.extra;
    must(now.counted <= most, `item ${now.id}: ${now.counted} attempts counted of ${most}`);
    const lost = limits.max_uncounted_attempts + now.extra;
    must(now.uncounted <= lost, `item ${now.id}: ${now.uncounted} attempts lost of ${lost}`);
    must(now.attempts <= now.counted + now.uncounted + 1, `item ${now.id}: ${now.attempts} attempts and two at once`);
  }
  #attempt(old: AttemptRow | null, now: AttemptRow): void {
    if (old !== null && finalAttempt.includes(old.state))
      must(now.state === old.state, `attempt ${now.id}: it was ${old.state} and is ${now.state}`);
    if (old?.state !== now.state && now.state === "crashed") this.counts.crashed_attempts++;
  }
  #card(old: ApprovalRow | null, now: ApprovalRow): void {
    must(now.decisions.length <= 1, `card ${now.id}: decided ${now.decisions.length} times`);
    if (old === null) return;
    must(now.content_hash === old.content_hash, `card ${now.id}: its content changes`);
    if (old.status !== "pending")
      must(now.status === old.status, `card ${now.id}: it was ${old.status} and is ${now.status}`);
    else if (now.decisions.length === 1) this.counts.decided++;
  }

  #audited(disk: Disk, body: string): void {
    const { event_type, decision, trace_id, details } = JSON.parse(body) as {
      event_type: string;
      decision: string;
      trace_id: string;
      details: Record<string, unknown>;
    }; // what audit-log.ts wrote
    const { work_item_id, approval_id, subject, task_id } = details;
    const once = (what: string) => {
      const name = `${scopeOf(disk.name)} ${what}`;
      must(!this.#once.has(name), `${name}: a second time`);
      this.#once.add(name);
    };
    if (event_type === "merge" && decision === "merged") {
      once(`merged ${work_item_id}`);
      this.counts.merged++;
    }
    if (event_type === "transition" && decision.startsWith("queue_")) this.counts.queue_moves++;
    if (decision === "dead_letter_sent_again") this.counts.sent_again++;
    if (event_type === "verify" && decision === "consumed") once(`consumed ${approval_id} ${subject}`);
    if (event_type === "transition" && /^task_(done|denied|failed|cancelled)$/.test(decision))
      once(`end of ${trace_id} ${task_id}`);
  }

  // --- sandboxes: named `<scope>.<attempt>.<entry>` for attempts

  #host(method: string, args: readonly unknown[]): void {
    const [id] = args;
    if (method === "create") this.#boxes.add(String(id));
    if (method === "destroy") this.#boxes.delete(String(id));
    if (method === "publish") this.counts.published++;
  }
  /** Every process that was really begun since the last look. */
  calls(): void {
    const { begun } = this.#platform.memory;
    for (; this.#begun < begun.length; this.#begun++) {
      const { id, call_id } = begun[this.#begun] ?? { id: "", call_id: "" };
      if (!call_id.startsWith("step-")) continue;
      const attempt = id.slice(0, id.lastIndexOf("."));
      const name = `run of ${attempt} ${call_id}`;
      must(!this.#once.has(name), `${name}: a second time`);
      this.#once.add(name);
      this.counts.calls_run++;
      this.#authorized(attempt, call_id);
      this.#alone(id);
    }
  }
  #authorized(attempt: string, call_id: string): void {
    const scope = attempt.slice(0, attempt.indexOf("."));
    const row = this.#platform
      .object(`${scope}/runtime`)
      .disk.all("SELECT status FROM calls WHERE id = ?", `${attempt.slice(scope.length + 1)}/${call_id}`)[0];
    must(
      row?.status === "intent" || row?.status === "void",
      `${attempt} ${call_id}: it runs and its call is ${row?.status}`,
    );
  }
  #alone(id: string): void {
    const item = (box: string) => box.split(".").slice(0, -2).join(".");
    for (const other of this.#boxes)
      must(other === id || item(other) !== item(id), `${id} runs a step while ${other} of the same item stands`);
  }
}

function doc(text: unknown): unknown {
  return typeof text === "string" ? JSON.parse(text) : null;
}
