import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const tests = join(import.meta.dirname, "..");
const spec = join(tests, "SPEC.md");

/** Ids at the head of a list entry or table row: `- **PLAN-3** ...`, `- [PLAN-3] ...`, `| PLAN-3 | ...`. */
function idsOfSpec(text: string): string[] {
  return [...text.matchAll(/^\s*(?:[-*|]\s*)?[*`[]{0,4}([A-Z][A-Z0-9]*-\d+)\b/gm)].flatMap((found) => found[1] ?? []);
}
/** Ids in brackets at the head of a quoted text: the way the name of a test begins. */
function idsOfTests(text: string): string[] {
  return [...text.matchAll(/["'`]((?:\[[A-Z][A-Z0-9]*-\d+\]\s*)+)/g)].flatMap((found) =>
    [...(found[1] ?? "").matchAll(/\[([^\]]+)\]/g)].flatMap((id) => id[1] ?? []),
  );
}

describe("the specification", () => {
  it("[SPEC-1] every rule stands in the name of a test, and every rule a test names stands in SPEC.md", () => {
    expect(existsSync(spec), "test/SPEC.md is missing").toBe(true);
    const rules = idsOfSpec(readFileSync(spec, "utf8"));
    const named = readdirSync(tests, { recursive: true, encoding: "utf8" })
      .filter((path) => /\.tsx?$/.test(path))
      .flatMap((path) => idsOfTests(readFileSync(join(tests, path), "utf8")));
    expect(
      rules.filter((id, index) => rules.indexOf(id) !== index),
      "rules written twice",
    ).toEqual([]);
    expect(
      rules.filter((id) => !named.includes(id)),
      "rules without a test",
    ).toEqual([]);
    expect(
      [...new Set(named)].filter((id) => !rules.includes(id)),
      "tests without a rule",
    ).toEqual([]);
  });
  it("[SPEC-1] ids are found as they are written", () => {
    expect(idsOfSpec("# A-1 is no rule\n- **B-2** x, see B-9\n- [C-3] y\n| D-4 | z |\nE-5: w\n- `F-6` v\n")).toEqual([
      "B-2",
      "C-3",
      "D-4",
      "E-5",
      "F-6",
    ]);
    const open = "[";
    expect(idsOfTests(`it("${open}A-1] x"); it.each(y)('${open}B-2] ${open}C-3] z'); // ${open}D-4]`)).toEqual([
      "A-1",
      "B-2",
      "C-3",
    ]);
  });
});
