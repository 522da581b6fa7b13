/** `node test/simulation/run.ts texts --seed 7 --texts 2000`: one line of figures, each miss with its seed; exits 1 on a miss. [GHI-66] */
import { parseArgs } from "node:util";
import { githubIsHere, judge } from "./page.ts";
import { textOf } from "./text.ts";

const usage = "node test/simulation/run.ts texts [--seed TEXT] [--texts N] [--only SEED] [--jobs N]";
const maxMissesKept = 20;

export interface Miss {
  readonly seed: string;
  readonly text: string;
  readonly model: string;
  readonly page: string;
}
export interface Figures {
  readonly texts: number;
  readonly unread: number;
  readonly missing: number;
  readonly misses: readonly Miss[];
}

/** Text number n of a run is that of the seed `<seed>-<n>`. */
export async function compare(run: {
  readonly seed: string;
  readonly texts: number;
  readonly jobs: number;
}): Promise<Figures> {
  const misses: Miss[] = [];
  let [unread, missing, next] = [0, 0, 0];
  const work = async (): Promise<void> => {
    while (next < run.texts) {
      const seed = `${run.seed}-${next++}`;
      const text = textOf(seed);
      const { read, miss } = await judge(text);
      if (!read) unread++;
      if (miss !== null && missing++ < maxMissesKept) misses.push({ seed, text, ...miss });
    }
  };
  await Promise.all(Array.from({ length: run.jobs }, work));
  return { texts: run.texts, unread, missing, misses };
}
export function wordsOf({ seed, text, model, page }: Miss): string {
  return `MISS ${JSON.stringify(text)}\n  model ${JSON.stringify(model)}\n  page ${JSON.stringify(page)}\n  again: node test/simulation/run.ts texts --only ${seed}`;
}

export async function main(args: string[]): Promise<number> {
  const text = { type: "string" } as const;
  const options = { seed: text, texts: text, only: text, jobs: text, help: { type: "boolean" } } as const;
  let values: { seed?: string; texts?: string; only?: string; jobs?: string; help?: boolean };
  try {
    values = parseArgs({ args, options }).values;
  } catch {
    values = { help: true };
  }
  const [texts, jobs] = [Number(values.texts ?? 2_000), Number(values.jobs ?? 2)];
  if (values.help === true || !(texts > 0) || !(jobs > 0)) {
    console.error(usage);
    return 2;
  }
  if (!githubIsHere) {
    console.error("cmark-gfm is not here: apt-get install cmark-gfm");
    return 2;
  }
  if (values.only !== undefined) {
    const one = textOf(values.only);
    const { read, miss } = await judge(one);
    console.log(JSON.stringify({ text: one, read, miss }, null, 2));
    return miss === null ? 0 : 1;
  }
  const figures = await compare({ seed: values.seed ?? "1", texts, jobs });
  for (const miss of figures.misses) console.log(wordsOf(miss));
  console.log(`texts=${figures.texts} unread=${figures.unread} missing=${figures.missing}`);
  return figures.missing === 0 ? 0 : 1;
}
