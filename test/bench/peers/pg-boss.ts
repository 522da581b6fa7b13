/** pg-boss on PostgreSQL, by its own calls for one job and for many. */
import { secondsAbreast, secondsOf } from "../call.ts";
import { messageAt, messagesOf } from "../worker/messages.ts";
import { load } from "./packages.ts";
import type { PeerQueue } from "./peer.ts";

const connections = 33;
const maxToldErrors = 3;
const maxFetches = 1_000;

interface Boss {
  start(): Promise<unknown>;
  stop(options: { graceful: boolean }): Promise<void>;
  on(event: "error", listener: (error: Error) => void): void;
  createQueue(name: string): Promise<unknown>;
  send(name: string, data: object): Promise<string | null>;
  insert(name: string, jobs: readonly { data: object }[]): Promise<unknown>;
  fetch(name: string, options: { batchSize: number }): Promise<readonly { id: string }[]>;
  complete(name: string, ids: string | readonly string[]): Promise<unknown>;
}
interface PgBoss {
  readonly PgBoss: new (options: object) => Boss;
}

export async function pgBoss(port: number): Promise<PeerQueue> {
  const { PgBoss } = (await load("pg-boss")) as PgBoss; // the part of it that is used here
  const connection = { host: "127.0.0.1", port, user: "bench", database: "postgres", max: connections };
  const boss = new PgBoss({ ...connection, supervise: false, schedule: false });
  let errors = 0;
  boss.on("error", (error) => {
    errors += 1;
    if (errors <= maxToldErrors) console.error(`pg-boss: ${error.message}`);
  });
  await boss.start();
  await boss.createQueue("single");
  await boss.createQueue("bulk");
  return {
    name: "pg-boss",
    durable: "each call (synchronous_commit on)",
    equal: true,
    cycles: (series, count, abreast) =>
      secondsAbreast(count, abreast, async (at) => {
        await boss.send("single", messageAt(series, at));
        await boss.complete("single", await next(boss));
      }),
    batches: (series, batches, size) =>
      secondsOf(async () => {
        for (let at = 0; at < batches; at++) {
          const jobs = messagesOf(`${series}-${at}`, size).map((data) => ({ data }));
          await boss.insert("bulk", jobs);
          const taken = await boss.fetch("bulk", { batchSize: size });
          if (taken.length !== size) throw new Error(`pg-boss: ${taken.length} of ${size} were fetched`);
          const ids = taken.map(({ id }) => id);
          await boss.complete("bulk", ids);
        }
      }),
    close: () => boss.stop({ graceful: false }),
  };
}

/** A fetch passes over rows that others are fetching, and may come back with none of those that are left. */
async function next(boss: Boss): Promise<string> {
  for (let tried = 0; tried < maxFetches; tried++) {
    const [job] = await boss.fetch("single", { batchSize: 1 });
    if (job !== undefined) return job.id;
  }
  throw new Error("pg-boss: an empty queue");
}
