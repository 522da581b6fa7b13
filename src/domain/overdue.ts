/** When an object is behind by so much that its alarm must have been lost or is stuck. [RCV-1] */
import { limits } from "../limits.ts";

/** How late it is, in milliseconds; null while it is not. An object that is at work is only busy. */
export function overdueBy(due_since: number | null, now: number, working: boolean): number | null {
  if (due_since === null || working) return null;
  const late_ms = now - due_since;
  return late_ms > limits.overdue_ms ? late_ms : null;
}
