/**
 * What must be signed or verified before a transaction, since signatures are asynchronous and a transaction is
 * not. Inside it only the JWS are compared. [TOK-*]
 */
import type { AttemptRef } from "../../src/agents/bus.ts";
import type { Made } from "../../src/domain/deciding.ts";
import type { Caller } from "../../src/domain/view.ts";
import { randomBytes } from "../random.ts";
import { nonceOf } from "./decisions.ts";
import type { ApprovalRow, ScopeRows } from "./rows.ts";
import { subjectsOf } from "./subjects.ts";
import { goodSignatures, issue, type Signer, statementFor, type VerifiedTokens } from "./tokens.ts";

export class Signatures {
  readonly #rows: ScopeRows;
  readonly #signer: () => Signer | null;
  readonly #policyHash: () => string;
  constructor(rows: ScopeRows, hands: { signer: () => Signer | null; policyHash: () => string }) {
    this.#rows = rows;
    this.#signer = hands.signer;
    this.#policyHash = hands.policyHash;
  }

  /** Without a signer nothing can be approved, and nothing approved before stands. */
  canSign(): boolean {
    return this.#signer() !== null;
  }
  /** All tokens of a task whose signatures verify now. */
  async ofTask(task_id: string): Promise<VerifiedTokens> {
    const { items, calls } = this.#rows;
    const grants = [...items.ofTask(task_id), ...calls.ofTask(task_id)].flatMap(({ grant }) =>
      grant === null ? [] : [grant.jws],
    );
    return this.of(grants);
  }
  /** Of the given tokens, those whose signatures verify now. */
  async of(tokens: readonly string[]): Promise<VerifiedTokens> {
    const signer = this.#signer();
    return signer === null ? new Set() : goodSignatures(signer, [...new Set(tokens)]);
  }
  async ofAttempt(ref: AttemptRef): Promise<VerifiedTokens> {
    const attempt = this.#rows.attempts.get(ref.attempt_id);
    return attempt === null ? new Set() : this.ofTask(attempt.task_id);
  }
  /** One token for each subject of the card, by the subject's key. */
  async issueFor(caller: Caller, card: ApprovalRow, approvers: readonly Made[]): Promise<Map<string, string>> {
    const signer = this.#signer();
    const issued = new Map<string, string>();
    if (signer === null) return issued;
    for (const { key, subject } of subjectsOf(this.#rows, caller.scope_id, card)) {
      const about = {
        scope_id: caller.scope_id,
        task_id: card.task_id,
        approval_id: card.id,
        content_hash: card.content_hash,
        policy_hash: this.#policyHash(),
        subject,
      };
      const by = { approver: caller.subject, approvers, nonce: nonceOf(randomBytes()), now: Date.now() };
      issued.set(key, await issue(signer, statementFor(about, by)));
    }
    return issued;
  }
}
