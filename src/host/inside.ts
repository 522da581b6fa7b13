/** Runs a short program of the host in a bubble of its own and collects what it says. */
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { bounds } from "./bounds.ts";
import { HostFailure } from "./failure.ts";
import { type Bubble, command } from "./launch.ts";
import type { Sandbox } from "./sandbox.ts";
import { hostEnv } from "./spawn.ts";

export interface Answer {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** It said more than was allowed and was ended. */
  readonly overflow: boolean;
}
export interface RunOptions {
  readonly stdin?: Uint8Array | string;
  readonly max_bytes?: number;
  readonly timeout_ms?: number;
}

export async function runInside(
  scratch: string,
  sandbox: Sandbox,
  bubble: Bubble,
  options: RunOptions = {},
): Promise<Answer> {
  const { file, args, status } = command(scratch, bubble);
  if (sandbox.gone) throw new HostFailure("no_such_sandbox", `sandbox "${sandbox.id}" is being destroyed`);
  const child = spawn(file, args, { env: hostEnv, cwd: "/", stdio: "pipe" });
  sandbox.helpers.add(child);
  try {
    return await collect(child, options);
  } finally {
    sandbox.helpers.delete(child);
    rmSync(status, { force: true });
  }
}

/** `child` has its three streams as pipes. */
export async function collect(child: ReturnType<typeof spawn>, options: RunOptions): Promise<Answer> {
  const max = options.max_bytes ?? 4 * 1024 * 1024;
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  const size = { out: 0, err: 0 };
  let late = false;
  child.stdout?.on("data", (bytes: Buffer) => {
    size.out += bytes.length;
    if (size.out > max) child.kill("SIGKILL");
    else out.push(bytes);
  });
  child.stderr?.on("data", (bytes: Buffer) => {
    size.err += bytes.length;
    if (size.err <= 65_536) err.push(bytes);
  });
  child.stdin?.on("error", () => {}); // It need not read what it is given.
  child.stdin?.end(options.stdin ?? "");
  const timer = setTimeout(() => {
    late = true;
    child.kill("SIGKILL");
  }, options.timeout_ms ?? bounds.git_local_ms);
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.once("error", (error) =>
        reject(new HostFailure("internal", `no process could be started: ${error.message}`, true)),
      );
      child.once("close", (exit_code) => resolve(exit_code ?? 137));
    });
    if (late) throw new HostFailure("internal", "a program of the host took too long", true);
    return { code, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString(), overflow: size.out > max };
  } finally {
    clearTimeout(timer);
  }
}
