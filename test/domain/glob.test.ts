import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { globMatches, globProblem, globsOverlap, matchesAny } from "../../src/domain/glob.ts";

/** The rule once more, slowly: each sign as a piece of a regular expression. */
function slowly(glob: string, path: string): boolean {
  const segments = glob
    .split("/")
    .flatMap((segment, index, all) => (segment === "**" && index === all.length - 1 ? ["**", "*"] : [segment]));
  const pieces = segments.map((segment) =>
    segment === "**" ? "(?:[^/]+/)*" : `${segment.replaceAll("*", "[^/]*").replaceAll("?", "[^/]")}/`,
  );
  return new RegExp(`^${pieces.join("")}$`).test(`${path}/`);
}
const segment = fc
  .array(fc.constantFrom("a", "b", "*", "?"), { minLength: 1, maxLength: 4 })
  .map((signs) => signs.join("").replace(/\*+/g, "*"));
const glob = fc.array(fc.oneof(segment, fc.constant("**")), { minLength: 1, maxLength: 4 }).map((all) => all.join("/"));
const path = fc
  .array(
    fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 3 }).map((signs) => signs.join("")),
    { minLength: 1, maxLength: 4 },
  )
  .map((all) => all.join("/"));

describe("globs", () => {
  it("[GLOB-1] * and ? stay inside one name, ** crosses folders, all else is literal", () => {
    for (const [pattern, text, expected] of [
      ["src/*.ts", "src/a.ts", true],
      ["src/*.ts", "src/a/b.ts", false],
      ["src/*.ts", "lib/src/a.ts", false],
      ["src/**", "src/a/b.ts", true],
      ["src/**", "src", false],
      ["**", "a/b", true],
      ["**/x.ts", "x.ts", true],
      ["**/x.ts", "a/b/x.ts", true],
      ["a/**/b", "a/b", true],
      ["a/**/b", "a/c/d/b", true],
      ["?.ts", "€.ts", true],
      ["?.ts", "😀.ts", true],
      ["?.ts", "ab.ts", false],
      ["**", ".github/x", true],
      ["app/[id]/*", "app/[id]/p", true],
      ["app/[id]/*", "app/i/p", false],
      ["a.ts", "axts", false],
      ["*", "a/", false],
    ] as const)
      expect(globMatches(pattern, text), `${pattern} ${text}`).toBe(expected);
  });
  it("[GLOB-1] the fast matcher agrees with the slow rule", () => {
    fc.assert(
      fc.property(glob, path, (pattern, text) => {
        expect(globMatches(pattern, text)).toBe(slowly(pattern, text));
      }),
      { numRuns: 2000 },
    );
  });
  it("[GLOB-2] a hostile pattern takes no longer than its length times the path's", () => {
    const text = `${"a/".repeat(500)}${"a".repeat(500)}`;
    expect(globMatches(`${"**/".repeat(80)}b`, text)).toBe(false);
    expect(globMatches(`**/${"*a".repeat(200)}b`, text)).toBe(false);
    expect(globsOverlap(`${"**/a/".repeat(60)}b`, `${"a/**/".repeat(60)}c`)).toBe(false);
  });
  it("[GLOB-3] two globs overlap exactly when some path matches both", () => {
    for (const [left, right, expected] of [
      ["src/**", "src/a.ts", true],
      ["src/*.ts", "src/a*", true],
      ["src/*.ts", "src/*.js", false],
      ["a/**", "b/**", false],
      ["**/x", "y/**", true],
      ["a", "a", true],
      ["a/*", "a", false],
      ["a?", "?b", true],
      ["a*c", "*b*", true],
    ] as const) {
      expect(globsOverlap(left, right), `${left} ${right}`).toBe(expected);
      expect(globsOverlap(right, left), `${right} ${left}`).toBe(expected);
    }
  });
  it("[GLOB-3] a path that matches both proves an overlap", () => {
    fc.assert(
      fc.property(glob, glob, path, (left, right, text) => {
        fc.pre(globMatches(left, text) && globMatches(right, text));
        expect(globsOverlap(left, right)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
  it("[GLOB-3] where an overlap is claimed among short globs, a path shows it", () => {
    const names = ["a", "b", "aa", "ab", "ba", "bb", "aaa", "aba", "bab", "abb", "baa", "bba", "aab", "bbb"];
    const short = fc
      .array(fc.oneof(fc.constantFrom("a", "b", "*", "?", "a*", "*b", "?a", "**")), { minLength: 1, maxLength: 2 })
      .map((all) => all.join("/"));
    const paths = names.flatMap((one) => [
      one,
      ...names.flatMap((two) => [`${one}/${two}`, `${one}/${two}/a`, `${one}/${two}/b`]),
    ]);
    fc.assert(
      fc.property(short, short, (left, right) => {
        expect(paths.some((text) => globMatches(left, text) && globMatches(right, text))).toBe(
          globsOverlap(left, right),
        );
      }),
      { numRuns: 300 },
    );
  });
  it("[GLOB-4] a glob that would not mean what its writer thinks is refused with what to write", () => {
    for (const wrong of [
      "",
      "/a",
      "../a",
      "a/./b",
      "a//b",
      "a/",
      "!a",
      "a\\b",
      "{a,b}",
      "{1..3}",
      "[a-z]",
      "[^a-z]x",
      "a**",
      "x".repeat(600),
    ])
      expect(globProblem(wrong), wrong).not.toBeNull();
    for (const right of ["a", "**", "src/**/*.ts", "app/[id]/[...slug].tsx", "a b/ü.ts", "[my-id].ts", ".github/**"])
      expect(globProblem(right), right).toBeNull();
  });
  it("[GLOB-5] a list matches when one of it does, and !path takes that path out again", () => {
    expect(matchesAny(["a/**", "b"], "b")).toBe(true);
    expect(matchesAny([], "b")).toBe(false);
    expect(matchesAny(["**/package.json", "!package.json"], "package.json")).toBe(false);
    expect(matchesAny(["**/package.json", "!package.json"], "a/package.json")).toBe(true);
  });
});
