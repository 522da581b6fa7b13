/** `node test/simulation/run.ts shell --seed 7 --scripts 2000`: one line of figures, each miss with its seed; exits 1 on a miss. [ORA-1] [ORA-2] */
import { parseArgs } from "node:util";
import { type Ground, standOn } from "./bash.ts";
import { judge } from "./judge.ts";
import { scriptOf } from "./script.ts";

const usage = `node test/simulation/run.ts shell [--seed TEXT] [--scripts N] [--only SEED] [--jobs N] [--json]`;
const maxMissesKept = 20;

export interface Miss {
  readonly seed: string;
  readonly script: string;
  readonly missed: readonly string[];
}
export interface Figures {
  readonly scripts: number;
  /** Scripts whose reading claims to know all that runs; and the programs that ran in those. */
  readonly claimed: number;
  readonly programs: number;
  readonly late: number;
  readonly missing: number;
  readonly misses: readonly Miss[];
}

/** Script number n of a run is that of the seed `<seed>-<n>`. */
export async function compare(
  { seed, scripts, jobs }: { readonly seed: string; readonly scripts: number; readonly jobs: number },
  say: (done: number) => void = () => {},
): Promise<Figures> {
  const grounds = Array.from({ length: jobs }, () => standOn());
  const counts = { claimed: 0, programs: 0, late: 0, missing: 0 };
  const misses: Miss[] = [];
  let next = 0;
  const work = async (ground: Ground): Promise<void> => {
    while (next < scripts) {
      const number = next++;
      say(number);
      const one = `${seed}-${number}`;
      const script = scriptOf(one);
      const ran = await ground.run(script);
      const { flagged, missed } = judge(script, ran);
      if (ran.late) counts.late++;
      if (flagged === null) {
        counts.claimed++;
        counts.programs += ran.argvs.length;
      }
      if (missed.length > 0 && counts.missing++ < maxMissesKept) misses.push({ seed: one, script, missed });
    }
  };
  try {
    await Promise.all(grounds.map(work));
  } finally {
    for (const ground of grounds) ground.end();
  }
  return { scripts, ...counts, misses };
}
export function wordsOf({ seed, script, missed }: Miss): string {
  return `MISS ${JSON.stringify(script)}\n  ${missed.join("; ")}\n  again: node test/simulation/run.ts shell --only ${seed}`;
}

export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ seed: { type: "string", default: "1" }, scripts: { type: "string", default: "2000" } },
      ...{ only: { type: "string" }, jobs: { type: "string", default: "2" } },
      ...{ json: { type: "boolean", default: false }, help: { type: "boolean", default: false } },
    },
  });
  const [scripts, jobs] = [Number(values.scripts), Number(values.jobs)];
  if (values.help || !(scripts > 0 && jobs > 0 && jobs <= 16)) {
    console.error(usage);
    return values.help ? 0 : 2;
  }
  if (values.only !== undefined) return again(values.only);
  const figures = await compare({ seed: values.seed, scripts, jobs }, (done) => {
    if (done > 0 && done % 10_000 === 0) console.error(`${done} of ${scripts} scripts`);
  });
  for (const miss of figures.misses) console.error(wordsOf(miss));
  const { misses: _, ...counted } = figures;
  console.log(values.json ? JSON.stringify({ shell: counted }) : `shell: ${JSON.stringify(counted)}`);
  return figures.missing === 0 ? 0 : 1;
}

async function again(seed: string): Promise<number> {
  const ground = standOn();
  const script = scriptOf(seed);
  const ran = await ground.run(script);
  ground.end();
  const verdict = judge(script, ran);
  console.log(JSON.stringify({ seed, script, ran, verdict }, null, 2));
  return verdict.missed.length === 0 ? 0 : 1;
}
