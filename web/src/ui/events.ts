/** An event as a sentence: what happened, then the event's own words about it. */
import type { EventView, TaskView } from "../api/queries.ts";
import { plainText } from "../tasks/terminal-text.ts";
import { phaseWords } from "./words.ts";

/** The actor stands beside the sentence, so an agent's doings begin with the verb. */
const happened: Readonly<Record<string, string>> = {
  task_created: "Asked for a task",
  task_complete: "Task complete",
  task_failed: "Task failed",
  task_denied: "Task denied",
  task_cancelled: "Task cancelled",
  work_item_unblocked: "Work item may start",
  agent_spawned: "Was made",
  agent_working: "Took up work",
  agent_idle: "Is idle",
  agent_stopped: "Stopped",
  agent_failed: "Failed",
  approval_requested: "Waits in Review",
  approval_recorded: "Approved by one of two",
  approval_resolved: "Decided",
  tool_approval_pending: "A tool call waits in Review",
  task_execution_start: "started",
  task_execution_complete: "finished its work",
  task_execution_failed: "failed",
  task_execution_timeout: "ran out of time",
  plan_ready: "Plan ready",
  verification_result: "Verified",
  merge_result: "Merged",
  github_changed: "GitHub",
  effect_unknown: "Outcome not known",
  rung: "Recovery",
  recovery: "Stuck",
  budget_used_up: "Budget used up",
  dead_letter: "Gave up a message",
  queue_changed: "Changed a queue",
  policy_changed: "Changed the policy",
  standing_changed: "Approved in advance",
  approval_noted: "Not approved in advance",
  gate_block: "A gate stopped something",
  gate_note: "A gate remarks",
  webhook_changed: "Changed a webhook",
  webhook_test: "Tried a webhook",
  hook_changed: "Changed a hook",
};

export function eventSentence(event: EventView): string {
  if (event.type === "agent_output") return typeof event.text === "string" ? plainText(event.text) : "Output";
  const detail = event.detail ?? "";
  // What somebody said stands for itself; a message between agents says where it went.
  if (event.type === "message" && event.recipient === undefined) return detail;
  return detail === "" ? subject(event) : `${subject(event)}: ${detail}`;
}

function subject(event: EventView): string {
  const [type = event.type, phase] = event.type.split(":");
  const part = (key: string): string => (event[key] === undefined || event[key] === null ? "" : String(event[key]));
  const words = phaseWords[phase as TaskView["phase"]] ?? phase; // an unknown phase shows as it came
  if (type === "phase_start") return `Began: ${words}`;
  if (type === "phase_complete") return `Ended: ${words}`;
  if (type === "state_changed" && part("to") !== "") return `From ${part("from")} to ${part("to")}`;
  if (type === "message") return `${part("message_kind").replaceAll("_", " ") || "message"} to ${part("recipient")}`;
  if (type.startsWith("task_execution_"))
    return `Attempt ${part("attempt_number")} ${happened[type] ?? "changed"}`.replace("  ", " ");
  if (type === "verification_result" && part("verdict") !== "")
    return `Verification: ${part("verdict").replaceAll("_", " ")}`;
  return happened[type] ?? type.replaceAll("_", " ");
}
