/** The scope's policy as it is stored: every change a version of its own, on record in the same commit. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { directorySchema } from "../../durable-objects/runtime/directory.ts";
import { changePolicy, followDefaults } from "../../durable-objects/runtime/policies.ts";
import { Scope } from "../../durable-objects/runtime/scope.ts";
import { applySchema } from "../../durable-objects/sql.ts";
import { hashOf } from "../../src/domain/canonical.ts";
import { defaultPolicy, type Policy } from "../../src/domain/policy.ts";
import { limits } from "../../src/limits.ts";
import { testScope } from "../fakes/messages.ts";
import { type NodeSql, nodeSql } from "../fakes/node-sql.ts";

const strict: Policy = { ...defaultPolicy, tools: { ...defaultPolicy.tools, shell_execute: "deny" } };
const open: Policy = { ...defaultPolicy, tools: { ...defaultPolicy.tools, file_write: "auto_approve" } };

let sql: NodeSql;
let scope: Scope;
beforeEach(() => {
  sql = nodeSql();
  scope = opened();
  scope.init({ scope_id: testScope, name: "test", token_id: "token-1", token_hash: "hash-1" });
});
afterEach(() => sql.close());

function opened(): Scope {
  return new Scope(sql);
}
/** `seen` is the version in force unless another is named. */
function change(policy: unknown, more: { by?: string; reason?: string | null; seen?: string[] } = {}) {
  const { by = "ada", reason = null, seen = [inForce().policy_hash] } = more;
  return scope.commit((tx) => changePolicy(tx, scope.policies, by, { policy, reason, seen }));
}
const inForce = () => scope.policies.inForce().view;
const versions = () => scope.policies.versions(100, null).items.map(({ version }) => version);
const audited = () => scope.stores.audit.after(0, 1_000).filter((row) => row.event_type === "policy_change");
const told = () =>
  scope.stores.events
    .after(0, 1_000, ["policy_changed"])
    .events.map(({ actor, detail, version }) => [actor, detail, version]);

