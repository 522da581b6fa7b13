/**
 * What objects call on each other, as plain interfaces. A stub's generated type multiplies every nested type of
 * every method; these say the same in a form that the compiler and a reader can take in.
 */
import type { AttemptRef, Authorization, Entry, OpenCall, ToolCall } from "../src/agents/bus.ts";
import type {
  Asker,
  MayThink,
  MayUse,
  PastTask,
  Remembered,
  Thought,
  ThoughtRef,
  Use,
} from "../src/agents/mind-bus.ts";
import type { CallOutcome } from "../src/agents/ports.ts";
import type { GithubEvent, GithubRepository } from "../src/domain/github/shapes.ts";
import type { GithubStanding } from "../src/domain/github/standing.ts";
import type { Triggers } from "../src/domain/github/triggers.ts";
import type { Message } from "../src/domain/message.ts";
import type { ObjectFigures } from "../src/domain/metrics.ts";
import type { QueueDetail, QueueMove, QueueView } from "../src/domain/queue-shapes.ts";
import type { Page } from "../src/domain/view.ts";
import type { Bindings } from "../src/env.ts";
import type { GithubAdminDoor, GithubDelivered, GithubObjectDoor } from "../src/http/doors.ts";
import type { AgentReport, Move } from "./agent/self.ts";
import type { ChainEnd } from "./audit-log.ts";
import type { Lease } from "./durable-queue.ts";
import type { Death, Letter, LetterStanding, LettersQuery } from "./letters.ts";
import type { ListedSandbox } from "./sandbox-list.ts";
import type { Confirmed } from "./shipping.ts";

