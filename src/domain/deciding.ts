/**
 * Who may say yes to a card, whose yes still lacks, and until when: read from the policy in force. Two names of one
 * person are one person; whose token is revoked no longer counts; a no never needs any of it. [APP-40] to [APP-44] [DEC-70]
 */
import { limits } from "../limits.ts";
import type { ApprovalView } from "./approval-view.ts";
import { withoutGithub } from "./github/identity.ts";
import type { ApprovalRules } from "./policy-approvals.ts";
import { type Proof, strengthOf } from "./proofs.ts";
import { type Refusal, refuse } from "./refusal.ts";
import type { Caller } from "./view.ts";

export type Made = ApprovalView["decisions"][number];
/** What is demanded of whoever decides a card. */
export type Needs = ApprovalView["needs"];
type About = Pick<ApprovalView, "kind" | "tool_name">;

function stronger(a: Proof, b: Proof): Proof {
  return strengthOf(a) < strengthOf(b) ? b : a;
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
 * same name count as one person, so that nobody approves twice with two of them; and so does who is called so on GitHub.
 */
export function personOf(subject: string): string {
  const name = subject
    .replace(tokenTail, "")
    .normalize("NFKC")
    .replaceAll(/[[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]--\s]/gv, "")
    .replaceAll(/\s+/gu, " ")
    .trim()
    .toLowerCase();
  return withoutGithub(name);
}
function samePerson(a: string, b: string): boolean {
  return personOf(a) === personOf(b);
}

/** Who decides, and who else made the link of the session they do it in. */
export interface Deciding extends Pick<Caller, "subject" | "via"> {
  readonly link_by?: string;
}
/** Everybody who could have said it: whoever makes a sign-in link for somebody else can open it themselves. */
function behind({ by, link_by }: Pick<Made, "by" | "link_by">): string[] {
  return link_by === undefined ? [by] : [by, link_by];
}
/** Whether one person could have said both. */
function oneHand(a: Pick<Made, "by" | "link_by">, b: Pick<Made, "by" | "link_by">): boolean {
  return behind(a).some((one) => behind(b).some((other) => samePerson(one, other)));
}
/** The other person who made a session's link; absent where there is none. */
export function linkBy(subject: string, maker: string | null): { link_by?: string } {
  return maker === null || samePerson(subject, maker) ? {} : { link_by: maker };
}

/** A yes that still counts under what is demanded now: of these bytes, by somebody who may, well enough proved. */
function counts(needs: Needs, content_hash: string, made: Made): boolean {
  if (made.decision !== "approve" || made.content_hash !== content_hash) return false;
  if (needs.not_by !== null && oneHand(made, { by: needs.not_by })) return false;
  if (needs.revoked?.includes(made.by)) return false;
  return strengthOf(made.proof) >= strengthOf(needs.proof);
}
/** The approvals that count, one a person: what one person could have said twice counts once. */
export function approvalsOf(needs: Needs, card: Pick<ApprovalView, "content_hash" | "decisions">): Made[] {
  const counted = card.decisions.filter((made) => counts(needs, card.content_hash, made));
  const kept: Made[] = [];
  for (const made of counted) if (!kept.some((other) => oneHand(other, made))) kept.push(made);
  return kept;
}

/** Why this caller may not say yes; null when they may. The words say what to do. */
export function whyNotYes(
  needs: Needs,
  card: Pick<ApprovalView, "content_hash" | "decisions">,
  caller: Deciding,
): Refusal | null {
  const no = (detail: string, because: string): Refusal => ({ code: "forbidden", detail, extra: { because } });
  if (needs.not_by !== null && samePerson(caller.subject, needs.not_by))
    return no(
      "You asked for this task, and the policy lets nobody approve their own. Ask another approver; you may deny it.",
      "own_task",
    );
  const { link_by } = caller;
  if (needs.not_by !== null && link_by !== undefined && samePerson(link_by, needs.not_by))
    return no(
      `Your sign-in link was made by ${link_by}, who asked for this task and could have opened it: approve with a link that another admin made. You may deny it.`,
      "link",
    );
  if (strengthOf(caller.via) < strengthOf(needs.proof))
    return no(
      "The policy takes a yes to this only from a person signed in on the page. Ask an admin for a sign-in link (`POST /api/tickets` with your token's id), open it and decide there; a token may deny it.",
      "proof",
    );
  if (needs.approvers === 1) return null;
  const said = { by: caller.subject, ...(link_by === undefined ? {} : { link_by }) };
  const own = approvalsOf(needs, card).find((made) => oneHand(made, said));
  if (own === undefined) return null;
  const mine = samePerson(own.by, caller.subject);
  const again = refuse(
    "not_in_this_state",
    mine
      ? `You approved this at ${own.at}. Another person must approve it too; you may still deny it.`
      : `${own.by} approved this at ${own.at}, and a sign-in link lets one person be behind both: a second approval takes a link that another admin made. You may still deny it.`,
    { because: mine ? "approved_already" : "link" },
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
