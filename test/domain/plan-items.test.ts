import { describe, expect, it } from "vitest";
import { matchesAny } from "../../src/domain/glob.ts";
import { fullPlan, good, planOf, problems } from "./plan-text.ts";

const none = "verify: none";

describe("items", () => {
  it("[PLAN-5] an unknown key is named at its place, at every level", () => {
    expect(problems(fullPlan.replace("goal:", "goall:"))).toContain(
      '3:1 unknown key "goall": remove it or correct its spelling',
    );
    expect(problems(fullPlan.replace("commands:", "comands:"))).toEqual([
      '18:7 items[1].allow: unknown key "comands": remove it or correct its spelling',
    ]);
    expect(problems(fullPlan.replace("timeout_s", "timeout"))).toEqual([
      expect.stringContaining('items[1].verify[1]: unknown key "timeout"'),
    ]);
    expect(problems(fullPlan.replace("{ tokens: 100000 }", "{ token: 1 }"))).toEqual([
      expect.stringContaining('items[1].budget: unknown key "token"'),
    ]);
  });
  it("[PLAN-6] all problems are reported, in order of place, and one bad item hides no other's", () => {
    const found = problems(
      planOf(["id: A", `id: b, ${none}, depends_on: [x]`, "what: 7", `id: c, ${none}, runner: bash`], {
        sections: "## b\nx\n## d\ny\n",
      }),
    );
    expect(found.map((problem) => problem.replace(/^\d+:\d+ /, ""))).toEqual([
      "items[1].verify: is missing: list the checks, or write `verify: none`",
      "items[1].id: must be a-z, 0-9 and -, begin with a letter and have at most 32 characters",
      'A: has no briefing: write a section "## A" below the front matter',
      'b: depends on "x", which is not an item of this plan',
      "items[3].id: is missing: write text",
      "items[3].verify: is missing: list the checks, or write `verify: none`",
      'items[3]: unknown key "what": remove it or correct its spelling',
      'c: has no briefing: write a section "## c" below the front matter',
      "items[4].runner: must be loop, steps or cli:<name>",
      'no item has the id "d": correct it, or use ### for a heading inside a section',
    ]);
  });
  it("[PLAN-6] a problem of the head hides none of the items", () => {
    const found = problems("---\nitems:\n  - { id: a }\n---\n");
    expect(found).toHaveLength(4);
  });
  it("[PLAN-7] an id that stands twice, or is no id, is refused", () => {
    expect(problems(planOf([`id: a, ${none}`, `id: a, ${none}`], { sections: "## a\nx" }))).toEqual([
      "6:11 a: this id stands twice: give each item its own",
    ]);
    for (const id of ["A", "1a", "a_b", `a${"b".repeat(32)}`, "../a", '""', "null", "7"])
      expect(problems(planOf([`id: ${id}, ${none}`])).length, id).toBeGreaterThan(0);
  });
  it("[PLAN-8] a cycle is refused with its line and the way round", () => {
    const items = [
      `id: a, ${none}, depends_on: [c]`,
      `id: b, ${none}, depends_on: [a]`,
      `id: c, ${none}, depends_on: [b]`,
    ];
    expect(problems(planOf(items))).toEqual(["5:40 a: items wait for each other in a circle: a -> c -> b -> a"]);
    expect(problems(planOf([`id: a, ${none}, depends_on: [a]`]))).toEqual([expect.stringContaining("a -> a")]);
  });
  it("[PLAN-8] an unknown or repeated dependency is refused", () => {
    expect(problems(planOf([`id: a, ${none}, depends_on: [z]`]))).toEqual([
      '5:41 a: depends on "z", which is not an item of this plan',
    ]);
    expect(problems(planOf([`id: a, ${none}`, `id: b, ${none}, depends_on: [a, a]`]))).toEqual([
      expect.stringContaining('names "a" twice'),
    ]);
  });
  it("[PLAN-9] an item says how it is checked, or that it is not", () => {
    expect(problems(planOf(["id: a"]))).toEqual([
      expect.stringContaining("is missing: list the checks, or write `verify: none`"),
    ]);
    expect(problems(planOf(["id: a, verify: []"]))).toEqual([
      expect.stringContaining("is empty: name a check, or write `verify: none`"),
    ]);
    expect(problems(planOf(["id: a, verify: nothing"]))).toEqual([
      expect.stringContaining("must be a list of checks, or `none`"),
    ]);
    expect(problems(planOf(['id: a, verify: [{ run: "npm test" }, { run: [] }]']))).toEqual([
      expect.stringContaining("verify[1].run: must be a list"),
      expect.stringContaining("verify[2].run: must name a program"),
    ]);
  });
  it("[PLAN-14] shares of the items leave a fifth of the budget to the planner", () => {
    const share = (tokens: number) =>
      planOf([`id: a, ${none}, budget: { tokens: ${tokens} }`], { head: "budget: { tokens: 100, minutes: 5 }\n" });
    expect(problems(share(80))).toEqual([]);
    expect(problems(share(81))).toEqual([
      expect.stringMatching(/^4:19 the items' shares of tokens come to 81, more than 80/),
    ]);
    expect(problems(planOf([`id: a, ${none}, budget: { usd: 1 }`]))).toEqual([
      expect.stringContaining("shares of usd come to 1, more than 0"),
    ]);
    expect(problems(planOf([`id: a, ${none}, budget: { minutes: 6 }`], { head: "budget: { minutes: 5 }\n" }))).toEqual([
      expect.stringContaining("6 minutes are more"),
    ]);
    expect(problems(planOf([`id: a, ${none}`], { head: "budget: { tokens: -1, usd: .inf }\n" }))).toHaveLength(2);
  });
  it("[PLAN-22] artifacts come only from what the item waits for, however far", () => {
    const items = (from: string) => [
      `id: a, ${none}`,
      `id: b, ${none}, depends_on: [a]`,
      `id: c, ${none}, depends_on: [b], input_artifacts_from: [${from}]`,
      `id: d, ${none}`,
    ];
    expect(problems(planOf(items("a")))).toEqual([]);
    expect(problems(planOf(items("d")))).toEqual([
      expect.stringContaining('takes artifacts from "d", which it does not depend on'),
    ]);
  });
  it("[PLAN-23] grants that would not mean what they say are refused", () => {
    const found = (allow: string) => problems(planOf([`id: a, ${none}, allow: { ${allow} }`]));
    for (const path of ["/etc/**", "../x", "src/", '"!x"', '"a/{b,c}"', '"[a-z].ts"', '"a**"', '""', '"a\\\\b"'])
      expect(found(`paths: [${path}]`), path).toHaveLength(1);
    for (const command of ['"npm test && rm x"', '"echo $X"', '"a ** b"', '"x**"', '"a > b"', '""'])
      expect(found(`commands: [${command}]`), command).toHaveLength(1);
    for (const host of [
      "localhost",
      "127.0.0.1",
      "10.0.0.1",
      '"*.example.com"',
      "Example.com",
      '"https://example.com"',
      '"example.com:443"',
      '"[::1]"',
    ])
      expect(found(`hosts: [${host}]`), host).toHaveLength(1);
    expect(found('tools: ["rm -rf"]')).toHaveLength(1);
    expect(found("secrets: [npm_token]")).toHaveLength(1);
    expect(
      found('paths: ["app/[id]/**"], commands: ["npx vitest **"], hosts: [api.example.com, npm], secrets: [NPM_TOKEN]'),
    ).toEqual([]);
  });
});

describe("what defines the checks", () => {
  const protect = (paths: string, more = "") =>
    good(planOf([`id: a, ${none}, allow: { paths: [${paths}] }${more}`])).items[0]?.protect ?? [];
  it("[PLAN-16] it is protected without being named", () => {
    const globs = protect('"**"', ", protect: [test/**]");
    for (const path of [
      "test/a.ts",
      "package.json",
      "packages/a/package.json",
      "vitest.config.ts",
      "Makefile",
      ".npmrc",
      ".github/workflows/ci.yml",
      "tsconfig.json",
    ])
      expect(matchesAny(globs, path), path).toBe(true);
    expect(matchesAny(globs, "src/a.ts")).toBe(false);
  });
  it("[PLAN-16] a file that allow.paths names exactly is the item's to change, and only that one", () => {
    const globs = protect('package.json, "packages/**"');
    expect(matchesAny(globs, "package.json")).toBe(false);
    expect(matchesAny(globs, "packages/a/package.json")).toBe(true);
  });
  it("[PLAN-17] a file granted by name and protected in the same item is refused", () => {
    expect(problems(planOf([`id: a, ${none}, allow: { paths: [test/a.ts] }, protect: [test/**]`]))).toEqual([
      expect.stringContaining("granted here and protected below"),
    ]);
  });
});
