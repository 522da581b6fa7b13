/** What a signed token is worth to somebody who has only it and the public keys, and the same in plain lines. [CLI-40] to [CLI-44] */
import type { PublicKey } from "../domain/audit-file.ts";
import { readJws, type Statement } from "../domain/token.ts";
import { visible, visibleLine } from "../domain/visible.ts";
import { verifierOf } from "./keys.ts";

/** A clock may go wrong by so much before a token seems to be signed in the future. */
const skewMs = 300_000;

export interface Verdict {
  readonly state: "valid" | "expired" | "not_yet" | "unknown_key" | "bad_signature" | "not_a_token";
  readonly kid: string | null;
  readonly statement: Statement | null;
}

export async function verdictsOn(
  tokens: readonly string[],
  keys: readonly PublicKey[],
  now_ms: number,
): Promise<Verdict[]> {
  const verify = await verifierOf(keys);
  const known = new Set(keys.map((key) => key.kid));
  return Promise.all(
    tokens.map(async (jws): Promise<Verdict> => {
      const read = readJws(jws);
      if (read === null) return { state: "not_a_token", kid: null, statement: null };
      const { kid, statement } = read;
      if (!known.has(kid)) return { state: "unknown_key", kid, statement };
      if (!(await verify(kid, read.input, read.signature))) return { state: "bad_signature", kid, statement };
      if (now_ms >= statement.exp * 1000) return { state: "expired", kid, statement };
      if (now_ms + skewMs < statement.iat * 1000) return { state: "not_yet", kid, statement };
      return { state: "valid", kid, statement };
    }),
  );
}

const heads: Record<Verdict["state"], string> = {
  valid: "VALID: signed by the key below, and every byte is as it was signed.",
  expired: "EXPIRED: well signed, and past its time.",
  not_yet: "NOT VALID: well signed, but later than the time asked about.",
  unknown_key: "NOT VALID: none of the keys given has the name it was signed under. What it says below is unproven.",
  bad_signature: "NOT VALID: the signature does not fit. What it says below is unproven.",
  not_a_token: "NOT VALID: this is no token of Countersign, or its bytes were changed.",
};

export function verdictText({ state, kid, statement }: Verdict): string {
  return [heads[state], ...(statement === null ? [] : [field("key", kid), ...said(statement)])]
    .filter((line) => line !== null)
    .join("\n");
}

function said(token: Statement): (string | null)[] {
  return [
    field("approved by", token.approver),
    ...(token.approvers ?? []).map(({ by, at: when, proof }) => field("", `${by} at ${when}, by ${proof}`)),
    ...subjectLines(token.subject),
    field("scope", token.scope),
    field("task", token.task),
    field("approval", token.approval_id),
    field("card", `${token.content_hash} (SHA-256 of what was shown)`),
    field("policy", token.policy_hash ?? null),
    field("signed at", at(token.iat)),
    field("until", at(token.exp)),
    field("nonce", token.nonce),
  ];
}
function subjectLines(subject: Statement["subject"]): (string | null)[] {
  switch (subject.type) {
    case "work_item":
      return [
        field("what", `work item ${subject.work_item_id}`),
        field("item hash", subject.item_hash),
        field("plan hash", subject.plan_hash),
      ];
    case "call":
      return [
        field("what", `one call of ${subject.tool}, ${subject.call_id} of attempt ${subject.attempt_id}`),
        field("arguments", subject.arguments),
        field("workspace", subject.workspace_tree),
      ];
    case "attempt":
      return [
        field("what", `the result of attempt ${subject.attempt_id} although it left its bounds`),
        field("patch tree", subject.patch_tree),
      ];
    case "escalation":
      return [field("what", `one more attempt at work item ${subject.work_item_id}, after ${subject.attempts}`)];
  }
}
/** A time no calendar holds is shown as the number it is. */
function at(seconds: number): string {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.getTime()) ? `${seconds} s after 1970` : time.toISOString();
}
function field(name: string, value: string | null): string | null {
  return value === null || value === "" ? null : `  ${name.padEnd(12)}${visibleLine(value)}`;
}

export function issuedText(token: {
  readonly subject: string;
  readonly life: string;
  readonly void_reason: string | null;
  readonly expires_at: string | null;
  readonly spent_at: string | null;
  readonly kid: string | null;
  readonly jws: string;
}): string {
  const why = token.void_reason === null ? "" : `: ${visibleLine(token.void_reason)}`;
  const until = token.expires_at === null ? "" : `, until ${visibleLine(token.expires_at)}`;
  return `${visibleLine(token.subject)}  ${token.life}${why}${spentWords(token)}${until}  key ${visibleLine(token.kid ?? "none")}\n${visible(token.jws)}`;
}
/** One call's token is spent at one moment; every other is checked anew at each entry of what it stands for. */
function spentWords({ life, spent_at }: { readonly life: string; readonly spent_at: string | null }): string {
  if (spent_at !== null) return `, spent at ${visibleLine(spent_at)}`;
  return life === "executed"
    ? ": all it stands for is done (it was checked at every entry, so no one moment spent it)"
    : "";
}
