/** Approvals as people meet them: listed, read, decided. What is signed is signed before the transaction. [DEC-*] */
import { mayDecide } from "../../src/domain/approval.ts";
import type { ApprovalView, Decision } from "../../src/domain/approval-view.ts";
import { hasExpired } from "../../src/domain/deciding.ts";
import type { ApprovalRules } from "../../src/domain/policy-approvals.ts";
import { ok, type Refusal, type Result, refuse } from "../../src/domain/refusal.ts";
import type { Caller, Page } from "../../src/domain/view.ts";
import type { PageQuery, RuntimeDoor } from "../../src/http/doors.ts";
import { limits } from "../../src/limits.ts";
import { takeDecision } from "./decisions.ts";
import { expiredBy, nextExpiry } from "./due-cards.ts";
import { expire } from "./expiry.ts";
import { prepare } from "./preparing.ts";
import type { ApprovalRow } from "./rows.ts";
import type { Scope } from "./scope.ts";
import type { Signatures } from "./signatures.ts";
import { approvalViewOf } from "./views.ts";

const noSigner: Refusal = {
  code: "unavailable",
  detail: "This deployment has no SIGNING_KEYS, so nothing can be approved. Set the secret.",
};

export class DecisionDoor implements Pick<RuntimeDoor, "approvals" | "approval" | "decide"> {
  readonly #scope: Scope;
  readonly #signatures: Signatures;
  readonly #after: () => Promise<void>;
  #notBefore = 0;
  constructor(scope: Scope, signatures: Signatures, after: () => Promise<void>) {
    this.#scope = scope;
    this.#signatures = signatures;
    this.#after = after;
  }

  async approvals(_caller: Caller, query: PageQuery & { status: string | null }): Promise<Result<Page<ApprovalView>>> {
    const page = this.#scope.stores.rows.approvals.page(query.status, query.limit, query.cursor);
    const rules = this.#rules();
    return ok({ items: page.items.map((card) => this.#shown(card, rules)), next_cursor: page.next_cursor });
  }
  async approval(_caller: Caller, approval_id: string): Promise<Result<ApprovalView>> {
    const card = this.#scope.stores.rows.approvals.get(approval_id);
    return card === null ? noCard(approval_id) : ok(this.#shown(card, this.#rules()));
  }
  async decide(caller: Caller, approval_id: string, decision: Decision): Promise<Result<ApprovalView>> {
    if (!mayDecide(caller)) return refuse("forbidden", "Deciding needs the role approver.");
    if (decision.decision === "approve" && !this.#signatures.canSign()) return { ok: false, refusal: noSigner };
    for (let tried = 0; tried < limits.decide_tries; tried++) {
      const done = await this.#decideOnce(caller, approval_id, decision);
      if (done === "again") continue;
      await this.#after();
      return done;
    }
    return refuse("unavailable", "Others decided about this card at the same time. Read it again, then decide.");
  }
  async #decideOnce(caller: Caller, approval_id: string, decision: Decision): Promise<Result<ApprovalView> | "again"> {
    const seen = this.#scope.stores.rows.approvals.get(approval_id);
    if (seen === null) return noCard(approval_id);
    const prepared = await prepare(this.#scope, this.#signatures, { caller, card: seen, decision });
    return this.#scope.commit((tx) => {
      const card = tx.rows.approvals.get(approval_id);
      if (card === null) return noCard(approval_id);
      const decided = takeDecision(tx, caller, card, decision, prepared);
      if (decided === "again" || !decided.ok) return decided;
      return ok(approvalViewOf(tx.stores, tx.scope.policy.approvals, decided.value));
    });
  }

  /** Cards whose time is over, each in a commit of its own: one that cannot end keeps none of the others waiting. */
  async expire(now: number): Promise<void> {
    for (const id of expiredBy(this.#scope.sql, now, limits.expiries_at_once))
      try {
        const { task_id } = this.#scope.stores.rows.approvals.get(id) ?? { task_id: "" };
        const verified = await this.#signatures.ofTask(task_id);
        this.#scope.commit((tx) => {
          const card = tx.rows.approvals.get(id);
          if (card !== null && hasExpired(card, tx.now)) expire(tx, card, verified);
        });
      } catch (error) {
        console.error(`${id}: the card could not expire; it is tried again`, error);
        this.#notBefore = now + limits.expiry_retry_ms;
      }
  }
  /** A card that cannot end is tried again later, and rings no alarm until then. */
  nextDueAt(): number | null {
    const next = nextExpiry(this.#scope.sql);
    return next === null ? null : Math.max(next, this.#notBefore);
  }

  #rules(): ApprovalRules {
    return this.#scope.policies.inForce().policy.approvals;
  }
  #shown(card: ApprovalRow, rules: ApprovalRules): ApprovalView {
    return approvalViewOf(this.#scope.stores, rules, card);
  }
}

function noCard(id: string) {
  return refuse("approval_not_found", `There is no approval ${id} in this scope.`);
}
