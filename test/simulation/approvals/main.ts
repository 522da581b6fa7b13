/**
 * `node test/simulation/run.ts approvals --seed 7 --walks 5000 [--jobs 2] [--json]`: stories of walks, in one process or
 * several. A run with the seed 7 is the stories 7.0, 7.1, ...; a seed with a point in it is one story. [WALK-1]
 */
import { fork } from "node:child_process";
import { parseArgs } from "node:util";
import { z } from "zod";
import { story } from "./story.ts";

/** Walks that one story tells. */
export const storyWalks = 20;

const result = z.object({
  approvals: z.object({
    walks: z.number(),
    steps: z.number(),
    counts: z.record(z.string(), z.number()),
    failures: z.array(z.object({ seed: z.string(), violation: z.string(), trace: z.array(z.string()) })),
  }),
});
export type Walked = z.infer<typeof result>["approvals"];

/** The stories one after the other, until one is broken. */
export async function walkStories(seeds: readonly string[]): Promise<Walked> {
  const sum: Walked = { walks: 0, steps: 0, counts: {}, failures: [] };
  for (const seed of seeds) {
    const { walks, steps, counts, violation, trace } = await story(seed, storyWalks);
    add(sum, { walks, steps, counts, failures: violation === null ? [] : [{ seed, violation, trace: [...trace] }] });
    if (violation !== null) break;
  }
  return sum;
}
function add(sum: Walked, more: Omit<Walked, "counts"> & { readonly counts: Readonly<Record<string, number>> }): void {
  sum.walks += more.walks;
  sum.steps += more.steps;
  for (const [name, count] of Object.entries(more.counts)) sum.counts[name] = (sum.counts[name] ?? 0) + count;
  sum.failures.push(...more.failures);
}
export function seedsOf(seed: string, walks: number): string[] {
  if (seed.includes(".")) return [seed];
  return Array.from({ length: Math.ceil(walks / storyWalks) }, (_, at) => `${seed}.${at}`);
}
export function replayOf(seed: string): string {
  return `SEED=${seed} node test/simulation/run.ts approvals --seed ${seed}`;
}

async function sideBySide(seeds: readonly string[], jobs: number, file: string): Promise<Walked> {
  const sum: Walked = { walks: 0, steps: 0, counts: {}, failures: [] };
  const shares = Array.from({ length: jobs }, (_, job) => seeds.filter((_seed, at) => at % jobs === job));
  for (const walked of await Promise.all(shares.filter((share) => share.length > 0).map((share) => apart(share, file))))
    add(sum, walked);
  return sum;
}
function apart(seeds: readonly string[], file: string): Promise<Walked> {
  const child = fork(file, ["approvals", "--json", "--stories"], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  let said = "";
  child.stdout?.on("data", (text: Buffer) => {
    said += text.toString("utf8");
  });
  child.send(seeds);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      const read = said === "" ? null : result.safeParse(JSON.parse(said));
      if (read?.success !== true) reject(new Error(`a process of the walks ended with ${code} and no figures`));
      else resolve(read.data.approvals);
    });
  });
}
/** The stories a parent process gives to this one: too many for a command line. */
function givenStories(): Promise<string[]> {
  return new Promise((resolve) => {
    process.once("message", (seeds: unknown) => {
      process.disconnect?.();
      resolve(z.array(z.string()).parse(seeds));
    });
  });
}

export async function main(args: readonly string[], file: string): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string", default: process.env.SEED ?? "1" },
      walks: { type: "string", default: "1000" },
      jobs: { type: "string", default: "1" },
      stories: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  const [asked, jobs] = [Number(values.walks), Number(values.jobs)];
  if (!(asked > 0) || !(jobs > 0)) {
    console.error("--walks and --jobs are numbers above 0");
    return 2;
  }
  const seeds = values.stories ? await givenStories() : seedsOf(values.seed, asked);
  const began = performance.now();
  const walked = jobs > 1 ? await sideBySide(seeds, jobs, file) : await walkStories(seeds);
  if (values.json) console.log(JSON.stringify({ approvals: walked }));
  else console.log(line(values.seed, walked, (performance.now() - began) / 1_000));
  for (const { seed, violation, trace } of values.json ? [] : walked.failures)
    console.log(`${trace.join("\n")}\nSEED=${seed} ${violation}\n${replayOf(seed)}`);
  return walked.failures.length === 0 ? 0 : 1;
}
function line(seed: string, { walks, steps, counts, failures }: Walked, seconds: number): string {
  const counted = Object.entries(counts).map(([name, count]) => `${name.replaceAll(" ", "_")}=${count}`);
  return `approvals SEED=${seed} walks=${walks} (${Math.round(walks / seconds)}/s) steps=${steps} ${counted.join(" ")} violations=${failures.length}`;
}
