/**
 * The processes a start owns: each begun as the leader of its own group, written down with the time it
 * began, and ended as a group. A process id that the system has given to somebody else since is never
 * touched. [START-3] [START-4]
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { z } from "zod";
import { readJson, removeFile, StartError, writePrivate } from "./files.ts";

/** `began` is the kernel's own word for when the leader started, so a reused id does not match. */
export const processRecord = z.strictObject({ role: z.string(), pid: z.number().int(), began: z.string() });
export type ProcessRecord = z.infer<typeof processRecord>;

const KILLED_WITHIN_MS = 2_000;

interface ProcessRow {
  readonly pid: number;
  readonly group: number;
  readonly began: string;
}

/** Null when no live process has this id. A zombie is not alive. */
export function rowOf(pid: number): ProcessRow | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return null;
  }
  // The command's name stands in parentheses and may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [status, , group] = fields;
  const began = fields[19];
  if (status === undefined || status === "Z" || status === "X" || group === undefined || began === undefined)
    return null;
  return { pid, group: Number(group), began: `${bootId()}:${began}` };
}

/** What tells this process from any other that has had or will have its id; null when it is not running. */
export function beganAt(pid: number): string | null {
  return rowOf(pid)?.began ?? null;
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim().slice(0, 8);
  } catch {
    return "boot";
  }
}

function membersOf(group: number): ProcessRow[] {
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const row = /^\d+$/.test(name) ? rowOf(Number(name)) : null;
    return row !== null && row.group === group ? [row] : [];
  });
}

function ticks(began: string): number {
  return Number(began.slice(began.indexOf(":") + 1));
}

/**
 * The live processes of a recorded group. The leader may be gone while its children live on: the kernel gives
 * its number to nobody else as long as they do, so members that began no earlier than it are ours.
 */
export function survivors(record: ProcessRecord): number[] {
  const leader = rowOf(record.pid);
  if (leader !== null && leader.began !== record.began) return [];
  const boot = record.began.slice(0, record.began.indexOf(":"));
  return membersOf(record.pid)
    .filter((row) => row.began.startsWith(`${boot}:`) && ticks(row.began) >= ticks(record.began))
    .map((row) => row.pid);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Already gone: what was wanted.
  }
}

/** Asks the group to end, waits up to `graceMs`, then ends it. True when nothing of it is left. */
export async function endGroup(record: ProcessRecord, graceMs: number): Promise<boolean> {
  const members = survivors(record);
  // The leader ends its own children in good order; orphans have nobody to do that.
  const asked = members.includes(record.pid) ? [record.pid] : members;
  for (const pid of asked) signal(pid, "SIGTERM");
  await until(() => !survivors(record).some((pid) => asked.includes(pid)), graceMs);
  killGroup(record);
  return until(() => survivors(record).length === 0, KILLED_WITHIN_MS);
}

export function killGroup(record: ProcessRecord): void {
  for (const pid of survivors(record)) signal(pid, "SIGKILL");
}

async function until(holds: () => boolean, waitMs: number): Promise<boolean> {
  const endMs = Date.now() + waitMs;
  while (!holds()) {
    if (Date.now() >= endMs) return false;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return true;
}

/** The groups of one state folder, kept on disk so that the next start can end what a killed one left. */
export interface ProcessList {
  spawn(role: string, command: string, args: readonly string[], options: SpawnOptions): ChildProcess;
  records(): readonly ProcessRecord[];
  /** Ends every group, the newest first: what was started last uses what was started before. */
  endAll(graceMs: number): Promise<boolean>;
  /** Ends every group now, without asking. */
  killAll(): void;
}

export function readRecords(file: string): ProcessRecord[] {
  return readJson(file, z.array(processRecord)) ?? [];
}

export function processList(file: string): ProcessList {
  let records: ProcessRecord[] = [];
  let closed = false;
  const save = () => writePrivate(file, JSON.stringify(records));
  return {
    spawn(role, command, args, options) {
      // A stop that comes half-way through a start must not be followed by one more process.
      if (closed) throw new StartError("the service is stopping");
      const child = spawn(command, args, { ...options, detached: true });
      const began = child.pid === undefined ? null : beganAt(child.pid);
      if (child.pid !== undefined && began !== null) {
        const { pid } = child;
        records = [...records.filter((record) => survivors(record).length > 0), { role, pid, began }];
        save();
      }
      return child;
    },
    records: () => records,
    async endAll(graceMs) {
      closed = true;
      let all = true;
      for (const record of records.toReversed()) all = (await endGroup(record, graceMs)) && all;
      if (all) removeFile(file);
      return all;
    },
    killAll() {
      closed = true;
      for (const record of records) killGroup(record);
    },
  };
}

/** Ends what a killed start left behind and says how many groups that were. */
export async function endLeftovers(file: string, graceMs: number): Promise<number> {
  const left = readRecords(file).filter((record) => survivors(record).length > 0);
  for (const record of left)
    if (!(await endGroup(record, graceMs)))
      throw new StartError(
        `a left-over process of an earlier start will not end: process group ${record.pid} (${record.role})`,
      );
  removeFile(file);
  return left.length;
}
