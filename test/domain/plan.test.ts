import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesAny } from "../../src/domain/glob.ts";
import type { Plan } from "../../src/domain/plan.ts";
import { parsePlan } from "../../src/domain/plan.ts";
import { plan as planSchema } from "../../src/domain/plan-shape.ts";
import { limits } from "../../src/limits.ts";
import { fullPlan, planOf, stepsPlan } from "./plan-text.ts";

function good(markdown: string): Plan {
  const read = parsePlan(markdown);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.plan;
}
/** `line:column message` of each problem. */
function problems(markdown: string): string[] {
  const read = parsePlan(markdown);
  return read.ok ? [] : read.problems.map((problem) => `${problem.line}:${problem.column} ${problem.message}`);
}
const none = "verify: none";

describe("a plan that reads well", () => {
  it("[PLAN-1] the whole format is read", () => {
    const plan = good(fullPlan);
    expect(plan).toMatchObject({
      title: "Show the last page",
      budget: { tokens: 200_000, usd: 2, minutes: 30 },
      environment: { setup: [["npm", "ci"]], hosts: ["npm"], cache: ["npm"] },
    });
    expect(plan.items[0]).toMatchObject({
      id: "fix",
      touches: { paths: ["src/pager.ts"], services: [] },
      allow: { commands: ["npm test", "npx vitest *"] },
      verify: [{ run: ["npm", "test"], timeout_s: 120 }],
      budget: { tokens: 100_000, usd: null, minutes: null },
      section: "The briefing, in prose.",
      steps: [],
    });
  });
  it("[PLAN-1] absent keys take their defaults, and absent grants grant nothing", () => {
    const [item] = good(planOf([`id: a, ${none}`])).items;
    expect(item).toMatchObject({
      title: "a",
      runner: "loop",
      depends_on: [],
      touches: { paths: [], services: [] },
      allow: { tools: [], paths: [], commands: [], hosts: [], secrets: [] },
      verify: "none",
      max_attempts: limits.max_attempts,
      on_stuck: "consult_planner",
    });
  });
  it("[PLAN-1] a check without a time takes the default", () => {
    const [item] = good(planOf(["id: a, verify: [{ run: [npm, test] }]"])).items;
    expect(item?.verify).toEqual([{ run: ["npm", "test"], timeout_s: limits.check_timeout_ms / 1000 }]);
  });
  it("[PLAN-1] what is kept is read again unchanged by its schema", () => {
    const plan = good(fullPlan);
    expect(planSchema.parse(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
  });
  it("[PLAN-18] touches default to the paths that are granted", () => {
    const [item] = good(planOf([`id: a, ${none}, allow: { paths: [src/**] }`])).items;
    expect(item?.touches.paths).toEqual(["src/**"]);
  });
});

describe("the document", () => {
  it("[PLAN-2] a document without front matter, or with an open one, is refused", () => {
    expect(problems("")).toEqual(["1:1 a plan begins with a line ---, then YAML, then another line ---"]);
    expect(problems("hello\n---\n")).toHaveLength(1);
    expect(problems("---\ntitle: x\n")).toEqual(["1:1 the front matter never ends: close it with a line ---"]);
  });
  it("[PLAN-2] front matter that is empty or a list is refused", () => {
    expect(problems("---\n---\n")).toEqual(["2:1 must be a map of keys"]);
    expect(problems("---\n- 1\n---\n")).toEqual(["2:1 must be a map of keys"]);
  });
  it("[PLAN-15] a document over the limit is refused before it is read, also when only its bytes are over", () => {
    expect(problems(`${fullPlan}${"x".repeat(limits.plan_bytes)}`)).toEqual([
      expect.stringContaining("at most 256 KB"),
    ]);
    expect(problems(`${fullPlan}${"€".repeat(limits.plan_bytes / 3)}`)).toEqual([
      expect.stringContaining("at most 256 KB"),
    ]);
  });
  it("[PLAN-15] more than 100 items are refused", () => {
    const items = Array.from({ length: limits.plan_items + 1 }, (_, index) => `id: i${index}, ${none}`);
    expect(problems(planOf(items))).toEqual(["5:3 items: has at most 100 entries: split the plan"]);
    expect(good(planOf(items.slice(1))).items).toHaveLength(limits.plan_items);
  });
  it("[PLAN-15] of very many problems the first 200 are listed", () => {
    const found = problems(`---\n${"k: 1\n".repeat(1000)}---\n`);
    expect(found).toHaveLength(201);
    expect(found[0]).toBe("1:1 1003 problems; the first 200 are listed");
  });
  it("[PLAN-3] YAML that cannot be read is reported in words, at its place in the whole document", () => {
    expect(problems("---\ntitle: x\n\tgoal: y\n---\n")[0]).toMatch(/^3:1 a tab indents this line/);
    expect(problems("---\ntitle: a: b\n---\n")).toEqual([expect.stringMatching(/^2:8 two colons make two keys/)]);
    expect(problems('---\ntitle: "x\n---\n')).toEqual([expect.stringContaining("not closed")]);
  });
  it("[PLAN-4] what hides or repeats a value is refused: anchors, aliases, tags, merge keys, repeated keys", () => {
    expect(problems("---\ntitle: &x a\ngoal: *x\n---\n")).toEqual([
      expect.stringContaining("2:11 an anchor"),
      expect.stringContaining("3:7 an alias"),
    ]);
    expect(problems("---\ntitle: !!binary aGk=\n---\n")).toEqual([
      expect.stringContaining("a tag (!name) is not allowed"),
    ]);
    expect(problems(planOf([`id: a, ${none}`], { head: "<<: { a: 1 }\n" }))).toEqual([
      expect.stringContaining('4:1 unknown key "<<"'),
    ]);
    expect(problems(planOf([`id: a, ${none}`], { head: "title: b\n" }))).toEqual(['4:1 the key "title" stands twice: keep one']);
  });
  it("[PLAN-4] keys that reach for the prototype are unknown keys", () => {
    expect(problems(planOf([`id: a, ${none}, __proto__: { runner: steps }`]))).toEqual([
      '5:28 items[1]: unknown key "__proto__": remove it or correct its spelling',
    ]);
    expect(problems(planOf([`id: a, ${none}, constructor: 1`]))).toEqual([
      expect.stringContaining('unknown key "constructor"'),
    ]);
    expect(good(planOf([`id: constructor, ${none}`])).items[0]?.id).toBe("constructor");
  });
  it("[PLAN-4] nesting without end is refused before it is parsed, and a thousandfold alias never grows", () => {
    for (const bomb of ["[", "{a: ", "- ", "? "])
      expect(problems(`---\n${bomb.repeat(50_000)}\n---\n`)).toEqual([
        "2:1 the front matter is nested more than 16 deep",
      ]);
    const steps = Array.from({ length: 300 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n");
    expect(problems(`---\n${steps}\n---\n`)).toEqual([expect.stringContaining("nested more than 16 deep")]);
    const laughs = Array.from(
      { length: 9 },
      (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level},`.repeat(9)}]`,
    ).join("\n");
    expect(problems(`---\na0: &a0 ha\n${laughs}\n---\n`).length).toBeGreaterThan(0);
  });
  it("[PLAN-13] characters nobody sees, and comments, are refused where they stand", () => {
    expect(problems(fullPlan.replace("in prose", "in\u202eprose"))).toEqual([
      "31:17 a character nobody can see (U+202E): remove it",
    ]);
    expect(problems(fullPlan.replace("in prose", "in \0 prose"))).toEqual([expect.stringContaining("U+0000")]);
    expect(problems(fullPlan.replace("in prose", "in\rprose"))).toEqual([expect.stringContaining("U+000D")]);
    expect(problems(fullPlan.replace("in prose", "in \ud800 prose"))).toEqual([expect.stringContaining("U+D800")]);
    expect(problems(fullPlan.replace('"npm test"', '"npm\\u202e test"'))).toEqual([
      expect.stringContaining("nobody can see"),
    ]);
    expect(problems(fullPlan.replace("in prose", "<!-- rm -->"))).toEqual([
      expect.stringContaining("a comment hides text"),
    ]);
    expect(problems(fullPlan.replace("in prose", "\u26a0\ufe0f naïve — ok 👩‍💻"))).toEqual([]);
  });
  it("[PLAN-24] no text whatever makes the parser throw, and a refusal always says why", () => {
    const piece = fc.constantFrom(
      "---\n",
      "items:\n",
      "  - id: a\n",
      "## a\n",
      "```sh\n",
      "```\n",
      "~~~\n",
      "[",
      "{",
      "*a ",
      "&a ",
      ": ",
      "'",
      '"',
      "|\n",
      "\t",
      "\r\n",
      "verify: none\n",
      "title: t\n",
      "goal: g\n",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
        const read = parsePlan(`---\n${pieces.join("")}`);
        if (read.ok) expect(planSchema.safeParse(read.plan).success).toBe(true);
        else expect(read.problems.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });
});

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

describe("sections", () => {
  const one = [`id: a, ${none}`];
  it("[PLAN-10] each item has one section with words in it, and each section an item", () => {
    expect(problems(planOf(one, { sections: "" }))).toEqual([
      '5:11 a: has no briefing: write a section "## a" below the front matter',
    ]);
    expect(problems(planOf(one, { sections: "## a\n\n" }))).toHaveLength(1);
    expect(problems(planOf(one, { sections: "## a\nx\n## a\ny\n" }))).toEqual([
      '9:1 the section "a" stands twice: join them',
    ]);
    expect(problems(planOf(one, { sections: "## a\nx\n## Notes\ny\n" }))).toEqual([
      expect.stringContaining('no item has the id "Notes"'),
    ]);
  });
  it("[PLAN-10] other headings, and headings inside a fence, belong to the section", () => {
    const [item] = good(
      planOf(one, { sections: "intro\n\n## a ##\n\n### how\n```text\n## b\n```\n# c\nend\n\n" }),
    ).items;
    expect(item?.section).toBe("### how\n```text\n## b\n```\n# c\nend");
  });
  it("[PLAN-11] the fenced sh blocks are the steps, verbatim and in order", () => {
    const [item] = good(
      stepsPlan(
        "First:\n```sh\nset -e\n\n  npm test  \n```\nthen\n~~~sh title\necho '```'\n```\n~~~\n````sh\n```sh\nx\n```\n````\n```text\nno\n```\n",
      ),
    ).items;
    expect(item?.steps).toEqual(["set -e\n\n  npm test  ", "echo '```'\n```", "```sh\nx\n```"]);
  });
  it("[PLAN-11] a block indented by up to three blanks loses that indent", () => {
    expect(good(stepsPlan("1. x\n\n   ```sh\n   if a; then\n     b\n   fi\n   ```\n")).items[0]?.steps).toEqual([
      "if a; then\n  b\nfi",
    ]);
  });
  it("[PLAN-11] a byte order mark and CRLF line ends change nothing", () => {
    const text = stepsPlan("```sh\na\nb\n```\n");
    expect(good(`\ufeff${text.replaceAll("\n", "\r\n")}`)).toEqual(good(text));
  });
  it("[PLAN-11] blocks of an item that is not of steps are prose", () => {
    const [item] = good(planOf(one, { sections: "## a\n```sh\nx\n```\n```bash\ny\n```\n" })).items;
    expect(item?.steps).toEqual([]);
  });
  it("[PLAN-12] a steps item whose steps would not run as they look is refused", () => {
    expect(problems(stepsPlan("prose\n"))).toEqual([
      "7:1 a: runner steps needs at least one fenced sh block in its section",
    ]);
    expect(problems(stepsPlan("```sh\n\n```\n"))).toEqual(["8:1 a: this step is empty"]);
    expect(problems(stepsPlan("```sh\na\n```\n```bash\nb\n```\n"))).toEqual([
      expect.stringContaining("11:1 a: a block marked bash is not a step"),
    ]);
    expect(problems(stepsPlan("```sh\na\n```\n\n> ```sh\n> b\n> ```\n"))).toEqual([
      expect.stringContaining("12:1 a: this block is not at the left margin"),
    ]);
    expect(problems(stepsPlan("```sh\na\n```\n\n- x\n\n      ```sh\n      b\n"))).toEqual([
      expect.stringContaining("not at the left margin"),
    ]);
    expect(problems(stepsPlan("```sh\na\n"))).toEqual([
      "8:1 the block that opens here is never closed: end it with a line ```",
    ]);
    expect(problems(stepsPlan("```sh\na\n```\n".repeat(limits.plan_steps + 1)))).toEqual([
      expect.stringContaining("has 65 steps, at most 64"),
    ]);
  });
});
