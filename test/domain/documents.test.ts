/** The documents' examples and claims, held to the code they speak of. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { patchVerdict } from "../../src/domain/grant.ts";
import { parsePlan } from "../../src/domain/plan.ts";
import { planItem, writtenHead, writtenItem } from "../../src/domain/plan-shape.ts";
import { defaultPolicy, resolve } from "../../src/domain/policy.ts";
import { limits } from "../../src/limits.ts";

const read = (name: string) => readFileSync(join(import.meta.dirname, "../..", name), "utf8");
const reference = read("docs/plan.md");
const readme = read("README.md");
const fenced = (text: string, language: string) =>
  [...text.matchAll(/^(`{3,})(\w+)\n([\s\S]*?)^\1$/gm)]
    .filter((block) => block[2] === language)
    .map((block) => block[3] ?? "");
const section = (title: string) => reference.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? "";
/** Keys and cells of a section's table. */
const rows = (title: string) =>
  new Map(
    [...section(title).matchAll(/^\| `(\w+)` \| (.*) \| (.*) \|$/gm)].map(([, key = "", says = "", unless = ""]) => [
      key,
      `${says} | ${unless}`,
    ]),
  );

function planOf(markdown: string) {
  const reading = parsePlan(markdown);
  if (!reading.ok) throw new Error(reading.problems.map(({ line, message }) => `${line}: ${message}`).join("\n"));
  return reading.plan;
}
function decide(command: string) {
  const allow = { tools: ["shell_execute"], paths: ["**"], commands: [], hosts: [], secrets: [] };
  const context = { role: "crew", taint: "owner", holds_secret: false, token: { allow, steps: [command] } } as const;
  return resolve(defaultPolicy, { tool: "shell_execute", args: { command } }, context).decision;
}

describe("the documents", () => {
  it("[DOC-1] every plan in the README and the reference is a plan, and its steps are allowed to run", () => {
    const plans = [...fenced(readme, "markdown"), ...fenced(reference, "markdown")].map(planOf);
    expect(plans.map((plan) => plan.items.map((item) => item.id))).toEqual([["hello"], ["greet", "readme"]]);
    const steps = plans.flatMap((plan) => plan.items.flatMap((item) => item.steps));
    expect(steps.map(decide)).toEqual(steps.map(() => "run"));
  });

  it("[DOC-1] the environment shown alone is the example's, wherever it is shown", () => {
    const bare = planOf(fenced(readme, "markdown")[0] ?? "");
    expect(bare.environment).toEqual({ setup: [], hosts: [], cache: [] });
    const shown = [...fenced(reference, "yaml"), ...fenced(readme, "yaml")];
    expect(shown).toHaveLength(2);
    for (const yaml of shown) {
      const plan = planOf((fenced(readme, "markdown")[0] ?? "").replace(/^items:/m, `${yaml}items:`));
      expect(plan.environment).toEqual({ setup: [["npm", "ci"]], hosts: ["npm"], cache: ["npm"] });
    }
  });

  it("[DOC-2] the reference has every key of the format and no other", () => {
    expect([...rows("Keys of the plan").keys()].sort()).toEqual(Object.keys(writtenHead.shape).sort());
    expect([...rows("Keys of an item").keys()].sort()).toEqual(Object.keys(writtenItem.shape).sort());
    for (const key of Object.keys(planItem.shape.allow.shape))
      expect(section("What a grant means")).toContain(`\`${key}\``);
  });

  it("[DOC-2] its defaults and limits are the code's", () => {
    const item = rows("Keys of an item");
    expect(item.get("max_attempts")).toMatch(new RegExp(`\\| ${limits.max_attempts}$`));
    expect(item.get("verify")).toContain(`timeout_s: ${limits.check_timeout_ms / 1000}`);
    expect(rows("Keys of the plan").get("items")).toContain(`1 to ${limits.plan_items}`);
    expect(rows("Keys of the plan").get("budget")).toContain(`${limits.attempt_minutes} minutes`);
    expect(section("Sections and steps")).toContain(`1 to ${limits.plan_steps}`);
    expect(section("Sections and steps")).toContain(`${limits.step_timeout_ms / 60_000} minutes`);
    expect(section("Environment")).toContain(`${limits.setup_timeout_ms / 60_000} minutes`);
    expect(section("Keys of an item")).toContain(`${limits.plan_bytes / 1024} KB`);
    const [hello] = planOf(fenced(readme, "markdown")[0] ?? "").items;
    expect([hello?.max_attempts, hello?.on_stuck]).toEqual([3, "consult_planner"]);
  });

  it("[DOC-3] what it says is protected is protected, and an exact path lifts it where it says so", () => {
    const markdown = fenced(readme, "markdown")[0] ?? "";
    const verdict = (paths: string, path: string) => {
      const [item] = planOf(markdown.replace('["HELLO.md"]', paths)).items;
      if (item === undefined) throw new Error("the example has an item");
      return patchVerdict([{ path, change: "modified", mode: "100644", old_mode: "100644" }], item).kind;
    };
    for (const path of [
      "package.json",
      "lib/.npmrc",
      "Makefile",
      "tsconfig.json",
      ".github/workflows/a.yml",
      ".ci/run",
    ]) {
      expect([path, verdict('["**"]', path)]).toEqual([path, "integrity"]);
      expect([path, verdict(`["${path}"]`, path)]).toEqual([path, "ok"]);
    }
    expect(verdict('["**"]', "package-lock.json")).toBe("outside");
    expect(verdict('["package-lock.json"]', "package-lock.json")).toBe("ok");
    expect(verdict('["src/**"]', "README.md")).toBe("outside");
    expect(parsePlan(markdown.replace('paths: ["HELLO.md"]', 'paths: ["a"]\n    protect: ["a"]')).ok).toBe(false);
  });

  it("[DOC-3] what it says the policy refuses is refused, and what it offers instead runs", () => {
    const text = section("What the policy refuses in a step");
    const refused = [
      "rm -rf build",
      "npm test > /tmp/log",
      "cp a /tmp",
      "echo x > .git/config",
      "curl https://example.com",
    ];
    for (const command of refused) {
      expect(text).toContain(`\`${command}\``);
      expect([command, decide(command)]).toEqual([command, "deny"]);
    }
    for (const command of ["rm -r build", "npm test > /dev/null", "mkdir -p build"])
      expect(decide(command)).toBe("run");
  });
});
