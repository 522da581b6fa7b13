/** What one policy changes against another. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultPolicy, type Policy, policySchema, resolve } from "../../src/domain/policy.ts";
import { diffPolicies, type RecordedCall, replay } from "../../src/domain/policy-change.ts";
import { crew, token } from "./policy-ask.ts";

const changed = (more: Partial<Policy>): Policy => policySchema.parse({ ...defaultPolicy, ...more });
const lines = (after: Policy, before = defaultPolicy) =>
  diffPolicies(before, after).map((move) => `${move.path}: ${move.before} -> ${move.after}`);

describe("the difference of two policies", () => {
  it("[PDT-4] names each place with what stood and stands there", () => {
    const { file_write, ...tools } = defaultPolicy.tools;
    expect(lines(changed({ tools: { ...tools, file_edit: "deny", npm: "auto_approve" } }))).toEqual([
      "tools.file_write: require_approval -> null",
      "tools.file_edit: require_approval -> deny",
      "tools.npm: null -> auto_approve",
    ]);
    expect(lines(changed({ roles: { ...defaultPolicy.roles, crew: { git_add: "auto_approve" } } }))).toEqual([
      "roles.crew.git_add: null -> auto_approve",
    ]);
    const approvals = { ...defaultPolicy.approvals, own_task: "forbid" as const, expires_after_s: { plan: 60 } };
    expect(lines(changed({ approvals }))).toEqual([
      "approvals.own_task: allow -> forbid",
      "approvals.expires_after_s.plan: null -> 60",
    ]);
  });
  it("[PDT-4] finds rules by their id: one put first moves none of the others, and an order is said once", () => {
    const rule = { id: "mine", effect: "ask", check: "git_directory", params: {} } as const;
    expect(lines(changed({ arguments: [rule, ...defaultPolicy.arguments] }))).toEqual([
      'arguments.mine: null -> {"check":"git_directory","effect":"ask","params":{}}',
    ]);
    const [first, ...rest] = defaultPolicy.arguments;
    if (first === undefined) throw new Error("there are rules");
    expect(lines(changed({ arguments: [...rest, first] }))).toHaveLength(1);
    expect(lines(changed({ arguments: [...rest, first] }))[0]).toContain("arguments in order");
    expect(lines(changed({ gates: [] })).length).toBe(defaultPolicy.gates.length);
  });
  it("[PDT-4] is empty for the same policy written otherwise, and for no other", () => {
    const backwards = Object.fromEntries(Object.entries(defaultPolicy.tools).toReversed());
    expect(lines(changed({ tools: backwards }))).toEqual([]);
    const setting = fc.constantFrom("auto_approve" as const, "require_approval" as const, "deny" as const);
    const tools = fc.dictionary(fc.constantFrom("a", "b", "constructor", "*"), setting, { noNullPrototype: true });
    fc.assert(
      fc.property(tools, tools, (one, other) => {
        const same = ["a", "b", "constructor", "*"].every(
          (tool) => (Object.hasOwn(one, tool) ? one[tool] : null) === (Object.hasOwn(other, tool) ? other[tool] : null),
        );
        expect(lines(changed({ tools: one }), changed({ tools: other })).length === 0).toBe(same);
      }),
      { numRuns: 200 },
    );
  });
  it("[PDT-4] a long value is cut", () => {
    const any = Array.from({ length: 100 }, (_, at) => `word ${at}`);
    const gate = { id: "long", trigger: "every_user_message", lane: "policy", action: "ask" } as const;
    const [move] = diffPolicies(
      defaultPolicy,
      changed({ gates: [...defaultPolicy.gates, { ...gate, check: "text_contains", params: { any } }] }),
    );
    expect(move?.after?.length).toBe(304);
  });
});

describe("a replay", () => {
  const call = (tool: string, args: object, more: Partial<RecordedCall> = {}): RecordedCall => ({
    ...{ call_id: `${tool}-1`, attempt_id: "attempt-1", tool, arguments: JSON.stringify(args), context: crew },
    ...more,
  });
  const calls = [
    call("file_read", { path: "a" }),
    call(
      "shell_execute",
      { command: "echo a" },
      { context: { ...crew, token: token({ tools: ["shell_execute"] }, ["echo a"]) } },
    ),
    call("file_write", { path: "a" }),
    call("delete", {}),
  ];
  it("[PDT-5] lists the calls that another policy answers otherwise, with both answers, each by its own grant", () => {
    expect(replay(defaultPolicy, defaultPolicy, calls)).toEqual([]);
    const stricter = changed({
      tools: { ...defaultPolicy.tools, shell_execute: "deny", file_read: "require_approval" },
    });
    const found = replay(defaultPolicy, stricter, calls);
    expect(
      found.map(({ call: { tool }, before, after }) => [
        tool,
        before.decision,
        before.rule,
        after.decision,
        after.rule,
      ]),
    ).toEqual([
      ["file_read", "run", "tool:file_read", "ask", "tool:file_read"],
      ["shell_execute", "run", "token", "deny", "tool:shell_execute"],
    ]);
    expect(found[0]?.after.reason).toBe("the policy asks for file_read");
  });
  it("[PDT-5] another rule with the same decision is a change too", () => {
    const byRole = changed({ roles: { ...defaultPolicy.roles, crew: { file_read: "auto_approve" } } });
    expect(replay(defaultPolicy, byRole, calls).map(({ after }) => `${after.decision} ${after.rule}`)).toEqual([
      "run role:crew",
    ]);
  });
  it("[PDT-5] answers as a call would be answered", () => {
    const open = changed({ tools: { ...defaultPolicy.tools, file_write: "auto_approve" } });
    for (const { call: made, before, after } of replay(defaultPolicy, open, calls)) {
      const asked = { tool: made.tool, args: JSON.parse(made.arguments) };
      expect([before, after]).toEqual([
        resolve(defaultPolicy, asked, made.context),
        resolve(open, asked, made.context),
      ]);
    }
  });
});
