/**
 * Tokens in the scope: what is signed before a decision is recorded, and the check at every later entry. A check
 * recomputes from the rows as they are stored now; the signature is verified before the transaction and the
 * JWS it was verified for is compared inside it. [TOK-*]
 */
import { stepLife } from "../../src/domain/approval.ts";
import { hashOf, sha256Hex } from "../../src/domain/canonical.ts";
import type { Made } from "../../src/domain/deciding.ts";
import { assembleJws } from "../../src/domain/jws.ts";
import {
  checkStatement,
  itemHash,
  readJws,
  type Statement,
  type Subject,
  signingInput,
} from "../../src/domain/token.ts";
import { limits } from "../../src/limits.ts";
import type { CallRow } from "./call-rows.ts";
import type { AttemptRow, ItemRow, PlanRow, TaskRow } from "./rows.ts";
import type { Consumed } from "./token-rows.ts";
import type { Tx } from "./tx.ts";

/** The deployment's signing keys, as functions. */
export interface Signer {
  readonly kid: string;
  sign(text: string): Promise<Uint8Array>;
  verify(kid: string, text: string, signature: Uint8Array<ArrayBuffer>): Promise<boolean>;
}

/** Signs one statement and verifies it again, as anybody could. */
export async function issue(signer: Signer, said: Statement): Promise<string> {
  const input = signingInput(signer.kid, said);
  const jws = assembleJws(input, await signer.sign(input));
  if (!(await hasGoodSignature(signer, jws)))
    throw new Error("a token just signed does not verify: check SIGNING_KEYS");
  return jws;
}
/** Of the given tokens, those whose signatures verify. */
export async function goodSignatures(signer: Signer, tokens: readonly string[]): Promise<VerifiedTokens> {
  const good = await Promise.all(tokens.map((jws) => hasGoodSignature(signer, jws)));
  return new Set(tokens.filter((_, index) => good[index]));
}
async function hasGoodSignature(signer: Signer, jws: string): Promise<boolean> {
  const read = readJws(jws);
  return read !== null && (await signer.verify(read.kid, read.input, read.signature));
}

export function statementFor(
  about: {
    scope_id: string;
    task_id: string;
    approval_id: string;
    content_hash: string;
    policy_hash: string;
    subject: Subject;
  },
  by: { approver: string; approvers: readonly Made[]; nonce: string; now: number },
): Statement {
  const iat = Math.floor(by.now / 1000);
  const { approval_id, content_hash, policy_hash, subject } = about;
  const exp = iat + Math.floor(limits.token_ttl_ms / 1000);
  return {
    scope: about.scope_id,
    task: about.task_id,
    approval_id,
    content_hash,
    subject,
    approver: by.approver,
    nonce: by.nonce,
    iat,
    exp,
    policy_hash,
    approvers: approversOf(by.approvers),
  };
}
/** Everybody who approved, as a statement names them. */
function approversOf(made: readonly Made[]): NonNullable<Statement["approvers"]> {
  return made.map(({ by, at, proof, said }) => ({ by, at, proof, said }));
}
export function approversHash(made: readonly Made[]): string {
  return hashOf(approversOf(made));
}

/** What the item is now: any byte of the plan, the item, the environment or the base that changed shows here. */
export function itemSubject(scope_id: string, task: TaskRow, plan: PlanRow, item: ItemRow): Subject {
  const plan_hash = sha256Hex(plan.markdown);
  const bound = {
    scope: scope_id,
    task: task.id,
    plan_hash,
    repo: task.repo,
    base_commit: plan.base_commit,
    environment: plan.environment,
    item: item.spec,
  };
  return { type: "work_item", work_item_id: item.id, item_hash: itemHash(bound), plan_hash };
}
export function callSubject(
  call: Pick<CallRow, "attempt_id" | "call_id" | "tool" | "arguments">,
  workspace_tree: string,
): Subject {
  return {
    type: "call",
    attempt_id: call.attempt_id,
    call_id: call.call_id,
    tool: call.tool,
    arguments: call.arguments,
    workspace_tree,
  };
}
export function patchSubject(attempt: AttemptRow): Subject {
  return { type: "attempt", attempt_id: attempt.id, patch_tree: attempt.patch?.tree ?? "" };
}

