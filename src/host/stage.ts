/**
 * A host that is root hands its folders to sandboxes that are not. So that these need no right to walk the way there
 * (the folder may stand below /root, and other users of the machine shall not look in), the host moves into a mount
 * space of its own, where its folders also appear at a place everybody may walk to. Seen from outside nothing changes.
 */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { HostConfig } from "./config.ts";

/** Folders of the root that appear on the stage; work trees stand in `.runtime`. */
export const stagedFolders = ["git", "mirrors", "caches", "scratch", "etc", ".runtime"] as const;

/** Where a path of the host is seen by a sandbox's user. */
export function onStage(config: HostConfig, path: string): string {
  if (config.stage === null) return path;
  for (const name of stagedFolders) {
    const folder = `${join(config.root, name)}/`;
    if (path.startsWith(folder)) return join(config.stage, name, path.slice(folder.length));
  }
  if (path === process.execPath) return join(config.stage, "node");
  if (path === forwardPath) return join(config.stage, "forward.ts");
  throw new Error(`${path} is not on the stage`);
}
export const forwardPath = join(import.meta.dirname, "forward.ts");

/** Becomes itself again inside the new mount space: same process, same environment. Returns when that is not needed. */
export function takeStage(config: HostConfig): void {
  if (config.uid_base === null || config.stage !== null) return;
  const used = [config.root, process.execPath, import.meta.dirname, ...config.repo_roots];
  const free = (place: string) => existsSync(place) && !used.some((path) => `${path}/`.startsWith(`${place}/`));
  const places = ["/srv", "/mnt", "/media"].filter(free);
  // What stands in it is out of the host's sight from here on, so an empty one is best.
  const stage = places.find((place) => readdirSync(place).length === 0) ?? places[0];
  if (stage === undefined)
    throw new Error("the sandbox host needs one of /mnt, /srv and /media to be a folder it does not use");
  if (process.execve === undefined) throw new Error("the sandbox host needs Node 24");
  const lines = ["set -e", `mount -t tmpfs -o size=1m,mode=755 none ${stage}`];
  for (const name of stagedFolders) {
    mkdirSync(join(config.root, name), { recursive: true, mode: 0o755 });
    lines.push(`mkdir ${stage}/${name}`, `mount --bind "$1"/${name} ${stage}/${name}`);
  }
  lines.push(
    `touch ${stage}/node ${stage}/forward.ts`,
    `mount --bind "$2" ${stage}/node`,
    `mount --bind "$3" ${stage}/forward.ts`,
  );
  lines.push('exec "$2" --disable-warning=ExperimentalWarning "$4"');
  const main = join(import.meta.dirname, "main.ts");
  const shell = ["/bin/sh", "-c", lines.join("\n"), "sh", config.root, process.execPath, forwardPath, main];
  process.execve("/usr/bin/unshare", ["unshare", "--mount", "--propagation", "private", "--", ...shell], {
    ...process.env,
    SANDBOX_STAGE: stage,
  });
}
