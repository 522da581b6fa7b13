/** The product's own terms in the words a person reads. */
import type { ApprovalView, TaskSummary, TaskView } from "../api/queries.ts";

type Kind = ApprovalView["kind"];
type Taint = ApprovalView["card"]["taint"];

export const kindWords: Readonly<Record<Kind, string>> = {
  plan: "Plan",
  tool_call: "Tool call",
  gate: "Gate",
  budget: "Budget",
  escalation: "Escalation",
  dead_letter: "Undelivered message",
};

/** What each answer does, said before it is given. */
export const answers: Readonly<Record<Kind, { approve: string; does: string; deny: string; denies: string }>> = {
  plan: {
    approve: "Countersign",
    does: "Work begins at once, inside exactly what is written above.",
    deny: "Deny",
    denies: "Nothing runs. The task ends as denied, with your reason.",
  },
  tool_call: {
    approve: "Allow once",
    does: "This one call runs, once, as written above.",
    deny: "Deny",
    denies: "The call does not run. Your reason is given to the agent as its result.",
  },
  gate: {
    approve: "Let it pass",
    does: "This one thing passes the gate. The gate stays.",
    deny: "Deny",
    denies: "It stays blocked, with your reason.",
  },
  budget: {
    approve: "Add to the budget",
    does: "The amount below is added and the work goes on.",
    deny: "Deny",
    denies: "The work ends for lack of budget, with your reason.",
  },
  escalation: {
    approve: "One more attempt",
    does: "One more attempt starts, with your comment as guidance.",
    deny: "Give up",
    denies: "The task ends as failed, with your reason.",
  },
  dead_letter: {
    approve: "Deliver again",
    does: "The message is put back in its queue and tried again.",
    deny: "Drop it",
    denies: "The message is dropped, with your reason on record.",
  },
};

export const taintWords: Readonly<Record<Taint, { word: string; means: string; trusted: boolean }>> = {
  owner: { word: "owner", means: "rests on nobody's words but those of people who may approve", trusted: true },
  member: { word: "member", means: "includes text by submitters or from the repository", trusted: true },
  outsider: { word: "outsider", means: "includes text by people outside this project", trusted: false },
  web: { word: "web", means: "includes text fetched from the web", trusted: false },
};

export const phaseWords: Readonly<Record<TaskView["phase"], string>> = {
  discovery: "Received",
  context_gathering: "Research",
  spec_creation: "Writing the plan",
  planning: "Review of the plan",
  coding: "Work",
  qa: "Verification",
  fixing: "Fixing",
  merging: "Merge",
  complete: "Complete",
  error: "Failed",
};

export const waitingWords: Readonly<Record<Kind, string>> = {
  plan: "waits for your countersignature",
  tool_call: "waits for a decision on a tool call",
  gate: "waits at a gate",
  budget: "waits for more budget",
  escalation: "needs your help",
  dead_letter: "has an undelivered message",
};

export function statusWords(task: Pick<TaskSummary, "status" | "waiting_on" | "phase">): string {
  if (task.status === "waiting") return task.waiting_on === null ? "waits" : waitingWords[task.waiting_on];
  if (task.status === "active") return phaseWords[task.phase].toLowerCase();
  return task.status;
}

export const decisionWords = {
  approve: "Approved",
  deny: "Denied",
  request_changes: "Sent back for changes",
} as const;
