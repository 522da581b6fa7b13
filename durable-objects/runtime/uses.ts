/**
 * Tools that only read or speak, for agents without an attempt: each use resolved by the policy of now and on record
 * once. Nobody waits for a read, so what a person would be asked is refused. [USE-*]
 */
import type { MayUse, PastTask, Use } from "../../src/agents/mind-bus.ts";
import { whyNoForm } from "../../src/domain/call-form.ts";
import { joinTaint, partyOf, taints } from "../../src/domain/message.ts";
import { type Resolution, resolve } from "../../src/domain/policy.ts";
import { type CallContext, readingTools, touchOf, trustOf } from "../../src/domain/policy-call.ts";
import { holdsSecret, readByCall } from "../../src/domain/taint.ts";
import { isFinal } from "../../src/domain/task.ts";
import { visibleLine } from "../../src/domain/visible.ts";
import { limits } from "../../src/limits.ts";
import { privacyOf } from "./call-context.ts";
import { gateWords, remark } from "./gates.ts";
import type { TaskRow } from "./rows.ts";
import { hasRead } from "./taints.ts";
import type { Tx } from "./tx.ts";

export function mayUse(tx: Tx, use: Use): MayUse {
  const task = tx.rows.tasks.get(use.task_id);
  if (task === null) return { answer: "refused", rule: "task", reason: "there is no such task" };
  if (isFinal(task.status)) return { answer: "refused", rule: "task", reason: `the task is ${task.status}` };
  const resolution = resolutionOf(tx, task, use);
  const noted = remark(tx, task, "on_tool_call", resolution.notes);
  const runs = resolution.decision === "run";
  // On record before it runs: what it may bring back is in the run from then on.
  if (runs) {
    const read = readByCall(touchOf({ tool: use.tool, args: JSON.parse(use.arguments) }), null);
    if (read !== null) hasRead(tx, noted, { taint: read.taint, source: `${use.agent} ${read.from}` });
  }
  note(tx, task, use, resolution);
  if (runs) return { answer: "run" };
  const asks = resolution.decision === "ask" ? " (a person would have to be asked, and nobody waits for a read)" : "";
  return { answer: "refused", ...told(resolution, asks) };
}
/** Agents are never told which gate it was. */
function told({ rule, reason }: Resolution, asks: string): { readonly rule: string; readonly reason: string } {
  const gated = rule.startsWith("gate:");
  return gated ? { rule: "gate", reason: "the policy does not let it through" } : { rule, reason: `${reason}${asks}` };
}

function resolutionOf(tx: Tx, task: TaskRow, use: Use): Resolution {
  const denied = (rule: string, reason: string): Resolution => ({ decision: "deny", rule, reason, notes: [] });
  const unformed = whyNoForm(use);
  if (unformed !== null) return denied("arguments", unformed);
  if (!readingTools.includes(use.tool)) return denied("reading", `${use.tool} does more than read`);
  const resolution = resolve(
    tx.scope.policy,
    { tool: use.tool, args: JSON.parse(use.arguments) },
    contextOf(tx, task, use.agent),
  );
  // It shows no more than its agent is told at the start of its run: a policy that does not name it is not asked.
  const told_anyway = use.tool === "context_inspect" && resolution.rule === "default";
  return told_anyway ? { ...resolution, decision: "run" } : resolution;
}
function contextOf(tx: Tx, task: TaskRow, agent: string): CallContext {
  const party = partyOf(agent);
  return {
    role: party === "planner" || party === "proxy" || party === "verifier" ? trustOf[party] : trustOf.executor,
    taint: task.taint,
    holds_secret: holdsSecret({ secrets: [] }, privacyOf(tx, task)),
    token: null,
  };
}

/** Once for each call; asked again after the policy changed, once for each answer. */
function note(tx: Tx, task: TaskRow, use: Use, { decision, rule, reason }: Resolution): void {
  const { agent, tool } = use;
  const id = `${use.run_id}/${use.call_id}`.slice(0, 200);
  const state = decision === "run" ? "run" : "refused";
  if (tx.rows.uses.get(id)?.state === state) return;
  tx.rows.uses.put({ id, task_id: task.id, agent, tool: tool.slice(0, 60), state, rule, at: tx.at });
  tx.audit("effect", task, {
    actor: actorOf(agent),
    decision: state === "run" ? "intent" : "refused",
    reason,
    details: { use_id: id, task_id: task.id, agent, tool: tool.slice(0, 60), rule },
  });
}
function actorOf(agent: string) {
  const party = partyOf(agent);
  return party === "proxy" || party === "planner" ? party : "executor";
}

/** The scope's latest tasks besides the one that asks: as much of each as its person wrote in a line, and how far it is. */
export function history(tx: Tx, asker: { readonly task_id: string; readonly agent: string }): readonly PastTask[] {
  const own = tx.rows.tasks.get(asker.task_id);
  if (own === null) return [];
  const { items } = tx.rows.tasks.page(null, limits.history_tasks + 1, null);
  const past = items.filter(({ id }) => id !== own.id).slice(0, limits.history_tasks);
  const shown = past.map((task) => pastTask(task, own));
  const taint = joinTaint(...shown.map((one) => one.taint));
  if (joinTaint(own.taint, taint) !== own.taint) hasRead(tx, own, { taint, source: "titles of recent tasks" });
  return shown;
}
/** What strangers wrote is not read to whom it would taint. */
function pastTask(task: TaskRow, own: TaskRow): PastTask {
  const written = task.taint_sources[0]?.taint ?? task.taint;
  const shows = taints.indexOf(written) <= taints.indexOf(joinTaint("member", own.taint));
  return {
    task_id: task.id,
    title: shows ? visibleLine(task.title).slice(0, limits.history_title_chars) : "(by somebody unknown: not shown)",
    status: task.status,
    phase: task.phase,
    at: task.created_at,
    taint: shows ? written : "owner",
  };
}

/** An interim word for the Stream, once for each id. Nobody waits for it: what a gate holds up is dropped. */
export function say(tx: Tx, task_id: string, id: string, text: string): void {
  const task = tx.rows.tasks.get(task_id);
  const key = `say/${id}`.slice(0, 200);
  if (task === null || isFinal(task.status) || tx.rows.uses.get(key) !== null) return;
  const words = text.slice(0, limits.interim_chars);
  const said = tx.rows.uses.ofTask(task_id).filter(({ state }) => state === "said").length;
  const gated = gateWords(tx, "every_agent_response", words, task.taint);
  remark(tx, task, "every_agent_response", gated.notes);
  const passes = gated.action === "pass" && said < limits.interim_words;
  const rule = gated.action === "pass" ? "interim" : `gate:${gated.gate}`;
  const state = passes ? "said" : "stopped";
  tx.rows.uses.put({ id: key, task_id, agent: "proxy", tool: "tell_user", state, rule, at: tx.at });
  if (passes) {
    tx.event("message", task, { actor: "proxy", surfaces: ["stream"], detail: words, message_kind: "agent_message" });
    return;
  }
  const reason = gated.action === "pass" ? "it has said enough in between" : gated.reason;
  tx.audit(gated.action === "pass" ? "effect" : "gate_block", task, {
    actor: gated.action === "pass" ? "proxy" : "gate_runner",
    decision: "interim_words_dropped",
    reason,
    details: { use_id: key, task_id },
  });
}
