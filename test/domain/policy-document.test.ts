/** A policy as somebody wrote it: taken whole, or refused with every problem by its place. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keyTwice } from "../../src/domain/json-twice.ts";
import type { JsonValue } from "../../src/domain/message.ts";
import { defaultPolicy, policySchema, resolve } from "../../src/domain/policy.ts";
import { trustRoles } from "../../src/domain/policy-call.ts";
import { readPolicy } from "../../src/domain/policy-document.ts";
import { limits } from "../../src/limits.ts";
import { asked, crew, token } from "./policy-ask.ts";

const copy = () => JSON.parse(JSON.stringify(defaultPolicy));
const problems = (value: unknown) => {
  const read = readPolicy(value);
  return read.ok ? [] : read.problems.map(({ path, message }) => `${path}: ${message}`);
};

describe("a policy document", () => {
  it("[PDT-1] is taken as it is, with the defaults for what it leaves out", () => {
    expect(readPolicy(copy())).toEqual({ ok: true, policy: defaultPolicy });
    const { approvals, ...earlier } = copy();
    expect(readPolicy(earlier)).toEqual({ ok: true, policy: defaultPolicy });
    expect(policySchema.parse(earlier)).toEqual(defaultPolicy);
  });
  it("[PDT-1] is refused as a whole, each problem by its path with what is allowed there", () => {
    expect(problems({ ...copy(), tools: { file_read: "allow", "File Read": "deny" } })).toEqual([
      'tools.file_read: must be one of "auto_approve", "require_approval", "deny"',
      "tools.File Read: a tool's name is a-z, 0-9 and _, at most 64 of them; or *",
    ]);
    expect(problems({ ...copy(), roles: { king: {}, mayor: { x: 1 } } })).toEqual([
      'roles.mayor.x: must be one of "auto_approve", "require_approval", "deny"',
      'roles.king: unknown key "king": remove it or check its spelling',
    ]);
    expect(problems({ ...copy(), arguments: [{ id: "x", effect: "deny", check: "nope", params: {} }] })[0]).toMatch(
      /^arguments\.0\.check: .*recursive_force_removal/,
    );
    expect(problems({ ...copy(), approvals: { own_task: "x" } })).toEqual([
      'approvals.own_task: must be one of "allow", "forbid"',
    ]);
    expect(problems({ tools: {} })).toEqual([
      "roles: must be an object of settings by name",
      "arguments: must be a list",
      "gates: must be a list",
    ]);
    for (const value of [null, 3, "policy", [], undefined]) expect(problems(value).length).toBeGreaterThan(0);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`t${at}`, "x"]));
    expect(problems({ ...copy(), tools: many })).toHaveLength(50);
  });
  it("[PDT-2] a key that no table can hold is refused where it stands; `constructor` is a tool like any other", () => {
    const text = JSON.stringify(defaultPolicy);
    for (const [at, path] of [
      [text.replace('"tools":{', '"tools":{"__proto__":"deny",'), "tools.__proto__"],
      [text.replace("{", '{"__proto__":{"gates":[]},'), "__proto__"],
      [text.replace('"params":{}', '"params":{"__proto__":1}'), "arguments.0.params.__proto__"],
    ] as const)
      expect(problems(JSON.parse(at))).toEqual([`${path}: the key "__proto__" cannot be used: remove it`]);
    const read = readPolicy({ ...copy(), tools: { constructor: "deny", hasownproperty: "auto_approve" } });
    if (!read.ok) throw new Error("refused");
    expect(asked("constructor", {}, {}, read.policy)).toBe("deny tool:constructor");
    expect(asked("valueof", {}, {}, read.policy)).toBe("ask default");
  });
  it("[PDT-2] one that is too large or nested without end is refused before anything walks it", () => {
    let deep: unknown = "x";
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    expect(problems({ ...copy(), arguments: deep })[0]).toContain("nested too deep");
    const large = readPolicy({ ...copy(), tools: { "*": "x".repeat(limits.policy_bytes) } });
    expect(large).toMatchObject({ ok: false, too_large: true });
    const fits = readPolicy({ ...copy(), tools: { "*": "x".repeat(limits.policy_bytes / 2) } });
    expect(fits).toMatchObject({ ok: false, too_large: false });
  });
  it("[PDT-3] two rules, or two gates, never share an id", () => {
    const policy = copy();
    policy.arguments.push({ ...policy.arguments[0], effect: "ask" });
    policy.gates.push(policy.gates[0]);
    expect(problems(policy)).toEqual([
      `arguments.${policy.arguments.length - 1}.id: the id "${policy.arguments[0].id}" is taken by arguments.0: each has its own`,
      `gates.${policy.gates.length - 1}.id: the id "${policy.gates[0].id}" is taken by gates.0: each has its own`,
    ]);
  });
  it("[PDT-15] a gate that never fires, and a word that fires at nearly every text, are refused; stored ones stay readable", () => {
    const gate = { id: "g", lane: "policy", action: "block" };
    const of = (more: object) => ({ ...copy(), gates: [{ ...gate, ...more }] });
    const paths = of({ trigger: "every_user_message", check: "path_matches", params: { globs: ["a/**"] } });
    expect(problems(paths)).toEqual([expect.stringMatching(/^gates\.0\.trigger: .*never fires/)]);
    const blank = of({
      trigger: "after_step",
      check: "text_contains",
      params: { any: ["x", " ", "\u{200b}", "\u{fffc} "] },
    });
    expect(problems(blank).map((line) => line.split(":")[0])).toEqual([
      "gates.0.params.any.1",
      "gates.0.params.any.2",
      "gates.0.params.any.3",
    ]);
    for (const stored of [paths, blank]) expect(policySchema.safeParse(stored).success).toBe(true);
  });
  it.each([
    ['{"a":1,"a":2}', "a"],
    ['{"a":{"b":1,"c":[],"b":{}}}', "b"],
    ['[{"a":[{"x":"y"}],"\\u0061":1}]', "a"],
    ['{"a":"b","b":"a","c":["a","a","c"],"d":{"a":1}}', null],
    ['[{"a":1},{"a":2},"a","a"]', null],
    ['{"a":"\\"a\\":1,\\"a\\"","b":"{,"}', null],
    ['"a"', null],
  ])("[PDT-14] of %s the key that stands twice is %j", (text, key) => {
    JSON.parse(text);
    expect(keyTwice(text)).toBe(key);
  });
  it("[PDT-1] whatever is sent, it is a policy or it is refused; nothing throws", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        for (const sent of [value, { ...copy(), tools: value }, { ...copy(), approvals: value }]) {
          const read = readPolicy(sent);
          if (read.ok) expect(policySchema.parse(read.policy)).toEqual(read.policy);
          else expect(read.problems.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe("the default policy", () => {
  it("[PDT-11] gives a role that is trusted less never more: mayor, deacon, crew, witness", () => {
    const rank = { run: 0, ask: 1, deny: 2 };
    const tools = [...Object.keys(defaultPolicy.tools), "rocket_launch", "constructor", ""];
    for (const tool of tools) {
      const ranks = trustRoles.map(
        (role) => rank[resolve(defaultPolicy, { tool, args: {} }, { ...crew, role }).decision],
      );
      expect([tool, ranks]).toEqual([tool, ranks.toSorted((a, b) => a - b)]);
    }
  });
  it("[PDT-13] arguments nested without end are denied, whatever was granted, and nothing breaks over them", () => {
    let deep: JsonValue = "x";
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    const granted = { token: token({ tools: ["file_read"], paths: ["**"] }) };
    expect(asked("file_read", { path: "a", deep }, granted)).toBe("deny arguments");
    expect(asked("file_read", { path: "a", deep: [[["x"]]] }, granted)).toBe("run token");
  });
  it("[PDT-11] a policy that denies everything runs nothing, for any role and with any token", () => {
    const tools = Object.fromEntries([...Object.keys(defaultPolicy.tools), "*"].map((tool) => [tool, "deny"]));
    const read = readPolicy({ ...copy(), tools });
    if (!read.ok) throw new Error("refused");
    for (const tool of [...Object.keys(defaultPolicy.tools), "rocket_launch"])
      for (const role of trustRoles) {
        const allow = { tools: [tool], paths: ["**"], commands: ["**"], hosts: [], secrets: [] };
        const context = { ...crew, role, token: { allow, steps: [] } };
        const { decision, rule, reason } = resolve(read.policy, { tool, args: {} }, context);
        expect([tool, decision, rule, reason.length > 0]).toEqual([tool, "deny", `tool:${tool}`, true]);
      }
  });
});