describe("a scope's policy", () => {
  it("[PDT-6] begins as the product's, and each change is one version with who, when and why", () => {
    expect(inForce()).toMatchObject({ version: 1, changed_by: null, reason: null, policy: defaultPolicy });
    const made = change(strict, { reason: "no shell while we look" });
    expect(made).toMatchObject({
      ok: true,
      value: {
        ...{ version: 2, changed: true, policy_hash: hashOf(strict), changed_by: "ada" },
        changes: [{ path: "tools.shell_execute", before: "require_approval", after: "deny" }],
      },
    });
    expect(scope.policies.inForce().policy.tools.shell_execute).toBe("deny");
    expect(scope.policies.version(1)).toMatchObject({ policy: defaultPolicy, policy_hash: hashOf(defaultPolicy) });
    expect(scope.policies.version(3)).toBeNull();
  });
  it("[PDT-6] the change is audited with both hashes and what changed, and told, in the same commit", () => {
    change(strict, { reason: "why" });
    expect(audited()).toMatchObject([
      {
        ...{ actor: "user", decision: "changed", reason: "why" },
        details: {
          ...{ version: 2, by: "ada", old_hash: hashOf(defaultPolicy), new_hash: hashOf(strict), more_changes: 0 },
          changes: [{ path: "tools.shell_execute", before: "require_approval", after: "deny" }],
        },
      },
    ]);
    expect(told()).toEqual([["ada", "version 2: why", 2]]);
    expect(() =>
      scope.commit((tx) => {
        changePolicy(tx, scope.policies, "ada", { policy: open, reason: null, seen: null });
        throw new Error("the commit fails");
      }),
    ).toThrow("the commit fails");
    expect([inForce().version, audited().length, told().length]).toEqual([2, 1, 1]);
    expect(scope.policies.inForce().policy.tools.file_write).toBe("require_approval");
  });
  it("[PDT-6] what is in force already makes no version and leaves no record, whatever the caller had seen", () => {
    change(strict);
    for (const seen of [[inForce().policy_hash], [hashOf(defaultPolicy)], ["0".repeat(64)]])
      expect(change(strict, { seen })).toMatchObject({ ok: true, value: { version: 2, changed: false, changes: [] } });
    const backwards = { ...strict, tools: Object.fromEntries(Object.entries(strict.tools).toReversed()) };
    expect(change(backwards)).toMatchObject({ ok: true, value: { version: 2, changed: false } });
    expect([versions(), audited().length, told().length]).toEqual([[2, 1], 1, 1]);
  });
  it("[PDT-6] a change of many places is listed in part, with how many more there are", () => {
    const tools = Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`tool_${at}`, "deny" as const]));
    const made = change({ ...defaultPolicy, tools: { ...defaultPolicy.tools, ...tools } });
    expect(made.ok && [made.value.changes.length, made.value.more_changes]).toEqual([limits.policy_changes_shown, 30]);
    expect(audited()[0]?.details.more_changes).toBe(30);
  });
  it("[PDT-6] what is no policy is refused with its problems, and nothing is stored", () => {
    const refused = change({ ...strict, tools: { file_read: "allow" } });
    expect(refused).toMatchObject({ ok: false, refusal: { code: "bad_request" } });
    expect(!refused.ok && refused.refusal.extra?.errors).toMatchObject([{ path: "tools.file_read" }]);
    expect([versions(), audited(), told()]).toEqual([[1], [], []]);
  });

  it("[PDT-7] of two changes made from the same version the first stands, and the second is told which is in force", () => {
    const seen = [inForce().policy_hash];
    expect(change(strict, { seen }).ok).toBe(true);
    expect(change(open, { seen, by: "bob" })).toMatchObject({
      ok: false,
      refusal: {
        code: "precondition_failed",
        extra: { version: 2, policy_hash: hashOf(strict), changed_by: "ada" },
      },
    });
    expect([versions(), inForce().changed_by]).toEqual([[2, 1], "ada"]);
    expect(change(open, { seen: [hashOf(strict)], by: "bob" }).ok).toBe(true);
    expect(change(defaultPolicy, { seen: ["x", hashOf(open)] }).ok).toBe(true);
    // The first version's content is in force again, under a number of its own.
    expect([versions(), inForce().policy_hash]).toEqual([[4, 3, 2, 1], hashOf(defaultPolicy)]);
  });
  it("[PDT-7] versions are listed newest first, page by page, without their documents", () => {
    for (const policy of [strict, open, strict, open]) change(policy);
    const first = scope.policies.versions(2, null);
    expect(first.items.map(({ version }) => version)).toEqual([5, 4]);
    expect(Object.keys(first.items[0] ?? {}).sort()).toEqual([
      "changed_at",
      "changed_by",
      "policy_hash",
      "reason",
      "version",
    ]);
    const second = scope.policies.versions(3, first.next_cursor);
    expect([second.items.map(({ version }) => version), second.next_cursor]).toEqual([[3, 2, 1], null]);
    for (const cursor of ["", "x", "-1", "1e99", "0"]) expect(scope.policies.versions(2, cursor).items).toEqual([]);
  });
  it("[PDT-7] a restart changes nothing", () => {
    change(strict, { reason: "why" });
    const before = [inForce(), versions()];
    scope = opened();
    expect([inForce(), versions()]).toEqual(before);
    expect(change(open, { seen: [hashOf(strict)] }).ok).toBe(true);
  });
  it("[PDT-7] a policy that cannot be read lets nothing run", () => {
    sql.run(`UPDATE policy SET doc = '{"tools":{}}'`);
    scope = opened();
    expect(() => scope.commit(() => "done")).toThrow();
  });

  it("[PDT-10] one that nobody edited follows the product's defaults, as a version of its own; an edited one stays", () => {
    const { approvals, ...earlier } = { ...defaultPolicy, gates: [] };
    sql.run("UPDATE policy SET doc = ? WHERE version = 1", JSON.stringify(earlier));
    scope = opened();
    // The hash of a stored version stays what it was, whatever later code reads into it.
    expect(inForce().policy_hash).toBe(hashOf(earlier));
    const follow = () => scope.commit((tx) => followDefaults(tx, scope.policies));
    follow();
    follow();
    expect([versions(), inForce().changed_by, inForce().policy]).toEqual([[2, 1], null, defaultPolicy]);
    expect(audited()).toMatchObject([{ actor: "runtime", details: { by: null, version: 2 } }]);
    change(strict);
    follow();
    expect([versions(), inForce().changed_by]).toEqual([[3, 2, 1], "ada"]);
  });
  it("[PDT-10] a scope made by an earlier version is read on", () => {
    const old = nodeSql();
    applySchema(old, "directory", directorySchema.slice(0, 1));
    old.run("INSERT INTO scope (one, doc) VALUES (1, ?)", JSON.stringify({ scope_id: testScope, name: "old" }));
    const { approvals, ...earlier } = defaultPolicy;
    old.run("INSERT INTO policy (version, doc, at) VALUES (1, ?, 5)", JSON.stringify(earlier));
    const found = new Scope(old).policies.inForce();
    expect(found.policy).toEqual(defaultPolicy);
    expect(found.view).toMatchObject({ version: 1, changed_by: null, changed_at: "1970-01-01T00:00:00.005Z" });
    old.close();
  });
});
