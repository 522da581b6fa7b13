import { describe, expect, it } from "vitest";
import { defaultPolicy, type Policy, type Resolution, resolve } from "../../src/domain/policy.ts";
import { presets } from "../../src/domain/presets.ts";
import { fits } from "../../src/domain/standing.ts";
import { offeredUnder, underPreset } from "../../src/domain/under-preset.ts";
import { asked, cardOf, itemOf } from "./standing-world.ts";

const on = { permissive_allowed: true };
const off = { permissive_allowed: false };
const said = (decision: Resolution["decision"], rule: string): Resolution => ({
  decision,
  rule,
  reason: "r",
  notes: [],
});
const rules = ["token", "default", "tool:x", "role:crew", "gate:rule-of-two", "argument:protected-files", "arguments"];
const tools = ["file_read", "file_write", "shell_execute", "git_commit", "web_search", "something_new"];

describe("presets", () => {
  it("[PRE-1] none lifts a denial", () => {
    for (const preset of presets)
      for (const tool of tools)
        for (const rule of rules) expect(underPreset(preset, tool, said("deny", rule), on)).toEqual(said("deny", rule));
  });
  it("[PRE-2] DEFAULT takes the policy's word as it is", () => {
    for (const decision of ["run", "ask"] as const)
      for (const rule of rules)
        expect(underPreset("DEFAULT", "file_write", said(decision, rule), on)).toEqual(said(decision, rule));
  });
  it("[PRE-3] READONLY denies what changes anything, granted or not, an unknown tool too", () => {
    const under = (tool: string, decision: "run" | "ask") => underPreset("READONLY", tool, said(decision, "token"), on);
    for (const decision of ["run", "ask"] as const) {
      for (const tool of ["file_write", "shell_execute", "git_commit", "something_new", "toString"])
        expect(under(tool, decision)).toMatchObject({ decision: "deny", rule: "preset:READONLY" });
      expect(under("file_read", decision).decision).toBe(decision);
    }
    expect([offeredUnder("READONLY", "git_add"), offeredUnder("READONLY", "git_log")]).toEqual([false, true]);
    expect(offeredUnder("STRICT", "git_add")).toBe(true);
  });
  it("[PRE-4] STRICT asks a person before anything is changed, even what was granted", () => {
    for (const rule of ["token", "tool:x", "role:crew"]) {
      const under = underPreset("STRICT", "file_write", said("run", rule), on);
      expect(under).toMatchObject({ decision: "ask", rule: "preset:STRICT" });
    }
    expect(underPreset("STRICT", "file_write", said("ask", "gate:x"), on)).toEqual(said("ask", "gate:x"));
    expect(underPreset("STRICT", "file_read", said("run", "tool:file_read"), on).decision).toBe("run");
  });
  it("[PRE-5] PERMISSIVE asks nobody about a tool for its name alone; gates and argument rules ask as before", () => {
    const decisions = rules.map((rule) => underPreset("PERMISSIVE", "shell_execute", said("ask", rule), on).decision);
    expect(decisions).toEqual(["ask", "run", "run", "run", "ask", "ask", "ask"]);
  });
  it("[PRE-6] without the deployment's own switch PERMISSIVE is DEFAULT", () => {
    for (const rule of rules)
      expect(underPreset("PERMISSIVE", "shell_execute", said("ask", rule), off)).toEqual(said("ask", rule));
  });
  it("[PRE-5] what the standard policy asks for by itself is let through, and what it asks for a reason is not", () => {
    const grant = { tools: [], paths: [], commands: [], hosts: [], secrets: [] };
    const context = { role: "crew", taint: "owner", holds_secret: false, token: { allow: grant, steps: [] } } as const;
    const under = (tool: string, args: Parameters<typeof resolve>[1]["args"], policy: Policy = defaultPolicy) =>
      underPreset("PERMISSIVE", tool, resolve(policy, { tool, args }, context), on).decision;
    expect(under("shell_execute", { command: "cat a > b" })).toBe("run");
    expect(under("file_write", { path: "src/a.ts", content: "" })).toBe("run");
    expect(under("shell_execute", { command: "eval $X" })).toBe("ask");
    expect(under("file_write", { path: ".github/workflows/x.yml", content: "" })).toBe("ask");
    expect(under("file_write", { path: "../x", content: "" })).toBe("deny");
    expect(under("shell_execute", { command: "rm -rf src" })).toBe("deny");
    expect(under("force_push", {})).toBe("deny");
  });
  it("[PRE-13] no standing approval speaks for PERMISSIVE", () => {
    for (const preset of presets) {
      const found = fits(asked({ card: cardOf({ items: [itemOf({ preset })] }) }));
      expect([preset, found.fits]).toEqual([preset, preset !== "PERMISSIVE"]);
    }
  });
});
