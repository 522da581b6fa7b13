/** What is said of a task in one glance, the same words in the comment, the check run and the pull request. [GHO-*] */
import type { GithubStanding } from "./standing.ts";
import { counted } from "./words.ts";

export type WaitingCard = NonNullable<GithubStanding["card"]>;

const ends: readonly GithubStanding["status"][] = ["done", "denied", "failed", "cancelled"];
export function hasEnded({ status }: Pick<GithubStanding, "status">): boolean {
  return ends.includes(status);
}
/** Of a task that is over nothing can be decided any more. */
export function waitingCard(standing: GithubStanding): WaitingCard | null {
  return hasEnded(standing) ? null : standing.card;
}
/** What GitHub does not show whole is not decided there. */
export function decidedHere({ buttons, text }: Pick<WaitingCard, "buttons" | "text">): boolean {
  return buttons && text !== null;
}

const waiting: Readonly<Record<WaitingCard["kind"], string>> = {
  plan: "The plan waits for a decision",
  tool_call: "A call waits for a decision",
  gate: "A gate waits for a decision",
  budget: "The budget waits for a decision",
  escalation: "It is stuck and waits for a decision",
  dead_letter: "A message was given up and waits for a decision",
};
const working: Readonly<Record<string, string>> = {
  discovery: "Planning",
  context_gathering: "Planning",
  spec_creation: "Planning",
  planning: "Planning",
  coding: "Working",
  qa: "Verifying",
  fixing: "Fixing",
  merging: "Merging",
};
export function headline(standing: GithubStanding): string {
  const { status, infrastructure, published, phase } = standing;
  switch (status) {
    case "done":
      return published === null ? "Done" : "Verified and published";
    case "denied":
      return "Denied";
    case "failed":
      return infrastructure ? "Not finished: the deployment failed it, not the code" : "Failed";
    case "cancelled":
      return "Cancelled";
    case "active":
    case "waiting": {
      const card = waitingCard(standing);
      return card === null ? (working[phase ?? ""] ?? "Working") : waiting[card.kind];
    }
  }
}

/** The beginning of a hash that stands for all of it in a button and in a comment. */
export function shortHash(hash: string): string {
  return hash.slice(0, 12);
}
export function spentWords({ spent }: Pick<GithubStanding, "spent">): string {
  const cost = spent.usd === null ? "cost not known" : `$${spent.usd.toFixed(spent.usd < 0.1 ? 4 : 2)}`;
  return `Spent: ${counted(spent.tokens)} tokens, ${cost}.`;
}
