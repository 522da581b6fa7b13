/**
 * Who may say yes to a card, whose yes still lacks, and until when: read from the policy in force. Two names of one
 * person are one person; whose token is revoked no longer counts; a no never needs any of it. [APP-40] to [APP-44] [DEC-70]
 */
import { limits } from "../limits.ts";
import type { ApprovalView } from "./approval-view.ts";
import type { ApprovalRules } from "./policy-approvals.ts";
import { type Proof, proofs } from "./proofs.ts";
import { type Refusal, refuse } from "./refusal.ts";
import type { Caller } from "./view.ts";

export type Made = ApprovalView["decisions"][number];
/** What is demanded of whoever decides a card. */
export type Needs = ApprovalView["needs"];
type About = Pick<ApprovalView, "kind" | "tool_name">;

function stronger(a: Proof, b: Proof): Proof {
  return proofs.indexOf(a) < proofs.indexOf(b) ? b : a;
}

/** `plan_version`: of a plan's card, which version it shows; 0 for other kinds. */
export function needsOf(
  rules: ApprovalRules,
  card: About,
  { created_by, plan_version }: { created_by: string | null; plan_version: number },
): Needs {
  const { kinds, tools } = rules.proof;
  const tool = card.tool_name !== null && Object.hasOwn(tools, card.tool_name) ? tools[card.tool_name] : undefined;
  return {
    approvers: rules.two_approvers.includes(card.kind) ? 2 : 1,
    proof: stronger(kinds[card.kind] ?? "token", tool ?? "token"),
    not_by: rules.own_task === "forbid" ? created_by : null,
    revisions_left: card.kind === "plan" ? Math.max(0, limits.max_plan_versions - plan_version) : 0,
  };
}

const tokenTail = /#[A-Za-z0-9_-]{6}$/;
/**
 * The person behind a subject. Every token has a subject of its own, made of its name and its id's end: tokens of the
 * same name count as one person, so that nobody approves twice with two of them.
 */
export function personOf(subject: string): string {
  return subject
    .replace(tokenTail, "")
    .normalize("NFKC")
    .replaceAll(/[[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]--\s]/gv, "")
    .replaceAll(/\s+/gu, " ")
    .trim()
    .toLowerCase();
}
function samePerson(a: string, b: string): boolean {
  return personOf(a) === personOf(b);
}

/** A yes that still counts under what is demanded now: of these bytes, by somebody who may, well enough proved. */
function counts(needs: Needs, content_hash: string, made: Made): boolean {
  if (made.decision !== "approve" || made.content_hash !== content_hash) return false;
  if (needs.not_by !== null && samePerson(made.by, needs.not_by)) return false;
  if (needs.revoked?.includes(made.by)) return false;
  return proofs.indexOf(made.proof) >= proofs.indexOf(needs.proof);
}
/** The approvals that count, one a person. */
export function approvalsOf(needs: Needs, card: Pick<ApprovalView, "content_hash" | "decisions">): Made[] {
  const counted = card.decisions.filter((made) => counts(needs, card.content_hash, made));
  return counted.filter((made, at) => counted.findIndex((other) => samePerson(other.by, made.by)) === at);
}

/** Why this caller may not say yes; null when they may. The words say what to do. */
export function whyNotYes(
  needs: Needs,
  card: Pick<ApprovalView, "content_hash" | "decisions">,
  caller: Pick<Caller, "subject" | "via">,
): Refusal | null {
  const no = (detail: string, because: string): Refusal => ({ code: "forbidden", detail, extra: { because } });
  if (needs.not_by !== null && samePerson(caller.subject, needs.not_by))
    return no(
      "You asked for this task, and the policy lets nobody approve their own. Ask another approver; you may deny it.",
      "own_task",
    );
  if (proofs.indexOf(caller.via) < proofs.indexOf(needs.proof))
    return no(
      "The policy takes a yes to this only from a person signed in on the page. Ask an admin for a sign-in link (`POST /api/tickets` with your token's id), open it and decide there; a token may deny it.",
      "proof",
    );
  const own = approvalsOf(needs, card).find((made) => samePerson(made.by, caller.subject));
  if (own === undefined || needs.approvers === 1) return null;
  const again = refuse(
    "not_in_this_state",
    `You approved this at ${own.at}. Another person must approve it too; you may still deny it.`,
    { because: "approved_already" },
  );
  return again.refusal;
}

/** When a card that nobody decides ends by itself, as written; null when it waits for ever. */
export function expiryOf(rules: ApprovalRules, kind: ApprovalView["kind"], now_ms: number): string | null {
  const after_s = rules.expires_after_s[kind];
  return after_s === undefined ? null : new Date(now_ms + after_s * 1000).toISOString();
}
export function hasExpired(card: Pick<ApprovalView, "status" | "expires_at">, now_ms: number): boolean {
  return card.status === "pending" && card.expires_at !== null && Date.parse(card.expires_at) <= now_ms;
}
