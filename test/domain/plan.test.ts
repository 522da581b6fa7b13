import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePlan } from "../../src/domain/plan.ts";
import { plan as planSchema } from "../../src/domain/plan-shape.ts";
import { limits } from "../../src/limits.ts";
import { fullPlan, good, planOf, problems } from "./plan-text.ts";

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
    expect(problems(planOf([`id: a, ${none}`], { head: "title: b\n" }))).toEqual([
      '4:1 the key "title" stands twice: keep one',
    ]);
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
  it("[PLAN-13] whatever Unicode calls invisible is refused, and what emoji and scripts need is not", () => {
    const unseen = [0xad, 0x34f, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180e, 0x200b, 0x200c, 0x200d, 0x2060, 0x206a, 0x206f]
      .concat([0x2800, 0x3164, 0xfe00, 0xfe0e, 0xfe0f, 0xfeff, 0xffa0, 0xfff0, 0xfff9, 0xfffb, 0x1bca0, 0x1d173])
      .concat([0xe0001, 0xe0041, 0xe0100, 0xe01ef]);
    for (const code of unseen) {
      const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
      const mark = String.fromCodePoint(code);
      expect(problems(fullPlan.replace("in prose", `in${mark}prose`)), name).toEqual([
        `31:17 a character nobody can see (${name}): remove it`,
      ]);
    }
    // A joiner at the edge of an emoji, or a selector after a digit that is no key, hides like any other.
    for (const text of ["a\u200d👩", "👩\u200da", "1\ufe0f", "\u0627\u200ca", "👩\u200c👩", "❤\ufe0f\ufe0f"])
      expect(problems(fullPlan.replace("in prose", text)), JSON.stringify(text)).toHaveLength(1);
    const fine = ["❤\ufe0f\u200d🔥 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈 1\ufe0f\u20e3 ☎\ufe0e", "می\u200cخواهم", "क्\u200dष"];
    for (const text of [...fine, "naïve\u00a0: 日本語　한국어 \u0600\u0661 ﷺ €"])
      expect(problems(fullPlan.replace("in prose", text)), text).toEqual([]);
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
