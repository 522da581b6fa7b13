/** After SIGKILL: how long until the first message is enqueued and leased again. */

import { percentile } from "../stats.ts";
import type { Row, Table } from "../table.ts";
import { messageAt } from "../worker/messages.ts";
import { prepare, serve } from "../workerd.ts";
import { eachCall, type Group, measuredWorker, type World } from "../world.ts";

const targetMs = 100;
/** What stands in the queue when the process dies. */
const standing = 1_000;
const perBatch = 1_000;

export const restart: Group = {
  name: "restart",
  about: "from SIGKILL to the first message taken again",
  run: async (world) => [await measure(world)],
};

async function measure({ ground, sizes, say }: World): Promise<Table> {
  const prepared = await prepare(ground, measuredWorker);
  const sinceBegun: number[] = [];
  const sinceListening: number[] = [];
  const untilListening: number[] = [];
  let served = await serve(ground, prepared);
  for (let at = 0; at < standing; at += perBatch)
    await served.caller.run("/bench/killed/fill", { series: `standing-${at}`, count: perBatch });
  for (let time = 1; time <= sizes.restarts; time++) {
    if (time % 10 === 1) say(`kill ${time} of ${sizes.restarts}`);
    // Killed with a request in hand, so that the log has something to be recovered.
    const cut = served.caller.run("/bench/killed/cycles", {
      ...{ series: `cut-${time}`, count: 10_000, facts: true, sync: true },
    });
    const ended = cut.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await served.kill();
    await ended;
    served = await serve(ground, prepared);
    await served.caller.run("/bench/killed/enqueue", messageAt("after", time));
    const lease = await served.caller.post<object | null>("/bench/killed/lease", {});
    const now = performance.now();
    if (lease === null) throw new Error("an empty queue after a restart");
    sinceBegun.push(now - served.beganAtMs);
    sinceListening.push(now - served.listenedAtMs);
    untilListening.push(served.listenedAtMs - served.beganAtMs);
  }
  await served.kill();
  const row = (what: string, samples: readonly number[]): Row => ({
    what,
    figures: { p50_ms: percentile(samples, 0.5), p99_ms: percentile(samples, 0.99), max_ms: Math.max(...samples) },
    durable: eachCall,
  });
  return {
    title: "restart: SIGKILL of workerd, started again, the first enqueue and lease answered",
    how: `${sizes.restarts} kills in the middle of commits, over HTTP, ${standing} messages standing in the queue. With so few samples the p99 is the slowest or near it.`,
    rows: [
      row("from the moment workerd listens", sinceListening),
      row("from the start of the process", sinceBegun),
      row("of that, until workerd listens (no code of the product)", untilListening),
    ],
    targets: [
      {
        ...{ what: "first message taken, p99, from the start of the process", limit: targetMs, better: "at_most" },
        ...{ unit: "ms", seen: percentile(sinceBegun, 0.99) },
      },
      {
        ...{ what: "first message taken, p99, from listening", limit: targetMs, better: "at_most" },
        ...{ unit: "ms", seen: percentile(sinceListening, 0.99) },
      },
    ],
  };
}
