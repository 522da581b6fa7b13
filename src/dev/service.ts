/**
 * Brings the whole local service up, in an order in which each part finds what it needs, and takes it down
 * again. Whatever fails on the way up, nothing that was started stays. [START-1] [START-13]
 */
import { closeSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, resolve } from "node:path";
import type { Client } from "../cli/client.ts";
import { gitOriginOf } from "../domain/repo.ts";
import { removeFile, StartError, writePrivate } from "./files.ts";
import type { StartFlags } from "./flags.ts";
import { startHost } from "./host.ts";
import { openLog } from "./log.ts";
import { buildPage } from "./page.ts";
import { requireTools } from "./prerequisites.ts";
import { endLeftovers, processList } from "./processes.ts";
import { inProject, project } from "./project.ts";
import { makeSample, sampleStands } from "./sample.ts";
import { envFile, localSecrets } from "./secrets.ts";
import { type Seeded, seed } from "./seed.ts";
import { lock, type StateFolder, stateFolder } from "./state.ts";
import { freePort, migrate, startWorker, sweepEachMinute } from "./worker.ts";

/** Two parts, each asked to end and then ended, within the ten seconds a person is willing to wait. */
const STOP_GRACE_MS = 3_000;
const LEFTOVER_GRACE_MS = 2_000;

export interface Service {
  readonly url: string;
  readonly folder: StateFolder;
  readonly seeded: Seeded;
  readonly client: Client;
  /** Ends everything that was started. May be called twice. */
  stop(): Promise<void>;
  /** Ends everything now, without asking. */
  kill(): void;
  /** Settles with the reason when the service cannot go on by itself; never rejects. */
  readonly lost: Promise<string>;
}

/** What must be undone, newest last. */
type Undo = () => unknown;

export async function bringUp(
  flags: StartFlags,
  say: (line: string) => void,
  early?: (stop: () => Promise<void>) => void,
  /** More of the Worker's variables; they stand in a file that only its owner may read. */
  more: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const undo: Undo[] = [];
  let stopped: Promise<void> | null = null;
  const stop = () => {
    stopped ??= takeDown(undo);
    return stopped;
  };
  early?.(stop);
  try {
    return await bringUpParts(flags, say, undo, stop, more);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function takeDown(undo: Undo[]): Promise<void> {
  for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
}

async function bringUpParts(
  flags: StartFlags,
  say: (line: string) => void,
  undo: Undo[],
  stop: () => Promise<void>,
  more: Readonly<Record<string, string>>,
): Promise<Service> {
  const roots = namedRoots(flags.repoRoots);
  requireTools(["git", "bwrap"], say);
  const folder = stateFolder(flags.state);
  const held = lock(folder);
  undo.push(() => held.release());
  // Keys of the environment stand in it, which shall not outlive this service.
  undo.push(() => removeFile(folder.vars));
  const left = await endLeftovers(folder.processes, LEFTOVER_GRACE_MS);
  if (left > 0) say(`Ended ${left} left-over process ${left === 1 ? "group" : "groups"} of an earlier start.`);
  removeFile(folder.service);

  const port = await freePort(flags.port);
  const secrets = localSecrets(folder);
  const fd = openLog(folder.log);
  undo.push(() => closeSync(fd));
  const processes = processList(folder.processes);
  undo.push(() => processes.endAll(STOP_GRACE_MS));

  // Before the host starts: it only believes in folders that stand.
  if (flags.seed && !sampleStands(folder.sample)) {
    say("Making the sample repository ...");
    makeSample(folder.sample);
  }
  let lose: (line: string) => void = () => undefined;
  const lost = new Promise<string>((tell) => {
    lose = tell;
  });
  say("Starting the sandbox host ...");
  const host = startHost({
    processes,
    program: inProject("src/host/main.ts"),
    secret: secrets.SANDBOX_SECRET,
    sandboxes: folder.sandboxes,
    repoRoots: repoRoots({ repoRoots: roots }, folder),
    gitOrigin: gitOriginOf(more.GITHUB_URL, true),
    log: { file: folder.log, fd },
    say,
    lost: lose,
  });
  undo.push(() => host.then((up) => up.quiet()).catch(() => undefined));
  const [{ port: hostPort }] = await Promise.all([host, migrate(processes, folder, fd, say), buildPage(say)]);
  writePrivate(folder.vars, envFile({ ...more, SANDBOX: "local", SANDBOX_URL: `http://127.0.0.1:${hostPort}` }));

  say("Starting the Worker ...");
  const worker = await startWorker({ processes, folder, port, fd, lost: lose });
  undo.push(() => worker.quiet());
  const seeded = await seed(worker.url, secrets.COUNTERSIGN_ADMIN_TOKEN, folder, { sample: flags.seed, say });
  const sweeps = sweepEachMinute(worker.url);
  undo.push(() => sweeps.stop());
  announce(folder, worker.url, seeded, undo);
  return { url: worker.url, folder, seeded, client: seeded.client, stop, kill: () => processes.killAll(), lost };
}

function announce(folder: StateFolder, url: string, seeded: Seeded, undo: Undo[]): void {
  writePrivate(
    folder.service,
    JSON.stringify({ url, scope: seeded.scope, token_file: folder.token, pid: process.pid }),
  );
  undo.push(() => removeFile(folder.service));
}

/**
 * Local repositories a task may name stand below one of these. The sample always may; otherwise the person's
 * own folders, since whoever reaches this service locally is that person.
 */
export function repoRoots(flags: Pick<StartFlags, "repoRoots">, folder: Pick<StateFolder, "sample">): string[] {
  const chosen =
    flags.repoRoots.length > 0 ? flags.repoRoots.map((dir) => resolve(dir)) : [homedir(), dirname(project)];
  return [...new Set([folder.sample, ...chosen])].filter((dir) => dir !== "/");
}

/** The folders of `--repo-root`, each of which must stand: one that is mistyped would allow nothing, silently. */
export function namedRoots(dirs: readonly string[]): string[] {
  return dirs.map((dir) => {
    const path = resolve(dir);
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw new StartError(`--repo-root ${dir}: there is no folder ${path}. Name a folder that stands`);
    // The sandbox host is told of all of them in one text, with colons in between.
    if (path.includes(":"))
      throw new StartError(`--repo-root ${dir}: a folder with a colon in its path cannot be used`);
    return path;
  });
}
