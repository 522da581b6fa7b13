/** The policy of a scope's runtime object in memory, its versions by the domain's own rules. */
import { hashOf } from "../../src/domain/canonical.ts";
import { defaultPolicy, policySchema } from "../../src/domain/policy.ts";
import { diffPolicies } from "../../src/domain/policy-change.ts";
import type { PolicyChanged, PolicyView } from "../../src/domain/policy-shapes.ts";
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import type { Caller } from "../../src/domain/view.ts";
import type { PageQuery, RecordedCalls } from "../../src/http/doors.ts";
import { FakeQueues, paged } from "./queues-door.ts";
import { at } from "./views.ts";

export function policyOf(version: number, policy: object = defaultPolicy, more: Partial<PolicyView> = {}): PolicyView {
  const made = { changed_at: at, changed_by: null, reason: null };
  return { version, policy_hash: hashOf(policy), policy: { ...policy }, ...made, ...more };
}

export class FakePolicies extends FakeQueues {
  readonly policyRows: PolicyView[] = [policyOf(1)];
  readonly recorded = new Map<string, Omit<RecordedCalls, "policy">>();

  #inForce(): PolicyView {
    return this.policyRows.at(-1) ?? policyOf(1);
  }
  async policy(): Promise<Result<PolicyView>> {
    return ok(this.#inForce());
  }
  async policyVersions(_: Caller, query: PageQuery) {
    const rows = this.policyRows.toReversed().map(({ policy, ...version }) => version);
    return ok(paged(rows, query));
  }
  async policyVersion(_: Caller, version: number): Promise<Result<PolicyView>> {
    const found = this.policyRows.find((each) => each.version === version);
    return found === undefined ? refuse("not_found", "there is no such version") : ok(found);
  }
  async changePolicy(
    caller: Caller,
    asked: { policy: unknown; reason: string | null; seen: readonly string[] },
  ): Promise<Result<PolicyChanged>> {
    this.calls.push("changePolicy");
    const now = this.#inForce();
    const policy = policySchema.parse(asked.policy);
    const changes = diffPolicies(policySchema.parse(now.policy), policy);
    if (changes.length === 0) return ok({ ...now, changed: false, changes, more_changes: 0 });
    const { version, policy_hash } = now;
    if (!asked.seen.includes(policy_hash))
      return refuse("precondition_failed", "it was changed meanwhile.", { version, policy_hash });
    const made = policyOf(version + 1, policy, { changed_by: caller.subject, reason: asked.reason });
    this.policyRows.push(made);
    return ok({ ...made, changed: true, changes, more_changes: 0 });
  }
  async recordedCalls(_: Caller, task_id: string): Promise<Result<RecordedCalls>> {
    const found = this.recorded.get(task_id);
    return found === undefined
      ? refuse("task_not_found", "there is no such task")
      : ok({ ...found, policy: this.#inForce() });
  }
}
