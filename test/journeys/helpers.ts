/** The whole service for a journey: started as `npm start` starts it, in a state folder of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { killGroup, readRecords } from "../../src/dev/processes.ts";
import { inProject, project } from "../../src/dev/project.ts";

const READY_WITHIN_MS = 90_000;

const readyLine = z.object({ url: z.string(), token_file: z.string(), scope: z.string() });

export interface ServiceOptions {
  /** With the sample repository and its waiting task. */
  readonly seed: boolean;
  /** Folders below which a task may name local repositories. */
  readonly repoRoots?: readonly string[];
  /** More arguments, and more of the environment: models and their keys. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}
export interface JourneyService {
  readonly url: string;
  readonly token: string;
  readonly scope: string;
  readonly state: string;
  readonly port: number;
  /** SIGKILL for every process of it at once, as a power cut would. */
  kill(): Promise<void>;
  /** Ctrl-C. Answers the exit code. */
  stop(): Promise<number | null>;
  /** Starts it again on the same state and port, after `kill` or `stop` (stops it first if it still runs). */
  restart(): Promise<void>;
  /** Stops it and removes its state folder. */
  discard(): Promise<void>;
}

export async function startService(options: ServiceOptions): Promise<JourneyService> {
  const state = mkdtempSync(join(tmpdir(), "countersign-journey-"));
  let running = await launch(state, 0, options);
  const port = Number(new URL(running.url).port);
  const stop = async (): Promise<number | null> => {
    if (running.child.exitCode === null && running.child.signalCode === null) running.child.kill("SIGTERM");
    return running.ended;
  };
  return {
    url: running.url,
    token: readFileSync(running.token_file, "utf8").trim(),
    scope: running.scope,
    state,
    port,
    async kill() {
      running.child.kill("SIGKILL");
      for (const record of readRecords(join(state, "processes.json"))) killGroup(record);
      await running.ended;
    },
    stop,
    async restart() {
      await stop();
      running = await launch(state, port, options);
    },
    async discard() {
      await stop();
      rmSync(state, { recursive: true, force: true });
    },
  };
}

interface Launched extends z.infer<typeof readyLine> {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
}

async function launch(state: string, port: number, options: ServiceOptions): Promise<Launched> {
  const args = ["--json", "--port", String(port), "--state", state];
  if (!options.seed) args.push("--no-seed");
  for (const root of options.repoRoots ?? []) args.push("--repo-root", root);
  args.push(...(options.args ?? []));
  const child = spawn(process.execPath, [inProject("src/dev/start.ts"), ...args], {
    cwd: project,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...options.env },
  });
  let said = "";
  child.stderr.on("data", (bytes: Buffer) => {
    said = (said + bytes).slice(-8_000);
  });
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  // Whoever waits for it hears only that nothing answers.
  void ended.then((code) => {
    if (code !== null && code !== 0) console.log(`the service ended by itself with ${code}: ${said}`);
  });
  const line = new Promise<string | null>((resolve) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    setTimeout(() => resolve(null), READY_WITHIN_MS).unref();
  });
  const first = await Promise.race([line, ended.then(() => null)]);
  if (first === null) {
    child.kill("SIGTERM");
    throw new Error(`the service did not start: ${said}`);
  }
  return { ...readyLine.parse(JSON.parse(first)), child, ended };
}
