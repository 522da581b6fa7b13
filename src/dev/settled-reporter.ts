/**
 * Counts every test as it ends, and ends a run that does not end by itself: the runner of the objects' project has
 * been seen to wait for ever after its last test. By then every result is known, so none is guessed. [TEST-2]
 */
import { writeFileSync } from "node:fs";
import type { Reporter, TestModule, Vitest } from "vitest/node";

/** Longer than the runner waits for what objects left to do (30 s). */
const farewellMs = 40_000;

export interface Counts {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numFailedTestSuites: number;
}

export function countInto(counts: Counts, module: Pick<TestModule, "children" | "ok">): void {
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    if (state === "passed") counts.numPassedTests++;
    else if (state === "failed") counts.numFailedTests++;
    else counts.numPendingTests++;
  }
  if (!module.ok()) counts.numFailedTestSuites++;
}

export default class SettledReporter implements Reporter {
  readonly #counts: Counts = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numFailedTestSuites: 0 };
  #vitest: Vitest | null = null;
  #left = 0;
  #timer: NodeJS.Timeout | null = null;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }
  onTestRunStart(specifications: readonly unknown[]): void {
    this.#left = specifications.length;
  }
  onTestModuleEnd(module: TestModule): void {
    countInto(this.#counts, module);
    this.#left--;
    if (this.#left === 0) this.#timer = setTimeout(() => this.#end(), farewellMs);
  }
  onTestRunEnd(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#write();
  }
  #write(): void {
    const file = process.env.COUNTERSIGN_TEST_REPORT;
    if (file !== undefined) writeFileSync(file, JSON.stringify(this.#counts));
  }
  #end(): void {
    this.#write();
    console.log("Every test has ended, but the runner has not: it is ended now.");
    // An error outside any test fails a run that ends by itself, so it fails this one too.
    const loose = this.#vitest?.state.getUnhandledErrors() ?? [];
    for (const error of loose) console.error(error);
    process.exit(this.#counts.numFailedTests + this.#counts.numFailedTestSuites + loose.length > 0 ? 1 : 0);
  }
}
