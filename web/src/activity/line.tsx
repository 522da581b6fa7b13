/** One event as a line: when, who, what. */
import type { EventView } from "../api/queries.ts";
import { Link } from "../route.tsx";
import { eventSentence } from "../ui/events.ts";
import { Shown } from "../ui/shown.tsx";
import { Clock } from "../ui/time.tsx";

const ends: Readonly<Record<string, string>> = {
  task_complete: "good",
  task_failed: "bad",
  task_denied: "bad",
  agent_failed: "bad",
  task_execution_failed: "bad",
  task_execution_timeout: "bad",
  effect_unknown: "bad",
  approval_requested: "asks",
  tool_approval_pending: "asks",
  plan_ready: "asks",
  dead_letter: "bad",
};

export function EventLine({ event, withTask = false }: { readonly event: EventView; readonly withTask?: boolean }) {
  const output = event.type === "agent_output";
  return (
    <li className={`event ${ends[event.type] ?? ""}`}>
      <Clock at={event.at} />
      <span className="event-actor">
        <Shown text={event.actor} line />
      </span>
      <span className="event-words">
        {output ? (
          <code className="event-output">
            <Shown text={firstLine(eventSentence(event))} line />
          </code>
        ) : (
          <Shown text={eventSentence(event)} line />
        )}
        {withTask && event.task_id !== null && (
          <>
            {" "}
            <Link to={`/tasks/${encodeURIComponent(event.task_id)}`} className="event-task">
              task
            </Link>
          </>
        )}
      </span>
    </li>
  );
}

const shownChars = 160;

function firstLine(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const first = (lines[0] ?? "").slice(0, shownChars);
  return lines.length > 1 || first.length === shownChars ? `${first} …` : first;
}
