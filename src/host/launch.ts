/**
 * How a bubble is started: never as root, with the limits of one process set, inside the sandbox's control
 * group. Arguments and environment go by a file that is gone once read.
 */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bind, bubbleArgs } from "./bubble.ts";

export interface Limits {
  readonly processes: number;
  readonly file_mb: number;
  /** Memory a process may write to; null where a control group counts it for all. Address space is no measure: runtimes reserve much they never touch. */
  readonly data_mb: number | null;
}
export interface Bubble {
  readonly binds: readonly Bind[];
  readonly env: Readonly<Record<string, string>>;
  /** Inside, absolute. */
  readonly cwd: string;
  readonly argv: readonly string[];
  readonly limits: Limits;
  /** All a build may look for, or programs and libraries only. */
  readonly system: "whole" | "programs";
  /** Files to write the own process id into before anything else. */
  readonly groups: readonly string[];
  /** Unprivileged user; null when the host is one itself. */
  readonly uid: number | null;
}
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  /** Written by bubblewrap: it holds "exit-code" only if the program inside began and ended by itself. */
  readonly status: string;
}

const enter = 'cd -- "$1" || exit 126; shift; exec "$@"';

/** `scratch` is a folder only the host can read, emptied when it starts. */
export function command(scratch: string, bubble: Bubble): Command {
  const name = join(scratch, randomBytes(12).toString("hex"));
  writeFileSync(`${name}.args`, `${bubbleArgs(bubble.binds, bubble.env, bubble.system).join("\0")}\0`, { mode: 0o600 });
  const script = [
    "set -e",
    ...bubble.groups.map((file) => `echo $$ > ${quote(file)}`),
    `exec 9< ${quote(`${name}.args`)} 8> ${quote(`${name}.status`)}`,
    `rm -f ${quote(`${name}.args`)}`,
    start(bubble),
  ].join("\n");
  return {
    file: "/bin/sh",
    args: ["-c", script, "sh", ...inside(bubble)],
    status: `${name}.status`,
  };
}

function start(bubble: Bubble): string {
  const { file_mb, data_mb } = bubble.limits;
  const limits = [`--fsize=${file_mb * 1024 * 1024}`, "--core=0"];
  if (data_mb !== null) limits.push(`--data=${data_mb * 1024 * 1024}`);
  const user =
    bubble.uid === null
      ? ""
      : `setpriv --reuid ${bubble.uid} --regid ${bubble.uid} --clear-groups --pdeathsig KILL -- `;
  return `exec ${user}prlimit ${limits.join(" ")} -- bwrap --args 9 --json-status-fd 8 -- "$@"`;
}

/** Set inside, the number of processes is counted in this bubble only; outside it would count all of the same user's. */
function inside(bubble: Bubble): string[] {
  return [
    "/usr/bin/prlimit",
    `--nproc=${bubble.limits.processes}`,
    "--",
    "/bin/sh",
    "-c",
    enter,
    "sh",
    bubble.cwd,
    ...bubble.argv,
  ];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
