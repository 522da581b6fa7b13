/** What a group is given, and what each of the measured sizes is: a full run, or a quick one to see that it runs. */
import type { Ground } from "./ground.ts";
import type { Peers } from "./peers/all.ts";
import type { Table } from "./table.ts";
import { prepare, type Served, serve } from "./workerd.ts";

export interface Sizes {
  /** At least 5 where two things are compared. */
  readonly rounds: number;
  readonly cycles: number;
  readonly batched: number;
  readonly samples: number;
  readonly restarts: number;
  readonly deepRows: number;
  readonly leases: number;
}
export const fullSizes: Sizes = {
  ...{ rounds: 7, cycles: 1_000, batched: 5_000, samples: 1_000, restarts: 30, deepRows: 1_000_000, leases: 500 },
};
export const quickSizes: Sizes = {
  ...{ rounds: 2, cycles: 100, batched: 1_000, samples: 50, restarts: 3, deepRows: 20_000, leases: 200 },
};

export interface World {
  readonly ground: Ground;
  readonly peers: Peers;
  readonly sizes: Sizes;
  readonly say: (line: string) => void;
}
export interface Group {
  readonly name: string;
  readonly about: string;
  run(world: World): Promise<readonly Table[]>;
}

/** Every class of `worker/entry.ts`. */
export const measuredWorker = {
  entry: "entry.ts",
  objects: { BENCH: "BenchObject", SENDER: "SenderObject", CONSUMER: "ConsumerObject" },
} as const;

/** The measured worker for as long as `work` takes. */
export async function withWorker<T>({ ground }: World, work: (served: Served) => Promise<T>): Promise<T> {
  const served = await serve(ground, await prepare(ground, measuredWorker));
  try {
    return await work(served);
  } finally {
    await served.kill();
  }
}

/** Words for the durability of a row, the same everywhere. */
export const eachCall = "each call (fsync of the object's log)";
export const eachCommit = "each of the three commits (fsync)";
export const atTheEnd = "all of it, when the answer comes";
