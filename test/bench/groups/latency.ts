/** How long a message waits in an idle object until its consumer has leased and acked it. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Caller, secondsOf } from "../call.ts";
import { median, percentile } from "../stats.ts";
import type { Row, Table } from "../table.ts";
import { eachCall, type Group, type World, withWorker } from "../world.ts";

const idleMs = 5;
/** Longer than the alarm of the last shift stands by: the next must set it again. */
const restMs = 1_500;
const rested = 2;
const warmUp = 20;
const targetMs = 1;
const idle = "idle object: delivered, a shift begun, leased and acked";
const rest = "the same, idle for so long that its alarm is set anew";
const answered = "idle object until it has answered whoever delivered";
const working = "object at work: delivered, its shift woken, leased and acked";
const alarm = "idle object by an alarm for now (not how an agent does it)";
const road = "the same calls and commits without the queue";
const all = [idle, rest, answered, working, alarm, road];

export const latency: Group = {
  name: "latency",
  about: "how long a message waits until it is picked up",
  run: (world) => withWorker(world, async ({ caller }) => [await measure(world, caller)]),
};

async function measure({ sizes, say }: World, caller: Caller): Promise<Table> {
  const samples = new Map<string, number[]>(all.map((name) => [name, []]));
  const take = async (name: string, method: string, count: number, series: string, apartMs = idleMs) => {
    for (let number = 0; number < count; number++) {
      const seconds = await secondsOf(() => caller.run(`/sender/sender/${method}`, { series, number }));
      samples.get(name)?.push(seconds * 1_000);
      await sleep(apartMs);
    }
  };
  await take("", "send", warmUp, "warm");
  const share = Math.ceil(sizes.samples / sizes.rounds);
  for (let round = 1; round <= sizes.rounds; round++) {
    say(`round ${round} of ${sizes.rounds}`);
    await take(road, "road", share, `road-${round}`);
    await take(idle, "send", share, `idle-${round}`);
    await take(answered, "taken", share, `answered-${round}`);
    await take(alarm, "byAlarm", share, `alarm-${round}`);
    await take("", "send", 1, `between-${round}`, restMs);
    await take(rest, "send", rested, `rest-${round}`, restMs);
    await caller.run("/consumer/consumer/work", { stay: true });
    await take(working, "send", share, `working-${round}`);
    await caller.run("/consumer/consumer/work", { stay: false });
  }
  const of = (name: string): number[] => samples.get(name) ?? [];
  const without = median(of(road));
  const row = (what: string): Row => ({
    what,
    figures: {
      p50_ms: percentile(of(what), 0.5),
      p99_ms: percentile(of(what), 0.99),
      max_ms: Math.max(...of(what)),
      p50_above_the_calls_ms: what === road ? 0 : percentile(of(what), 0.5) - without,
    },
    durable: eachCall,
  });
  return {
    title: "latency: from the sender's commit to the ack in an idle object",
    how: `Timed from outside, so each figure also holds an HTTP request, a call there and one back, and the sender's commit; ${of(idle).length} samples, ${idleMs} ms apart (${of(rest).length} of the second row, ${restMs} ms apart).`,
    rows: all.map(row),
    targets: [
      {
        ...{ what: "picked up in an idle object, p50, all of the way", limit: targetMs, better: "at_most", unit: "ms" },
        seen: percentile(of(idle), 0.5),
      },
      {
        ...{ what: "picked up in an idle object, p50 above the bare calls", limit: targetMs, better: "at_most" },
        ...{ unit: "ms", seen: percentile(of(idle), 0.5) - without },
      },
    ],
  };
}
