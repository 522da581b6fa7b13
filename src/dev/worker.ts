/** The Worker as a child process: its database brought up to date, then served on one port. [START-11] [START-12] */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, statfsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readText, StartError, writePrivate } from "./files.ts";
import { reasonIn, sizeOf } from "./log.ts";
import type { ProcessList } from "./processes.ts";
import { inProject, project, toolEnv } from "./project.ts";
import type { StateFolder } from "./state.ts";

const READY_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 5_000;
/** So many looks without any answer in a row, each of at most five seconds: a machine that is only busy answers one. */
const MOST_SILENT_LOOKS = 6;

/** With less than this left on its disk a database refuses to write. */
const LEAST_FREE_BYTES = 4 * 1024 * 1024;

/** What a person should do about a Worker that is gone: a full disk is the one cause that can be seen from here. */
export function whyLost(folder: Pick<StateFolder, "root" | "log">, free_bytes = freeBytes(folder.root)): string {
  if (free_bytes < LEAST_FREE_BYTES)
    return `: no room is left on the disk of ${folder.root}. Free some, then start it again; nothing that was answered is lost`;
  return `; see ${folder.log}. Start it again with npm start: unfinished work goes on`;
}
function freeBytes(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}

export interface WorkerSpec {
  readonly processes: ProcessList;
  readonly folder: StateFolder;
  readonly port: number;
  readonly fd: number;
  readonly lost: (line: string) => void;
}
export interface Worker {
  readonly url: string;
  /** From now on its end is expected. */
  quiet(): void;
}

export async function startWorker(spec: WorkerSpec): Promise<Worker> {
  const { folder, port } = spec;
  const from = sizeOf(folder.log);
  const args = [inProject("src/dev/worker-process.ts"), String(port), folder.persist, folder.secrets, folder.vars];
  const child = spec.processes.spawn("worker", process.execPath, args, {
    cwd: project,
    env: toolEnv(folder.root),
    stdio: ["ignore", spec.fd, spec.fd],
  });
  let expected = false;
  let ended = false;
  let ready = false;
  child.on("exit", (code, signal) => {
    ended = true;
    if (!expected && ready) spec.lost(`the Worker's server ended (${signal ?? `exit code ${code}`})${whyLost(folder)}`);
  });
  const url = `http://127.0.0.1:${port}`;
  const until = Date.now() + READY_WITHIN_MS;
  while (!(await healthy(url))) {
    if (ended)
      throw new StartError(
        freeBytes(folder.root) < LEAST_FREE_BYTES
          ? `the Worker did not start${whyLost(folder)}`
          : `the Worker did not start: ${reasonIn(folder.log, from)} (all of it: ${folder.log})`,
      );
    if (Date.now() > until)
      throw new StartError(`the Worker did not answer within a minute: ${reasonIn(folder.log, from)}`);
    await sleep(50);
  }
  ready = true;
  const watch = watchAnswers({
    answers: () => answers(url),
    every_ms: LOOK_EVERY_MS,
    silent: () => {
      if (!expected && !ended) spec.lost(`the Worker answers nothing any more${whyLost(folder)}`);
    },
  });
  return {
    url,
    quiet: () => {
      expected = true;
      watch.stop();
    },
  };
}

/**
 * Calls `silent` once, after as many looks in a row brought no answer. The server process can outlive the runtime
 * behind it, and would then be waited on for ever.
 */
export function watchAnswers(watched: { answers: () => Promise<boolean>; every_ms: number; silent: () => void }): {
  stop(): void;
} {
  let silent = 0;
  let looking = false;
  const timer = setInterval(async () => {
    if (looking) return;
    looking = true;
    silent = (await watched.answers()) ? 0 : silent + 1;
    looking = false;
    if (silent < MOST_SILENT_LOOKS) return;
    clearInterval(timer);
    watched.silent();
  }, watched.every_ms);
  return { stop: () => clearInterval(timer) };
}

/** Any answer at all, whatever it says. */
async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
}

async function healthy(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** `wrangler dev` fires no cron: this does, now and each minute, and never mind one that fails. */
export function sweepEachMinute(url: string): { stop(): void } {
  const sweep = () =>
    fetch(`${url}/cdn-cgi/handler/scheduled`, { signal: AbortSignal.timeout(30_000) }).then(
      (response) => response.body?.cancel(),
      () => undefined,
    );
  void sweep();
  const timer = setInterval(sweep, 60_000);
  return { stop: () => clearInterval(timer) };
}

/**
 * Applies what is new among the migrations. What was applied is remembered beside the data itself, so that a
 * start with nothing to do does not pay for asking.
 */
export async function migrate(
  processes: ProcessList,
  folder: StateFolder,
  fd: number,
  say: (line: string) => void,
): Promise<void> {
  const mark = join(folder.persist, "migrations.applied");
  const newest = migrationsMark(inProject("migrations"));
  if (newest === null || readText(mark) === newest) return;
  say("Bringing the database up to date ...");
  const from = sizeOf(folder.log);
  const args = ["d1", "migrations", "apply", "countersign", "--local", "--persist-to", folder.persist];
  const child = processes.spawn(
    "migrations",
    process.execPath,
    [inProject("node_modules/wrangler/bin/wrangler.js"), ...args],
    {
      cwd: project,
      env: toolEnv(folder.root),
      stdio: ["ignore", fd, fd],
    },
  );
  const code = await new Promise<number | null>((resolve) => {
    child.on("exit", resolve);
    child.on("error", () => resolve(null));
  });
  if (code !== 0)
    throw new StartError(`the database migrations failed: ${reasonIn(folder.log, from)} (all of it: ${folder.log})`);
  mkdirSync(folder.persist, { recursive: true });
  writePrivate(mark, newest);
}

/** Names and contents of all migrations as one hash; null when there are none. */
export function migrationsMark(dir: string): string | null {
  const names = readdirSync(dir)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  if (names.length === 0) return null;
  const hash = createHash("sha256");
  for (const name of names) hash.update(`${name}\0${readText(join(dir, name))}\0`);
  return hash.digest("hex");
}

/** The port asked for, if nobody listens there; any free one for 0. */
export function freePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", (error: NodeJS.ErrnoException) => {
      const why = error.code === "EADDRINUSE" ? "is taken" : `cannot be used (${error.code})`;
      reject(
        new StartError(
          `port ${wanted} ${why}. Choose another: npm start -- --port ${wanted === 65_535 ? 8788 : wanted + 1}`,
        ),
      );
    });
    server.listen(wanted, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : wanted;
      server.close(() => resolve(port));
    });
  });
}
