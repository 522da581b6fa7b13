/** Events in plain words, one line each; null for what only machines care about. [CLI-7] */

import type { EventView } from "../domain/record-view.ts";
import { visible, visibleLine } from "../domain/visible.ts";

const phaseWords: Readonly<Record<string, string>> = {
  discovery: "finding out what is asked",
  context_gathering: "gathering what the plan needs to know",
  spec_creation: "writing the plan",
  planning: "the plan is in review",
  coding: "working on the change",
  qa: "verifying the change in a clean sandbox",
  fixing: "trying again after a failed verification",
  merging: "merging",
  complete: "complete",
  error: "stopped with an error",
};

const plain: Readonly<Record<string, string>> = {
  task_created: "Task received",
  task_complete: "Task complete",
  task_failed: "Task failed",
  task_denied: "Task denied",
  task_cancelled: "Task cancelled",
  work_item_unblocked: "A work item can start",
  agent_spawned: "Agent started",
  agent_stopped: "Agent stopped",
  agent_failed: "Agent failed",
  approval_requested: "A person's decision is needed",
  approval_resolved: "Decision taken",
  tool_approval_pending: "A tool call waits for a person",
  task_execution_start: "Execution started in a fresh sandbox",
  task_execution_complete: "Execution finished",
  task_execution_failed: "Execution failed",
  task_execution_timeout: "Execution ran out of time",
  plan_ready: "The plan is ready for review",
  verification_result: "Verification",
  merge_result: "Merge",
  rung: "Recovery",
  recovery: "Stuck",
  budget_used_up: "Budget used up",
  policy_changed: "The policy was changed",
  webhook_changed: "A webhook was changed",
  webhook_test: "A webhook was tried",
  hook_changed: "A hook was changed",
  github_changed: "GitHub",
};

/** What agents say to each other, and their comings and goings between steps, would drown what a person follows. */
const quiet: ReadonlySet<string> = new Set(["message", "state_changed", "agent_working", "agent_idle"]);

export function wordsOf(event: EventView): string | null {
  const [type = "", phase] = event.type.split(":");
  if (quiet.has(type) || type === "phase_complete") return null;
  if (type === "phase_start") return `Phase: ${phaseWords[phase ?? ""] ?? visibleLine(phase ?? "")}`;
  const words = plain[type] ?? visibleLine(event.type);
  return event.detail === null || event.detail === "" ? words : `${words}: ${visibleLine(event.detail)}`;
}

/** Text a sandbox wrote, safe for a terminal. Colours and cursor moves are taken out, for they are not content. */
export function outputOf(event: EventView): string | null {
  if (event.type !== "agent_output" || typeof event.text !== "string") return null;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal control sequences begin with one.
  return visible(event.text.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, "").replaceAll(/\r+\n/g, "\n"));
}
