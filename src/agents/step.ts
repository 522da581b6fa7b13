/**
 * The shape every agent's work has: a run is opened by one message, goes on by steps, and each step's
 * outcome is data that the agent object commits in one transaction before the next begins.
 */
import type { EffectKind } from "../domain/effect.ts";
import type { Message } from "../domain/message.ts";
import type { Bus } from "./bus.ts";
import type { GithubBus } from "./github-bus.ts";
import type { Github } from "./github-port.ts";
import type { MindBus } from "./mind-bus.ts";
import type { CallSignal, Models, Turn } from "./models.ts";
import type { Artifacts, Clock, Sandboxes, WebSearch } from "./ports.ts";
import type { WebhookPost } from "./webhook-port.ts";

export interface Ports {
  readonly sandboxes: Sandboxes;
  readonly artifacts: Artifacts;
  readonly bus: Bus;
  readonly minds: MindBus;
  readonly models: Models;
  /** Null when no provider is configured. */
  readonly search: WebSearch | null;
  /** Throws `not_configured` where the deployment has no GitHub App. */
  readonly github: Github;
  readonly shows: GithubBus;
  readonly posts: WebhookPost;
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
      | "constraints"
      | "parent_task_id"
    >
  >;

/** Something done to the outside world, for the audit: `details` holds ids and sizes, never contents or secrets. */
export interface Effect {
  readonly decision: "intent" | "outcome" | "unknown";
  readonly reason: EffectKind;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
}

/** Something told to a run by the messages that came after the one that opened it. [RUN-*] */
export interface Note {
  /** Names it within the run: the same key twice is one note, the first. */
  readonly key: string;
  readonly body: unknown;
}

export interface Committed<S> {
  readonly state: S;
  /** Added to the run's conversation, with this commit. */
  readonly turns?: readonly Turn[];
  /** Output of the attempt to append to its log, with this commit. */
  readonly output?: Uint8Array;
  readonly effects?: readonly Effect[];
  /** Messages that leave with this commit while the run goes on. `key` names each within the run: the same key is sent once. */
  readonly send?: readonly (Outgoing & { readonly key: string })[];
}
export type Step<S> =
  | (Committed<S> & { readonly kind: "continue" })
  /** Commit, then come back after `wait_ms`, or with `for_notes` as soon as something is left for it; meanwhile it holds no place. */
  | (Committed<S> & { readonly kind: "wait"; readonly wait_ms: number; readonly for_notes?: boolean })
  /** Commit, acknowledge the message, send. The run is over. */
  | (Committed<S> & {
      readonly kind: "end";
      readonly out: readonly Outgoing[];
      /** Left for another run of this agent, which it wakes: the run opened by that message. */
      readonly notes?: readonly (Note & { readonly run_id: string })[];
    });

/** What the object knows about the run besides its state. */
export interface RunContext {
  readonly scope_id: string;
  readonly agent: string;
  readonly message: Message;
  /** Set for work leased from the scope's shared queue. */
  readonly lease: { readonly lease_id: string; readonly epoch: number } | null;
  /** Set once the runtime has called the work off. */
  readonly cancelled: boolean;
  /** Aborted when it is called off while a step is under way. */
  readonly signal?: CallSignal | undefined;
  readonly opened_at_ms: number;
  readonly run_id: string;
  /** The run's conversation so far, oldest first. */
  readonly turns: readonly Turn[];
  /** What was left for it, oldest first. */
  readonly notes: readonly Note[];
}

export interface Role<S> {
  open(context: RunContext): S;
  /** Reads the state back from its row: a run must survive the object's restart. */
  parse(stored: unknown): S;
  step(state: S, context: RunContext, ports: Ports): Promise<Step<S>>;
}
