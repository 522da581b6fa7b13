/** Batches of 100 and of 1,000, and the other queues by their own calls for many. */
import { type Caller, secondsOf } from "../call.ts";
import { isThere, type Peer } from "../peers/peer.ts";
import { median, medianRatio, takeTurns } from "../stats.ts";
import type { Row, Table, Target } from "../table.ts";
import { messagesOf } from "../worker/messages.ts";
import { eachCall, type Group, type World, withWorker } from "../world.ts";

const batchSizes = [100, 1_000] as const;
const overHttp = "Countersign's queue over HTTP";
const inObject = "Countersign's queue, called in its object";
const target = 3;

interface LeaseAnswer {
  readonly lease_id: string;
  readonly epoch: number;
}

export const batch: Group = {
  name: "batch",
  about: "batches of 100 and 1,000, beside the other queues",
  run: (world) =>
    withWorker(world, async ({ caller }) => {
      const peers = await world.peers.all();
      const tables: Table[] = [];
      for (const size of batchSizes) tables.push(await measure(world, caller, peers, size));
      return tables;
    }),
};

async function measure({ sizes, say }: World, caller: Caller, peers: readonly Peer[], size: number): Promise<Table> {
  const there = peers.filter(isThere);
  const batches = Math.max(1, Math.round(sizes.batched / size));
  const rate = (seconds: number): number => (batches * size) / seconds;
  const runners = [
    { name: overHttp, run: async (round: number) => rate(await batchesOf(caller, `h${size}-${round}`, batches, size)) },
    {
      name: inObject,
      run: async (round: number) =>
        rate(await secondsOf(() => caller.run("/bench/in/batches", { series: `i${size}-${round}`, batches, size }))),
    },
    ...there.map((peer) => ({
      name: peer.name,
      run: async (round: number) => rate(await peer.batches(`${size}-${round}`, batches, size)),
    })),
  ];
  const seen = await takeTurns(runners, sizes.rounds, (line) => say(`batches of ${size}, ${line}`));
  const of = (name: string): number[] => seen.get(name) ?? [];
  const figures = (name: string) => ({
    messages_per_s: median(of(name)),
    batch_ms: (1_000 * size) / median(of(name)),
    ours_in_object_to_this_x: medianRatio(of(inObject), of(name)),
    ours_over_http_to_this_x: medianRatio(of(overHttp), of(name)),
  });
  const best = (among: readonly string[]): number | null =>
    among.length === 0 ? null : Math.min(...among.map((name) => medianRatio(of(inObject), of(name))));
  const equals = there.filter((peer) => peer.equal).map((peer) => peer.name);
  const all = there.map((peer) => peer.name);
  const target_of = (what: string, seen: number | null): Target => ({
    ...{ what: `batches of ${size}, against ${what}`, limit: target, better: "at_least", unit: "times", seen },
  });
  return {
    title: `batch: enqueue, lease, ack of ${size} messages a call`,
    how: `${batches} batches a round, one after the other; three calls a batch. With audit and telemetry for each message.`,
    rows: [
      ...[overHttp, inObject].map((what): Row => ({ what, figures: figures(what), durable: eachCall })),
      ...peers.map(
        (peer): Row =>
          isThere(peer)
            ? { what: peer.name, figures: figures(peer.name), durable: peer.durable }
            : { what: peer.name, figures: { messages_per_s: null }, durable: "", note: peer.missing },
      ),
    ],
    targets: [
      target_of("the best other queue with the same durability", best(equals)),
      target_of("the best other queue, whatever its durability", best(all)),
    ],
  };
}

function batchesOf(caller: Caller, series: string, batches: number, size: number): Promise<number> {
  return secondsOf(async () => {
    for (let at = 0; at < batches; at++) {
      await caller.run("/bench/http/enqueueAll", messagesOf(`${series}-${at}`, size));
      const leases = await caller.post<readonly LeaseAnswer[]>("/bench/http/leaseMany", { count: size });
      if (leases.length !== size) throw new Error(`${leases.length} of ${size} were leased`);
      const held = leases.map(({ lease_id, epoch }) => ({ lease_id, epoch }));
      await caller.run("/bench/http/ackAll", held);
    }
  });
}
