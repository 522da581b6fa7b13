/** Starting, watching and ending the processes of a sandbox by the ids of whoever asked. */
import { createHash } from "node:crypto";
import { closeSync } from "node:fs";
import type { Call } from "./call.ts";
import { asFailure, HostFailure } from "./failure.ts";
import type { Host } from "./host.ts";
import { openNetwork } from "./network.ts";
import type { Input, Output } from "./protocol.ts";
import type { Sandbox } from "./sandbox.ts";
import { makePipe, type Pipe, start } from "./spawn.ts";

/** What tells one command from another. The environment is left out: a secret in it may be renewed. */
export function commandHash(...parts: unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

export async function exec(host: Host, { id, call_id, spec }: Input<"exec">): Promise<void> {
  const sandbox = host.get(id);
  const hash = commandHash(spec.argv, spec.cwd ?? ".", spec.stdin ?? "", spec.network ?? null);
  const known = sandbox.call("exec", call_id);
  if (known !== null) return known.mustBe(hash);
  const { call, folder } = sandbox.newCall("exec", call_id, hash);
  let pipe: Pipe | null = null;
  try {
    pipe = await makePipe(folder);
    await launch(host, sandbox, call, pipe, spec);
  } catch (thrown) {
    if (!call.started_once && call.live) {
      if (pipe !== null) closePipe(pipe);
      call.neverStarted(asFailure(thrown).message);
    }
    // Why it was refused is the call's outcome; only a sandbox that is gone has none.
    if (thrown instanceof HostFailure && thrown.code === "no_such_sandbox") throw thrown;
  }
}

async function launch(
  host: Host,
  sandbox: Sandbox,
  call: Call,
  pipe: Pipe,
  spec: Input<"exec">["spec"],
): Promise<void> {
  const { network } = spec;
  if (network === undefined) sandbox.touch();
  const open = network === undefined ? null : await openNetwork(host, sandbox, network);
  try {
    if (sandbox.gone) throw new HostFailure("no_such_sandbox", `sandbox "${sandbox.id}" is being destroyed`);
    const bubble = host.agentBubble(sandbox, {
      argv: open === null ? spec.argv : [...open.prefix, ...spec.argv],
      env: { ...open?.env, ...spec.env },
      binds: open?.binds ?? [],
      ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
    });
    await start(call, pipe, host.scratch, bubble, spec.timeout_ms, spec.stdin);
  } catch (thrown) {
    open?.close();
    throw thrown;
  }
  if (open !== null) void call.over.then(() => open.close());
}

function closePipe(pipe: Pipe): void {
  for (const file of [pipe.reader, pipe.writer]) closeSync(file);
}

export async function wait(host: Host, { id, call_id, offset, wait_ms }: Input<"wait">): Promise<Output<"wait">> {
  const call = host.get(id).call("exec", call_id);
  return call === null ? { outcome: { state: "unknown" }, chunk: "", next_offset: offset } : call.wait(offset, wait_ms);
}

export function outcome(host: Host, { id, call_id }: Input<"outcome">): Output<"outcome"> {
  return host.get(id).call("exec", call_id)?.outcome ?? { state: "unknown" };
}

export async function kill(host: Host, { id, call_id }: Input<"kill">): Promise<void> {
  await host.get(id).call("exec", call_id)?.kill();
}
