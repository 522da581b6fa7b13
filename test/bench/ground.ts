/**
 * The ground a run stands on: one folder on the measured disk and the processes begun in it. Both are gone
 * when the run ends, however it ends; what a killed run left is ended by the next.
 */
import { type ChildProcess, execFileSync, type SpawnOptions } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readJson, writePrivate } from "../../src/dev/files.ts";
import { beganAt, endLeftovers, type ProcessList, processList } from "../../src/dev/processes.ts";
import { inProject } from "../../src/dev/project.ts";

/** Everything a run keeps between runs: the peers' packages, and what tells the next run of a killed one. */
export const cache = inProject("node_modules/.cache/bench");
const runningFile = join(cache, "running.json");
export const processesFile = join(cache, "processes.json");
const running = z.strictObject({ pid: z.number().int(), began: z.string(), folder: z.string() });
const graceMs = 3_000;
const logTailChars = 2_000;

export interface Ground {
  /** A new folder on the measured disk. */
  folder(name: string): string;
  /** A process of its own group; what it says goes to a log that `tail` reads. */
  spawn(role: string, command: string, args: readonly string[], options?: SpawnOptions): ChildProcess;
  tail(role: string): string;
  end(): Promise<void>;
  kill(): void;
}

export async function standOn(dir: string): Promise<Ground> {
  mkdirSync(cache, { recursive: true });
  const before = readJson(runningFile, running);
  if (before !== null && beganAt(before.pid) === before.began)
    throw new Error(`another run is going on (process ${before.pid}): two at once would measure each other`);
  await endLeftovers(processesFile, graceMs);
  if (before !== null) rmSync(before.folder, { recursive: true, force: true });
  const root = mkdtempSync(join(dir, "countersign-bench-"));
  // The database servers may run as a user of their own, who must be able to get here.
  chmodSync(root, 0o755);
  writePrivate(runningFile, JSON.stringify({ pid: process.pid, began: beganAt(process.pid) ?? "", folder: root }));
  return groundAt(root, processList(processesFile));
}

function groundAt(root: string, processes: ProcessList): Ground {
  let made = 0;
  const logOf = (role: string): string => join(root, `${role}.log`);
  const clear = () => {
    rmSync(root, { recursive: true, force: true });
    rmSync(runningFile, { force: true });
  };
  return {
    folder(name) {
      const path = join(root, `${name}-${made++}`);
      mkdirSync(path);
      return path;
    },
    spawn(role, command, args, options = {}) {
      const child = processes.spawn(role, command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
      for (const stream of [child.stdout, child.stderr])
        stream?.on("data", (text) => appendFileSync(logOf(role), text));
      child.on("error", (error) => appendFileSync(logOf(role), `${error.message}\n`));
      return child;
    },
    tail: (role) => (existsSync(logOf(role)) ? readFileSync(logOf(role), "utf8").slice(-logTailChars) : ""),
    async end() {
      await processes.endAll(graceMs);
      clear();
    },
    kill() {
      processes.killAll();
      clear();
    },
  };
}

/** What a tool says about itself; null when it is not installed. */
export function output(command: string, args: readonly string[]): string | null {
  try {
    return execFileSync(command, args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 60_000,
    }).trim();
  } catch {
    return null;
  }
}
