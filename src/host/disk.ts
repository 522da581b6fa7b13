/**
 * Keeps one sandbox from filling the disk for all: when free space falls fast, or runs out, the work trees of sandboxes
 * that are running something are measured, and those over their share have their processes ended.
 */
import { execFile } from "node:child_process";
import { statfs } from "node:fs/promises";
import { promisify } from "node:util";
import { limits } from "../limits.ts";
import { bounds } from "./bounds.ts";
import type { Host } from "./host.ts";
import type { Sandbox } from "./sandbox.ts";

const run = promisify(execFile);

export function watchDisk(host: Host): void {
  let free_at_survey = Number.POSITIVE_INFINITY;
  let surveyed_ms = 0;
  let busy = false;
  const look = async () => {
    const { bavail, bsize } = await statfs(host.config.root);
    const free = bavail * bsize;
    free_at_survey = Math.max(free_at_survey === Number.POSITIVE_INFINITY ? free : free_at_survey, free);
    const fell = free_at_survey - free > bounds.disk_step_bytes;
    if (!fell && free > bounds.disk_floor_bytes && Date.now() - surveyed_ms < bounds.disk_survey_ms) return;
    free_at_survey = free;
    surveyed_ms = Date.now();
    const short = free < bounds.disk_floor_bytes;
    for (const sandbox of host.all().filter(isBusy))
      await hold(sandbox, short ? limits.sandbox_disk_mb / 8 : limits.sandbox_disk_mb);
  };
  setInterval(() => {
    if (busy) return;
    busy = true;
    void look()
      .catch((error: unknown) => console.error(error))
      .finally(() => {
        busy = false;
      });
  }, bounds.disk_poll_ms).unref();
}

function isBusy(sandbox: Sandbox): boolean {
  return !sandbox.gone && [...sandbox.calls].some((call) => call.live);
}

async function hold(sandbox: Sandbox, max_mb: number): Promise<void> {
  const { stdout } = await run("du", ["-sxm", "--", sandbox.work]).catch((error: { stdout?: string }) => ({
    stdout: error.stdout ?? "",
  }));
  const used_mb = Number(stdout.split("\t")[0]);
  if (!(used_mb > max_mb)) return;
  for (const call of sandbox.calls) {
    if (!call.live) continue;
    call.log.append(Buffer.from(`\n[ended: the workspace holds ${used_mb} MB, and ${max_mb} MB are allowed]\n`));
    await call.kill().catch(() => {});
  }
}
