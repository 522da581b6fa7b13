/** BullMQ on Redis. One by one it is asked by hand; batches are added in bulk and worked off by its own worker. */
import { secondsAbreast, secondsOf } from "../call.ts";
import { messageAt, messagesOf } from "../worker/messages.ts";
import { load } from "./packages.ts";
import { Countdown, type PeerQueue } from "./peer.ts";

const workerConcurrency = 100;
const maxToldErrors = 3;
const keepNothing = { removeOnComplete: true, removeOnFail: true };

interface Job {
  moveToCompleted(value: unknown, token: string, fetchNext: boolean): Promise<unknown>;
}
interface Queue {
  add(name: string, data: object, options: object): Promise<unknown>;
  addBulk(jobs: readonly { name: string; data: object; opts: object }[]): Promise<unknown>;
  close(): Promise<void>;
}
interface Worker {
  getNextJob(token: string, options: { block: boolean }): Promise<Job | undefined>;
  on(event: "completed", listener: () => void): void;
  on(event: "error", listener: (error: Error) => void): void;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}
interface BullMq {
  readonly Queue: new (name: string, options: object) => Queue;
  readonly Worker: new (name: string, processor: (() => Promise<null>) | null, options: object) => Worker;
}

export async function bullmq(port: number, fsync: "always" | "everysec"): Promise<PeerQueue> {
  const { Queue, Worker } = (await load("bullmq")) as BullMq; // the part of it that is used here
  const connection = { host: "127.0.0.1", port, maxRetriesPerRequest: null };
  const single = new Queue("single", { connection });
  const byHand = new Worker("single", null, { connection });
  const bulk = new Queue("bulk", { connection });
  let counted: Countdown | null = null;
  const worker = new Worker("bulk", async () => null, { connection, concurrency: workerConcurrency });
  worker.on("completed", () => counted?.one());
  let errors = 0;
  const told = (error: Error) => {
    errors += 1;
    if (errors <= maxToldErrors) console.error(`bullmq: ${error.message}`);
  };
  for (const each of [byHand, worker]) {
    each.on("error", told);
    await each.waitUntilReady();
  }
  return {
    name: `BullMQ, appendfsync ${fsync}`,
    durable: fsync === "always" ? "each call (fsync of Redis' log)" : "up to a second later",
    equal: fsync === "always",
    cycles: (series, count, abreast) =>
      secondsAbreast(count, abreast, async (at) => {
        await single.add("job", messageAt(series, at), keepNothing);
        const token = `token-${at}`;
        const job = await byHand.getNextJob(token, { block: false });
        if (job === undefined) throw new Error("bullmq: an empty queue");
        await job.moveToCompleted(null, token, false);
      }),
    batches: (series, batches, size) =>
      secondsOf(async () => {
        for (let at = 0; at < batches; at++) {
          counted = new Countdown(size);
          const jobs = messagesOf(`${series}-${at}`, size).map((data) => ({ name: "job", data, opts: keepNothing }));
          await bulk.addBulk(jobs);
          await counted.done;
        }
      }),
    async close() {
      for (const each of [byHand, worker, single, bulk]) await each.close();
    },
  };
}
