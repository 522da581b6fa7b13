/** The standing approvals of a scope's runtime object in memory; they speak for nothing. */
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import { type StandingInput, type StandingView, standingInput } from "../../src/domain/standing-shape.ts";
import type { Caller, Page } from "../../src/domain/view.ts";
import type { Created, Idempotency, PageQuery } from "../../src/http/doors.ts";
import { FakePolicies } from "./policy-door.ts";
import { paged } from "./queues-door.ts";
import { at } from "./views.ts";

export const standingBody = {
  name: "Small chores",
  reason: "They are checked by tests",
  bounds: {
    who: ["alice#abc123"],
    labels: ["chore"],
    repos: ["https://git.example/a/b"],
    tools: ["shell_execute"],
    paths: ["src/**"],
    commands: ["npm test"],
    verify: ["npm test"],
  },
  until: "2099-01-01T00:00:00Z",
  uses: 3,
};
export function standingOf(id: string, more: Partial<StandingView> = {}): StandingView {
  const { until, ...input } = standingInput.parse(standingBody);
  const made = { made_by: "bob#def456", made_at: at, ended: null, used: [] };
  return { id, status: "active", ...input, until: "2099-01-01T00:00:00.000Z", uses_left: 2, ...made, ...more };
}

export class FakeStanding extends FakePolicies {
  readonly standingRows = new Map<string, StandingView>();
  readonly #answers = new Map<string, { hash: string; body: StandingView }>();

  async standingApprovals(_: Caller, query: PageQuery): Promise<Result<Page<StandingView>>> {
    return ok(paged([...this.standingRows.values()].toReversed(), query));
  }
  async standingApproval(_: Caller, id: string): Promise<Result<StandingView>> {
    const found = this.standingRows.get(id);
    return found === undefined ? refuse("standing_approval_not_found", "there is no such thing") : ok(found);
  }
  async addStandingApproval(
    caller: Caller,
    input: StandingInput,
    idempotency: Idempotency | null,
  ): Promise<Result<Created<StandingView>>> {
    this.calls.push("addStandingApproval");
    const before = idempotency === null ? undefined : this.#answers.get(idempotency.key);
    if (before !== undefined && before.hash !== idempotency?.body_hash)
      return refuse("idempotency_mismatch", "this key was used for another body");
    if (before !== undefined) return ok({ body: before.body, replay: true });
    const id = `standing-${this.standingRows.size + 1}`;
    const body = standingOf(id, { ...input, uses_left: input.uses, made_by: caller.subject });
    this.standingRows.set(id, body);
    if (idempotency !== null) this.#answers.set(idempotency.key, { hash: idempotency.body_hash, body });
    return ok({ body, replay: false });
  }
  async revokeStandingApproval(caller: Caller, id: string, reason: string): Promise<Result<StandingView>> {
    this.calls.push("revokeStandingApproval");
    const found = await this.standingApproval(caller, id);
    if (!found.ok || found.value.status === "revoked") return found;
    const revoked = { ...found.value, status: "revoked" as const, ended: { by: caller.subject, at, reason } };
    this.standingRows.set(id, revoked);
    return ok(revoked);
  }
}