/** Tokens whose signatures were found good before the transaction. */
export type VerifiedTokens = ReadonlySet<string>;

/** The first verification of a token just issued: its nonce is consumed, for this subject alone. False when it was before. */
export function consumeToken(tx: Tx, task: TaskRow, token: Consumed): boolean {
  const read = readJws(token.jws);
  const named = read !== null && read.statement.approval_id === token.approval_id;
  const fresh = named && tx.stores.tokens.consume(read.statement.nonce, token, tx.now);
  tx.audit("verify", task, {
    actor: "approval_engine",
    decision: fresh ? "consumed" : "refused",
    reason: fresh ? null : named ? "the token's nonce was consumed before" : "the token names another approval",
    details: { ...aboutToken(token), nonce: read?.statement.nonce ?? null },
  });
  return fresh;
}
export function aboutToken({ approval_id, subject, jws }: Consumed): Record<string, unknown> {
  return { approval_id, subject, kid: readJws(jws)?.kid ?? null };
}
/** Why a token does not stand whose signature was not found good: its key is named, for it may have been revoked. */
export function unverified(jws: string): string {
  return `the token's signature does not verify with a key of this deployment (it names key ${readJws(jws)?.kid ?? "none"})`;
}
/** For what runs once under its token. Null the first time; spending and running are one commit. */
export function spendToken(tx: Tx, token: Consumed): string | null {
  return unconsumed(tx, token) ?? (tx.stores.tokens.spend(token, tx.now) ? null : "the token was spent before");
}
/** What was signed but never consumed for just this subject stands for nothing, however good its signature is. */
export function unconsumed(tx: Tx, token: Consumed): string | null {
  return tx.stores.tokens.has(token) ? null : "the token was not consumed for this: it belongs somewhere else";
}

/**
 * The non-consuming check at an entry: null when the item's token stands, else why not. Audited either way, and
 * the approval's life goes on to `checked`.
 */
export function checkItem(
  tx: Tx,
  entry: string,
  task: TaskRow,
  item: ItemRow,
  verified: VerifiedTokens,
): string | null {
  const reason = reasonNot(tx, task, item, verified);
  const { approval_id = null, jws = "" } = item.grant ?? {};
  const details = { entry, work_item_id: item.id, approval_id, kid: readJws(jws)?.kid ?? null };
  tx.audit("check", task, {
    actor: "approval_engine",
    decision: reason === null ? "valid" : "refused",
    reason,
    details,
  });
  if (reason === null && item.grant !== null) {
    const life = stepLife(item.grant.life, "check");
    if (life.ok) tx.rows.items.put({ ...item, grant: { ...item.grant, life: life.value } });
    return null;
  }
  tx.audit("gate_block", task, { actor: "gate_runner", decision: "blocked", reason, details });
  return reason;
}

function reasonNot(tx: Tx, task: TaskRow, item: ItemRow, verified: VerifiedTokens): string | null {
  const { grant } = item;
  if (grant === null) return "nobody has approved this item";
  if (grant.life === "void") return `the approval is void: ${grant.void_reason ?? "withdrawn"}`;
  if (!verified.has(grant.jws)) return unverified(grant.jws);
  const read = readJws(grant.jws);
  const plan = tx.rows.plans.get(item.plan_id);
  if (read === null || plan === null) return "the token cannot be read";
  if (plan.status !== "approved") return `the plan is ${plan.status}`;
  const subject = itemSubject(tx.scope.scope_id, task, plan, item);
  const expected = { scope: tx.scope.scope_id, task: task.id, subject };
  return (
    checkStatement(read.statement, expected, tx.now) ??
    unconsumed(tx, { approval_id: grant.approval_id, subject: item.id, jws: grant.jws })
  );
}
