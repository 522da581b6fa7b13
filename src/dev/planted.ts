/**
 * `npm run test:planted`: puts each planted bug into a copy of the project, runs what must find it, and says which
 * were caught. The project itself is never changed. `--only ID`, `--jobs N`, `--json`. [PLT-1]
 */
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Plant, plants, problemsOf, type Subset } from "../../test/planted/plants.ts";
import { readText } from "./files.ts";
import { inProject } from "./project.ts";

/** What one run of a subset says: `broken` is a run that said nothing of what it should have found out. */
export type Verdict = "green" | "red" | "too long" | "broken";
export interface Finding {
  readonly id: string;
  readonly verdict: Verdict;
  readonly seconds: number;
}
const limitMs = 20_000;
/** Unmutated, on a machine that is busy, a subset may take this much longer. */
const patience = 3;
const needed = ["src", "durable-objects", "test", "migrations", "package.json", "vitest.config.ts", "wrangler.toml"];

export function commandOf(subset: Subset): string[] {
  if ("simulation" in subset) return ["test/simulation/run.ts", "messaging", "--subset", subset.simulation];
  if ("scope" in subset) {
    const { seed, steps } = subset.scope;
    return ["test/simulation/run.ts", "scope", "--seed", seed, "--steps", String(steps)];
  }
  if ("approvals" in subset) {
    const { seed, walks } = subset.approvals;
    return ["test/simulation/run.ts", "approvals", "--seed", seed, "--walks", String(walks)];
  }
  return ["node_modules/vitest/vitest.mjs", "run", "--project", "node", subset.test];
}
/** Only a run that counted its failures found one: code that does not load is no bug caught. */
export function verdictOf(said: string, code: number | null): Verdict {
  if (code === null) return "too long";
  if (code === 0) return "green";
  // A terminal's colours stand between the words.
  const plain = said.replaceAll(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g"), "");
  return /\b[1-9]\d* violations|violations=[1-9]|Tests\s+[1-9]\d* failed/.test(plain) ? "red" : "broken";
}

function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), "countersign-planted-"));
  for (const name of needed) cpSync(inProject(name), join(folder, name), { recursive: true });
  symlinkSync(inProject("node_modules"), join(folder, "node_modules"));
  return folder;
}

/** The subset's verdict in that copy, within the time. */
function run(folder: string, subset: Subset, withinMs: number): Promise<Verdict> {
  const child = spawn(process.execPath, commandOf(subset), { cwd: folder, detached: true });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Buffer) => {
      said = `${said}${bytes.toString("utf8")}`.slice(-100_000);
    });
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      endGroup(child.pid);
      resolve("too long");
    }, withinMs);
    child.on("error", () => resolve("broken"));
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve(verdictOf(said, code));
    });
  });
}
function endGroup(pid: number | undefined): void {
  try {
    // The child leads a group of its own, so its own children end with it.
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It ended by itself in this very moment.
  }
}

async function plantOne(folder: string, plant: Plant): Promise<Verdict> {
  const file = join(folder, plant.file);
  const text = readText(file) ?? "";
  writeFileSync(
    file,
    text.replace(plant.find, () => plant.replace),
  );
  try {
    return await run(folder, plant.subset, limitMs);
  } finally {
    writeFileSync(file, text);
  }
}

/** Several at a time, each worker in a copy of its own; in the order in which they end. */
async function inCopies<T>(items: readonly T[], jobs: number, work: (folder: string, item: T) => Promise<void>) {
  const waiting = [...items];
  const worker = async (): Promise<void> => {
    const folder = copyProject();
    try {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(folder, item);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, items.length) }, worker));
}

const usage = "npm run test:planted -- [--only ID]... [--jobs N] [--json]";
/** Null for what nobody can mean. */
function flagsOf(args: readonly string[]) {
  const options = {
    only: { type: "string", multiple: true },
    jobs: { type: "string", default: "2" },
    json: { type: "boolean", default: false },
  } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch {
    return null;
  }
}

async function main(): Promise<number> {
  const values = flagsOf(process.argv.slice(2));
  if (values === null) {
    console.error(usage);
    return 2;
  }
  const chosen = plants.filter((plant) => values.only === undefined || values.only.includes(plant.id));
  const say = (line: string): void => (values.json ? console.error(line) : console.log(line));
  const problems = problemsOf(plants, (file) => readText(inProject(file)));
  if (chosen.length === 0) problems.push(`there is no planted bug called ${values.only?.join(", ")}`);
  const jobs = Math.max(1, Number(values.jobs) || 1);
  const subsets = [...new Map(chosen.map(({ subset }) => [commandOf(subset).join(" "), subset])).values()];
  await inCopies(problems.length > 0 ? [] : subsets, jobs, async (folder, subset) => {
    const verdict = await run(folder, subset, limitMs * patience);
    if (verdict !== "green") problems.push(`without any bug it is ${verdict}: node ${commandOf(subset).join(" ")}`);
    else say(`green without a bug: ${commandOf(subset).slice(1).join(" ")}`);
  });
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) return 1;
  const findings: Finding[] = [];
  await inCopies(chosen, jobs, async (folder, plant) => {
    const began = performance.now();
    const verdict = await plantOne(folder, plant);
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    findings.push({ id: plant.id, verdict, seconds });
    say(`${isCaught(verdict) ? "caught" : "NOT CAUGHT"} ${plant.id} (${verdict}, ${seconds} s) ${plant.why}`);
  });
  const missed = findings.filter((finding) => !isCaught(finding.verdict));
  if (values.json)
    console.log(JSON.stringify({ caught: findings.length - missed.length, planted: chosen.length, findings }));
  else console.log(`caught ${findings.length - missed.length}/${chosen.length}`);
  for (const { id, verdict } of missed) console.error(`not caught: ${id} (${verdict})`);
  return missed.length === 0 ? 0 : 1;
}
/** A run that was cut off may only have been slow: it caught nothing. */
function isCaught(verdict: Verdict): boolean {
  return verdict === "red";
}

if (import.meta.main) process.exitCode = await main();
