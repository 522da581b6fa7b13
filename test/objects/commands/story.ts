/** What happened to a queue's messages, in its order, as its audit tells it and as a history tells it. [OBJ-3] */
import type { AuditView } from "../../../src/domain/record-view.ts";
import type { Entry } from "../../simulation/history.ts";

export interface Told {
  readonly message_id: string;
  readonly decision: string;
}

export function storyOf(told: readonly (AuditView | Entry)[]): Told[] {
  const seen = new Set<string>();
  return told.flatMap((one) => {
    if (!("what" in one)) return audited(one);
    const decision = decisionOf(one);
    // A message asked for again is one message, and leaves no second record.
    if (decision === null || (decision === "accepted" && seen.size === seen.add(one.message_id).size)) return [];
    return [{ message_id: one.message_id, decision }];
  });
}
function audited({ event_type, message_id, decision }: AuditView): Told[] {
  if ((event_type !== "enqueue" && event_type !== "dequeue") || message_id === null) return [];
  return [{ message_id, decision: decision ?? "" }];
}
function decisionOf(entry: Entry): string | null {
  switch (entry.what) {
    case "return":
      return "accepted";
    case "lease":
      return "leased";
    case "ack":
      return "acked";
    case "nack":
      return "nacked";
    case "expire":
      return "expired";
    case "dead":
      return "dead";
    case "requeue":
      return "requeued";
    default:
      return null;
  }
}
