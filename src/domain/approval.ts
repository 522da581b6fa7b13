/**
 * The life of an approval: requested -> decided -> issued -> verified -> attached -> checked -> executed.
 * One table; what is decided is final; whoever comes second is told who was first. [APP-*]
 */
import { ok, type Refusal, type Result, refuse } from "./refusal.ts";
import type { ApprovalView, Caller, Card, Decision, TaskView } from "./view.ts";

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

export interface Pending {
  readonly id: string;
  readonly kind: ApprovalKind;
  readonly status: ApprovalStatus;
  readonly content_hash: string;
  readonly decisions: ApprovalView["decisions"];
}

/** The status a decision leads to, or why it is refused. The first decision wins. */
export function decide(card: Pending, decision: Decision): Result<Exclude<ApprovalStatus, "pending" | "expired">> {
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
    case "approve":
      return ok("approved");
    case "deny":
      return ok("denied");
    case "request_changes":
      return ok("superseded");
  }
}

function alreadyResolved(card: Pending): Refusal {
  const first = card.decisions.at(-1);
  const who =
    first === undefined
      ? `This card is ${card.status}.`
      : `${first.by} decided this at ${first.at}: ${first.decision}.`;
  return {
    code: "already_resolved",
    detail: `${who} The first decision stands.`,
    extra: { status: card.status, decision: first ?? null },
  };
}

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
