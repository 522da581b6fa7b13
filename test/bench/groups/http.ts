/** The cycle by three HTTP requests at several at once, and the other queues by their own clients beside it. */
import { type Caller, secondsAbreast } from "../call.ts";
import { isThere, type Peer } from "../peers/peer.ts";
import { median, medianRatio, takeTurns } from "../stats.ts";
import type { Row, Table } from "../table.ts";
import { messageAt } from "../worker/messages.ts";
import { eachCall, type Group, type World, withWorker } from "../world.ts";

const abreast = [1, 8, 32] as const;
/** Each cycle here is three answers of a server: fewer do. */
const share = 0.5;
const ours = "Countersign's queue over HTTP, with audit and telemetry";

interface LeaseAnswer {
  readonly lease_id: string;
  readonly epoch: number;
}

export const http: Group = {
  name: "http",
  about: "the cycle over HTTP at 1, 8 and 32 at once, beside the other queues",
  run: (world) =>
    withWorker(world, async ({ caller }) => {
      const peers = await world.peers.all();
      const tables: Table[] = [];
      for (const many of abreast) tables.push(await measure(world, caller, peers, many));
      return tables;
    }),
};

async function measure({ sizes, say }: World, caller: Caller, peers: readonly Peer[], many: number): Promise<Table> {
  const there = peers.filter(isThere);
  const count = Math.round(sizes.cycles * share);
  const runners = [
    { name: ours, run: async (round: number) => count / (await cycles(caller, `http-${many}-${round}`, count, many)) },
    ...there.map((peer) => ({
      name: peer.name,
      run: async (round: number) => count / (await peer.cycles(`${many}-${round}`, count, many)),
    })),
  ];
  const seen = await takeTurns(runners, sizes.rounds, (line) => say(`${many} at once, ${line}`));
  const of = (name: string): number[] => seen.get(name) ?? [];
  const figures = (name: string) => ({
    cycles_per_s: median(of(name)),
    cycle_ms: (1_000 * many) / median(of(name)),
    ours_to_this_x: medianRatio(of(ours), of(name)),
  });
  return {
    title: `http: enqueue, lease, ack by single calls, ${many} at once, one queue`,
    how: `One Node process asks: ours by three requests a cycle to workerd's own socket, the others by their own clients over TCP; ${count} cycles a round.`,
    rows: [
      { what: ours, figures: figures(ours), durable: eachCall },
      ...peers.map(
        (peer): Row =>
          isThere(peer)
            ? { what: peer.name, figures: figures(peer.name), durable: peer.durable }
            : { what: peer.name, figures: { cycles_per_s: null }, durable: "", note: peer.missing },
      ),
    ],
    targets: [],
  };
}

function cycles(caller: Caller, series: string, count: number, many: number): Promise<number> {
  return secondsAbreast(count, many, async (at) => {
    await caller.run("/bench/http/enqueue", messageAt(series, at));
    const lease = await caller.post<LeaseAnswer | null>("/bench/http/lease", {});
    if (lease === null) throw new Error("an empty queue");
    await caller.run("/bench/http/ack", { lease_id: lease.lease_id, epoch: lease.epoch });
  });
}
