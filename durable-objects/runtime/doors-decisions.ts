/** Approvals as people meet them: listed, read, decided. What is signed is signed before the transaction. [DEC-*] */
import { mayDecide } from "../../src/domain/approval.ts";
import { ok, type Refusal, type Result, refuse } from "../../src/domain/refusal.ts";
import type { ApprovalView, Caller, Decision, Page } from "../../src/domain/view.ts";
import type { PageQuery, RuntimeDoor } from "../../src/http/doors.ts";
import { type Prepared, takeDecision } from "./decisions.ts";
import type { Scope } from "./scope.ts";
import type { Signatures } from "./signatures.ts";
import { approvalViewOf } from "./views.ts";

const noSigner: Refusal = {
  code: "unavailable",
  detail: "This deployment has no SIGNING_KEYS, so nothing can be approved. Set the secret.",
};
const none: ReadonlyMap<string, string> = new Map();

export class DecisionDoor implements Pick<RuntimeDoor, "approvals" | "approval" | "decide"> {
  readonly #scope: Scope;
  readonly #signatures: Signatures;
  readonly #after: () => Promise<void>;
  constructor(scope: Scope, signatures: Signatures, after: () => Promise<void>) {
    this.#scope = scope;
    this.#signatures = signatures;
    this.#after = after;
  }

  async approvals(_caller: Caller, query: PageQuery & { status: string | null }): Promise<Result<Page<ApprovalView>>> {
    const page = this.#scope.stores.rows.approvals.page(query.status, query.limit, query.cursor);
    return ok({ items: page.items.map(approvalViewOf), next_cursor: page.next_cursor });
  }
  async approval(_caller: Caller, approval_id: string): Promise<Result<ApprovalView>> {
    const card = this.#scope.stores.rows.approvals.get(approval_id);
    return card === null ? noCard(approval_id) : ok(approvalViewOf(card));
  }
  async decide(caller: Caller, approval_id: string, decision: Decision): Promise<Result<ApprovalView>> {
    if (!mayDecide(caller)) return refuse("forbidden", "Deciding needs the role approver.");
    const seen = this.#scope.stores.rows.approvals.get(approval_id);
    if (seen === null) return noCard(approval_id);
    const approves = decision.decision === "approve";
    if (approves && !this.#signatures.canSign()) return { ok: false, refusal: noSigner };
    const issued = approves && seen.status === "pending" ? await this.#signatures.issueFor(caller, seen) : none;
    const known = await this.#signatures.ofTask(seen.task_id);
    const prepared: Prepared = { issued, verified: new Set([...known, ...issued.values()]) };
    const done = this.#scope.commit((tx) => {
      const card = tx.rows.approvals.get(approval_id);
      if (card === null) return noCard(approval_id);
      const decided = takeDecision(tx, caller, card, decision, prepared);
      return decided.ok ? ok(approvalViewOf(decided.value)) : decided;
    });
    await this.#after();
    return done;
  }
}

function noCard(id: string) {
  return refuse("approval_not_found", `There is no approval ${id} in this scope.`);
}
