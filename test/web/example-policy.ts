/** The policy as the service would show it, and how the tame API answers and changes it. */
import { hashOf } from "../../src/domain/canonical.ts";
import { defaultPolicy, policySchema, resolve } from "../../src/domain/policy.ts";
import { diffPolicies } from "../../src/domain/policy-change.ts";
import { evaluateInput, type PolicyChanged, type PolicyView } from "../../src/domain/policy-shapes.ts";
import type { Refusal } from "./fake-api.ts";

const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

export function viewOf(version: number, policy: object, more: Partial<PolicyView> = {}): PolicyView {
  const made = { changed_at: ago(5), changed_by: null, reason: null };
  return { version, policy: { ...policy }, policy_hash: hashOf(policy), ...made, ...more };
}
export const edited = {
  ...defaultPolicy,
  tools: { ...defaultPolicy.tools, git_push: "deny" },
  roles: { ...defaultPolicy.roles, crew: { "*": "deny" } },
};
export function policiesOf(): PolicyView[] {
  return [
    viewOf(1, defaultPolicy, { changed_at: ago(9_000) }),
    viewOf(2, edited, { changed_by: "grace", reason: "no pushing\u202e" }),
  ];
}

type Body = Readonly<Record<string, unknown>>;
export function changedBy(versions: PolicyView[], body: Body, ifMatch: string): PolicyChanged | Refusal {
  const now = versions.at(-1);
  if (now === undefined) throw new Error("the example has a policy");
  const extra = { version: now.version, policy_hash: now.policy_hash };
  const detail = `The policy was changed meanwhile: version ${now.version} is in force, by ${now.changed_by}.`;
  if (ifMatch !== `"${now.policy_hash}"`) return { status: 412, code: "precondition_failed", detail, extra };
  const policy = policySchema.parse(body.policy);
  const made = viewOf(now.version + 1, policy, { changed_by: "ada", reason: String(body.reason) || null });
  versions.push(made);
  return { ...made, changed: true, changes: diffPolicies(policySchema.parse(now.policy), policy), more_changes: 0 };
}
export function answerTo(body: Body): unknown {
  const { call, role = "crew", taint = "owner" } = evaluateInput.parse(body);
  const args = JSON.parse(JSON.stringify(call?.args));
  const answer = resolve(
    defaultPolicy,
    { tool: call?.tool ?? "", args },
    { role, taint, holds_secret: false, token: null },
  );
  return { ...answer, policy_hash: hashOf(defaultPolicy) };
}
