import { describe, expect, it } from "vitest";
import { defaultPolicy, policySchema, resolve } from "../../src/domain/policy.ts";
import type { CallContext } from "../../src/domain/policy-call.ts";
import type { Gate, GateSubject } from "../../src/domain/policy-gates.ts";
import { evaluateGates, gate, gateTriggers } from "../../src/domain/policy-gates.ts";

const said = (text: string, taint: GateSubject["taint"] = "owner"): GateSubject => ({ text, taint, call: null });
const word = (id: string, action: Gate["action"], more: Partial<Pick<Gate, "trigger" | "lane">> = {}): Gate => ({
  id,
  trigger: "every_user_message",
  lane: "policy",
  action,
  check: "text_contains",
  params: { any: ["secret"] },
  ...more,
});
const crew: CallContext = { role: "crew", taint: "member", holds_secret: false, token: null };

describe("gates", () => {
  it("[POL-14] only gates of the trigger are asked, and a pass says so", () => {
    for (const trigger of gateTriggers) {
      expect(evaluateGates([word("a", "block", { trigger })], trigger, said("a SECRET"))).toMatchObject({
        action: "block",
        gate: "a",
      });
      for (const other of gateTriggers.filter((name) => name !== trigger))
        expect(evaluateGates([word("a", "block", { trigger: other })], trigger, said("secret")).action).toBe("pass");
    }
    expect(evaluateGates([word("a", "block")], "every_user_message", said("harmless"))).toEqual({
      action: "pass",
      gate: null,
      reason: "no gate objects",
      notes: [],
    });
  });
  it("[POL-14] a gate that blocks wins over one that asks, and remarks are kept", () => {
    const gates = [
      word("note", "annotate", { lane: "quality" }),
      word("ask", "ask"),
      word("block", "block"),
      word("ask-too", "ask"),
    ];
    expect(evaluateGates(gates, "every_user_message", said("secret"))).toEqual({
      action: "block",
      gate: "block",
      reason: 'the text contains "secret"',
      notes: [{ gate: "note", reason: 'the text contains "secret"' }],
    });
    expect(evaluateGates(gates.slice(0, 2), "every_user_message", said("secret"))).toMatchObject({
      action: "ask",
      gate: "ask",
      notes: [{ gate: "note" }],
    });
  });
  it("[POL-15] a gate of the quality lane may only annotate", () => {
    for (const action of ["block", "ask"] as const)
      expect(gate.safeParse(word("q", action, { lane: "quality" })).success).toBe(false);
    expect(gate.safeParse(word("q", "annotate", { lane: "quality" })).success).toBe(true);
    expect(policySchema.safeParse({ ...defaultPolicy, gates: [word("q", "block", { lane: "quality" })] }).success).toBe(
      false,
    );
  });
  it("[POL-16] each named check fires on what it names, and only there", () => {
    const fires = (check: object, subject: GateSubject) =>
      evaluateGates(
        [gate.parse({ id: "g", trigger: "after_step", lane: "policy", action: "ask", ...check })],
        "after_step",
        subject,
      ).action === "ask";
    expect(fires({ check: "text_longer_than", params: { characters: 3 } }, said("abcd"))).toBe(true);
    expect(fires({ check: "text_longer_than", params: { characters: 4 } }, said("abcd"))).toBe(false);
    expect(fires({ check: "taint_at_least", params: { taint: "outsider" } }, said("", "web"))).toBe(true);
    expect(fires({ check: "taint_at_least", params: { taint: "outsider" } }, said("", "member"))).toBe(false);
    for (const check of [
      { check: "tool_named", params: { tools: ["x"] } },
      { check: "path_matches", params: { globs: ["**"] } },
      { check: "rule_of_two", params: { inside: [] } },
    ] as const)
      expect(fires(check, said("x", "web"))).toBe(false);
  });
  it("[POL-17] on a tool call a gate stands before the token and the table, and after what denies", () => {
    const gated = (one: object) => ({
      ...defaultPolicy,
      gates: [gate.parse({ id: "g", trigger: "on_tool_call", lane: "policy", action: "block", ...one })],
    });
    const token = { allow: { tools: ["file_write"], paths: ["**"], commands: [], hosts: [], secrets: [] }, steps: [] };
    const byPath = gated({ check: "path_matches", params: { globs: ["db/**"] } });
    expect(resolve(byPath, { tool: "file_write", args: { path: "./db/x" } }, { ...crew, token })).toMatchObject({
      decision: "deny",
      rule: "gate:g",
    });
    expect(resolve(byPath, { tool: "file_write", args: { path: "src/x" } }, { ...crew, token })).toMatchObject({
      decision: "run",
      rule: "token",
    });
    expect(resolve(byPath, { tool: "shell_execute", args: { command: "ls > db/x" } }, crew)).toMatchObject({
      decision: "deny",
      rule: "gate:g",
    });
    expect(resolve(byPath, { tool: "file_delete", args: { path: "db/x" } }, crew)).toMatchObject({
      decision: "deny",
      rule: "tool:file_delete",
    });
    const noted = gated({ check: "tool_named", params: { tools: ["file_read"] }, action: "annotate", lane: "quality" });
    expect(resolve(noted, { tool: "file_read", args: {} }, crew)).toMatchObject({
      decision: "run",
      notes: [{ gate: "g" }],
    });
  });
});
