/** What the policy is told of whoever calls a tool, from the rows as they are stored now: the same at a call and in a replay. [PDT-8] */
import type { CallContext } from "../../src/domain/policy-call.ts";
import { holdsSecret } from "../../src/domain/taint.ts";
import type { ItemRow, TaskRow } from "./rows.ts";

export function contextOf(task: Pick<TaskRow, "taint">, { spec }: Pick<ItemRow, "spec">): CallContext {
  return {
    role: "crew",
    taint: task.taint,
    // A repository is read without any credential of the scope's, so none that can be read is private.
    holds_secret: holdsSecret(spec.allow, { is_private: false }),
    token: { allow: spec.allow, steps: spec.steps },
  };
}
