/**
 * Runs scripts with the real bash, in a throw-away folder, where every program on the path is a stub that writes its
 * words into a log. Wrappers (`env`, `xargs`, `sh` ...) write theirs and then are the real ones.
 */
import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const stubs = ["p0", "p1", "p2", "p4", "p5", "cat"] as const;
const failing = ["p3"] as const;
const wrappers = ["env", "nice", "timeout", "nohup", "setsid", "stdbuf", "xargs", "find", "sh", "dash", "bash", "time"];
const limit_ms = 20_000;
/**
 * Takes scripts, each ended by a NUL, and runs each in a bash of its own, with small bounds on what it may use up. All
 * that a script starts holds descriptor 8, also when it goes on by itself: the script has ended when the last let go.
 */
const driver = `ulimit -t 5 -f 1024
while IFS= read -r -d '' script; do
  held=$(exec /bin/bash --norc --noprofile -c "$script" 8>&1 >/dev/null 2>&1 </dev/null)
  echo ended
done`;

export interface Ran {
  /** Words of every program that was started, its name first and without its folder. */
  readonly argvs: readonly (readonly string[])[];
  /** Files that it left in its folder. */
  readonly files: readonly string[];
  /** It did not end by itself. */
  readonly late: boolean;
}
export interface Ground {
  run(script: string): Promise<Ran>;
  end(): void;
}

export function standOn(): Ground {
  const root = mkdtempSync(join(tmpdir(), "shell-oracle-"));
  const [bin, work, log] = [join(root, "bin"), join(root, "work"), join(root, "log")];
  mkdirSync(work);
  layStubs(bin, log);
  let running: ChildProcess | null = null;
  const start = () => {
    const child = spawn("/bin/bash", ["--norc", "--noprofile", "-c", driver], {
      // Nothing of this process's environment, and a group of its own that can be ended as one.
      ...{ cwd: work, env: { PATH: bin, HOME: work }, detached: true },
      stdio: ["pipe", "pipe", "ignore"],
    });
    // A driver lives as long as its time of CPU: one that ends as it is written to is seen by its end.
    child.stdin.on("error", () => {});
    return child;
  };
  const kill = () => {
    const pid = running?.exitCode === null ? running.pid : undefined;
    running = null;
    try {
      if (pid !== undefined) process.kill(-pid, "SIGKILL");
    } catch (error) {
      // It ended by itself, and nobody here has heard so yet.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  };
  return {
    run: async (script) => {
      writeFileSync(log, "");
      if (running !== null && (running.exitCode !== null || running.signalCode !== null)) running = null;
      running ??= start();
      const late = !(await ended(running, script));
      if (late) kill();
      const files = readdirSync(work);
      for (const file of files) rmSync(join(work, file), { recursive: true, force: true });
      return { argvs: argvsIn(readFileSync(log, "utf8")), files, late };
    },
    end: () => {
      kill();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function layStubs(bin: string, log: string): void {
  mkdirSync(bin);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is shell
  const note = `printf '%s\\0' "$#" "${"${0##*/}"}" "$@" >>${log}`;
  writeFileSync(join(bin, ".ok"), `#!/bin/sh\n${note}\n`, { mode: 0o755 });
  writeFileSync(join(bin, ".fails"), `#!/bin/sh\n${note}\nexit 1\n`, { mode: 0o755 });
  for (const name of stubs) symlinkSync(".ok", join(bin, name));
  for (const name of failing) symlinkSync(".fails", join(bin, name));
  for (const name of wrappers) {
    const path = ["/usr/bin", "/bin"].map((folder) => join(folder, name)).find((file) => existsSync(file));
    if (path === undefined) symlinkSync(".ok", join(bin, name));
    else writeFileSync(join(bin, name), `#!/bin/sh\n${note}\nexec ${path} "$@"\n`, { mode: 0o755 });
  }
}

/** False when it did not end in time, or took the driver with it. */
function ended(child: ChildProcess, script: string): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (inTime: boolean) => () => {
      clearTimeout(timer);
      child.stdout?.removeAllListeners("data");
      child.removeAllListeners("close");
      resolve(inTime);
    };
    const timer = setTimeout(done(false), limit_ms);
    child.stdout?.once("data", done(true));
    child.once("close", done(false));
    child.stdin?.write(`${script}\0`);
  });
}

/** Each entry: how many words follow the name, the name, the words; each ended by a NUL. */
function argvsIn(log: string): string[][] {
  const parts = log.split("\0");
  const found: string[][] = [];
  for (let at = 0; at + 1 < parts.length; ) {
    const count = Number(parts[at]);
    if (!Number.isInteger(count)) throw new Error(`the log cannot be read at ${at}`);
    found.push(parts.slice(at + 1, at + 2 + count));
    at += 2 + count;
  }
  return found;
}
