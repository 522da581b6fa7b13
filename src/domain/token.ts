/**
 * The signed proof of a decision: what is hashed, what is signed (in the form of `jws.ts`), and what a check
 * demands. Signing itself enters as a function. [TOK-*]
 */
import { z } from "zod";
import { lifeStates } from "./approval.ts";
import type { Card } from "./approval-view.ts";
import { canonicalJson, sha256Hex } from "./canonical.ts";
import { jwsInput, readSigned } from "./jws.ts";
import { proofs } from "./proofs.ts";

const itemSubject = z.strictObject({
  type: z.literal("work_item"),
  work_item_id: z.string(),
  item_hash: z.string(),
  plan_hash: z.string(),
});
const callSubject = z.strictObject({
  type: z.literal("call"),
  attempt_id: z.string(),
  call_id: z.string(),
  tool: z.string(),
  arguments: z.string(),
  workspace_tree: z.string(),
});
const attemptSubject = z.strictObject({
  type: z.literal("attempt"),
  attempt_id: z.string(),
  patch_tree: z.string(),
});
const itemRetrySubject = z.strictObject({
  type: z.literal("escalation"),
  work_item_id: z.string(),
  attempts: z.number().int(),
});

/** What an approver said yes to. `iat` and `exp` are seconds since the epoch; `nonce` is 128 random bits in hex. */
export const statement = z.strictObject({
  scope: z.string(),
  task: z.string(),
  approval_id: z.string(),
  content_hash: z.string(),
  subject: z.discriminatedUnion("type", [itemSubject, callSubject, attemptSubject, itemRetrySubject]),
  approver: z.string(),
  nonce: z.string().regex(/^[0-9a-f]{32}$/),
  iat: z.number().int(),
  exp: z.number().int(),
  /** The policy in force when it was signed: evidence, never compared. Statements of earlier versions have none. */
  policy_hash: z.string().optional(),
  /** Everybody whose yes it took, the last one `approver`; `said` is the hash of their whole decision. Earlier versions have none. */
  approvers: z
    .array(z.strictObject({ by: z.string(), at: z.string(), proof: z.enum(proofs), said: z.string().nullable() }))
    .optional(),
});
export type Statement = z.infer<typeof statement>;
export type Subject = Statement["subject"];

/** A token as it is shown: evidence of what was signed, and how far that has come. Times are ISO 8601 in UTC. */
export const issuedToken = z.strictObject({
  /** The row it stands for: a work item, a call, or an attempt whose result was let pass. */
  subject: z.string(),
  kid: z.string().nullable(),
  life: z.enum(lifeStates),
  void_reason: z.string().nullable(),
  issued_at: z.string().nullable(),
  expires_at: z.string().nullable(),
  /** When the one call it allowed began; null for what is checked at every entry. */
  spent_at: z.string().nullable(),
  jws: z.string(),
});
export type IssuedToken = z.infer<typeof issuedToken>;

/** `content_hash` of a card: SHA-256 of its RFC 8785 form, lower-case hex. */
export function contentHash(card: Card): string {
  return sha256Hex(canonicalJson(card));
}

/** `item_hash`: binds one item to everything that decides what it does. */
export function itemHash(bound: {
  scope: string;
  task: string;
  plan_hash: string;
  repo: string;
  base_commit: string;
  environment: unknown;
  item: unknown;
}): string {
  return sha256Hex(canonicalJson(bound));
}

const typ = "countersign+jws";

/** The ASCII bytes to sign, as text: `<header>.<payload>`, both base64url. */
export function signingInput(kid: string, said: Statement): string {
  return jwsInput(typ, kid, said);
}

export interface ReadJws {
  readonly kid: string;
  readonly input: string;
  readonly signature: Uint8Array<ArrayBuffer>;
  readonly statement: Statement;
}

/** What was read last, for one check asks several times for the same token. The same text always reads the same. */
const lately = new Map<string, ReadJws | null>();
const mostLately = 200;
const longest = 8 * 1024;

/** Null for anything that is not one of our statements: another algorithm, extra headers, extra claims, bytes not canonical. */
export function readJws(jws: string): ReadJws | null {
  const known = lately.get(jws);
  if (known !== undefined) return known;
  const read = readAnew(jws);
  if (lately.size >= mostLately) lately.clear();
  if (jws.length <= longest) lately.set(jws, read);
  return read;
}
function readAnew(jws: string): ReadJws | null {
  const read = readSigned(typ, statement, jws);
  return read === null ? null : { kid: read.kid, input: read.input, signature: read.signature, statement: read.said };
}

/** The one reason that asking again can mend. */
export const tokenExpired = "the token has expired";

/**
 * Null when the statement stands for exactly this subject at this time, else the reason it does not.
 * The caller has recomputed `expected` from the rows as they are stored now, and has checked the signature.
 */
export function checkStatement(
  said: Statement,
  expected: { scope: string; task: string; subject: Subject },
  now_ms: number,
): string | null {
  if (said.scope !== expected.scope) return "the token belongs to another scope";
  if (said.task !== expected.task) return "the token belongs to another task";
  if (now_ms >= said.exp * 1000) return tokenExpired;
  if (canonicalJson(said.subject) !== canonicalJson(expected.subject))
    return "what was approved is not what is stored now";
  return null;
}
