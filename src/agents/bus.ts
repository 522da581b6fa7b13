/**
 * What a running agent asks of its scope's runtime between messages: may I begin, may I run this call,
 * this is how it ended. Types only: the runtime object implements it, the agent object calls it.
 */
import type { CallOutcome } from "./ports.ts";

/** One dispatch of one attempt, fenced by the lease it runs under. */
export interface AttemptRef {
  readonly attempt_id: string;
  readonly entry: number;
  readonly lease_id: string;
  readonly epoch: number;
  readonly agent: string;
}

/** `stale`: the runtime has gone on without this attempt; drop it, clean up, answer nothing. `refused`: end it with this error. */
export type Entry =
  | { readonly answer: "go" }
  | { readonly answer: "stale"; readonly reason: string }
  | {
      readonly answer: "refused";
      readonly error_code: "gate_blocked" | "approval_denied" | "budget_exceeded";
      readonly reason: string;
    };

export interface ToolCall {
  readonly call_id: string;
  readonly step: number;
  readonly tool: string;
  /** Canonical JSON of the arguments. */
  readonly arguments: string;
  /** Tree of the rebuilt workspace, when the call is asked again after a wait. */
  readonly tree: string | null;
}

/**
 * `run` is on record as an intent when it is answered. Asked again it is answered again: what keeps a call
 * from running twice is the sandbox, which starts at most one process for a call_id.
 */
export type Authorization =
  | { readonly answer: "run" }
  | { readonly answer: "wait" }
  | Extract<Entry, { answer: "stale" }>
  /** `call`: this one may not run, and another may; `attempt`: nothing more of this attempt may. */
  | (Extract<Entry, { answer: "refused" }> & { readonly scope: "call" | "attempt" });

export interface OpenCall {
  readonly attempt_id: string;
  readonly call_id: string;
}

export interface Bus {
  begin(ref: AttemptRef): Promise<Entry>;
  authorize(ref: AttemptRef, call: ToolCall): Promise<Authorization>;
  /** Refused without a word when the attempt has gone on without this holder. `said`: the ends of what the call printed. */
  settle(ref: AttemptRef, call_id: string, outcome: CallOutcome, said?: string): Promise<void>;
  /** What a sandbox answered about a call that nobody settled; `unknown` is an answer too. `ref` says who asked it. */
  lookedUp(ref: AttemptRef, about: OpenCall, outcome: CallOutcome): Promise<void>;
  /** Whether this publication is still the one its task waits for. */
  mayPublish(task_id: string, verification_id: string): Promise<boolean>;
  /** False when the lease is no longer this holder's. */
  heartbeat(ref: AttemptRef): Promise<boolean>;
}
