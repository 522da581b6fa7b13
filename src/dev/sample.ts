/**
 * The sample a first start comes with: a small library in a git repository of its own, whose tests show a
 * real bug, and a plan that finds and mends it inside bounds a person can read in a minute. [START-8]
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { safeGitEnv } from "./git.ts";

const files: Readonly<Record<string, string>> = {
  "README.md": `# pager

Splits a list into pages.

    import { pageOf, pagesIn } from "pager";

    pagesIn(25, 10);              // 3
    pageOf([...rows], 3, 10);     // the last five rows

Run the tests with \`npm test\`.
`,
  "package.json": `${JSON.stringify(
    {
      name: "pager",
      version: "1.0.0",
      description: "Splits a list into pages",
      type: "module",
      exports: "./src/pager.js",
      scripts: { test: "node --test --test-reporter=spec" },
      license: "Apache-2.0",
    },
    null,
    2,
  )}\n`,
  "src/pager.js": `/** How many pages \`count\` rows fill. */
export function pagesIn(count, size) {
  if (!Number.isInteger(size) || size < 1) throw new RangeError("size must be a whole number above zero");
  return Math.floor(count / size);
}

/** The rows of one page; pages are numbered from 1. */
export function pageOf(rows, page, size) {
  if (page < 1 || page > pagesIn(rows.length, size)) return [];
  const start = (page - 1) * size;
  return rows.slice(start, start + size);
}
`,
  "test/pager.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { pageOf, pagesIn } from "../src/pager.js";

const rows = Array.from({ length: 25 }, (_, index) => index + 1);

test("a full page holds as many rows as it should", () => {
  assert.equal(pageOf(rows, 1, 10).join(), "1,2,3,4,5,6,7,8,9,10");
});

test("the last page is counted even when it is not full", () => {
  assert.equal(pagesIn(25, 10), 3);
});

test("the last page holds what is left", () => {
  assert.equal(pageOf(rows, 3, 10).join(), "21,22,23,24,25");
});

test("a page past the end is empty", () => {
  assert.deepEqual(pageOf(rows, 4, 10), []);
});
`,
};

export const samplePlan = `---
title: Show the last page
goal: The pager lists every row, the last page included
items:
  - id: fix
    title: Count the last page even when it is not full
    runner: steps
    depends_on: []
    allow:
      tools: [shell_execute]
      paths: ["src/**"]
    protect: ["test/**"]
    verify:
      - { run: ["npm", "test"], timeout_s: 120 }
    max_attempts: 3
    on_stuck: escalate
---
## fix

Twenty-five rows at ten a page are three pages, but the pager says two: \`pagesIn\` rounds down, so a last page
that is not full is never counted and its rows are never shown. Two tests say so.

See it fail first:

\`\`\`sh
npm test || true
\`\`\`

Round up instead, and show the line that changed:

\`\`\`sh
sed -i 's/Math.floor(count/Math.ceil(count/' src/pager.js
grep -n 'Math.ceil' src/pager.js
\`\`\`

And see it pass:

\`\`\`sh
npm test
\`\`\`
`;

export const sampleTask = {
  title: "Show the last page",
  description:
    "The last page of a list goes missing whenever it is not full. Its tests say so; make them pass without touching them.",
} as const;

export function sampleStands(folder: string): boolean {
  return existsSync(join(folder, ".git"));
}

/** Makes the repository unless it stands already, and answers its URL. A half-made one is made again. */
export function makeSample(folder: string): string {
  const url = pathToFileURL(folder).href;
  if (sampleStands(folder)) return url;
  const draft = `${folder}.draft`;
  rmSync(draft, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(draft, path)), { recursive: true });
    writeFileSync(join(draft, path), text);
  }
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: draft, env: safeGitEnv(), stdio: ["ignore", "ignore", "pipe"] });
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message", "A pager and its tests");
  renameSync(draft, folder);
  return url;
}
