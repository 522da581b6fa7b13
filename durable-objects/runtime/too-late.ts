/** What a superseded holder still tries changes nothing, and is on record once, however often it is tried. [EFF-6] */
import type { AttemptRef } from "../../src/agents/bus.ts";
import type { Tx } from "./tx.ts";

type Holder = Pick<AttemptRef, "attempt_id" | "lease_id" | "epoch" | "agent">;

/** Returns the answer it was given. An attempt that never was leaves no trace: it belongs to no task. */
export function tooLate<T extends { readonly reason: string }>(tx: Tx, holder: Holder, what: string, answer: T): T {
  const attempt = tx.rows.attempts.get(holder.attempt_id);
  const task = attempt === null ? null : tx.rows.tasks.get(attempt.task_id);
  const { attempt_id, lease_id, epoch, agent } = holder;
  const id = [attempt_id, lease_id, epoch, agent, what].join("/");
  if (task === null || tx.rows.late.get(id) !== null) return answer;
  tx.rows.late.put({ id, task_id: task.id });
  const details = { attempt_id, lease_id, epoch, agent, what };
  tx.audit("effect", task, { actor: "executor", decision: "stale_result", reason: answer.reason, details });
  return answer;
}
