/**
 * What attempts and verifications have in common: a call that is started once and polled to its end,
 * the environment's set-up, and what a failure of the sandbox or of the store means. [WS-*] [RCV-20]
 */
import { z } from "zod";
import { byteLength } from "../domain/canonical.ts";
import type { Environment } from "../domain/result.ts";
import { limits } from "../limits.ts";
import { ArtifactFailure, type CallOutcome, type ExecSpec, type Sandboxes, SandboxFailure } from "./ports.ts";

/** A call under way. It is stored before the process starts, and the sandbox starts one process for a call_id. */
export const call = z.strictObject({ call_id: z.string(), offset: z.number().int() });
export type Call = z.infer<typeof call>;

export type Ended = Exclude<CallOutcome, { state: "running" }>;
export interface Polled {
  readonly call: Call;
  readonly output: Uint8Array;
  readonly ended: Ended | null;
}

/** How long one look at a running call lasts: short enough that output is seen as it comes. */
const lookMs = 5_000;

/** Starts the call if it was not started, then looks once. All output is read before the end is told. */
export async function poll(sandboxes: Sandboxes, sandbox: string, at: Call, spec: ExecSpec): Promise<Polled> {
  if (at.offset === 0) await sandboxes.exec(sandbox, at.call_id, spec);
  const seen = await sandboxes.wait(sandbox, at.call_id, at.offset, lookMs);
  const moved = { ...at, offset: seen.next_offset };
  const { outcome } = seen;
  const ended = outcome.state === "running" || seen.chunk.byteLength > 0 ? null : outcome;
  return { call: moved, output: seen.chunk, ended };
}

/** The set-up commands run with the network open to the plan's hosts only; nothing else ever does. */
export function setupCall(environment: Environment, index: number): { call_id: string; spec: ExecSpec } | null {
  const argv = environment.setup[index];
  if (argv === undefined) return null;
  const spec: ExecSpec = {
    argv,
    timeout_ms: limits.setup_timeout_ms,
    network: { hosts: environment.hosts, cache: environment.cache },
  };
  return { call_id: `setup-${index + 1}`, spec };
}

/** What to do about a failure: try again after a while, or take it as the end. A bug is thrown on. */
export function afterFailure(
  error: unknown,
  failures: number,
): { readonly again: true; readonly wait_ms: number } | { readonly again: false; readonly failure: Failure } {
  if (!(error instanceof SandboxFailure || error instanceof ArtifactFailure)) throw error;
  if (error.retryable && failures < maxFailures) return { again: true, wait_ms: Math.min(500 * 2 ** failures, 5_000) };
  return { again: false, failure: error };
}
/** What came from outside: the sandboxes' host or the store of artifacts. */
type Failure = SandboxFailure | ArtifactFailure;
/** With the waits above: either may be away for about two minutes. */
const maxFailures = 28;

/** Why a call that ended was not a success, in a sentence; null when it was one. */
export function whyFailed(name: string, ended: Ended): string | null {
  switch (ended.state) {
    case "exited":
      return ended.exit_code === 0
        ? null
        : `${name} ended with exit code ${ended.exit_code}${ended.signal === null ? "" : ` (${ended.signal})`}`;
    case "timed_out":
      return `${name} was still running after ${Math.round(ended.duration_ms / 1000)} s and was ended`;
    case "never_started":
      return `${name} could not be started: ${ended.reason}`;
    case "unknown":
      return `what became of ${name} is not known`;
  }
}

const utf8 = new TextEncoder();
/** A line of our own in the attempt's log. */
export function note(text: string): Uint8Array {
  return utf8.encode(`\u001b[2m# ${text}\u001b[0m\n`);
}

const escapeMark = "\u001b";
/** ECMA-48 control sequences: colours, cursor moves. */
const controlSequence = new RegExp(`${escapeMark}\\[[0-?]*[ -/]*[@-~]`, "g");

/** The last `max` characters of what a log says, without terminal colours, and never half of a character. */
export function tail(kept: string, chunk: Uint8Array, max: number): string {
  return lastOf(withoutControls(kept + new TextDecoder().decode(chunk)), max);
}
export function withoutControls(text: string): string {
  return text.replace(controlSequence, "");
}
/** A character cut in half has no canonical form, so no message could carry it. */
export function lastOf(text: string, max: number): string {
  return text.slice(Math.max(0, text.length - max)).toWellFormed();
}
export function firstOf(text: string, max: number): string {
  return (text.length > max ? `${text.slice(0, max)} ...` : text).toWellFormed();
}

/** Bytes the text takes inside a message. */
export function bytesInMessage(value: unknown): number {
  return byteLength(JSON.stringify(value));
}

/** `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
