/** The scope's policy as people meet it: shown, changed, and the calls on record that another one could be tried on. [PDT-6] to [PDT-9] */

import { byteLength } from "../../src/domain/canonical.ts";
import type { RecordedCall } from "../../src/domain/policy-change.ts";
import type { PolicyChanged, PolicyVersion, PolicyView } from "../../src/domain/policy-shapes.ts";
import { ok, type Result, refuse } from "../../src/domain/refusal.ts";
import type { Caller, Page } from "../../src/domain/view.ts";
import type { PageQuery, RecordedCalls, RuntimeDoor } from "../../src/http/doors.ts";
import { limits } from "../../src/limits.ts";
import { contextOf, privacyOf } from "./call-context.ts";
import { changePolicy, type PolicyAsked } from "./policies.ts";
import type { Scope } from "./scope.ts";

type Door = Pick<RuntimeDoor, "policy" | "policyVersions" | "policyVersion" | "changePolicy" | "recordedCalls">;

export class PolicyDoor implements Door {
  readonly #scope: Scope;
  readonly #after: () => Promise<void>;
  constructor(scope: Scope, after: () => Promise<void>) {
    this.#scope = scope;
    this.#after = after;
  }

  async policy(): Promise<Result<PolicyView>> {
    return ok(this.#scope.policies.inForce().view);
  }
  async policyVersions(_caller: Caller, query: PageQuery): Promise<Result<Page<PolicyVersion>>> {
    return ok(this.#scope.policies.versions(query.limit, query.cursor));
  }
  async policyVersion(_caller: Caller, version: number): Promise<Result<PolicyView>> {
    const found = this.#scope.policies.version(version);
    return found === null ? refuse("not_found", `The policy has no version ${version}.`) : ok(found);
  }
  async changePolicy(caller: Caller, asked: PolicyAsked): Promise<Result<PolicyChanged>> {
    const done = this.#scope.commit((tx) => changePolicy(tx, this.#scope.policies, caller.subject, asked));
    await this.#after();
    return done;
  }

  /** The newest, oldest first, as many as one answer carries; each with what the policy would be told of it now. */
  async recordedCalls(_caller: Caller, task_id: string): Promise<Result<RecordedCalls>> {
    const { rows } = this.#scope.stores;
    const task = rows.tasks.get(task_id);
    if (task === null) return refuse("task_not_found", "There is no task with this id in this scope.");
    const made = rows.calls.ofTask(task_id).filter((call) => call.kind === "tool_call");
    const is_private = privacyOf(this.#scope, task);
    const calls: RecordedCall[] = [];
    let bytes = 0;
    for (const call of made.toReversed()) {
      const { call_id, attempt_id, tool } = call;
      const item = rows.items.get(rows.attempts.get(attempt_id)?.work_item_id ?? "");
      bytes += byteLength(call.arguments);
      if (calls.length >= limits.replay_calls || bytes > limits.replay_bytes) break;
      if (item !== null)
        calls.unshift({
          call_id,
          attempt_id,
          tool,
          arguments: call.arguments,
          context: contextOf(task, item, is_private),
        });
    }
    return ok({ policy: this.#scope.policies.inForce().view, calls, left_out: made.length - calls.length });
  }
}
