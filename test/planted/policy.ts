/** Bugs of the policy as data: its versions, its document, its differences, and the doors it is changed through. */
import type { Plant } from "./plants.ts";

const stored = { test: "test/agents/policies.test.ts" } as const;
const document = { test: "test/domain/policy-document.test.ts" } as const;
const change = { test: "test/domain/policy-change.test.ts" } as const;
const door = { test: "test/http/policy.test.ts" } as const;

export const policyPlants: readonly Plant[] = [
  {
    id: "policy-of-another-undone",
    file: "durable-objects/runtime/policies.ts",
    find: "seen !== null && !seen.includes(view.policy_hash)",
    replace: "seen !== null && seen.length === 0",
    why: "what somebody changed meanwhile is undone",
    subset: stored,
  },
  {
    id: "policy-remembered-for-ever",
    file: "durable-objects/runtime/policies.ts",
    find: "this.#last?.doc === row.doc && this.#last.found.view.version === row.version",
    replace: "this.#last !== null",
    why: "a changed policy is not asked until a restart",
    subset: stored,
  },
  {
    id: "policy-made-again",
    file: "durable-objects/runtime/policies.ts",
    find: "if (changes.length === 0)",
    replace: "if (view.version === 0)",
    why: "the same content is a version more",
    subset: stored,
  },
  {
    id: "policy-hash-moves",
    file: "durable-objects/runtime/policies.ts",
    find: "policy_hash: hashOf(policy), policy,",
    replace: "policy_hash: hashOf(policySchema.parse(policy)), policy,",
    why: "a version's hash is another after an update, and tokens name nothing",
    subset: stored,
  },
  {
    id: "policy-edit-lost-at-update",
    file: "durable-objects/runtime/policies.ts",
    find: "if (policies.inForce().view.changed_by !== null) return;",
    replace: "if (policies.inForce().view.reason !== null) return;",
    why: "a newer service puts an admin's policy back",
    subset: stored,
  },
  {
    id: "policy-key-passed-over",
    file: "src/domain/policy-document.ts",
    find: 'key === "__proto__"',
    replace: 'key === "prototype"',
    why: "a setting is lost without a word",
    subset: document,
  },
  {
    id: "policy-ids-shared",
    file: "src/domain/policy-document.ts",
    find: "return first === at ?",
    replace: "return first <= at ?",
    why: "an answer names two rules",
    subset: document,
  },
  {
    id: "policy-witness-asks",
    file: "src/domain/policy.ts",
    find: 'witness: all([...asking, ...denied, "*"], "deny")',
    replace: 'witness: all(denied, "deny")',
    why: "who only verifies may change things once a person nods",
    subset: { test: "test/domain/policy.test.ts" },
  },
  {
    id: "policy-change-unseen",
    file: "src/domain/policy-change.ts",
    find: "const { arguments: rules, gates, ...rest } = policy;",
    replace: "const { arguments: rules, gates, approvals: _, ...rest } = policy;",
    why: "who decides is changed as if nothing was",
    subset: change,
  },
  {
    id: "policy-order-unseen",
    file: "src/domain/policy-change.ts",
    find: "[ids(before, after), ids(after, before)]",
    replace: "[ids(before, after), ids(before, after)]",
    why: "rules change places as if nothing was changed",
    subset: change,
  },
  {
    id: "policy-replay-half",
    file: "src/domain/policy-change.ts",
    find: "after: answer(after)",
    replace: "after: answer(before)",
    why: "trying a policy out shows no change",
    subset: change,
  },
  {
    id: "policy-weak-tag",
    file: "src/http/policy.ts",
    find: 'tag.startsWith("W/") ? [] : [form.exec(tag)?.[2] ?? ""]',
    replace: '[form.exec(tag)?.[2] ?? ""]',
    why: "a weak tag replaces a version",
    subset: door,
  },
  {
    id: "policy-by-approvers",
    file: "src/http/policy.ts",
    find: '...sends("admin", "policy")',
    replace: '...sends("approver", "policy")',
    why: "who approves may also change what needs approval",
    subset: door,
  },
];
