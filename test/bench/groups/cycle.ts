/** Enqueue, lease, ack in one object, each on the disk before the next, against SQLite by itself on the same disk. */
import { join } from "node:path";
import { secondsOf } from "../call.ts";
import { rawMinimal, rawSameColumns } from "../raw-sqlite.ts";
import { median, medianRatio, type Runner, takeTurns } from "../stats.ts";
import type { Row, Table, Target } from "../table.ts";
import { atTheEnd, eachCommit, type Group, type World, withWorker } from "../world.ts";

const product = "queue with audit and telemetry, as in the objects";
const alone = "queue alone";
const inObject = "raw SQLite inside an object";
const rawLeast = "raw SQLite (node:sqlite), least schema";
const rawSame = "raw SQLite (node:sqlite), the queue's columns and indexes";
const target = 0.85;

interface Measured extends Runner {
  readonly durable: string;
}

export const cycle: Group = {
  name: "cycle",
  about: "enqueue, lease, ack in one object against raw SQLite",
  run: (world) =>
    withWorker(world, async ({ caller }) => [await measure(world, (path, body) => caller.run(path, body))]),
};

async function measure(world: World, run: (path: string, body: unknown) => Promise<void>): Promise<Table> {
  const { sizes, ground, say } = world;
  const count = sizes.cycles;
  const folder = ground.folder("raw");
  const [least, same] = [rawMinimal(join(folder, "least.db")), rawSameColumns(join(folder, "same.db"))];
  const rate = (seconds: number): number => count / seconds;
  const ours = (name: string, method: string, facts: boolean, sync: boolean): Measured => ({
    name,
    durable: sync ? eachCommit : atTheEnd,
    run: async (round) => {
      const body = { series: `${facts}-${sync}-${round}`, count, facts, sync };
      return rate(await secondsOf(() => run(`/bench/${method}-${facts}-${sync}/${method}`, body)));
    },
  });
  const runners: readonly Measured[] = [
    ours(product, "cycles", true, true),
    ours(alone, "cycles", false, true),
    ours(inObject, "rawCycles", false, true),
    { name: rawLeast, durable: eachCommit, run: async (round) => rate(least.cycles(`least-${round}`, count)) },
    { name: rawSame, durable: eachCommit, run: async (round) => rate(same.cycles(`same-${round}`, count)) },
    ours(`${product}, not waiting between`, "cycles", true, false),
    ours(`${alone}, not waiting between`, "cycles", false, false),
  ];
  const seen = await takeTurns(runners, sizes.rounds, say);
  least.close();
  same.close();
  const of = (name: string): number[] => seen.get(name) ?? [];
  const rows = runners.map(
    ({ name, durable }): Row => ({
      what: name,
      figures: {
        cycles_per_s: median(of(name)),
        cycle_us: 1e6 / median(of(name)),
        "of_raw_least_%": 100 * medianRatio(of(name), of(rawLeast)),
        "of_raw_same_columns_%": 100 * medianRatio(of(name), of(rawSame)),
        "of_raw_in_object_%": 100 * medianRatio(of(name), of(inObject)),
      },
      durable,
    }),
  );
  return {
    title: "cycle: enqueue, lease, ack of one message in one object (three transactions)",
    how: `workerd by itself, objects on disk; ${count} cycles a request, timed from outside; storage.sync() after each transaction. Raw: WAL, synchronous=FULL.`,
    rows,
    targets: [
      targetOf("with audit and telemetry, of raw SQLite, least schema", medianRatio(of(product), of(rawLeast))),
      targetOf("queue alone, of raw SQLite, least schema", medianRatio(of(alone), of(rawLeast))),
      targetOf("queue alone, of raw SQLite, the same columns and indexes", medianRatio(of(alone), of(rawSame))),
      targetOf("queue alone, of raw SQLite inside an object", medianRatio(of(alone), of(inObject))),
    ],
  };
}

function targetOf(what: string, seen: number): Target {
  return { what, limit: target, better: "at_least", unit: "of raw", seen };
}
