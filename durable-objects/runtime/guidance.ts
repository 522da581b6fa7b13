/** What the planner says to a consult: in time it reaches the item's next attempt; late it is only on record. [LAD-*] */
import type { Message } from "../../src/domain/message.ts";
import { guidance } from "../../src/domain/payloads.ts";
import { isFinal } from "../../src/domain/task.ts";
import { limits } from "../../src/limits.ts";
import { approvedPlan, newAttempt } from "./dispatch.ts";
import { gateResponse, stoppedByGate } from "./gates.ts";
import { climbPast } from "./ladder.ts";
import type { RungRow } from "./mind-rows.ts";
import type { ScopeRows, TaskRow } from "./rows.ts";
import { endRung } from "./rungs.ts";
import type { Tx } from "./tx.ts";

/** Takes a `planner_guidance`. */
export function acceptGuidance(tx: Tx, message: Message): void {
  const said = guidance.safeParse(message.payload);
  const rung = said.success ? tx.rows.rungs.get(said.data.consult_id) : null;
  const task = rung === null ? null : tx.rows.tasks.get(rung.task_id);
  const itsOwn = message.work_item_id === null || message.work_item_id === rung?.work_item_id;
  if (rung?.to !== "consult" || task === null || task.id !== message.task_id || !itsOwn) {
    tx.audit("effect", message, {
      actor: "planner",
      decision: "ignored",
      reason: "no consult of this item asked for it",
    });
    return;
  }
  // Nobody has looked at the clock yet: its time was over all the same.
  if (rung.state === "open" && (rung.due_at ?? 0) <= tx.now) timedOut(tx, task, rung);
  if (isFinal(task.status) || tx.rows.rungs.get(rung.id)?.state !== "open") return tooLate(tx, task, rung, message);
  const no = (why: string) => climbPast(tx, task, rung, { state: "failed", why });
  if (message.error_code !== null || message.content.trim() === "") return no(message.content.trim() || "no guidance");
  if (gateResponse(tx, task, message).action !== "pass") return no(stoppedByGate);
  const plan = approvedPlan(tx, task);
  const item = tx.rows.items.get(rung.work_item_id);
  if (plan === null || item?.outcome !== "open" || item.plan_id !== plan.id) return tooLate(tx, task, rung, message);
  const text = message.content.slice(0, limits.guidance_chars);
  endRung(tx, task, rung, "answered", text);
  const told = tx.rows.items.put({ ...item, planner_guidance: [...item.planner_guidance, text] });
  const now = tx.rows.tasks.get(task.id) ?? task;
  newAttempt(tx, now, plan, told);
  tx.touch(tx.rows.tasks.get(task.id) ?? now);
}

function tooLate(tx: Tx, task: TaskRow, rung: RungRow, message: Message): void {
  const details = { consult_id: rung.id, work_item_id: rung.work_item_id, message_id: message.message_id };
  const reason = "it came after its time, and changes nothing";
  tx.audit("effect", task, { actor: "planner", decision: "late_guidance", reason, details });
}

/** The error of a planner that did not answer in time is on record, and the next rung is taken. */
function timedOut(tx: Tx, task: TaskRow, rung: RungRow): void {
  const why = `the planner said nothing in ${limits.consult_timeout_ms / 1000} s`;
  const error = {
    error_code: "timeout",
    retryable: true,
    origin_agent: "planner",
    attempt_number: rung.attempt_number,
  };
  const details = { consult_id: rung.id, work_item_id: rung.work_item_id, ...error };
  tx.audit("effect", task, { decision: "timeout", reason: why, details });
  const attempt = tx.rows.attempts.get(rung.attempt_id);
  tx.status(task, "stuck", { detail: why, attempt, error_code: "timeout", retryable: true });
  climbPast(tx, task, rung, { state: "timeout", why });
}

/** Consults whose time is over. */
export function expireConsults(tx: Tx): void {
  for (const rung of tx.rows.rungs.withStatus("open")) {
    const task = tx.rows.tasks.get(rung.task_id);
    if (rung.due_at === null || rung.due_at > tx.now || task === null || isFinal(task.status)) continue;
    timedOut(tx, task, rung);
  }
}
export function nextConsultEnd(rows: ScopeRows): number | null {
  const due = rows.rungs.withStatus("open").flatMap(({ due_at }) => due_at ?? []);
  return due.length === 0 ? null : Math.min(...due);
}
