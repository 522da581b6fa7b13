/** Standing approvals as people meet them: made, listed, read, revoked. [STA-*] */

import { mayDecide } from "../../src/domain/approval.ts";
import { linkBy } from "../../src/domain/deciding.ts";
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import type { StandingInput, StandingView } from "../../src/domain/standing-shape.ts";
import type { Caller, Page } from "../../src/domain/view.ts";
import type { Created, Idempotency, PageQuery, RuntimeDoor } from "../../src/http/doors.ts";
import { limits } from "../../src/limits.ts";
import { newId } from "../random.ts";
import type { Scope } from "./scope.ts";
import { type StandingRow, standingViewOf } from "./standing.ts";
import { revokeStanding } from "./standing-revoked.ts";
import type { Tx } from "./tx.ts";

type Door = Pick<
  RuntimeDoor,
  "standingApprovals" | "standingApproval" | "addStandingApproval" | "revokeStandingApproval"
>;
const forbidden = refuse("forbidden", "A standing approval is a decision in advance: it needs the role approver.");

export class StandingDoor implements Door {
  readonly #scope: Scope;
  readonly #after: () => Promise<void>;
  constructor(scope: Scope, after: () => Promise<void>) {
    this.#scope = scope;
    this.#after = after;
  }

  async standingApprovals(_caller: Caller, query: PageQuery): Promise<Result<Page<StandingView>>> {
    const page = this.#scope.stores.standing.page(query.limit, query.cursor);
    return ok({ items: page.items.map((row) => this.#view(row)), next_cursor: page.next_cursor });
  }
  async standingApproval(_caller: Caller, id: string): Promise<Result<StandingView>> {
    const row = this.#scope.stores.standing.get(id);
    return row === null ? unknown(id) : ok(this.#view(row));
  }
  async addStandingApproval(
    caller: Caller,
    input: StandingInput,
    idempotency: Idempotency | null,
  ): Promise<Result<Created<StandingView>>> {
    if (!mayDecide(caller)) return forbidden;
    const id = `s${newId().slice(0, 15)}`;
    const made = this.#scope.commit((tx): Result<Created<StandingView>> => {
      const own = idempotency === null ? null : { ...idempotency, subject: caller.subject };
      const before = own === null ? null : this.#scope.idempotency.find(own, tx.now);
      if (before?.found === "mismatch")
        return refuse("idempotency_mismatch", "This Idempotency-Key was used for another body. Use a new key.");
      // The answer of the same key is what this method stored below.
      if (before?.found === "replay") return ok({ body: before.body as StandingView, replay: true });
      const row = this.#make(tx, caller, input, id);
      if (!row.ok) return row;
      const body = this.#view(row.value);
      if (own !== null) this.#scope.idempotency.store(own, 201, body, tx.now);
      return ok({ body, replay: false });
    });
    await this.#after();
    return made;
  }
  async revokeStandingApproval(caller: Caller, id: string, reason: string): Promise<Result<StandingView>> {
    if (!mayDecide(caller)) return forbidden;
    const done = this.#scope.commit((tx) => {
      const row = tx.stores.standing.get(id);
      return row === null ? unknown(id) : ok(this.#view(revokeStanding(tx, caller, row, reason)));
    });
    await this.#after();
    return done;
  }

  #make(tx: Tx, caller: Caller, input: StandingInput, id: string): Result<StandingRow> {
    const until_ms = Date.parse(input.until);
    if (until_ms <= tx.now) return refuse("bad_request", "until is over already: name a time that is still to come.");
    if (until_ms > tx.now + limits.standing_ahead_ms)
      return refuse("bad_request", `until is too far ahead: at most ${limits.standing_ahead_ms / 86_400_000} days.`);
    if (tx.stores.standing.active().length >= limits.standing_active)
      return refuse(
        "too_many",
        `A scope has at most ${limits.standing_active} standing approvals in force: revoke one.`,
      );
    const { name, reason, bounds, uses } = input;
    const row = tx.stores.standing.put({
      ...{ id, status: "active", name, reason, bounds, until_ms, uses, uses_left: uses, made_by: caller.subject },
      ...linkBy(caller.subject, this.#scope.people.makerOf(caller.credential_id)),
      ...{ credential_id: this.#scope.people.rootOf(caller.credential_id), made_at: tx.at, ended: null },
    });
    tx.audit(
      "approval",
      { trace_id: "scope" },
      {
        ...{ actor: "user", decision: "standing_made", reason },
        details: { standing_id: id, by: caller.subject, name, bounds, until: input.until, uses },
      },
    );
    const detail = `${caller.subject} made the standing approval "${name}" for ${uses} uses.`;
    tx.event("standing_changed", null, { actor: caller.subject, surfaces: ["activity"], detail, standing_id: id });
    return ok(row);
  }
  #view(row: StandingRow): StandingView {
    return standingViewOf(row, this.#scope.stores.standing.usesOf(row.id, limits.standing_uses_shown), Date.now());
  }
}

function unknown(id: string) {
  return refuse("standing_approval_not_found", `There is no standing approval ${id} in this scope.`);
}
