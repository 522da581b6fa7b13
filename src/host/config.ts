/** The host's settings, read once from its environment and refused in one clear line when they cannot work. */
import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { gitOriginOf } from "../domain/repo.ts";
import { limits } from "../limits.ts";

export interface HostConfig {
  readonly port: number;
  readonly secret: string;
  readonly root: string;
  readonly repo_roots: readonly string[];
  /** The one http address git may speak to: this machine's own git server, as the deployment names it. */
  readonly git_origin: string | null;
  /** The outbound handler's address, where this host stands in a container: git's only way out. */
  readonly gate: string | null;
  /** The loopback address, or every one where only a container's own machine reaches it. */
  readonly address: "127.0.0.1" | "0.0.0.0";
  /** First of the unprivileged users sandboxes run as, one a scope. Null when the host itself is unprivileged. */
  readonly uid_base: number | null;
  /** Space one work tree may take. */
  readonly disk_mb: number;
  /** Folder where sandboxes' users find what they are given; set by the host for itself when it is root. */
  readonly stage: string | null;
}

export function readConfig(env: NodeJS.ProcessEnv): HostConfig {
  const secret = env.SANDBOX_SECRET ?? "";
  if (!/^[0-9a-f]{64}$/.test(secret)) throw new Error("SANDBOX_SECRET must be 64 hex digits (256 bit)");
  const root = env.SANDBOX_ROOT ?? "";
  if (root === "") throw new Error("SANDBOX_ROOT must name the folder sandboxes are kept in");
  return {
    port: whole(env.SANDBOX_PORT ?? "0", "SANDBOX_PORT", 65_535),
    secret,
    root: resolve(root),
    repo_roots: repoRoots(env.REPO_ROOTS ?? ""),
    git_origin: gitOrigin(env.GIT_ORIGIN ?? ""),
    gate: gateOf(env.GIT_GATE ?? ""),
    address: addressOf(env.SANDBOX_ADDRESS ?? "127.0.0.1"),
    uid_base: process.getuid?.() === 0 ? whole(env.SANDBOX_UID ?? "700000", "SANDBOX_UID", 4_000_000_000) : null,
    disk_mb: whole(env.SANDBOX_DISK_MB ?? String(limits.sandbox_disk_mb), "SANDBOX_DISK_MB", 1_000_000_000),
    stage: env.SANDBOX_STAGE ?? null,
  };
}

function whole(text: string, name: string, max: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > max)
    throw new Error(`${name} must be a whole number up to ${max}`);
  return value;
}

function gitOrigin(text: string): string | null {
  if (text === "") return null;
  const origin = gitOriginOf(text, true);
  if (origin === null)
    throw new Error("GIT_ORIGIN must be an http address of this machine, such as http://127.0.0.1:3000");
  return origin;
}

function gateOf(text: string): string | null {
  if (text === "") return null;
  if (!URL.canParse(text) || new URL(text).protocol !== "http:" || new URL(text).origin !== text)
    throw new Error("GIT_GATE must be the http address of a container's outbound handler, without a path");
  return text;
}

function addressOf(text: string): "127.0.0.1" | "0.0.0.0" {
  if (text !== "127.0.0.1" && text !== "0.0.0.0") throw new Error("SANDBOX_ADDRESS must be 127.0.0.1 or 0.0.0.0");
  return text;
}

/** Real paths, so that a link inside a root cannot lead a source outside it. */
function repoRoots(text: string): string[] {
  const roots = text.split(":").filter((path) => path !== "");
  for (const path of roots) {
    if (!isAbsolute(path)) throw new Error(`REPO_ROOTS must hold absolute folders; "${path}" is not`);
  }
  return roots.filter((path) => existsSync(path)).map((path) => realpathSync(path));
}
