/** Terminals: the same bubble with a pseudo terminal around it, so that job control and full-screen programs work. */
import { type IPty, spawn } from "@lydell/node-pty";
import { bounds } from "./bounds.ts";
import type { Call } from "./call.ts";
import { commandHash } from "./exec.ts";
import { asFailure, HostFailure } from "./failure.ts";
import type { Host } from "./host.ts";
import { command } from "./launch.ts";
import type { Input, Output } from "./protocol.ts";
import { hostEnv } from "./spawn.ts";

export interface Terminal {
  readonly pty: IPty;
  readonly call: Call;
}

export function openPty(host: Host, { id, pty_id, spec }: Input<"openPty">): void {
  const sandbox = host.get(id);
  const hash = commandHash(spec.argv);
  const known = sandbox.call("pty", pty_id);
  if (known !== null) {
    known.mustBe(hash);
    return;
  }
  const open = host.all().filter((other) => other.record.spec.scope_id === sandbox.record.spec.scope_id);
  const count = open.reduce((sum, other) => sum + other.terminals.size, 0);
  if (count >= bounds.ptys_per_scope) {
    throw new HostFailure("too_many", `this scope has ${bounds.ptys_per_scope} terminals open; close one first`, true);
  }
  sandbox.touch();
  const { call } = sandbox.newCall("pty", pty_id, hash);
  try {
    const bubble = host.agentBubble(sandbox, { argv: spec.argv, env: { TERM: "xterm-256color" } });
    const { file, args, status } = command(host.scratch, bubble);
    const pty = spawn(file, [...args], { cols: spec.cols, rows: spec.rows, cwd: "/", env: hostEnv, encoding: null });
    sandbox.terminals.set(pty_id, { pty, call });
    call.started({ pid: pty.pid, status }, spec.timeout_ms);
    // With `encoding: null` the bytes come as they are; the library's types know only text.
    pty.onData((data: string | Uint8Array) => call.log.append(typeof data === "string" ? Buffer.from(data) : data));
    pty.onExit(({ exitCode, signal }) => {
      sandbox.terminals.delete(pty_id);
      call.ended({ exit_code: exitCode, signal: signal === undefined || signal === 0 ? null : `signal ${signal}` });
    });
  } catch (thrown) {
    call.neverStarted(asFailure(thrown).message);
    throw thrown;
  }
}

export function terminal(host: Host, id: string, pty_id: string): Terminal {
  const found = host.get(id).terminals.get(pty_id);
  if (found === undefined) throw new HostFailure("no_such_call", `there is no open terminal "${pty_id}"`);
  return found;
}

export function writePty(host: Host, { id, pty_id }: Input<"writePty">, data: Uint8Array): void {
  // Bytes pass as they are; the type knows only text.
  terminal(host, id, pty_id).pty.write(Buffer.from(data) as unknown as string);
}

export function resizePty(host: Host, { id, pty_id, cols, rows }: Input<"resizePty">): void {
  terminal(host, id, pty_id).pty.resize(cols, rows);
}

export async function readPty(
  host: Host,
  { id, pty_id, offset, wait_ms }: Input<"readPty">,
): Promise<Output<"readPty">> {
  const call = host.get(id).call("pty", pty_id);
  return call === null ? { outcome: { state: "unknown" }, chunk: "", next_offset: offset } : call.wait(offset, wait_ms);
}
