/** What the host writes down, so that a restart of it or of its caller finds the truth: parsed again when read. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { callOutcome, sandboxSpec } from "./protocol.ts";

export const sandboxRecord = z.strictObject({
  id: z.string(),
  spec: sandboxSpec,
  uid: z.number().int().nullable(),
  checkout: z.strictObject({ source: z.string(), commit: z.string(), mirror: z.string() }).nullable(),
  /** Hashes of the patches `restore` has laid on it. */
  restored: z.array(z.string()),
  /** Whether anything but setup and checkout has written to it: then it may no longer write to a cache. */
  touched: z.boolean(),
});
export type SandboxRecord = z.infer<typeof sandboxRecord>;

export const callRecord = z.strictObject({
  call_id: z.string(),
  kind: z.enum(["exec", "pty"]),
  /** SHA-256 of the command, to tell a repeated request from another one. */
  command_hash: z.string(),
  /** Process that leads the call's group, with its start time, because ids are used again. */
  leader: z.strictObject({ pid: z.number().int(), started: z.string() }).nullable(),
  outcome: callOutcome,
});
export type CallRecord = z.infer<typeof callRecord>;

/** Whole or not at all: a crash leaves the old one. */
export function save(path: string, value: unknown): void {
  writeFileSync(`${path}.new`, JSON.stringify(value), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export function load<T>(path: string, schema: z.ZodType<T>): T | null {
  if (!existsSync(path)) return null;
  return schema.parse(JSON.parse(readFileSync(path, "utf8")));
}

/** Start time of a process in clock ticks, null when there is none. */
export function startedAt(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in brackets may hold anything, so fields are counted from its end.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}
