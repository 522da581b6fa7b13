/** The reference of policies and standing approvals, held to the schemas it speaks of. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { set as setPolicy } from "../../src/cli/policy.ts";
import { create as createStanding } from "../../src/cli/standing.ts";
import { type JsonValue, taints } from "../../src/domain/message.ts";
import { defaultPolicy, policySchema, resolve } from "../../src/domain/policy.ts";
import { approvalRules } from "../../src/domain/policy-approvals.ts";
import { argumentRule } from "../../src/domain/policy-arguments.ts";
import { trustRoles } from "../../src/domain/policy-call.ts";
import { readPolicy } from "../../src/domain/policy-document.ts";
import { evaluateGates, gate, gateTriggers } from "../../src/domain/policy-gates.ts";
import { standingBounds, standingInput } from "../../src/domain/standing-shape.ts";
import { approvalKinds } from "../../src/domain/view.ts";
import { limits } from "../../src/limits.ts";

const read = (name: string) => readFileSync(join(import.meta.dirname, "../..", name), "utf8");
const reference = read("docs/policy.md");
const examples = [...reference.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text = ""]): unknown =>
  JSON.parse(text),
);
const section = (title: string) => reference.split(/^##+ /m).find((part) => part.startsWith(`${title}\n`)) ?? "";
/** A section's table rows by the key they begin with. */
const rows = (title: string) =>
  new Map([...section(title).matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, key = "", says = ""]) => [key, says]));
const words = (says = "") => new Set([...says.matchAll(/`([\w.]+)`/g)].map(([, word = ""]) => word));
const names = (says: string | undefined, all: readonly string[]) => all.filter((one) => !words(says).has(one));

function examplePolicy() {
  const found = readPolicy(examples[0]);
  if (!found.ok) throw new Error(JSON.stringify(found.problems));
  return found.policy;
}

describe("docs/policy.md", () => {
  it("[DOC-4] its two examples are read by the schemas as they stand, and leave out no key", () => {
    expect(examples).toHaveLength(2);
    expect(policySchema.parse(examples[0])).toEqual(examples[0]);
    expect(standingInput.parse(examples[1])).toEqual(examples[1]);
    const policy = examplePolicy();
    expect(Object.keys(policy.approvals).sort()).toEqual(Object.keys(approvalRules.shape).sort());
    expect(policy.arguments.map(({ check }) => check)).toEqual(defaultPolicy.arguments.map(({ check }) => check));
    const { bounds } = standingInput.parse(examples[1]);
    expect(Object.keys(bounds).sort()).toEqual(Object.keys(standingBounds.shape).sort());
  });

  it("[DOC-5] it names every key of a policy, every check with its parameters, and no other", () => {
    for (const key of Object.keys(policySchema.shape)) expect(Object.keys(examplePolicy())).toContain(key);
    for (const [title, options] of [
      ["Argument rules", argumentRule.options],
      ["Gates", gate.options],
    ] as const) {
      const described = new Map(rows(title));
      for (const key of ["trigger", "lane", "action"]) described.delete(key);
      expect([...described.keys()].sort()).toEqual(options.map(({ shape }) => shape.check.value).sort());
      for (const { shape } of options)
        expect([shape.check.value, names(described.get(shape.check.value), Object.keys(shape.params.shape))]).toEqual([
          shape.check.value,
          [],
        ]);
    }
    const gates = rows("Gates");
    expect(names(gates.get("trigger"), gateTriggers)).toEqual([]);
    expect(names(gates.get("action"), ["block", "ask", "annotate"])).toEqual([]);
    expect(names(gates.get("taint_at_least"), taints)).toEqual([]);
    expect(names(rows("Tools and roles").get("roles"), trustRoles)).toEqual([]);
    expect([...rows("Approvals").keys()].sort()).toEqual(Object.keys(approvalRules.shape).sort());
    expect(names(section("Approvals"), approvalKinds)).toEqual([]);
  });

  it("[CLI-71] the headings that the command names are there", () => {
    for (const { about = "" } of [setPolicy, createStanding]) {
      expect(about).toContain("docs/policy.md");
      expect(section(/under "(.*)"/.exec(about)?.[1] ?? "none")).toContain("```json");
    }
  });

  it("[DOC-5] it names every key and bound of a standing approval, and no other", () => {
    const all = [...Object.keys(standingInput.shape), ...Object.keys(standingBounds.shape)];
    const found = rows("An approval in advance");
    expect([...found.keys()].sort()).toEqual(all.sort());
    expect(names(found.get("environment"), ["setup", "hosts", "cache"])).toEqual([]);
    expect(names(found.get("budget"), ["plan", "day", "tokens", "usd", "minutes", "plans"])).toEqual([]);
    expect(found.get("taint")).toContain("| `member`");
  });

  it("[DOC-6] its figures and claims are the code's", () => {
    const says = (figure: number) => figure.toLocaleString("en");
    expect(reference).toContain(
      `at most ${limits.policy_bytes / 1024} KB, and all its rules and gates together at most ${limits.policy_globs}`,
    );
    expect(rows("Approvals").get("asks_per_task")).toContain(`| ${limits.asks_per_task}`);
    expect(rows("Approvals").get("asks_per_minute")).toContain(`| ${limits.asks_per_minute}`);
    const standing = rows("An approval in advance");
    expect(standing.get("uses")).toContain(`1 to ${says(limits.standing_uses)} `);
    expect(standing.get("until")).toContain(`${limits.standing_ahead_ms / 86_400_000} days`);
    const subject = (text: string) => ({ text, taint: "owner" as const, call: null });
    const { gates } = examplePolicy();
    const said = (text: string) => evaluateGates(gates, "every_user_message", subject(text)).gate;
    for (const text of ["the PRODUCTION database", "ｐｒｏｄｕｃｔｉｏｎ database", "produc\u200btion database"])
      expect([text, said(text)]).toEqual([text, "no-production"]);
    expect(said("production  \n database")).toBe("no-production");
    expect(said("production d\u0430tabase")).toBeNull();
  });

  it("[DOC-6] calls are answered in the order it says", () => {
    const policy = examplePolicy();
    const context = { role: "crew", taint: "owner", holds_secret: false, token: null } as const;
    const rule = (tool: string, args: JsonValue, more: object = {}) =>
      resolve(policy, { tool, args }, { ...context, ...more }).rule;
    const allow = { tools: ["file_write"], paths: ["**"], commands: [], hosts: [], secrets: [] };
    const token = { allow, steps: [] };
    expect(
      rule("file_delete", { path: "a" }, { token: { ...token, allow: { ...allow, tools: ["file_delete"] } } }),
    ).toBe("tool:file_delete");
    expect(rule("file_write", { path: "/etc/a" }, { token })).toBe("argument:outside-workspace");
    expect(rule("file_write", { path: "migrations/1.sql" }, { token })).toBe("gate:migrations");
    expect(rule("file_write", { path: "deploy/a" }, { token })).toBe("argument:protected-files");
    expect(rule("file_write", { path: "src/a" }, { token })).toBe("token");
    expect(rule("file_write", { path: "src/a" })).toBe("tool:file_write");
    expect(rule("file_read", { path: "src/a" }, { role: "witness" })).toBe("tool:file_read");
    expect(rule("file_write", { path: "src/a" }, { role: "witness" })).toBe("role:witness");
    expect(rule("something_else", {}, { role: "crew" })).toBe("default");
  });
});
