/** What a decision is carried out with: the transaction, who decided, the card as it is now, and what was signed before. */
import type { Decision } from "../../src/domain/approval-view.ts";
import type { Caller } from "../../src/domain/view.ts";
import type { ApprovalRow, AttemptRow, ItemRow, TaskRow } from "./rows.ts";
import type { VerifiedTokens } from "./tokens.ts";
import type { Tx } from "./tx.ts";

/** Made before the transaction, since signing is asynchronous. */
export interface Prepared {
  /** Signed tokens by the key of their subject. */
  readonly issued: ReadonlyMap<string, string>;
  /** The good ones among all tokens of the task. */
  readonly verified: VerifiedTokens;
  /** The time of the decision, as it is signed and written. */
  readonly at: string;
  /** Hash of the approvers the tokens were signed for; null when nothing was signed. */
  readonly signed_for: string | null;
}

export interface Scene {
  readonly tx: Tx;
  readonly caller: Caller;
  readonly card: ApprovalRow;
  readonly decision: Decision;
  readonly task: TaskRow;
  readonly prepared: Prepared;
}

export function attemptAndItem({
  tx,
  card,
}: Pick<Scene, "tx" | "card">): { attempt: AttemptRow; item: ItemRow } | null {
  const attempt = card.attempt_id === null ? null : tx.rows.attempts.get(card.attempt_id);
  const item = attempt === null ? null : tx.rows.items.get(attempt.work_item_id);
  return attempt === null || item === null ? null : { attempt, item };
}
