/**
 * The state folder: everything a local service keeps, in one place, readable by its owner only, and
 * used by one start at a time. [START-1] [START-2]
 */
import { existsSync, linkSync, mkdirSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { readJson, readText, removeFile, StartError, sentence } from "./files.ts";
import { beganAt } from "./processes.ts";

export interface StateFolder {
  readonly root: string;
  readonly lock: string;
  readonly processes: string;
  readonly secrets: string;
  readonly vars: string;
  readonly token: string;
  readonly service: string;
  readonly seed: string;
  readonly persist: string;
  readonly sandboxes: string;
  readonly sample: string;
  readonly log: string;
}

export function stateFolder(dir: string): StateFolder {
  const wanted = resolve(dir);
  try {
    mkdirSync(wanted, { recursive: true, mode: 0o700 });
    const root = realpathSync(wanted);
    const at = (name: string) => join(root, name);
    // A folder that was there before keeps its own mode, so what programs write below is shut off here.
    for (const name of ["persist", "wrangler-logs"]) mkdirSync(at(name), { recursive: true, mode: 0o700 });
    return {
      root,
      lock: at("lock"),
      processes: at("processes.json"),
      secrets: at("secrets.env"),
      vars: at("vars.env"),
      token: at("token"),
      service: at("service.json"),
      seed: at("seed.json"),
      persist: at("persist"),
      sandboxes: at("sandboxes"),
      sample: at("sample"),
      log: at("service.log"),
    };
  } catch (error) {
    throw new StartError(`the state folder ${wanted} cannot be used: ${sentence(error)}`);
  }
}

const holder = z.strictObject({ pid: z.number().int(), began: z.string() });

/** Takes the folder for this process, or says who has it. A lock whose process is gone is taken over. */
export function lock(folder: StateFolder): { release(): void } {
  const mine = JSON.stringify({ pid: process.pid, began: beganAt(process.pid) ?? "" });
  const draft = `${folder.lock}.${process.pid}`;
  writeFileSync(draft, mine, { mode: 0o600 });
  try {
    for (let tries = 0; tries < 5; tries++) {
      if (linked(draft, folder.lock)) return { release: () => release(folder.lock, mine) };
      const held = readText(folder.lock);
      if (held === null) continue;
      const pid = alive(held);
      if (pid !== null) throw new StartError(inUse(folder, pid));
      takeAway(folder.lock, held);
    }
    throw new StartError(`the lock ${folder.lock} changes hands too fast: is something else starting here?`);
  } finally {
    removeFile(draft);
  }
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch {
    if (existsSync(to)) return false;
    throw new StartError(`the lock ${to} cannot be written`);
  }
}

function alive(held: string): number | null {
  try {
    const { pid, began } = holder.parse(JSON.parse(held));
    return beganAt(pid) === began ? pid : null;
  } catch {
    return null;
  }
}

/** Moves a stale lock aside; had another start put its own there in the meantime, that one is put back. */
function takeAway(file: string, stale: string): void {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  if (readText(aside) !== stale) linked(aside, file);
  removeFile(aside);
}

function release(file: string, mine: string): void {
  if (readText(file) === mine) removeFile(file);
}

function inUse(folder: StateFolder, pid: number): string {
  const running = readJson(folder.service, serviceRecord);
  const where = running === null ? "" : ` at ${running.url}`;
  return `this state folder is in use: a service runs${where} (process ${pid}). Stop it, or start beside it: npm start -- --state DIR --port N`;
}

/** What the command line reads to find the local service. */
export const serviceRecord = z.strictObject({
  url: z.string(),
  scope: z.string(),
  token_file: z.string(),
  pid: z.number().int(),
});
