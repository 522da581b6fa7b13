/** What the policy is told of whoever calls a tool, from the rows as they are stored now: the same at a call and in a replay. [PDT-8] */
import type { CallContext } from "../../src/domain/policy-call.ts";
import { holdsSecret } from "../../src/domain/taint.ts";
import type { ItemRow, TaskRow } from "./rows.ts";
import type { ScopeStores } from "./tx.ts";

/** A repository that is linked through GitHub may be private; of any other it is not known, and it is read without a credential. */
export function privacyOf(
  { stores }: { readonly stores: Pick<ScopeStores, "github"> },
  { repo }: Pick<TaskRow, "repo">,
) {
  return { is_private: stores.github.isPrivate(repo) };
}

export function contextOf(
  task: Pick<TaskRow, "taint">,
  { spec }: Pick<ItemRow, "spec">,
  repo: { readonly is_private: boolean },
): CallContext {
  return {
    role: "crew",
    taint: task.taint,
    holds_secret: holdsSecret(spec.allow, repo),
    token: { allow: spec.allow, steps: spec.steps },
  };
}
