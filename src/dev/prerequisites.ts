/**
 * What a machine must have before the service can start: git and bubblewrap. Root on Debian gets them
 * installed and is told so; everybody else is told the exact command. [START-7]
 */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { StartError } from "./files.ts";

export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly root: boolean;
  /** Words of ID and ID_LIKE in /etc/os-release. */
  readonly family: readonly string[];
}

/** Tool -> the package that brings it, under the same name in every distribution named here. */
const tools = { git: "git", bwrap: "bubblewrap", chromium: "chromium", "cmark-gfm": "cmark-gfm" } as const;
export type Tool = keyof typeof tools;

const installers: readonly (readonly [family: string, command: string])[] = [
  ["debian", "apt-get install -y --no-install-recommends"],
  ["fedora", "dnf install -y"],
  ["suse", "zypper install -y"],
  ["arch", "pacman -S --needed"],
  ["alpine", "apk add"],
];

export type Plan =
  | { readonly do: "nothing" }
  | { readonly do: "install"; readonly packages: readonly string[] }
  | { readonly do: "stop"; readonly line: string };

export function planFor(machine: Machine, missing: readonly Tool[]): Plan {
  if (machine.platform !== "linux")
    return {
      do: "stop",
      line: "the local sandbox needs Linux: run `npm start` inside a Linux VM or container (on macOS for example Lima, OrbStack or Docker)",
    };
  if (missing.length === 0) return { do: "nothing" };
  const packages = missing.map((tool) => tools[tool]);
  if (machine.root && machine.family.includes("debian")) return { do: "install", packages };
  const command = installers.find(([family]) => machine.family.includes(family))?.[1];
  if (command === undefined)
    return {
      do: "stop",
      line: `missing: ${packages.join(", ")}. Install with your system's package manager, then start again`,
    };
  const sudo = machine.root ? "" : "sudo ";
  return { do: "stop", line: `missing: ${packages.join(", ")}. Type: ${sudo}${command} ${packages.join(" ")}` };
}

export function thisMachine(): Machine {
  let release = "";
  try {
    release = readFileSync("/etc/os-release", "utf8");
  } catch {
    // Not every Linux has the file; the plan then names the packages only.
  }
  return { platform: process.platform, root: process.getuid?.() === 0, family: familyOf(release) };
}

export function familyOf(osRelease: string): string[] {
  return [...osRelease.matchAll(/^(?:ID|ID_LIKE)=(.*)$/gm)].flatMap((line) =>
    (line[1] ?? "")
      .replaceAll(/["']/g, "")
      .split(/[\s-]+/)
      .filter((word) => word !== ""),
  );
}

function onPath(tool: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((dir) => {
    try {
      accessSync(join(dir, tool), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Returns when everything named is there and works; else throws one line that says what to do. */
export function requireTools(wanted: readonly Tool[], say: (line: string) => void): void {
  const plan = planFor(
    thisMachine(),
    wanted.filter((tool) => !onPath(tool)),
  );
  if (plan.do === "stop") throw new StartError(plan.line);
  if (plan.do === "install") install(plan.packages, say);
  if (wanted.includes("bwrap")) probeSandbox();
}

function install(packages: readonly string[], say: (line: string) => void): void {
  say(`Installing ${packages.join(" and ")} with apt (this machine is Debian and you are root).`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update"], ["install", "-y", "--no-install-recommends", ...packages]]) {
    const run = spawnSync("apt-get", args, { env, encoding: "utf8" });
    if (run.status !== 0)
      throw new StartError(
        `apt-get ${args.join(" ")} failed: ${whyNot(run)}. Install ${packages.join(", ")} yourself, then start again`,
      );
  }
}

/** bubblewrap may be there and still be forbidden to make namespaces (some containers and hardened systems). */
function probeSandbox(): void {
  const run = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "--", "true"], { encoding: "utf8" });
  if (run.status !== 0)
    throw new StartError(
      `bubblewrap cannot make a sandbox here: ${whyNot(run)}. This system or container forbids namespaces: allow them (unprivileged user namespaces, or a container started with the privileges for them), then start again`,
    );
}

type Ended = Pick<SpawnSyncReturns<string>, "stdout" | "stderr" | "signal"> & { readonly error?: Error };

/** A program that could not be started has an error and no output at all, whatever the types say. */
export function whyNot(run: Ended): string {
  if (run.error !== undefined) {
    const code = "code" in run.error ? run.error.code : undefined;
    return code === "ENOENT" ? "it is not installed" : run.error.message;
  }
  if (run.signal !== null) return `it was ended by ${run.signal}`;
  return `${run.stdout}\n${run.stderr}`.trim().split("\n").at(-1)?.trim() || "no reason given";
}
