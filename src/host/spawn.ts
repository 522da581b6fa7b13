/** Starts a bubble for a call. Output and errors share one pipe, so they stay in the order they were written. */
import { execFile, spawn } from "node:child_process";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Call, End } from "./call.ts";
import { type Bubble, command } from "./launch.ts";

const run = promisify(execFile);
export const hostEnv = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" };

export interface Pipe {
  readonly reader: number;
  readonly writer: number;
}

/** A named pipe, not a socket: programs that open /dev/stdout or /dev/stderr again can. */
export async function makePipe(folder: string): Promise<Pipe> {
  const path = join(folder, "pipe");
  rmSync(path, { force: true });
  await run("mkfifo", [path]);
  await chmod(path, 0o666);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  rmSync(path);
  return { reader, writer };
}

/** Resolves when the process runs or was refused; `call` learns the rest by itself. */
export async function start(
  call: Call,
  pipe: Pipe,
  scratch: string,
  bubble: Bubble,
  timeout_ms: number,
  stdin?: string,
): Promise<void> {
  const { file, args, status } = command(scratch, bubble);
  const child = spawn(file, args, {
    detached: true,
    env: hostEnv,
    cwd: "/",
    stdio: [stdin === undefined ? "ignore" : "pipe", pipe.writer, pipe.writer],
  });
  closeSync(pipe.writer);
  const drained = drain(call, pipe.reader);
  const gone = new Promise<End>((resolve) => child.once("exit", (exit_code, signal) => resolve({ exit_code, signal })));
  const spawned = await new Promise<Error | null>((resolve) => {
    child.once("spawn", () => resolve(null));
    child.once("error", resolve);
  });
  if (spawned !== null || child.pid === undefined)
    return call.neverStarted(`no process could be started: ${spawned?.message}`);
  call.started({ pid: child.pid, status }, timeout_ms);
  child.stdin?.on("error", () => {}); // It need not read what it is given.
  child.stdin?.end(stdin);
  void Promise.all([gone, drained]).then(([end]) => call.ended(end));
}

function drain(call: Call, reader: number): Promise<void> {
  const socket = new Socket({ fd: reader, readable: true, writable: false });
  socket.on("data", (bytes) => call.log.append(bytes));
  return new Promise((resolve) => {
    socket.once("close", () => resolve());
    socket.once("error", () => socket.destroy());
  });
}
