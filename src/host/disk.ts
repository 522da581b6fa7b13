/**
 * Keeps one sandbox from filling the disk for all: when free space falls fast, or runs out, the work trees of sandboxes
 * that are running something are measured, and those over their share have their processes ended.
 */
import { execFile } from "node:child_process";
import { statfs } from "node:fs/promises";
import { promisify } from "node:util";
import { bounds } from "./bounds.ts";
import type { Host } from "./host.ts";
import type { Sandbox } from "./sandbox.ts";

const run = promisify(execFile);

export function watchDisk(host: Host): void {
  const { disk_mb } = host.config;
  const step_bytes = Math.min(bounds.disk_step_bytes, (disk_mb * 1024 * 1024) / 4);
  let best_free = 0;
  let surveyed_ms = 0;
  const look = async () => {
    const { bavail, bsize } = await statfs(host.config.root);
    const free = bavail * bsize;
    best_free = Math.max(best_free, free);
    const due =
      best_free - free > step_bytes ||
      free < bounds.disk_floor_bytes ||
      Date.now() - surveyed_ms > bounds.disk_survey_ms;
    if (!due) return;
    best_free = free;
    surveyed_ms = Date.now();
    // When the disk itself is nearly full everybody's share is small.
    const max_mb = free < bounds.disk_floor_bytes ? disk_mb / 8 : disk_mb;
    for (const sandbox of host.all().filter(isBusy)) await hold(sandbox, max_mb);
  };
  const again = () => {
    setTimeout(() => {
      void look()
        .catch((error: unknown) => console.error(error))
        .finally(again);
    }, bounds.disk_poll_ms).unref();
  };
  again();
}

function isBusy(sandbox: Sandbox): boolean {
  return !sandbox.gone && [...sandbox.calls].some((call) => call.live);
}

async function hold(sandbox: Sandbox, max_mb: number): Promise<void> {
  const { stdout } = await run("du", ["-sxm", "--", sandbox.work]).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? "", // Files that vanish while it counts make it fail, and it prints the sum all the same.
  }));
  const used_mb = Number(stdout.split("\t")[0]);
  if (!(used_mb > max_mb)) return;
  for (const call of sandbox.calls) {
    if (!call.live) continue;
    call.log.append(Buffer.from(`\n[ended: the workspace holds ${used_mb} MB, and ${max_mb} MB are allowed]\n`));
    await call.kill().catch(() => {});
  }
}
