/** What strangers slipped into standing approvals: globs that go after protected files, and bounds that nobody can mean. */
import { describe, expect, it } from "vitest";
import type { Card } from "../../src/domain/approval-view.ts";
import { standingInput } from "../../src/domain/standing-shape.ts";
import { asked, cardOf, itemOf, why } from "./standing-world.ts";

const grants = (more: Partial<Card["items"][number]["grants"]>) => ({
  card: cardOf({ items: [itemOf({ grants: { ...itemOf().grants, ...more } })] }),
});

describe("a hostile plan or bound", () => {
  it.each([
    [[".husky/**"], ["**"]],
    [[".husky/pre-commit"], [".husky/**"]],
    [["**/.husky/**"], ["**"]],
    [[".HUSKY/**"], ["**"]],
    [["lefthook.yml", "lefthook.ym"], ["**"]],
    [["LEFTHOOK.yml"], ["**"]],
    [["src/*.ts", "docs/*.md", "lefthook.yml"], ["**"]],
    [["a/.github/workflows/**"], ["a/**"]],
    [[".gitlab/workflows/**"], [".gitlab/**"]],
    [["requirements/dev.txt"], ["**"]],
    [["GITHUB~1/**"], ["**"]],
    [[".git/**"], ["**"]],
  ] as const)("[STA-10] %j goes after a protected file, so it is outside of %j", (paths, within) => {
    expect(why(asked(grants({ paths: [...paths] }), { paths: [...within] }))).toContain("is outside");
    expect(why(asked(grants({ paths: [...paths] }), { paths: ["src/**", ...within, ...paths] }))).toBe("");
  });

  it.each([
    ...["src/*.ts", "src/**/*.ts", "docs/*.md", "src/*.go", "tests/*.py", "**/*.test.ts", "src/a*", "src/index.*"],
    ...["locales/*.json", "src/*.config.ts", "lefthook.y*", ".h*/**"],
  ])("[STA-10] %s only covers protected files, if any, and is inside of everything", (glob) => {
    expect(why(asked(grants({ paths: [glob] }), { paths: ["**"] }))).toBe("");
  });

  it.each([
    ...["sudo **", "sh **", "env **", "xargs **", "bash -c *", "sh *", "timeout * **", "env A=1 **", "eval **"],
    ...["nice *", "sh scripts/*", "/bin/sh **", "timeout 5 sh **", "source *"],
  ])("[STA-41] bounds of new ones name what %s runs, and do not leave it open", (command) => {
    const read = (commands: readonly string[]) =>
      standingInput.safeParse({
        ...{ name: "chores", reason: "small things", until: "2030-01-01T00:00:00Z", uses: 3 },
        bounds: { who: ["alice#abc123"], repos: ["https://git.example/a/b"], verify: ["npm test"], commands },
      }).success;
    expect(read([command])).toBe(false);
    expect(read(["timeout * npm test", "env CI=1 npm **", "sh scripts/a.sh", "sudo npm ci", "git **"])).toBe(true);
  });

  it.each([
    [{}, { who: ["*"] }],
    [{}, { who: ["gr*"] }],
    [{}, { who: ["standing:abc"] }],
    [{}, { who: ["Standing:abc"] }],
    [{}, { who: ["al\u{202e}ice"] }],
    [{}, { who: ["al\u{1b}[0mice"] }],
    [{}, { labels: ["a\u{200b}"] }],
    [{}, { commands: ["**"] }],
    [{}, { commands: ["* **"] }],
    [{}, { commands: [" n* test"] }],
    [{}, { environment: { setup: ["**"] } }],
    [{ name: "chores\u{202e}" }, {}],
    [{ name: "chores\u{1b}[2K" }, {}],
    [{ reason: "small\u{2066} things" }, {}],
  ])("[STA-40] %j with the bounds %j names nobody, or hides something, and is refused", (more, within) => {
    const least = {
      ...{ name: "chores", reason: "small\nthings", until: "2030-01-01T00:00:00Z", uses: 3 },
      bounds: { who: ["alice#abc123"], repos: ["https://git.example/a/b"], verify: ["npm test"], commands: ["npm **"] },
    };
    expect(standingInput.safeParse(least).success).toBe(true);
    const given = { ...least, ...more, bounds: { ...least.bounds, ...within } };
    expect(standingInput.safeParse(given).success).toBe(false);
  });
});
