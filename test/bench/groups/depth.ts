/** What one lease costs in a short queue, in one a million rows deep, and behind a million rows that back off. */
import { type Caller, secondsOf } from "../call.ts";
import { median, medianRatio, takeTurns } from "../stats.ts";
import type { Row, Table } from "../table.ts";
import { atTheEnd, eachCall, type Group, type World, withWorker } from "../world.ts";

const short = 1_000;
const perRequest = 1_000;
const target = 1.25;

interface Depth {
  readonly object: string;
  readonly ready: number;
  readonly backingOff: number;
}

export const depth: Group = {
  name: "depth",
  about: "the cost of a lease at depth 1,000 and 1,000,000, and behind a million that back off",
  run: (world) =>
    withWorker(world, async ({ caller }) => {
      const deep = world.sizes.deepRows;
      const depths: readonly Depth[] = [
        { object: "short", ready: short, backingOff: 0 },
        { object: "deep", ready: deep, backingOff: 0 },
        { object: "waiting", ready: short, backingOff: deep },
      ];
      for (const each of depths) await fill(caller, each, world.say);
      return [await measure(world, caller, depths, false), await measure(world, caller, depths, true)];
    }),
};

async function fill(caller: Caller, { object, ready, backingOff }: Depth, say: (line: string) => void): Promise<void> {
  let saidAt = 0;
  const inSteps = async (total: number, what: string, step: (count: number, at: number) => Promise<void>) => {
    for (let at = 0; at < total; at += perRequest) {
      await step(Math.min(perRequest, total - at), at);
      if (Date.now() - saidAt < 5_000) continue;
      saidAt = Date.now();
      say(`${what}: ${at} of ${total}`);
    }
  };
  // Filled in steps, so that the rows back off before the next come: a lease takes the first that is ready.
  await inSteps(backingOff, "rows that back off", async (count, at) => {
    await caller.run(`/bench/${object}/fill`, { series: `back-${at}`, count });
    await caller.run(`/bench/${object}/backOff`, { count });
  });
  await inSteps(ready, "rows to lease", (count, at) =>
    caller.run(`/bench/${object}/fill`, { series: `ready-${at}`, count }),
  );
}

async function measure(world: World, caller: Caller, depths: readonly Depth[], sync: boolean): Promise<Table> {
  const { sizes, say } = world;
  const count = sizes.leases;
  const runners = depths.map(({ object }) => ({
    name: object,
    run: async () => {
      const seconds = await secondsOf(() => caller.run(`/bench/${object}/leases`, { count, sync }));
      await caller.run(`/bench/${object}/giveBack`);
      return (seconds * 1e6) / count;
    },
  }));
  const seen = await takeTurns(runners, sizes.rounds, say);
  const of = (name: string): number[] => seen.get(name) ?? [];
  const words = ({ ready, backingOff }: Depth): string =>
    `${ready.toLocaleString("en-US")} ready${backingOff === 0 ? "" : `, ${backingOff.toLocaleString("en-US")} backing off`}`;
  const rows = depths.map(
    (each): Row => ({
      what: words(each),
      figures: { lease_us: median(of(each.object)), ratio_to_short_x: medianRatio(of(each.object), of("short")) },
      durable: sync ? eachCall : atTheEnd,
    }),
  );
  return {
    title: `depth: one lease, ${sync ? "each on the disk before the next" : "without waiting for the disk between"}`,
    how: `${count} leases a round with audit and telemetry, each its own transaction, then all given back.`,
    rows,
    targets: depths.slice(1).map((each) => ({
      ...{ what: `lease with ${words(each)}, to ${words(depths[0] ?? each)}`, limit: target, better: "at_most" },
      ...{ unit: "times", seen: medianRatio(of(each.object), of("short")) },
    })),
  };
}
