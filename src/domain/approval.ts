/**
 * The life of an approval: requested -> decided -> issued -> verified -> attached -> checked -> executed.
 * One table; what is decided is final; whoever comes second is told who was first. [APP-*]
 */

import type { ApprovalView, Card, Decision } from "./approval-view.ts";
import { approvalsOf, type Deciding, type Needs, whyNotYes } from "./deciding.ts";
import { ok, type Refusal, type Result, refuse } from "./refusal.ts";
import type { Caller, TaskView } from "./view.ts";

export type ApprovalKind = ApprovalView["kind"];
export type ApprovalStatus = ApprovalView["status"];

export const lifeStates = [
  "requested",
  "decided",
  "issued",
  "verified",
  "attached",
  "checked",
  "executed",
  "void",
] as const;
export type LifeState = (typeof lifeStates)[number];
export const lifeEvents = ["decide", "issue", "verify", "attach", "check", "execute", "void"] as const;
export type LifeEvent = (typeof lifeEvents)[number];

/** `checked` may be checked again at each later entry; `void` and `executed` are ends. */
export const life: Record<LifeState, Partial<Record<LifeEvent, LifeState>>> = {
  requested: { decide: "decided", void: "void" },
  decided: { issue: "issued", void: "void" },
  issued: { verify: "verified", void: "void" },
  verified: { attach: "attached", void: "void" },
  attached: { check: "checked", void: "void" },
  checked: { check: "checked", execute: "executed", void: "void" },
  executed: {},
  void: {},
};
export function stepLife(state: LifeState, event: LifeEvent): Result<LifeState> {
  const next = life[state][event];
  return next === undefined ? refuse("not_in_this_state", `an approval that is ${state} cannot ${event}`) : ok(next);
}

/** Which decisions each kind of card takes. */
export const decisionsOf: Record<ApprovalKind, readonly Decision["decision"][]> = {
  plan: ["approve", "request_changes", "deny"],
  tool_call: ["approve", "deny"],
  gate: ["approve", "deny"],
  budget: ["approve", "deny"],
  escalation: ["approve", "deny"],
  dead_letter: ["approve", "deny"],
};

export type Pending = Pick<ApprovalView, "id" | "kind" | "status" | "content_hash" | "decisions" | "winner">;
/** Who decides, and what is demanded of them. */
export interface Decider {
  readonly caller: Deciding;
  readonly needs: Needs;
}

/**
 * The status a decision leads to, or why it is refused. `pending`: the yes counts, and another person's is needed. What
 * came first wins, a decision or not.
 */
export function decide(
  card: Pending,
  decision: Decision,
  { caller, needs }: Decider,
): Result<Exclude<ApprovalStatus, "expired">> {
  if (card.status !== "pending") return { ok: false, refusal: alreadyResolved(card) };
  if (!decisionsOf[card.kind].includes(decision.decision))
    return refuse(
      "bad_request",
      `A ${card.kind} card takes ${decisionsOf[card.kind].join(" or ")}, not ${decision.decision}.`,
    );
  if (decision.content_hash !== null && decision.content_hash !== card.content_hash)
    return refuse("content_changed", "This card has changed since you saw it. Read it again, then decide.", {
      content_hash: card.content_hash,
    });
  switch (decision.decision) {
    case "approve": {
      const wrong = wrongAmount(card.kind, decision.amount ?? null) ?? whyNotYes(needs, card, caller);
      if (wrong !== null) return { ok: false, refusal: wrong };
      return ok(approvalsOf(needs, card).length + 1 < needs.approvers ? "pending" : "approved");
    }
    case "deny":
      return ok("denied");
    case "request_changes":
      return needs.revisions_left > 0
        ? ok("superseded")
        : refuse("not_in_this_state", "This plan was revised as often as it may be. Approve it or deny it.");
  }
}

type Added = NonNullable<Extract<Decision, { decision: "approve" }>["amount"]>;
function wrongAmount(kind: ApprovalKind, amount: Added | null): Refusal | null {
  const given = amount !== null && Object.values(amount).some((part) => part !== undefined && part > 0);
  if (kind === "budget" && !given)
    return { code: "bad_request", detail: "Say how much to add: amount with tokens or usd above zero." };
  if (kind !== "budget" && amount !== null)
    return { code: "bad_request", detail: `An amount belongs to a budget card, not to a ${kind} card: leave it out.` };
  return null;
}

/** What ended the card first. Rows written before winners were kept tell it by their last decision. */
function alreadyResolved(card: Pending): Refusal {
  const last = card.decisions.at(-1) ?? null;
  const winner = card.winner ?? (last && { by: last.by, what: last.decision, at: last.at, reason: last.comment });
  const decided = winner !== null && ["approve", "deny", "request_changes"].includes(winner.what);
  const why = winner?.reason ? `: ${winner.reason}` : "";
  const who =
    winner === null
      ? `This card is ${card.status}.`
      : decided
        ? `${winner.by} decided this at ${winner.at}: ${winner.what}.`
        : `This card was ${ended[card.status]} at ${winner.at} by ${winner.by}${why}.`;
  return {
    code: "already_resolved",
    detail: `${who} ${decided ? "The first decision stands." : "It can be decided no more."}`,
    extra: { status: card.status, decision: last, winner },
  };
}
const ended: Record<ApprovalStatus, string> = {
  pending: "left open",
  approved: "approved",
  denied: "denied",
  expired: "ended",
  superseded: "taken back",
};

/** Only people with the approver role decide. */
export function mayDecide(caller: Caller): boolean {
  return caller.role === "approver" || caller.role === "admin";
}

/** A title for a card that a list can show. */
export function cardTitle(kind: ApprovalKind, task: Pick<TaskView, "title">, about: string): string {
  const what: Record<ApprovalKind, string> = {
    plan: "Countersign the plan",
    tool_call: "Allow one call",
    gate: "Let this result pass",
    budget: "Raise the budget",
    escalation: "An item is stuck",
    dead_letter: "A message could not be delivered",
  };
  return `${what[kind]}: ${about || task.title}`;
}

/** The parts of a card every kind has, empty where a kind has nothing to say. */
export function emptyCard(
  base: Pick<Card, "kind" | "title" | "why" | "repo" | "taint" | "policy_hash" | "requested_by">,
): Card {
  return {
    ...base,
    base_commit: null,
    publishes: null,
    plan_hash: null,
    environment: null,
    items: [],
    tool: null,
    facts: [],
    budget: null,
  };
}
