/**
 * What the HTTP door asks of the scope's objects: the remote methods it may call, as types only.
 * The objects implement these; nothing here runs.
 */
import type { z } from "zod";
import type { ApprovalView, Decision } from "../domain/approval-view.ts";
import type { InstallationEvent } from "../domain/github/events.ts";
import type { Ignored } from "../domain/github/ignored.ts";
import type { RepositoryOf } from "../domain/github/installations.ts";
import type { GithubEvent, GithubRepository } from "../domain/github/shapes.ts";
import type { Triggers } from "../domain/github/triggers.ts";
import type { GithubLinkView, InstallationView } from "../domain/github/views.ts";
import type { HookBody, HookInput, HookView } from "../domain/hooks.ts";
import type { MemoryKind, MemoryView } from "../domain/memory.ts";
import type { Figures } from "../domain/metrics.ts";
import type { RecordedCall } from "../domain/policy-change.ts";
import type { PolicyChanged, PolicyVersion, PolicyView } from "../domain/policy-shapes.ts";
import type { DeadLetterView, QueueDetail, QueueMove, QueueView, Requeued } from "../domain/queue-shapes.ts";
import type { EventView } from "../domain/record-view.ts";
import type { Result } from "../domain/refusal.ts";
import type { StandingInput, StandingView } from "../domain/standing-shape.ts";
import type { IssuedToken } from "../domain/token.ts";
import type {
  agentView,
  Caller,
  CallerRole,
  Page,
  repoView,
  TaskInput,
  TaskSummary,
  TaskView,
  ThoughtView,
  tokenView,
} from "../domain/view.ts";
import type { DeliveryView, WebhookInput, WebhookView } from "../domain/webhooks.ts";

export type { InstallationEvent } from "../domain/github/events.ts";
export type AgentView = z.infer<typeof agentView>;
export type RepoView = z.infer<typeof repoView>;
export type TokenView = z.infer<typeof tokenView>;
export interface PageQuery {
  readonly limit: number;
  readonly cursor: string | null;
}
/** Any of the words; without words newest first. */
export interface MemoryQuery {
  readonly query: string;
  readonly kind: MemoryKind | null;
  readonly limit: number;
  readonly offset: number;
}
/** `Idempotency-Key` with the SHA-256 of the canonical body. */
export interface Idempotency {
  readonly route: string;
  readonly key: string;
  readonly body_hash: string;
}
/** `replay`: this answer was given before for the same key. */
export interface Created<T> {
  readonly body: T;
  readonly replay: boolean;
}

/** A task's tool calls, oldest first, and the policy in force. */
export interface RecordedCalls {
  readonly policy: PolicyView;
  readonly calls: readonly RecordedCall[];
  /** Older ones that one answer cannot carry. */
  readonly left_out: number;
}

/** Where every chain of the scope ends now, as its objects say. */
export interface ChainEnds {
  /** `shipped`: rows up to this one are known to stand in the record database. */
  readonly chains: readonly {
    readonly object: string;
    readonly seq: number;
    readonly hash: string;
    readonly shipped: number;
  }[];
  /** Objects that did not answer. */
  readonly silent: readonly string[];
  readonly checkpoint: {
    readonly seq: number;
    readonly hash: string;
    readonly at: string;
    readonly shipped: number;
  } | null;
  /** False when nothing is signed, for want of keys. */
  readonly signing: boolean;
}

/** RuntimeObject, addressed by the name `<scope>/runtime`. All hashes are SHA-256 in lower-case hex. */
export interface RuntimeDoor {
  /** Makes the scope, once; a second call with the same arguments changes nothing. */
  initScope(input: {
    scope_id: string;
    name: string;
    token_id: string;
    token_hash: string;
  }): Promise<Result<{ scope_id: string; name: string }>>;
  /** Null when no live token or session has that hash. `scope_id` is the object's own name, checked against it. */
  authenticate(scope_id: string, secret_hash: string): Promise<Caller | null>;

  createTask(
    caller: Caller,
    input: TaskInput & { register_repo: boolean },
    idempotency: Idempotency | null,
  ): Promise<Result<Created<TaskView>>>;
  tasks(caller: Caller, query: PageQuery & { status: string | null }): Promise<Result<Page<TaskSummary>>>;
  task(caller: Caller, task_id: string): Promise<Result<TaskView>>;
  thoughts(caller: Caller, task_id: string, query: PageQuery): Promise<Result<Page<ThoughtView>>>;
  taskEvents(caller: Caller, task_id: string, query: PageQuery): Promise<Result<Page<EventView>>>;
  /** R2 keys of the task's patches, newest attempt of each item last. */
  patchKeys(caller: Caller, task_id: string): Promise<Result<{ attempt_id: string; key: string; bytes: number }[]>>;
  cancelTask(caller: Caller, task_id: string, reason: string): Promise<Result<TaskView>>;
  /** A person's further words on a task; they go to the proxy as a `user_message`. */
  addMessage(caller: Caller, task_id: string, text: string): Promise<Result<{ message_id: string }>>;

