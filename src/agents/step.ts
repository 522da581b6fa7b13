/**
 * The shape every agent's work has: a run is opened by one message, goes on by steps, and each step's
 * outcome is data that the agent object commits in one transaction before the next begins.
 */
import type { EffectKind } from "../domain/effect.ts";
import type { Message } from "../domain/message.ts";
import type { Bus } from "./bus.ts";
import type { Artifacts, Clock, Sandboxes } from "./ports.ts";

export interface Ports {
  readonly sandboxes: Sandboxes;
  readonly artifacts: Artifacts;
  readonly bus: Bus;
  readonly clock: Clock;
}

/** A message to send, without what the object stamps: id, scope, sender, trace, time, and the taint it may not go below. */
export type Outgoing = Pick<Message, "message_kind" | "recipient" | "content"> &
  Partial<
    Pick<
      Message,
      | "task_id"
      | "work_item_id"
      | "attempt_number"
      | "payload"
      | "error_code"
      | "retryable"
      | "plan_markdown"
      | "artifacts"
      | "urgency"
    >
  >;

/** Something done to the outside world, for the audit: `details` holds ids and sizes, never contents or secrets. */
export interface Effect {
  readonly decision: "intent" | "outcome" | "unknown";
  readonly reason: EffectKind;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
}

export interface Committed<S> {
  readonly state: S;
  /** Output of the attempt to append to its log, with this commit. */
  readonly output?: Uint8Array;
  readonly effects?: readonly Effect[];
}
export type Step<S> =
  | (Committed<S> & { readonly kind: "continue" })
  /** Commit, then come back after `wait_ms`. */
  | (Committed<S> & { readonly kind: "wait"; readonly wait_ms: number })
  /** Commit, acknowledge the message, send. The run is over. */
  | (Committed<S> & { readonly kind: "end"; readonly out: readonly Outgoing[] });

/** What the object knows about the run besides its state. */
export interface RunContext {
  readonly scope_id: string;
  readonly agent: string;
  readonly message: Message;
  /** Set for work leased from the scope's shared queue. */
  readonly lease: { readonly lease_id: string; readonly epoch: number } | null;
  /** Set once the runtime has called the work off. */
  readonly cancelled: boolean;
  readonly opened_at_ms: number;
}

export interface Role<S> {
  open(context: RunContext): S;
  /** Reads the state back from its row: a run must survive the object's restart. */
  parse(stored: unknown): S;
  step(state: S, context: RunContext, ports: Ports): Promise<Step<S>>;
}
