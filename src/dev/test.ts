/**
 * `npm test`: everything the tests need, then all of them, then one line a machine can read. Arguments go on
 * to vitest (`npm test -- --project node`). [TEST-1]
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { readText, sentence } from "./files.ts";
import { buildPage } from "./page.ts";
import { requireTools, thisMachine } from "./prerequisites.ts";
import { inProject, project } from "./project.ts";

const report = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numFailedTestSuites: z.number(),
});

interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** What one run's report says. A file that does not even load has no failed test in it, and yet it failed. */
export function tallyOf(json: string | null, code: number): Tally {
  const parsed = report.safeParse(json === null ? null : JSON.parse(json));
  if (!parsed.success) return { passed: 0, failed: code === 0 ? 0 : 1, skipped: 0 };
  const { numPassedTests, numFailedTests, numPendingTests, numFailedTestSuites } = parsed.data;
  const failed = numFailedTests > 0 || code === 0 ? numFailedTests : Math.max(1, numFailedTestSuites);
  return { passed: numPassedTests, failed, skipped: numPendingTests };
}

/** The last line. */
export function summary(tallies: readonly Tally[]): string {
  const sum = (key: keyof Tally) => tallies.reduce((total, tally) => total + tally[key], 0);
  const skipped = sum("skipped");
  return `${sum("passed")} passed, ${sum("failed")} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

/**
 * One vitest for each project, lane by lane side by side, and within a lane one after the other, whatever became of it.
 * There is one lane: two of them took each other's two cores, and hosts that did not start in time.
 */
export function lanesFor(args: readonly string[]): string[][][] {
  const chosen = args.some((arg) => arg === "--project" || arg.startsWith("--project="));
  return chosen ? [[[...args]]] : lanes.map((lane) => lane.map((name) => ["--project", name, ...args]));
}
const lanes = [["node", "simulation", "host", "workerd", "road"]];

function vitest(args: readonly string[], outputFile: string): Promise<number> {
  const ours = ["run", "--reporter=default", `--reporter=${inProject("src/dev/settled-reporter.ts")}`];
  const child = spawn(process.execPath, [inProject("node_modules/vitest/vitest.mjs"), ...ours, ...args], {
    cwd: project,
    stdio: "inherit",
    env: { ...process.env, COUNTERSIGN_TEST_REPORT: outputFile },
  });
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => child.kill(name));
  return new Promise((resolve) => {
    child.on("error", () => resolve(1));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "countersign-tests-"));
  const tallies: Tally[] = [];
  let worst = 0;
  try {
    const { root, family } = thisMachine();
    // The page's tests drive Chromium, and GitHub's parser judges how texts are read. Only where we can install them do we
    // insist on them.
    const more = root && family.includes("debian") ? (["chromium", "cmark-gfm"] as const) : [];
    requireTools(["git", "bwrap", ...more], console.log);
    await buildPage(console.log);
    const run = async (args: readonly string[], outputFile: string): Promise<void> => {
      const code = await vitest(args, outputFile);
      tallies.push(tallyOf(readText(outputFile), code));
      worst = Math.max(worst, code);
    };
    await Promise.all(
      lanesFor(process.argv.slice(2)).map(async (lane, at) => {
        for (const [index, args] of lane.entries()) await run(args, join(folder, `report-${at}-${index}.json`));
      }),
    );
  } catch (error) {
    console.error(sentence(error));
    tallies.push({ passed: 0, failed: 1, skipped: 0 });
    worst = 1;
  }
  console.log(summary(tallies));
  rmSync(folder, { recursive: true, force: true });
  return worst;
}

if (import.meta.main) process.exitCode = await main();
