/** What a loop's step costs that is kept in rows, beside the AI SDK's own loop in memory, with the same mock model. */
import { secondsOf } from "../call.ts";
import { median, medianRatio, takeTurns } from "../stats.ts";
import type { Row, Table } from "../table.ts";
import { prepare, serve } from "../workerd.ts";
import type { Group, World } from "../world.ts";

const ours = "Countersign: each step in the object's rows";
const synced = "Countersign: on disk before each call of the model";
const theirs = "AI SDK: generateText with tools, in memory";
const lengths = [10, 40] as const;
/** Loops a request, so that it takes long enough to be timed. */
const share = 0.02;

export const loop: Group = {
  name: "loop",
  about: "a step of a loop, with all it keeps, beside the AI SDK's loop in memory",
  run: async (world) => {
    const prepared = await prepare(world.ground, { entry: "loop-entry.ts", objects: { LOOP: "LoopObject" } });
    const served = await serve(world.ground, prepared);
    try {
      const tables: Table[] = [];
      for (const steps of lengths)
        tables.push(await measure(world, (path, body) => served.caller.run(path, body), steps));
      return tables;
    } finally {
      await served.kill();
    }
  },
};

async function measure(
  { sizes, say }: World,
  run: (path: string, body: unknown) => Promise<void>,
  steps: number,
): Promise<Table> {
  const loops = Math.max(2, Math.round(sizes.cycles * share));
  const runner = (name: string, method: string, more: object) => ({
    name,
    run: async (round: number): Promise<number> => {
      const each = async () => {
        for (let at = 0; at < loops; at++)
          await run(`/loop/${method}-${steps}/${method}`, {
            series: `${name.length}-${steps}-${round}-${at}`,
            steps,
            ...more,
          });
      };
      return (1e6 * (await secondsOf(each))) / (loops * steps);
    },
  });
  const runners = [
    runner(ours, "ours", { sync: false }),
    runner(synced, "ours", { sync: true }),
    runner(theirs, "theirs", {}),
  ];
  const seen = await takeTurns(runners, sizes.rounds, say);
  const of = (name: string): number[] => seen.get(name) ?? [];
  const row = (what: string, durable: string): Row => ({
    what,
    figures: {
      step_us: median(of(what)),
      to_the_sdk_x: medianRatio(of(what), of(theirs)),
      more_than_the_sdk_us: median(of(what)) - median(of(theirs)),
    },
    durable,
  });
  return {
    title: `loop: a step of a loop of ${steps}, one call of a mock model and one call of a tool`,
    how: `${loops} loops a round, in one workerd, a request each. Ours asks the same mock through the SDK, one call at a time; each step is two commits with conversation, state and records.`,
    rows: [
      row(ours, "all of it, when the answer comes"),
      row(synced, "all so far, before each call of the model"),
      row(theirs, "nothing"),
    ],
    targets: [],
  };
}
