/**
 * Many episodes, in one process or several. An episode is named by its seed, so each can be run again by itself: a
 * run with the seed 7 is the episodes 7.0, 7.1, ... and a seed with a point in it is one episode.
 */
import { fork } from "node:child_process";
import { parseArgs } from "node:util";
import { z } from "zod";
import { episode } from "./simulation.ts";
import { type Figures, noFigures } from "./world.ts";

/** Steps of faults in one episode; the way to its end comes on top. */
export const episodeSteps = 10_000;
/** Short runs with fixed seeds: for a planted bug, which each of them must find or leave to another. */
export const subsets: Readonly<Record<string, { readonly seeds: readonly string[]; readonly steps: number }>> = {
  short: { seeds: ["planted.0", "planted.1", "planted.2"], steps: 3_000 },
  long: { seeds: Array.from({ length: 8 }, (_, index) => `planted.${index}`), steps: 5_000 },
};

interface Failure {
  readonly seed: string;
  readonly steps: number;
  readonly violation: string;
  readonly trace: readonly string[];
}
export interface Result {
  readonly figures: Figures;
  readonly failures: readonly Failure[];
}

/** The given episodes one after the other, until one fails. */
export async function runEpisodes(seeds: readonly string[], steps: number): Promise<Result> {
  const figures = noFigures();
  for (const seed of seeds) {
    const outcome = await episode(seed, steps);
    add(figures, outcome.figures);
    const { violation, trace } = outcome;
    if (violation !== null) return { figures, failures: [{ seed, steps, violation, trace }] };
  }
  return { figures, failures: [] };
}
function add(sum: Figures, more: Figures): void {
  for (const [name, value] of Object.entries(more)) sum[name as keyof Figures] += value; // its own keys
}
/** The episodes that make up so many steps from one seed. */
export function seedsOf(seed: string, steps: number): string[] {
  if (seed.includes(".")) return [seed];
  return Array.from({ length: Math.max(1, Math.ceil(steps / episodeSteps)) }, (_, index) => `${seed}.${index}`);
}

const answer = z.object({
  figures: z.record(z.string(), z.number()),
  failures: z.array(
    z.object({ seed: z.string(), steps: z.number(), violation: z.string(), trace: z.array(z.string()) }),
  ),
});
/** The seeds dealt out to so many processes, each running this project's `run.ts` with its share. */
export async function runSideBySide(
  file: string,
  seeds: readonly string[],
  given: { readonly steps: number; readonly jobs: number },
): Promise<Result> {
  const shares = Array.from({ length: given.jobs }, (_, job) => seeds.filter((_seed, at) => at % given.jobs === job));
  const results = await Promise.all(
    shares.filter((share) => share.length > 0).map((share) => runApart(file, share, given.steps)),
  );
  const figures = noFigures();
  for (const result of results) add(figures, result.figures);
  return { figures, failures: results.flatMap((result) => result.failures) };
}
function runApart(file: string, seeds: readonly string[], steps: number): Promise<Result> {
  const args = ["messaging", "--json", "--steps", String(steps), "--seeds", seeds.join(",")];
  const child = fork(file, args, { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  let said = "";
  child.stdout?.on("data", (text: Buffer) => {
    said += text.toString("utf8");
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      const read = said === "" ? null : answer.safeParse(JSON.parse(said));
      if (read?.success !== true) reject(new Error(`a process of the simulation ended with ${code} and no figures`));
      else resolve({ figures: { ...noFigures(), ...read.data.figures }, failures: read.data.failures });
    });
  });
}

/** The command that runs one episode again. */
export function replayOf({ seed, steps }: Pick<Failure, "seed" | "steps">): string {
  return `SEED=${seed} node test/simulation/run.ts messaging --seed ${seed} --steps ${steps}`;
}
function line({ figures, failures }: Result, seconds: number): string {
  const { steps, crashes, lost, repeated, messages, effects } = figures;
  const speed = Math.round(steps / Math.max(seconds, 0.001));
  return `${steps} steps (${speed}/s), ${crashes} crashes, ${lost} deliveries lost, ${repeated} repeated, ${messages} messages, ${effects} effects, ${failures.length} violations`;
}

export async function main(args: readonly string[], file: string): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string", default: process.env.SEED ?? "1" },
      seeds: { type: "string" },
      steps: { type: "string", default: "100000" },
      jobs: { type: "string", default: "1" },
      subset: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const subset = values.subset === undefined ? null : subsets[values.subset];
  const asked = Number(values.steps);
  const jobs = Number(values.jobs);
  if (subset === undefined || !(asked > 0) || !(jobs > 0)) {
    console.error(`--steps and --jobs are numbers above 0; --subset is one of ${Object.keys(subsets).join(", ")}`);
    return 2;
  }
  const seeds = subset?.seeds ?? values.seeds?.split(",") ?? seedsOf(values.seed, asked);
  const steps = subset?.steps ?? (values.seeds !== undefined || values.seed.includes(".") ? asked : episodeSteps);
  const began = performance.now();
  const result = jobs > 1 ? await runSideBySide(file, seeds, { steps, jobs }) : await runEpisodes(seeds, steps);
  if (values.json) console.log(JSON.stringify(result));
  else console.log(line(result, (performance.now() - began) / 1_000));
  for (const failure of values.json ? [] : result.failures) {
    console.log(failure.trace.join("\n"));
    console.log(`${failure.violation}\n${replayOf(failure)}`);
  }
  return result.failures.length === 0 ? 0 : 1;
}