export interface OutputNote {
  readonly task_id: string | null;
  readonly agent: string;
  readonly attempt_id: string;
  readonly stage: "execute" | "verify";
  readonly offset: number;
  readonly text: string;
}
/** `refused`: it can never be taken. `closed`: not now, for its queue is being emptied. */
export interface Answer {
  readonly refused: string | null;
  readonly closed?: boolean;
}
/** A queue after an order. `changed` is false when it stood so before. */
export interface QueueMoved {
  readonly queue: QueueDetail;
  readonly changed: boolean;
}
/** An object that sends: it hears what became of what it sent. */
interface Sender {
  confirm(ids: readonly string[]): Promise<void>;
  /** The addressee takes nothing new for now. */
  putOff(ids: readonly string[]): Promise<void>;
  refuseOwn(message_id: string, reason: string): Promise<void>;
  confirmRecords(seq: Confirmed): Promise<void>;
}
export interface RemoteRuntime extends Sender {
  observe(message: Message): Promise<void>;
  deliver(message: Message): Promise<Answer>;
  /** An agent gave a message up, in its inbox or its outbox; told again until this has answered. */
  letterDied(scope: string, holder: string, died: Death): Promise<void>;
  claim(scope: string, agent: string): Promise<Lease | null>;
  begin(scope: string, ref: AttemptRef): Promise<Entry>;
  authorize(scope: string, ref: AttemptRef, call: ToolCall): Promise<Authorization>;
  settle(scope: string, ref: AttemptRef, call_id: string, outcome: CallOutcome, said?: string): Promise<void>;
  lookedUp(scope: string, ref: AttemptRef | null, about: OpenCall, outcome: CallOutcome): Promise<void>;
  mayPublish(scope: string, task_id: string, verification_id: string): Promise<boolean>;
  heartbeat(
    scope: string,
    agent: string,
    lease: { lease_id: string; epoch: number },
    attempt_id?: string | null,
  ): Promise<boolean>;
  noteOutput(scope: string, said: OutputNote): Promise<void>;
  report(report: AgentReport): Promise<void>;
  sweep(scope: string): Promise<void>;
  ownersOver(scope: string, owners: readonly string[]): Promise<string[]>;
  mayThink(scope: string, ref: ThoughtRef): Promise<MayThink>;
  thought(scope: string, task_id: string, done: Thought): Promise<void>;
  mayUse(scope: string, use: Use): Promise<MayUse>;
  recall(scope: string, asker: Asker, query: string, limit: number): Promise<readonly Remembered[]>;
  history(scope: string, asker: { readonly task_id: string; readonly agent: string }): Promise<readonly PastTask[]>;
  say(scope: string, task_id: string, id: string, text: string): Promise<void>;
  githubStanding(scope: string, task_id: string): Promise<GithubStanding | null>;
}
/** A repository that is joined to a scope, as the scope keeps it. */
export interface GithubLink {
  readonly repository: GithubRepository;
  readonly url: string;
  readonly state: "linked" | "suspended";
  readonly triggers: Triggers;
}
/** What GitHub's door, its installations and git's credentials ask of a scope. */
export interface RemoteGithub {
  githubDelivery(scope: string, delivery: GithubEvent, body_hash: string): Promise<GithubDelivered>;
  githubIgnored(scope: string, why: string): Promise<void>;
  githubLinked(scope: string, repositories: readonly GithubRepository[]): Promise<void>;
  githubUnlinked(scope: string, ids: readonly number[], why: "removed" | "suspended"): Promise<void>;
  githubLink(scope: string, repository_id: number): Promise<GithubLink | null>;
  githubLinks(scope: string): Promise<readonly GithubLink[]>;
  /** Null when there is no such link. */
  githubTriggers(scope: string, repository_id: number, triggers: Triggers, by: string): Promise<GithubLink | null>;
  /** By an address of now or of before, whatever its case; null unless it is linked now. */
  githubRepository(scope: string, url: string): Promise<GithubRepository | null>;
  githubCounts(scope: string): Promise<readonly { event: string; why: string; n: number }[]>;
}
export interface RemoteAgent extends Sender {
  start(scope: string, name: string): Promise<void>;
  poke(scope: string): Promise<void>;
  deliver(message: Message): Promise<Answer>;
  callOff(scope: string, owner: string, calls?: readonly string[]): Promise<void>;
  revive(scope: string, message_id: string): Promise<void>;
  closeSockets(scope: string, credentials: readonly string[]): Promise<void>;
  queueView(scope: string): Promise<QueueView>;
  queueDetail(scope: string): Promise<QueueDetail>;
  moveQueue(scope: string, move: QueueMove, order: { by: string; reason: string }): Promise<QueueMoved>;
  letters(scope: string, query: LettersQuery): Promise<Page<Letter>>;
  letter(scope: string, message_id: string): Promise<LetterStanding | null>;
  transitions(scope: string): Promise<Move[]>;
  /** Where its audit chain ends; null before it has begun. */
  chainHead(scope: string): Promise<ChainEnd | null>;
  figures(scope: string): Promise<ObjectFigures>;
}
/** What the deployment's GitHub object answers. `doors.ts` says what each of the door's methods means. */
export interface RemoteGithubApp extends GithubObjectDoor, GithubAdminDoor {
  sweep(): Promise<void>;
}
export interface RemotePool {
  acquire(scope: string, holder: string): Promise<boolean>;
  release(holder: string): Promise<void>;
  endSlots(): Promise<void>;
  sweepFrom(): Promise<string | null>;
  sweptTo(cursor: string | null): Promise<void>;
  keepSandbox(sandbox: ListedSandbox): Promise<boolean>;
  forgetSandbox(id: string): Promise<void>;
  sandboxes(): Promise<readonly ListedSandbox[]>;
}

// The objects declare that they implement these, so the stubs do.
export function runtimeOf(bindings: Bindings, scope: string): RemoteRuntime {
  return bindings.RUNTIME.getByName(`${scope}/runtime`) as unknown as RemoteRuntime;
}
export function githubOf(bindings: Bindings, scope: string): RemoteGithub {
  return bindings.RUNTIME.getByName(`${scope}/runtime`) as unknown as RemoteGithub;
}
export function agentOf(bindings: Bindings, scope: string, name: string): RemoteAgent {
  return bindings.AGENT.getByName(`${scope}/${name}`) as unknown as RemoteAgent;
}
/** The deployment's one, whatever scopes there are. */
export function githubAppOf(bindings: Bindings): RemoteGithubApp {
  return bindings.GITHUB.getByName("github") as unknown as RemoteGithubApp;
}
export function poolOf(bindings: Bindings): RemotePool {
  return bindings.POOL.getByName("pool") as unknown as RemotePool;
}
/** The object of a name as it stands in outboxes and chains: `<scope>/<agent>`. */
export function senderOf(bindings: Bindings, object: string): Sender {
  const [scope = "", name = ""] = object.split("/");
  return name === "runtime" ? runtimeOf(bindings, scope) : agentOf(bindings, scope, name);
}
