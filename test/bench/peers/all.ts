/** The other queues of one run: opened when first asked for, closed with the run; what is missing says why. */
import { sentence } from "../../../src/dev/files.ts";
import type { Ground } from "../ground.ts";
import { bullmq } from "./bullmq.ts";
import { graphile } from "./graphile.ts";
import { installPackages } from "./packages.ts";
import { isThere, type Peer, type PeerQueue } from "./peer.ts";
import { pgBoss } from "./pg-boss.ts";
import { howToInstall, installServers, postgresFolder, redisBinary, startPostgres, startRedis } from "./servers.ts";

export class Peers {
  readonly #ground: Ground;
  readonly #wanted: boolean;
  readonly #say: (line: string) => void;
  #opened: Promise<Peer[]> | null = null;
  #packages: Promise<string | null> | null = null;
  constructor(ground: Ground, wanted: boolean, say: (line: string) => void) {
    this.#ground = ground;
    this.#wanted = wanted;
    this.#say = say;
  }

  /** Null when the packages are there, else why not. */
  packages(): Promise<string | null> {
    this.#packages ??= this.#wanted ? installPackages(this.#say) : Promise.resolve("left out by --no-peers");
    return this.#packages;
  }
  all(): Promise<Peer[]> {
    this.#opened ??= this.#open();
    return this.#opened;
  }
  async close(): Promise<void> {
    for (const peer of (await this.#opened) ?? []) if (isThere(peer)) await peer.close();
  }

  async #open(): Promise<Peer[]> {
    const missing = await this.packages();
    if (missing === null) await installServers(this.#say);
    const redis = missing ?? (redisBinary() === null ? `not installed: ${howToInstall}` : null);
    const postgres = missing ?? (postgresFolder() === null ? `not installed: ${howToInstall}` : null);
    const port = postgres === null ? await startPostgres(this.#ground) : 0;
    const overRedis = (fsync: "always" | "everysec") => async () =>
      bullmq(await startRedis(this.#ground, fsync), fsync);
    return [
      await attempt("BullMQ, appendfsync always", redis, overRedis("always")),
      await attempt("BullMQ, appendfsync everysec", redis, overRedis("everysec")),
      await attempt("pg-boss", postgres, () => pgBoss(port)),
      await attempt("graphile-worker", postgres, () => graphile(port)),
    ];
  }
}

async function attempt(name: string, missing: string | null, open: () => Promise<PeerQueue>): Promise<Peer> {
  if (missing !== null) return { name, missing };
  try {
    return await open();
  } catch (error) {
    return { name, missing: `it did not start: ${sentence(error).split("\n")[0]}` };
  }
}
