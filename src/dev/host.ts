/**
 * The local sandbox host as a child process. If it dies it is started again on the same port with the same
 * secret; if it dies again soon after, the service stops. [START-10]
 */
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { z } from "zod";
import { StartError } from "./files.ts";
import { reasonIn, sizeOf } from "./log.ts";
import type { ProcessList } from "./processes.ts";
import { project } from "./project.ts";

const READY_WITHIN_MS = 15_000;
const STEADY_AFTER_MS = 60_000;

const readyLine = z.object({ ready: z.literal(true), port: z.number().int() });

export interface HostSpec {
  readonly processes: ProcessList;
  /** Its entry file. */
  readonly program: string;
  readonly secret: string;
  readonly sandboxes: string;
  readonly repoRoots: readonly string[];
  /** The one http origin of this machine that git may speak to; null for none. */
  readonly gitOrigin: string | null;
  readonly log: { readonly file: string; readonly fd: number };
  readonly say: (line: string) => void;
  /** Called when it is gone for good; never after `quiet`. */
  readonly lost: (line: string) => void;
}
export interface Host {
  readonly port: number;
  /** From now on its end is expected. */
  quiet(): void;
}

export async function startHost(spec: HostSpec): Promise<Host> {
  let expected = false;
  let restarts = 0;
  const watch = (child: ChildProcess, port: number): void => {
    const sinceMs = Date.now();
    child.on("exit", (code, signal) => {
      if (expected) return;
      const how = signal ?? `exit code ${code}`;
      if (Date.now() - sinceMs < STEADY_AFTER_MS && restarts > 0)
        return spec.lost(`the sandbox host ended again (${how}); see ${spec.log.file}`);
      restarts++;
      spec.say(`The sandbox host ended (${how}); starting it again.`);
      begin(spec, port).then(
        (begun) => watch(begun.child, port),
        (error: Error) => spec.lost(error.message),
      );
    });
  };
  const first = await begin(spec, 0);
  watch(first.child, first.port);
  return {
    port: first.port,
    quiet: () => {
      expected = true;
    },
  };
}

async function begin(spec: HostSpec, port: number): Promise<{ child: ChildProcess; port: number }> {
  const from = sizeOf(spec.log.file);
  const env = {
    ...process.env,
    SANDBOX_PORT: String(port),
    SANDBOX_SECRET: spec.secret,
    SANDBOX_ROOT: spec.sandboxes,
    REPO_ROOTS: spec.repoRoots.join(":"),
    GIT_ORIGIN: spec.gitOrigin ?? "",
  };
  const child = spec.processes.spawn("sandbox host", process.execPath, [spec.program], {
    cwd: project,
    env,
    stdio: ["ignore", "pipe", spec.log.fd],
  });
  const answered = await firstLine(child);
  const ready = readyLine.safeParse(answered);
  if (ready.success) return { child, port: ready.data.port };
  throw new StartError(`the sandbox host did not start: ${reasonIn(spec.log.file, from)}`);
}

/** Null when the process ends, or nothing comes in time. Later lines are read and dropped: its log is stderr. */
function firstLine(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), READY_WITHIN_MS);
    const end = (value: unknown): void => {
      clearTimeout(timer);
      resolve(value);
    };
    child.once("exit", () => end(null));
    child.once("error", () => end(null));
    if (child.stdout === null) return end(null);
    createInterface({ input: child.stdout }).on("line", (line) => {
      try {
        end(JSON.parse(line));
      } catch {
        // Not its ready line.
      }
    });
  });
}
