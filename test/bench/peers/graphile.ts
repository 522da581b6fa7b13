/** graphile-worker on PostgreSQL: jobs are only ever taken by its own runner, so both ways go through one. */
import { secondsAbreast, secondsOf } from "../call.ts";
import { messageAt, messagesOf } from "../worker/messages.ts";
import { load } from "./packages.ts";
import { Countdown, type PeerQueue } from "./peer.ts";

const singleConcurrency = 32;
const bulkConcurrency = 24;
const localQueueSize = 1_000;

interface Events {
  on(event: "job:complete", listener: (happened: { job: { id: string } }) => void): void;
}
interface Runner {
  readonly events: Events;
  stop(): Promise<void>;
}
interface Utils {
  addJob(task: string, payload: object): Promise<{ id: string }>;
  addJobs(jobs: readonly { identifier: string; payload: object }[]): Promise<unknown>;
  release(): Promise<void>;
}
interface GraphileWorker {
  readonly Logger: new (factory: () => () => void) => object;
  run(options: object): Promise<Runner>;
  makeWorkerUtils(options: object): Promise<Utils>;
}

export async function graphile(port: number): Promise<PeerQueue> {
  const { Logger, run, makeWorkerUtils } = (await load("graphile-worker")) as GraphileWorker; // what is used of it
  const connectionString = `postgres://bench@127.0.0.1:${port}/postgres`;
  const quiet = { connectionString, logger: new Logger(() => () => undefined) };
  const utils = await makeWorkerUtils({ ...quiet, maxPoolSize: 33 });
  const nothing = async (): Promise<void> => undefined;
  const single = await run({
    ...quiet,
    ...{ concurrency: singleConcurrency, maxPoolSize: 34, noHandleSignals: true, taskList: { single: nothing } },
  });
  const bulk = await run({
    ...quiet,
    ...{ concurrency: bulkConcurrency, maxPoolSize: 10, noHandleSignals: true, taskList: { bulk: nothing } },
    preset: { worker: { localQueue: { size: localQueueSize }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  });
  const finished = new Set<string>();
  const waiting = new Map<string, () => void>();
  single.events.on("job:complete", ({ job }) => {
    const told = waiting.get(job.id);
    if (told === undefined) finished.add(job.id);
    else told();
    waiting.delete(job.id);
  });
  let counted: Countdown | null = null;
  bulk.events.on("job:complete", () => counted?.one());
  return {
    name: "graphile-worker",
    durable: "each call (synchronous_commit on)",
    equal: true,
    cycles: (series, count, abreast) =>
      secondsAbreast(count, abreast, async (at) => {
        const { id } = await utils.addJob("single", messageAt(series, at));
        if (!finished.delete(id)) await new Promise<void>((resolve) => waiting.set(id, resolve));
      }),
    batches: (series, batches, size) =>
      secondsOf(async () => {
        for (let at = 0; at < batches; at++) {
          counted = new Countdown(size);
          const jobs = messagesOf(`${series}-${at}`, size).map((payload) => ({ identifier: "bulk", payload }));
          await utils.addJobs(jobs);
          await counted.done;
        }
      }),
    async close() {
      await single.stop();
      await bulk.stop();
      await utils.release();
    },
  };
}
