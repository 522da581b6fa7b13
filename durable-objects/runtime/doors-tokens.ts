/**
 * The tokens an approval issued, as evidence: each as it was signed, with how far it has come. What was replaced,
 * withdrawn or signed by a key that is gone stays visible, as void. [TOK-43]
 */
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import { type IssuedToken, readJws } from "../../src/domain/token.ts";
import type { Caller } from "../../src/domain/view.ts";
import type { RuntimeDoor } from "../../src/http/doors.ts";
import type { ApprovalRow } from "./rows.ts";
import type { Scope } from "./scope.ts";
import type { Signatures } from "./signatures.ts";
import type { StoredToken } from "./token-rows.ts";
import { unverified, type VerifiedTokens } from "./tokens.ts";

type Life = Pick<IssuedToken, "life" | "void_reason">;

export class TokensDoor implements Pick<RuntimeDoor, "approvalTokens"> {
  readonly #scope: Scope;
  readonly #signatures: Signatures;
  constructor(scope: Scope, signatures: Signatures) {
    this.#scope = scope;
    this.#signatures = signatures;
  }

  async approvalTokens(_caller: Caller, approval_id: string): Promise<Result<IssuedToken[]>> {
    const { rows, tokens } = this.#scope.stores;
    const signed = tokens.ofApproval(approval_id).map((token) => token.jws);
    const verified = await this.#signatures.of(signed);
    const card = rows.approvals.get(approval_id);
    if (card === null) return refuse("approval_not_found", `There is no approval ${approval_id} in this scope.`);
    return ok(tokens.ofApproval(approval_id).map((token) => this.#shown(card, token, verified)));
  }
  #shown(card: ApprovalRow, token: StoredToken, verified: VerifiedTokens): IssuedToken {
    const read = readJws(token.jws);
    const at = (time_s: number) => new Date(time_s * 1000).toISOString();
    return {
      subject: token.subject,
      kid: read?.kid ?? null,
      ...this.#life(card, token, verified),
      issued_at: read === null ? null : at(read.statement.iat),
      expires_at: read === null ? null : at(read.statement.exp),
      spent_at: token.spent_at === null ? null : new Date(token.spent_at).toISOString(),
      jws: token.jws,
    };
  }
  #life(card: ApprovalRow, token: StoredToken, verified: VerifiedTokens): Life {
    const { items, calls, plans } = this.#scope.stores.rows;
    const item = items.get(token.subject);
    const call = calls.get(token.subject);
    const grant = (item ?? call)?.grant;
    if (token.spent_at !== null || grant?.life === "executed") return { life: "executed", void_reason: null };
    if (!verified.has(token.jws)) return voided(unverified(token.jws));
    // What a gate lets through is bound to its attempt, which keeps no token.
    if (item === null && call === null) return { life: card.life, void_reason: null };
    if (grant?.jws !== token.jws) return voided("it is attached to nothing any more");
    if (grant.life === "void") return voided(grant.void_reason ?? "withdrawn");
    const plan = item === null ? null : plans.get(item.plan_id);
    if (plan !== null && plan.status !== "approved") return voided(`the plan is ${plan.status}`);
    if (call?.state === "void") return voided("the call was withdrawn");
    return { life: grant.life, void_reason: null };
  }
}

function voided(void_reason: string): Life {
  return { life: "void", void_reason };
}
