/** The package `agents` and its `queue()`, in the same workerd, against ours asked for the same. */
import { type Caller, secondsOf } from "../call.ts";
import { packagesFolder } from "../peers/packages.ts";
import { median, medianRatio, takeTurns } from "../stats.ts";
import type { Row, Table } from "../table.ts";
import { prepare, serve } from "../workerd.ts";
import { atTheEnd, eachCommit, type Group, type World } from "../world.ts";

const bulkOurs = "Countersign's queue: all enqueued, then each leased and acked";
const bulkTheirs = "agents, queue(): all queued, then each handled";
const singleOurs = "Countersign's queue: one after the other";
const singleTheirs = "agents, queue(): one after the other";
const syncedOurs = "Countersign's queue: one after the other, each commit on disk";
const target = 5;
const title = "agents: the package's queue() in the same workerd";
/** The other side takes milliseconds for each: enough to see it, not so many as to wait for it. */
const share = 0.2;

export const agents: Group = {
  name: "agents",
  about: "the package agents and its queue(), in the same workerd",
  run: async (world) => {
    const missing = await world.peers.packages();
    if (missing !== null) return [absent(missing)];
    const prepared = await prepare(world.ground, {
      ...{ entry: "agents-entry.ts", objects: { BENCH: "BenchObject", AGENTS: "AgentsObject" } },
      packages: [packagesFolder],
    });
    const served = await serve(world.ground, prepared);
    try {
      return [await measure(world, served.caller)];
    } finally {
      await served.kill();
    }
  },
};

async function measure({ sizes, say }: World, caller: Caller): Promise<Table> {
  const count = Math.round(sizes.cycles * share);
  const runner = (name: string, path: string, more: object = {}) => ({
    name,
    run: async (round: number) =>
      count / (await secondsOf(() => caller.run(path, { series: `${name.length}-${round}`, count, ...more }))),
  });
  const runners = [
    runner(bulkOurs, "/bench/bulk/bulk"),
    runner(bulkTheirs, "/agents/bulk/bulk"),
    runner(singleOurs, "/bench/single/cycles", { facts: true, sync: false }),
    runner(singleTheirs, "/agents/single/single"),
    runner(syncedOurs, "/bench/synced/cycles", { facts: true, sync: true }),
  ];
  const seen = await takeTurns(runners, sizes.rounds, say);
  const of = (name: string): number[] => seen.get(name) ?? [];
  const row = (what: string, theirs: string, durable: string): Row => ({
    what,
    figures: { messages_per_s: median(of(what)), to_agents_x: medianRatio(of(what), of(theirs)) },
    durable,
  });
  const targetOf = (what: string, ours: string, theirs: string) => ({
    ...{ what, limit: target, better: "at_least" as const, unit: "times" },
    seen: medianRatio(of(ours), of(theirs)),
  });
  return {
    title,
    how: `${count} messages a round, with audit and telemetry on our side; theirs keeps neither, nor processed marks.`,
    rows: [
      row(bulkOurs, bulkTheirs, atTheEnd),
      row(bulkTheirs, bulkTheirs, atTheEnd),
      row(singleOurs, singleTheirs, atTheEnd),
      row(singleTheirs, singleTheirs, atTheEnd),
      row(syncedOurs, singleTheirs, eachCommit),
    ],
    targets: [
      targetOf("all enqueued, then handled, to agents' queue()", bulkOurs, bulkTheirs),
      targetOf("one after the other, each commit of ours on disk, to agents' queue()", syncedOurs, singleTheirs),
    ],
  };
}

function absent(note: string): Table {
  return {
    ...{ title, how: "" },
    rows: [{ what: bulkTheirs, figures: { messages_per_s: null }, durable: "", note }],
    targets: [{ what: "to agents' queue()", limit: target, better: "at_least", unit: "times", seen: null }],
  };
}
