/**
 * What the scope remembers: plans that were approved, decisions with what was said, insights of its agents; each written
 * in the commit that makes it, and found by words. What is recalled taints who recalls it. [MEM-*]
 */
import type { Asker, Remembered } from "../../src/agents/mind-bus.ts";
import { derivedId } from "../../src/domain/ids.ts";
import { type MemoryKind, memoryTexts } from "../../src/domain/memory.ts";
import { joinTaint, type Taint, taints } from "../../src/domain/message.ts";
import type { ExecutionResult } from "../../src/domain/result.ts";
import { limits } from "../../src/limits.ts";
import type { ApprovalRow, PlanRow, TaskRow } from "./rows.ts";
import { hasRead } from "./taints.ts";
import type { Tx } from "./tx.ts";

/** `cause` and kind name the entry: the same again is one. */
export interface Memory {
  readonly cause: string;
  readonly kind: MemoryKind;
  readonly title: string;
  readonly text: string;
  readonly task: TaskRow;
  /** Of the text itself; what the task has read is joined to it. */
  readonly taint?: Taint;
}

export function remember(tx: Tx, { cause, kind, title, text, task, taint = "owner" }: Memory): void {
  const id = `m${derivedId(cause, `memory:${kind}`, 0).slice(0, 15)}`;
  if (tx.stores.memory.has(id) || text.trim() === "") return;
  const read = joinTaint(task.taint, tx.rows.tasks.get(task.id)?.taint ?? "owner", taint);
  tx.stores.memory.add({ id, kind, ...memoryTexts(title, text), task_id: task.id, taint: read, at: tx.at });
}

/** What an executor or a planner found worth keeping. They are an agent's words, so that they were kept is on record. */
export function rememberInsights(tx: Tx, task: TaskRow, cause: string, insights: ExecutionResult["insights"]): void {
  const kept = (insights ?? []).slice(0, limits.memory_insights_at_once);
  for (const [index, { kind, text }] of kept.entries())
    remember(tx, { cause: `${cause}.${index}`, kind, title: text.trim().split("\n")[0] ?? "", text, task });
  if (kept.length > 0)
    tx.audit("transition", task, {
      decision: "insights_kept",
      details: { task_id: task.id, cause, count: kept.length },
    });
}

export function rememberPlan(tx: Tx, task: TaskRow, plan: PlanRow): void {
  const items = tx.rows.items.ofTask(task.id).filter((item) => item.plan_id === plan.id);
  const list = items.map(({ spec }) => `- ${spec.id}: ${spec.title}`);
  const text = [`Task: ${task.title}`, `Goal: ${plan.goal}`, "Items:", ...list].join("\n");
  remember(tx, { cause: plan.id, kind: "plan", title: plan.title, text, task });
}

/** A decision is worth keeping for what was said with it. */
export function rememberDecision(
  tx: Tx,
  task: TaskRow,
  card: ApprovalRow,
  said: { what: string; comment: string | null },
): void {
  const { what, comment } = said;
  if (comment === null || comment.trim() === "") return;
  const text = `${what.replaceAll("_", " ")}: ${comment}\nDecided about: ${card.card.title}\nTask: ${task.title}`;
  remember(tx, { cause: card.id, kind: "decision", title: card.card.title, text, task });
}

/**
 * What is less trusted than the task that asks is read by it from then on. Unasked, what strangers wrote is not recalled
 * to whom it would taint: nobody spoils other people's tasks by words that fit them.
 */
export function recall(
  tx: Tx,
  asker: Pick<Asker, "task_id" | "others_only" | "unasked">,
  query: string,
  limit: number,
): readonly Remembered[] {
  const task = tx.rows.tasks.get(asker.task_id);
  if (task === null || query.trim() === "") return [];
  const most = Math.max(1, Math.min(limit, limits.memory_found));
  // Of its own task there may be as many as are ever found: others' come behind them.
  const looked = asker.others_only === true ? limits.memory_found + most : most;
  const most_tainted = asker.unasked === true ? joinTaint("member", task.taint) : null;
  const found = tx.stores.memory
    .search({ query, kind: null, limit: looked, offset: 0, most_tainted })
    .filter((memory) => asker.others_only !== true || memory.task_id !== task.id)
    .slice(0, most);
  for (const { id, taint } of found)
    if (taints.indexOf(taint) > taints.indexOf(task.taint)) hasRead(tx, task, { taint, source: `memory ${id}` });
  return found.map(({ id, kind, title, excerpt, task_id, at, taint }) => ({
    ...{ id, kind, title, excerpt, task_id, at, taint },
  }));
}
