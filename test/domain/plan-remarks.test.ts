import { describe, expect, it } from "vitest";
import { parsePlan } from "../../src/domain/plan.ts";
import { remarksOn } from "../../src/domain/plan-remarks.ts";
import { defaultPolicy } from "../../src/domain/policy.ts";

function remarks(
  item: { tools?: string; paths?: string; verify?: string; protect?: string; preset?: string },
  ...steps: string[]
): string[] {
  const {
    tools = "shell_execute",
    paths = '"src/**"',
    verify = '[{ run: ["npm", "test"], timeout_s: 60 }]',
    protect = "",
    preset = "DEFAULT",
  } = item;
  const head = `---\ntitle: T\ngoal: G\nitems:\n  - id: a\n    runner: steps\n    allow: { tools: [${tools}], paths: [${paths}] }\n    protect: [${protect}]\n    preset: ${preset}\n    verify: ${verify}\n---\n## a\n`;
  const reading = parsePlan(head + steps.map((step) => `\`\`\`sh\n${step}\n\`\`\`\n`).join("\n"));
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return remarksOn(reading.plan, defaultPolicy, "owner");
}

describe("remarks on a plan", () => {
  it("[PRE-10] what the preset does to a step is said before anybody signs", () => {
    const said = (preset: string) => remarks({ preset }, "echo hello > src/a.js");
    expect(said("READONLY")[0]).toMatch(/^a, step 1: policy will refuse it \(preset:READONLY\)/);
    expect(said("STRICT")[0]).toMatch(/^a, step 1: it will wait for an approval/);
    expect(said("DEFAULT")).toEqual([]);
  });
  it("[REM-1] a plan that will run as it stands has none", () => {
    expect(remarks({}, "echo hello > src/a.js", "npm test")).toEqual([]);
  });
  it("[REM-2] a step that policy will refuse is named with its rule before anybody signs", () => {
    const said = remarks({}, "echo 1 > src/a.js", "rm -rf build", "echo 1 > /tmp/x");
    expect(said).toHaveLength(2);
    expect(said[0]).toMatch(/^a, step 2: policy will refuse it \(argument:/);
    expect(said[1]).toMatch(/^a, step 3: policy will refuse it \(argument:/);
  });
  it("[REM-3] a step outside the grant is said to wait", () => {
    expect(remarks({ tools: "" }, "echo 1 > src/a.js")[0]).toMatch(/^a, step 1: it will wait for an approval/);
  });
  it("[REM-4] a check that names what the item may change is named, unless that is protected", () => {
    const verify = '[{ run: ["sh", "./scripts/check.sh"], timeout_s: 60 }]';
    const line = "a: its checks name scripts/check.sh, which it may change";
    expect(remarks({ paths: '"scripts/**"', verify }, "true")).toEqual([line]);
    expect(remarks({ paths: '"**"', verify }, "true")).toEqual([line]);
    expect(remarks({ paths: '"**"', verify, protect: '"scripts/**"' }, "true")).toEqual([]);
    expect(remarks({ paths: '"src/**"', verify }, "true")).toEqual([]);
  });
  it("[REM-4] a folder, a glob and an option's value are files too; versions, addresses and flags are not", () => {
    const named = (word: string) =>
      remarks({ paths: '"test/**"', verify: `[{ run: ["x", "${word}"], timeout_s: 60 }]` }, "true").length;
    expect(["test/unit", "test/*.js", "--config=test/a.json"].map(named)).toEqual([1, 1, 1]);
    expect(["test", "--test", "https://test/a", "a b.js"].map(named)).toEqual([0, 0, 0, 0]);
  });
  it("[REM-5] no check at all is said", () => {
    expect(remarks({ verify: "none" }, "true")).toEqual(["a: nothing checks its result"]);
  });
  it("[REM-6] a step that writes a protected file which no path names is said before anybody signs", () => {
    const step = "echo x > AGENTS.md";
    const line =
      "a, step 1: it writes AGENTS.md, instructions to an agent: allow.paths does not name it, so its result is held";
    expect(remarks({ paths: '"**"' }, step)).toEqual([line]);
    expect(remarks({ paths: '"AGENTS.md"' }, step)).toEqual([]);
  });
});
