/** Scripted programs of the in-memory sandboxes: what stands in for a process, and how its end is told. */
import { type CallOutcome, type ExecSpec, SandboxFailure } from "../../src/agents/ports.ts";

/** What a scripted program gets. Paths are relative to the workspace. */
export interface MemoryProcess {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly network: ExecSpec["network"];
  /** Aborted when the process is killed or its time is over. */
  readonly signal: AbortSignal;
  print(text: string): void;
  read(path: string): string | null;
  write(path: string, content: string): void;
  remove(path: string): void;
}
export type MemoryProgram = (process: MemoryProcess) => number | Promise<number>;

export interface MemoryCall {
  readonly command: string;
  readonly stop: AbortController;
  output: Uint8Array;
  outcome: CallOutcome;
  over: Promise<void>;
}
/** The tree as it is at that moment: a restore replaces it. */
export type Files = () => Map<string, string>;
const cap = 8 * 1024 * 1024;
export const chunkBytes = 64 * 1024;
const cut = new TextEncoder().encode("\n[output truncated: more than 8 MB]\n");

/** Runs to the end, the kill or the time limit. Paths of `files` are plain; `inside` makes them so. */
export async function runProgram(
  programs: ReadonlyMap<string, MemoryProgram>,
  files: Files,
  call: MemoryCall,
  spec: ExecSpec,
): Promise<void> {
  const began = Date.now();
  const timer = setTimeout(() => call.stop.abort("timed_out"), spec.timeout_ms);
  const program =
    programs.get(spec.argv.join(" ")) ?? programs.get(script(spec.argv)) ?? programs.get(spec.argv[0] ?? "");
  const missing: MemoryProgram = (process) => {
    process.print(`${process.argv[0]}: not found\n`);
    return 127;
  };
  const stopped = new Promise<null>((resolve) => call.stop.signal.addEventListener("abort", () => resolve(null)));
  const work = Promise.resolve().then(() => (program ?? missing)(processOf(files, call, spec)));
  const exit_code = await Promise.race([work.catch(() => 1), stopped]);
  clearTimeout(timer);
  const duration_ms = Date.now() - began;
  if (call.outcome.state !== "running") return;
  if (exit_code !== null) call.outcome = { state: "exited", exit_code, signal: null, duration_ms };
  else if (call.stop.signal.reason === "timed_out") call.outcome = { state: "timed_out", duration_ms };
  else call.outcome = { state: "exited", exit_code: 137, signal: "SIGKILL", duration_ms };
}

function processOf(files: Files, call: MemoryCall, spec: ExecSpec): MemoryProcess {
  return {
    argv: spec.argv,
    cwd: spec.cwd ?? ".",
    env: spec.env ?? {},
    stdin: spec.stdin ?? "",
    network: spec.network,
    signal: call.stop.signal,
    print: (text) => append(call, new TextEncoder().encode(text)),
    read: (path) => {
      const content = files().get(inside(path));
      return content === undefined ? null : new TextDecoder().decode(bytesOf(content));
    },
    write: (path, content) => files().set(inside(path), base64(new TextEncoder().encode(content))),
    remove: (path) => files().delete(inside(path)),
  };
}

function append(call: MemoryCall, bytes: Uint8Array): void {
  if (call.output.byteLength >= cap || call.outcome.state !== "running") return;
  const room = cap - call.output.byteLength;
  const parts = bytes.byteLength <= room ? [call.output, bytes] : [call.output, bytes.subarray(0, room), cut];
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  call.output = whole;
}

function script(argv: readonly string[]): string {
  const at = argv.indexOf("-c");
  return at < 0 ? "" : (argv[at + 1] ?? "");
}
/** The path without its dots; refused when it leaves the workspace. */
export function inside(path: string): string {
  const parts: string[] = [];
  const relative = path.startsWith("/workspace/") ? path.slice("/workspace/".length) : path;
  let left = relative.startsWith("/") || relative.includes("\0");
  for (const part of relative.split("/")) {
    if (part === "..") left = left || parts.pop() === undefined;
    else if (part !== "" && part !== ".") parts.push(part);
  }
  if (left) throw new SandboxFailure("bad_request", `"${path}" leaves the workspace`);
  return parts.join("/");
}
export function bytesOf(content: string): Uint8Array {
  return Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
}
export function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