  approvals(caller: Caller, query: PageQuery & { status: string | null }): Promise<Result<Page<ApprovalView>>>;
  approval(caller: Caller, approval_id: string): Promise<Result<ApprovalView>>;
  decide(caller: Caller, approval_id: string, decision: Decision): Promise<Result<ApprovalView>>;
  /** What the approval signed, oldest first; void ones too. */
  approvalTokens(caller: Caller, approval_id: string): Promise<Result<IssuedToken[]>>;

  /** Newest first. */
  standingApprovals(caller: Caller, query: PageQuery): Promise<Result<Page<StandingView>>>;
  standingApproval(caller: Caller, id: string): Promise<Result<StandingView>>;
  addStandingApproval(
    caller: Caller,
    input: StandingInput,
    idempotency: Idempotency | null,
  ): Promise<Result<Created<StandingView>>>;
  /** Ends it, and stops what it spoke for and is not done. Again, it answers as it stands. */
  revokeStandingApproval(caller: Caller, id: string, reason: string): Promise<Result<StandingView>>;

  memories(caller: Caller, asked: MemoryQuery): Promise<Result<Page<MemoryView>>>;
  /** Wipes its words. Again, it answers as it stands. */
  forgetMemory(caller: Caller, id: string, reason: string): Promise<Result<MemoryView>>;

  repos(caller: Caller): Promise<Result<RepoView[]>>;
  addRepo(caller: Caller, repo: { url: string; default_ref: string }): Promise<Result<RepoView>>;
  removeRepo(caller: Caller, url: string): Promise<Result<{ url: string }>>;
  /** Whether a repository is registered: asked before anything is fetched from it. */
  hasRepo(caller: Caller, url: string): Promise<boolean>;

  tokens(caller: Caller): Promise<Result<TokenView[]>>;
  addToken(
    caller: Caller,
    input: { id: string; name: string; role: CallerRole; secret_hash: string },
  ): Promise<Result<TokenView>>;
  revokeToken(caller: Caller, id: string): Promise<Result<TokenView>>;
  /**
   * One use; `path` is what it opens. `path: "/"` is a sign-in link, admin only, 15 minutes; others 30 s. With `token_id`
   * the link signs in the person of that token, else the caller.
   */
  addTicket(
    caller: Caller,
    input: { ticket_hash: string; path: string; token_id?: string },
  ): Promise<Result<{ expires_at: string }>>;
  redeemTicket(scope_id: string, input: { ticket_hash: string; path: string }): Promise<Result<Caller>>;
  /** Turns a sign-in ticket into a session in one transaction. */
  openSession(
    scope_id: string,
    input: { ticket_hash: string; session_id: string; session_hash: string },
  ): Promise<Result<Caller>>;
  closeSession(caller: Caller): Promise<Result<null>>;

  agents(caller: Caller): Promise<Result<AgentView[]>>;
  agent(caller: Caller, name: string): Promise<Result<AgentView>>;
  agentTransitions(
    caller: Caller,
    name: string,
  ): Promise<Result<{ from: string; event: string; to: string; reason: string; at: string }[]>>;
  /** `silent`: agents that did not say how their inbox stands. */
  queues(caller: Caller): Promise<Result<{ queues: QueueView[]; silent: string[] }>>;
  /** Not `queue`: the platform keeps that name for itself, and no stub answers to it. */
  queueDetail(caller: Caller, name: string): Promise<Result<QueueDetail>>;
  /** Newest first. */
  deadLetters(caller: Caller, name: string, query: PageQuery): Promise<Result<Page<DeadLetterView>>>;
  /** Moving a queue to where it stands already changes nothing. */
  moveQueue(caller: Caller, name: string, asked: { move: QueueMove; reason: string }): Promise<Result<QueueDetail>>;
  /** Sends one dead letter again. Its card, if one waits, is superseded; a decided one refuses. */
  requeueLetter(caller: Caller, name: string, message_id: string, reason: string): Promise<Result<Requeued>>;
  /** Sends a bounded number of them again. */
  requeueLetters(caller: Caller, name: string, reason: string): Promise<Result<Requeued>>;

  /** Events with seq > after, oldest first. `reset` when `after` is older than what is kept. Waits up to `wait_ms` when there are none. */
  events(
    caller: Caller,
    query: { after: number | null; limit: number; types: string[] | null; wait_ms: number },
  ): Promise<Result<{ events: EventView[]; last_seq: number; reset: number | null }>>;
  /** Which agent object holds the log of an attempt, for the terminal. */
  attemptAgent(caller: Caller, attempt_id: string): Promise<Result<{ agent: string }>>;
  policy(caller: Caller): Promise<Result<PolicyView>>;
  /** Newest first. */
  policyVersions(caller: Caller, query: PageQuery): Promise<Result<Page<PolicyVersion>>>;
  policyVersion(caller: Caller, version: number): Promise<Result<PolicyView>>;
  /** `seen`: hashes of versions the caller knows; another one in force refuses, unless it is what was asked for already. */
  changePolicy(
    caller: Caller,
    asked: { policy: unknown; reason: string | null; seen: readonly string[] },
  ): Promise<Result<PolicyChanged>>;
  recordedCalls(caller: Caller, task_id: string): Promise<Result<RecordedCalls>>;

