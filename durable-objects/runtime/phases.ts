/** The phases a task passes: each leaves a row, and the events that it began and ended. [TASK-*] */
import { type Phase, phasePath } from "../../src/domain/task.ts";
import type { TaskRow } from "./rows.ts";
import type { Tx } from "./tx.ts";

export function passPhases(tx: Tx, task: TaskRow, to: Phase, failed: boolean): void {
  const path = phasePath(task.phase, to);
  if (path.length === 0) return;
  const { phases } = tx.rows;
  let open = phases.ofTask(task.id).findLast((row) => row.outcome === "open") ?? null;
  for (const [index, phase] of path.entries()) {
    if (open !== null) {
      const duration_ms = tx.now - Date.parse(open.started_at);
      phases.put({ ...open, outcome: failed ? "failed" : "completed", duration_ms });
      tx.event(`phase_complete:${open.phase}`, task, { phase: open.phase, duration_ms });
    }
    const last = phase === "complete" || phase === "error";
    open = phases.put({
      id: `${task.id}.${task.version}.${index}`,
      task_id: task.id,
      phase,
      outcome: last ? (phase === "error" ? "failed" : "completed") : "open",
      started_at: tx.at,
      duration_ms: last ? 0 : null,
      tokens: 0,
    });
    tx.event(`phase_start:${phase}`, task, { phase });
    if (last) tx.event(`phase_complete:${phase}`, task, { phase, duration_ms: 0 });
  }
}
