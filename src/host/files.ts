/**
 * Reading and writing single files of a workspace. The work is done by programs inside a bubble: whatever links
 * an agent lays, and however fast it swaps them, they lead nowhere but to what that sandbox may see anyway. A
 * path that leaves the workspace is refused all the same.
 */
import { posix } from "node:path";
import { bounds } from "./bounds.ts";
import { HostFailure } from "./failure.ts";
import type { Host } from "./host.ts";
import { type Answer, runInside } from "./inside.ts";
import type { Input, Output } from "./protocol.ts";
import type { Sandbox } from "./sandbox.ts";

const outside = 40;
const inGit = 44;
const missing = 41;
const wrongKind = 42;
const tooLarge = 43;
// $1 is the path. `real` follows links to the end; `place` keeps the last name as it is, to remove a link itself.
const real = `p=$(realpath -m -- "$1") || exit ${outside}; case $p in /workspace|/workspace/*) ;; *) exit ${outside};; esac;`;
const place = `d=$(realpath -m -- "$(dirname -- "$1")") || exit ${outside}; case $d in /workspace|/workspace/*) ;; *) exit ${outside};; esac; p=$d/$(basename -- "$1");`;
// What git would run is written by git alone, whatever link or spelling leads there.
const notGit = `case $p/ in */.[gG][iI][tT]/*) exit ${inGit};; esac;`;
const scripts = {
  read: `${real} [ -e "$p" ] || exit ${missing}; [ -f "$p" ] || exit ${wrongKind}; [ "$(stat -c %s -- "$p")" -le ${bounds.file_read_bytes} ] || exit ${tooLarge}; exec cat -- "$p"`,
  write: `${real} ${notGit} [ -d "$p" ] && exit ${wrongKind}; [ ! -e "$p" ] || [ -f "$p" ] || exit ${wrongKind}; mkdir -p -- "$(dirname -- "$p")" && exec cat > "$p"`,
  list: `${real} [ -e "$p" ] || exit ${missing}; [ -d "$p" ] || exit ${wrongKind}; exec find "$p/" -mindepth 1 -maxdepth 1 -printf '%y %s %f\\0'`,
  remove: `${place} ${notGit} exec rm -rf -- "$p"`,
};

export async function readFile(host: Host, { id, path }: Input<"read">): Promise<Buffer> {
  return (await act(host, host.get(id), "read", path)).stdout;
}

export async function writeFile(host: Host, { id, path }: Input<"write">, content: Uint8Array): Promise<void> {
  const sandbox = host.get(id);
  sandbox.touch();
  await act(host, sandbox, "write", path, content);
}

export async function listFolder(host: Host, { id, path }: Input<"list">): Promise<Output<"list">> {
  const { stdout } = await act(host, host.get(id), "list", path);
  const entries = stdout.toString().split("\0").filter(Boolean).slice(0, bounds.list_entries);
  const read = entries.map((entry) => {
    const [type = "", size = "0"] = entry.split(" ", 2);
    const name = entry.slice(type.length + size.length + 2);
    const kind = type === "f" ? "file" : type === "d" ? "directory" : "other";
    return { name, kind, size: kind === "file" ? Number(size) : 0 } as const;
  });
  return read.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export async function removePath(host: Host, { id, path }: Input<"remove">): Promise<void> {
  const sandbox = host.get(id);
  if (absolute(path) === "/workspace") throw new HostFailure("bad_request", "the workspace itself cannot be removed");
  sandbox.touch();
  await act(host, sandbox, "remove", path);
}

async function act(
  host: Host,
  sandbox: Sandbox,
  what: keyof typeof scripts,
  path: string,
  stdin?: Uint8Array,
): Promise<Answer> {
  const inside = absolute(path);
  const bubble = host.helperBubble(sandbox, {
    argv: ["/bin/sh", "-c", scripts[what], "sh", inside],
    binds: [{ source: sandbox.work, dest: "/workspace", writable: what === "write" || what === "remove" }],
  });
  const answer = await runInside(host.scratch, sandbox, bubble, {
    max_bytes: bounds.file_read_bytes,
    timeout_ms: bounds.file_operation_ms,
    ...(stdin === undefined ? {} : { stdin }),
  });
  if (answer.code !== 0) throw refusal(answer, path);
  return answer;
}

/** Relative to the workspace, or absolute within it. */
function absolute(path: string): string {
  const whole = posix.resolve("/workspace", path);
  if (whole === "/workspace" || whole.startsWith("/workspace/")) return whole;
  throw new HostFailure("bad_request", `"${path}" leaves the workspace`);
}

function refusal(answer: Answer, path: string): HostFailure {
  if (answer.overflow || answer.code === tooLarge) {
    return new HostFailure("bad_request", `"${path}" is larger than ${bounds.file_read_bytes} bytes`);
  }
  if (answer.code === outside) return new HostFailure("bad_request", `"${path}" leaves the workspace`);
  if (answer.code === inGit) return new HostFailure("bad_request", `"${path}" is inside a git directory`);
  if (answer.code === missing) return new HostFailure("bad_request", `"${path}" does not exist`);
  if (answer.code === wrongKind) return new HostFailure("bad_request", `"${path}" is of another kind than asked for`);
  return new HostFailure("bad_request", `"${path}": ${answer.stderr.trim().slice(0, 300) || "it could not be done"}`);
}
