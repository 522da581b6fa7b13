/**
 * What a process in a sandbox sees: the system's programs read-only, /workspace, throw-away /tmp and /home,
 * no network, no capability, no other process. Pure: it builds bubblewrap's arguments and starts nothing.
 */
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { bounds } from "./bounds.ts";

/** A folder or file of the host that appears inside at `dest`. */
export interface Bind {
  readonly source: string;
  readonly dest: string;
  readonly writable: boolean;
}

const systemFolders = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
// Enough of /etc for programs to find libraries, certificates and alternatives; nothing that names a person or a secret.
const systemFiles = [
  "/etc/alternatives",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
  "/etc/ca-certificates",
  "/etc/pki",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/mime.types",
];

/** Arguments for `--args`: they travel in a file, because a command line can be read by every user of the machine. */
export function bubbleArgs(
  binds: readonly Bind[],
  env: Readonly<Record<string, string>>,
  system: "whole" | "programs",
): string[] {
  const args = ["--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--clearenv"];
  args.push("--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--ro-bind", "/usr", "/usr");
  for (const folder of systemFolders) args.push(...mirrored(folder));
  args.push("--proc", "/proc", "--dev", "/dev", "--dir", "/etc", "--dir", "/run");
  if (system === "whole") args.push(...wholeSystem());
  for (const path of system === "whole" ? ["/dev/shm", "/tmp", "/home"] : ["/tmp"]) {
    args.push("--size", String(bounds.tmpfs_bytes), "--tmpfs", path);
  }
  for (const bind of binds) args.push(bind.writable ? "--bind" : "--ro-bind", bind.source, bind.dest);
  for (const [name, value] of Object.entries(env)) args.push("--setenv", name, value);
  // Last, because everything above still makes folders in them.
  args.push("--remount-ro", "/dev", "--remount-ro", "/");
  return args;
}

/** What a build may look for and the host's own short programs do not: each mount costs them time. */
function wholeSystem(): string[] {
  const args = ["--ro-bind-try", "/opt", "/opt", "--dir", "/etc/ssl", "--symlink", "/proc/self/mounts", "/etc/mtab"];
  for (const path of systemFiles) args.push("--ro-bind-try", path, path);
  return [...args, "--symlink", "/tmp", "/var/tmp"];
}

/** /bin is a link into /usr on most systems and a folder of its own on the others. */
function mirrored(folder: string): string[] {
  if (!existsSync(folder)) return [];
  if (lstatSync(folder).isSymbolicLink()) return ["--symlink", readlinkSync(folder), folder];
  return ["--ro-bind", folder, folder];
}

export const plainEnv: Readonly<Record<string, string>> = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/home",
  USER: "agent",
  LOGNAME: "agent",
  SHELL: "/bin/bash",
  LANG: "C.UTF-8",
  TERM: "dumb",
};
