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
  numTodoTests: z.number().default(0),
  numFailedTestSuites: z.number(),
});

/** The last line. A file that does not even load has no failed test in it, and yet it failed. */
export function summary(json: string | null, code: number): string {
  const parsed = report.safeParse(json === null ? null : JSON.parse(json));
  if (!parsed.success) return `0 passed, ${code === 0 ? 0 : 1} failed`;
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numFailedTestSuites } = parsed.data;
  const failed = numFailedTests > 0 || code === 0 ? numFailedTests : Math.max(1, numFailedTestSuites);
  const skipped = numPendingTests + numTodoTests;
  return `${numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

function vitest(args: readonly string[], outputFile: string): Promise<number> {
  const ours = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${outputFile}`];
  const child = spawn(process.execPath, [inProject("node_modules/vitest/vitest.mjs"), ...ours, ...args], {
    cwd: project,
    stdio: "inherit",
  });
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => child.kill(name));
  return new Promise((resolve) => {
    child.on("error", () => resolve(1));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "countersign-tests-"));
  const outputFile = join(folder, "report.json");
  let code = 1;
  try {
    const { root, family } = thisMachine();
    // The page's tests drive Chromium. Only where we can install it do we insist on it.
    requireTools(root && family.includes("debian") ? ["git", "bwrap", "chromium"] : ["git", "bwrap"], console.log);
    await buildPage();
    code = await vitest(process.argv.slice(2), outputFile);
  } catch (error) {
    console.error(sentence(error));
  }
  console.log(summary(readText(outputFile), code));
  rmSync(folder, { recursive: true, force: true });
  return code;
}

if (import.meta.main) process.exitCode = await main();
