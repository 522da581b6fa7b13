/**
 * A planner's questions as the runtime knows them: from the shared queue to whoever looks them up, until the answer
 * passes, its time is over, or nobody wants it any more. What comes after that is on record and nothing else. [RSC-*]
 */
import type { Message } from "../../src/domain/message.ts";
import { researchRequest, researchResult } from "../../src/domain/payloads.ts";
import { isFinal } from "../../src/domain/task.ts";
import { limits } from "../../src/limits.ts";
import type { Lease } from "../durable-queue.ts";
import type { ResearchRow } from "./reading-rows.ts";
import type { ScopeRows } from "./rows.ts";
import { hasRead } from "./taints.ts";
import type { Tx } from "./tx.ts";

/** A question enters the shared queue. Of a task that is over it is only on record. */
export function openResearch(tx: Tx, message: Message): void {
  const { research_id, plan_run_id, answer_by } = researchRequest.parse(message.payload);
  const task = message.task_id === null ? null : tx.rows.tasks.get(message.task_id);
  if (task === null || tx.rows.research.get(research_id) !== null) return;
  const state = isFinal(task.status) ? "cancelled" : "open";
  const row: ResearchRow = {
    ...{ id: research_id, task_id: task.id, message_id: message.message_id, plan_run_id, state },
    ...{ agent: null, lease: null, at: tx.at },
    due_at: Math.min(Date.parse(answer_by), tx.now + limits.research_timeout_ms),
  };
  tx.rows.research.put(row);
  tx.audit("transition", message, { decision: "research_asked", details: { research_id, task_id: task.id, state } });
  if (state === "open") tx.touch(task);
}

/** Whether anybody still waits for what a row of the shared queue asks. */
export function wantedResearch(tx: Tx, message: Message): boolean {
  const row = rowOf(tx, message);
  return row?.state === "open" && row.due_at > tx.now;
}
/** Handed out. Whoever had it before fell silent, and is called off. */
export function beginResearch(tx: Tx, { message, lease_id, epoch }: Lease, agent: string): void {
  const row = rowOf(tx, message);
  if (row?.state !== "open") return;
  if (row.agent !== null && row.agent !== agent) tx.kill(row.task_id, row.agent, row.message_id);
  tx.rows.research.put({ ...row, agent, lease: { lease_id, epoch } });
}
function rowOf(tx: Tx, message: Message): ResearchRow | null {
  const asked = researchRequest.safeParse(message.payload);
  return asked.success ? tx.rows.research.get(asked.data.research_id) : null;
}

/** An answer passes on its way to the planner. Only that of whoever holds the question counts, and only once. */
export function hearResearch(tx: Tx, message: Message): void {
  const { research_id, lease_id, epoch, taint } = researchResult.parse(message.payload);
  const row = tx.rows.research.get(research_id);
  const task = row === null ? null : tx.rows.tasks.get(row.task_id);
  const holds = row?.lease?.lease_id === lease_id && row.lease.epoch === epoch && row.agent === message.sender;
  // Even late it is answered: nobody else is given it.
  if (holds) ack(tx, { lease_id, epoch });
  const details = { research_id, lease_id, epoch };
  if (row === null || task === null || row.state !== "open" || !holds) {
    const reason =
      row === null ? "nobody asked this" : row.state === "open" ? "another holds it" : `it is ${row.state}`;
    tx.audit("effect", message, { actor: "executor", decision: "late_research", reason, details });
    return;
  }
  tx.rows.research.put({ ...row, state: "answered", lease: null });
  tx.audit("transition", message, { actor: "executor", decision: "research_answered", details });
  const read = hasRead(tx, task, { taint, source: `research ${research_id}` });
  if (!isFinal(read.status)) tx.touch(tx.rows.tasks.get(task.id) ?? read);
}

/** Nobody wants what is still open: whoever works on it is called off, what waits is dropped when it is claimed. */
export function cancelResearch(tx: Tx, task_id: string, reason: string): void {
  for (const row of tx.rows.research.ofTask(task_id)) if (row.state === "open") close(tx, row, "cancelled", reason);
}
/** What time has ended. */
export function expireResearch(tx: Tx): void {
  for (const row of tx.rows.research.withStatus("open")) {
    if (row.due_at > tx.now) continue;
    close(tx, row, "timed_out", "no answer came in time");
    const task = tx.rows.tasks.get(row.task_id);
    if (task !== null && !isFinal(task.status)) tx.touch(task);
  }
}
export function nextResearchDue(rows: ScopeRows): number | null {
  const due = rows.research.withStatus("open").map(({ due_at }) => due_at);
  return due.length === 0 ? null : Math.min(...due);
}

function close(tx: Tx, row: ResearchRow, state: "cancelled" | "timed_out", reason: string): void {
  if (row.lease !== null) ack(tx, row.lease);
  if (row.agent !== null) tx.kill(row.task_id, row.agent, row.message_id);
  tx.rows.research.put({ ...row, state });
  const trace_id = tx.rows.tasks.get(row.task_id)?.trace_id ?? "scope";
  const details = { research_id: row.id, task_id: row.task_id };
  tx.audit("transition", { trace_id }, { decision: `research_${state}`, reason, details });
}
function ack(tx: Tx, lease: { readonly lease_id: string; readonly epoch: number }): void {
  const acked = tx.stores.queue.ack(lease, tx.now);
  if (acked.ok) tx.facts(acked.value);
}