  /** An address is as the door checked it. */
  webhooks(caller: Caller): Promise<Result<WebhookView[]>>;
  webhook(caller: Caller, id: string): Promise<Result<WebhookView>>;
  addWebhook(caller: Caller, input: WebhookInput): Promise<Result<WebhookView>>;
  removeWebhook(caller: Caller, id: string): Promise<Result<WebhookView>>;
  moveWebhook(caller: Caller, id: string, to: "enable" | "disable"): Promise<Result<WebhookView>>;
  rotateWebhook(caller: Caller, id: string): Promise<Result<WebhookView>>;
  testWebhook(caller: Caller, id: string): Promise<Result<DeliveryView>>;
  /** Newest first. */
  webhookDeliveries(caller: Caller, id: string, query: PageQuery): Promise<Result<Page<DeliveryView>>>;
  redeliver(caller: Caller, id: string, delivery_id: string): Promise<Result<DeliveryView>>;
  hooks(caller: Caller): Promise<Result<HookView[]>>;
  addHook(caller: Caller, input: HookInput & { id: string }): Promise<Result<HookView>>;
  removeHook(caller: Caller, id: string): Promise<Result<HookView>>;
  rotateHook(caller: Caller, id: string): Promise<Result<HookView>>;
  /** Versions of the secrets that sign for a hook now; none when there is no such hook. */
  hookSecrets(scope_id: string, id: string): Promise<readonly number[]>;
  /** What a hook was sent and signed makes a task, once for each `message_id`. */
  runHook(
    scope_id: string,
    id: string,
    sent: { message_id: string; body: HookBody },
  ): Promise<Result<{ task_id: string; replay: boolean }>>;

  chainEnds(caller: Caller): Promise<Result<ChainEnds>>;
  /** What the scope's objects count and hold now. */
  figures(caller: Caller): Promise<Result<Figures>>;

  /** WebSocket upgrades: the door has authenticated; the caller travels in the header `x-countersign-caller` (JSON), which the door always sets itself. */
  fetch(request: Request): Promise<Response>;
}

/** RuntimeObject again, for what GitHub's door brings to it. */
/** `seen`: claimed before. `not_linked`: the repository is not this scope's now. `no_task`: it changes none that is open. */
export type GithubDelivered = "claimed" | "seen" | "not_linked" | "no_task";
export interface GithubRuntimeDoor {
  /** `body_hash`: SHA-256 of the bytes that were signed. Of `not_linked` and `no_task` nothing is kept but a count. */
  githubDelivery(scope_id: string, delivery: GithubEvent, body_hash: string): Promise<GithubDelivered>;
  githubIgnored(scope_id: string, why: Ignored): Promise<void>;
  /** The link as the scope keeps it, suspended ones too. */
  githubLink(
    scope_id: string,
    repository_id: number,
  ): Promise<{ readonly repository: GithubRepository; readonly triggers: Triggers } | null>;
  githubLinks(scope_id: string): Promise<readonly GithubLinkView[]>;
  githubTriggers(scope_id: string, id: number, triggers: Triggers, by: string): Promise<GithubLinkView | null>;
}
/** GithubObject, the deployment's one, addressed by `github`. */
export interface GithubObjectDoor {
  /** Null when the repository, or its whole installation, belongs to no scope. */
  scopeOf(installation_id: number, repository: GithubRepository): Promise<string | null>;
  /** Has the App's API asked what holds now. */
  installation(event: InstallationEvent, delivery_id: string): Promise<"accepted" | "seen">;
  ignored(why: Ignored): Promise<void>;
}
/** GithubObject again, for the deployment's admin. Null when there is no such installation, or none that covers it. */
export interface GithubAdminDoor {
  installations(): Promise<readonly InstallationView[]>;
  counts(): Promise<readonly { readonly why: string; readonly n: number }[]>;
  assign(installation_id: number, scope_id: string | null): Promise<InstallationView | null>;
  /** `scope_id` null: where its installation belongs. */
  assignRepository(id: RepositoryOf, scope_id: string | null): Promise<InstallationView | null>;
  /** What is not known or cannot be brought of GitHub's installations and deliveries, in words. */
  troubles(): Promise<readonly string[]>;
}

/** AgentObject, addressed by `<scope>/<name>`. */
export interface AgentDoor {
  /** WebSocket of an attempt's output: `?attempt=<id>&from=<offset>`; binary frames are bytes, text frames JSON. */
  fetch(request: Request): Promise<Response>;
  transitions(scope_id: string): Promise<{ from: string; event: string; to: string; reason: string; at: string }[]>;
}
