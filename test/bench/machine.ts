/** What a figure was seen on: without it a figure says nothing. */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from "node:fs";
import { arch, cpus, release, type as system, totalmem } from "node:os";
import { join } from "node:path";
import { output } from "./ground.ts";
import { versionOf } from "./peers/packages.ts";
import { postgresFolder, redisBinary } from "./peers/servers.ts";
import { median } from "./stats.ts";
import { workerdBinary } from "./workerd.ts";

const fsyncs = 200;
const tmpfs = 0x01021994;

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memory_gb: number;
  readonly system: string;
  readonly disk: string;
  /** A 4 KB write and fdatasync, median: what a commit cannot be faster than. */
  readonly fsync_us: number;
  /** Work of others on the machine when the run began: figures taken beside it are too low. */
  readonly load_at_start: number;
  readonly versions: Readonly<Record<string, string>>;
}

export function describe(dir: string, load_at_start: number): Machine {
  const all = cpus();
  const redis = redisBinary();
  const postgres = postgresFolder();
  const missing = "not installed";
  return {
    cpu: all[0]?.model.trim() || arch(),
    cores: all.length,
    memory_gb: Math.round(totalmem() / 2 ** 30),
    system: `${system()} ${release()}`,
    disk: diskOf(dir),
    fsync_us: Math.round(fsyncUs(dir)),
    load_at_start,
    versions: {
      node: process.versions.node,
      sqlite_in_node: process.versions.sqlite ?? "unknown",
      workerd: output(workerdBinary(), ["--version"]) ?? missing,
      redis: redis === null ? missing : (/v=(\S+)/.exec(output(redis, ["--version"]) ?? "")?.[1] ?? missing),
      postgres: postgres === null ? missing : (output(join(postgres, "postgres"), ["--version"]) ?? missing),
      ...Object.fromEntries(["bullmq", "pg-boss", "graphile-worker", "agents"].map((name) => [name, versionOf(name)])),
    },
  };
}

export function showMachine(machine: Machine): string {
  const { cpu, cores, memory_gb, disk, fsync_us, load_at_start, versions } = machine;
  const words = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `machine: ${cpu}, ${cores} cores, ${memory_gb} GB, ${machine.system}; disk ${disk}, one fsync ${fsync_us} us; load ${load_at_start.toFixed(2)} at the start`,
    `versions: ${words.join(", ")}`,
  ].join("\n");
}

function diskOf(dir: string): string {
  if (statfsSync(dir).type === tmpfs) return "MEMORY (tmpfs): nothing measured here is durable";
  const found = output("df", ["--output=fstype,source", dir])?.split("\n").at(-1)?.trim();
  return found === undefined ? "unknown" : found.replace(/\s+/g, " on ");
}

function fsyncUs(dir: string): number {
  const folder = mkdtempSync(join(dir, "countersign-fsync-"));
  try {
    const file = openSync(join(folder, "probe"), "w");
    const page = Buffer.alloc(4_096);
    const seen = Array.from({ length: fsyncs }, () => {
      const began = performance.now();
      writeSync(file, page);
      fdatasyncSync(file);
      return (performance.now() - began) * 1_000;
    });
    closeSync(file);
    return median(seen);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The commit the figures belong to is for whoever keeps them: the code may be ahead of any. */
export function productVersion(file: string): string {
  return String(JSON.parse(readFileSync(file, "utf8")).version);
}
