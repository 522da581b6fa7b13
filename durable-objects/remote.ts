/**
 * What objects call on each other, as plain interfaces. A stub's generated type multiplies every nested type of
 * every method; these say the same in a form that the compiler and a reader can take in.
 */
import type { AttemptRef, Authorization, Entry, ToolCall } from "../src/agents/bus.ts";
import type { CallOutcome } from "../src/agents/ports.ts";
import type { Message } from "../src/domain/message.ts";
import type { Bindings } from "../src/env.ts";
import type { DeadLetterView, QueueView } from "../src/http/doors.ts";
import type { AgentReport, Move } from "./agent-self.ts";
import type { Lease } from "./durable-queue.ts";

export interface OutputNote {
  readonly task_id: string | null;
  readonly agent: string;
  readonly attempt_id: string;
  readonly stage: "execute" | "verify";
  readonly offset: number;
  readonly text: string;
}
/** An object that sends: it hears what became of what it sent. */
interface Sender {
  confirm(ids: readonly string[]): Promise<void>;
  refuseOwn(message_id: string, reason: string): Promise<void>;
  confirmRecords(seq: { audit: number; telemetry: number }): Promise<void>;
}
export interface RemoteRuntime extends Sender {
  observe(message: Message): Promise<void>;
  deliver(message: Message): Promise<{ readonly refused: string | null }>;
  refusedMessage(message: Message, reason: string): Promise<void>;
  claim(scope: string, agent: string): Promise<Lease | null>;
  begin(scope: string, ref: AttemptRef): Promise<Entry>;
  authorize(scope: string, ref: AttemptRef, call: ToolCall): Promise<Authorization>;
  settle(scope: string, ref: AttemptRef, call_id: string, outcome: CallOutcome): Promise<void>;
  heartbeat(scope: string, agent: string, lease: { lease_id: string; epoch: number }): Promise<boolean>;
  noteOutput(scope: string, said: OutputNote): Promise<void>;
  report(report: AgentReport): Promise<void>;
  sweep(scope: string): Promise<void>;
  ownersOver(scope: string, owners: readonly string[]): Promise<string[]>;
}
export interface RemoteAgent extends Sender {
  start(scope: string, name: string): Promise<void>;
  poke(scope: string): Promise<void>;
  deliver(message: Message): Promise<{ readonly refused: string | null }>;
  callOff(scope: string, owner: string): Promise<void>;
  revive(scope: string, message_id: string): Promise<void>;
  closeSockets(scope: string, credentials: readonly string[]): Promise<void>;
  queueView(scope: string): Promise<QueueView>;
  deadLetters(scope: string): Promise<DeadLetterView[]>;
  transitions(scope: string): Promise<Move[]>;
}
export interface RemotePool {
  acquire(scope: string, holder: string): Promise<boolean>;
  release(holder: string): Promise<void>;
}

// The objects declare that they implement these, so the stubs do.
export function runtimeOf(bindings: Bindings, scope: string): RemoteRuntime {
  return bindings.RUNTIME.getByName(`${scope}/runtime`) as unknown as RemoteRuntime;
}
export function agentOf(bindings: Bindings, scope: string, name: string): RemoteAgent {
  return bindings.AGENT.getByName(`${scope}/${name}`) as unknown as RemoteAgent;
}
export function poolOf(bindings: Bindings): RemotePool {
  return bindings.POOL.getByName("pool") as unknown as RemotePool;
}
/** The object of a name as it stands in outboxes and chains: `<scope>/<agent>`. */
export function senderOf(bindings: Bindings, object: string): Sender {
  const [scope = "", name = ""] = object.split("/");
  return name === "runtime" ? runtimeOf(bindings, scope) : agentOf(bindings, scope, name);
}
