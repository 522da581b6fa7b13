/**
 * All the HTTP door knows of the world: built once by the composition root, made tame by tests.
 * Nothing in this folder reads a binding, a clock or the environment by itself.
 */
import type { Artifacts, Source } from "../agents/ports.ts";
import type { Verify } from "../domain/checkpoint.ts";
import type { GithubIdentity, InstallationEvent } from "../domain/github/events.ts";
import type { Ignored } from "../domain/github/ignored.ts";
import type { RepositoryOf } from "../domain/github/installations.ts";
import type { GithubEvent, GithubRepository } from "../domain/github/shapes.ts";
import type { Triggers } from "../domain/github/triggers.ts";
import type { GithubLinkView, InstallationView } from "../domain/github/views.ts";
import type { AuditView } from "../domain/record-view.ts";
import type { CheckpointRow } from "../domain/records.ts";
import type { TelemetryView } from "../domain/telemetry.ts";
import type { Caller, Page } from "../domain/view.ts";
import type { AgentDoor, GithubDelivered, RuntimeDoor } from "./doors.ts";

export interface AuditQuery {
  readonly trace_id: string | null;
  readonly event_type: string | null;
  readonly cursor: string | null;
  readonly limit: number;
}
export interface TelemetryQuery {
  readonly scope_id: string;
  readonly event_name: string | null;
  readonly queue_name: string | null;
  readonly since: string | null;
  readonly cursor: string | null;
  readonly limit: number;
}
/** The record database, read. Every method rejects when it is down. */
export interface RecordsPort {
  telemetryPage(query: TelemetryQuery): Promise<Page<TelemetryView>>;
  /** Rows of the scope's chains as they are kept, by object and seq, past the given place. */
  chainRows(
    scope_id: string,
    after: { readonly object: string; readonly seq: number } | null,
    limit: number,
  ): Promise<readonly Record<string, unknown>[]>;
  chainRow(place: { readonly object: string; readonly seq: number }): Promise<{ readonly hash: string } | null>;
  /** Signed checkpoints past the given seq, in order. */
  checkpoints(scope_id: string, after_seq: number, limit: number): Promise<readonly CheckpointRow[]>;
}
export interface ScopeRow {
  readonly scope_id: string;
  readonly name: string;
  readonly created_at: string;
}
/** One thing a deployment may lack. `detail` says what is missing and how to set it. */
export interface Feature {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** Nobody asked for it: without it the service is as healthy. */
  readonly optional?: boolean;
}

export interface PublicKey {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly kid: string;
  readonly alg: string;
  readonly use: string;
}

/** What GitHub's door needs besides. */
export interface GithubPorts {
  /** Webhook secrets in force, at most two; none where there is no App. */
  readonly secrets: readonly string[];
  readonly identity: GithubIdentity | null;
  /** The scope that the repository is linked to, as it is kept there; null when no scope has it, or not any more. */
  route(
    installation_id: number,
    repository: GithubRepository,
  ): Promise<{
    readonly scope_id: string;
    readonly repository: GithubRepository;
    readonly triggers: Triggers;
  } | null>;
  installation(event: InstallationEvent, delivery_id: string): Promise<"accepted" | "seen">;
  deliver(scope_id: string, delivery: GithubEvent, body_hash: string): Promise<GithubDelivered>;
  /** Counts it; without a scope, for the deployment. */
  ignored(scope_id: string | null, why: Ignored): Promise<void>;
}

/** What the doors of the App itself need. */
export interface GithubAdminPorts {
  /** Null without a whole App. */
  readonly app: { readonly slug: string; readonly url: string; readonly default_scope_id: string | null } | null;
  /** What is named of it and cannot be used. */
  readonly lacks: readonly { readonly name: string; readonly detail: string }[];
  /** Rejects when the record database is down. */
  scopeStands(scope_id: string): Promise<boolean>;
  installations(): Promise<readonly InstallationView[]>;
  /** Null when there is no such installation; of a repository, when no installation covers it. */
  assign(installation_id: number, scope_id: string | null): Promise<InstallationView | null>;
  assignRepository(id: RepositoryOf, scope_id: string | null): Promise<InstallationView | null>;
  /** What is not known or cannot be brought of GitHub's installations and deliveries, in words. */
  troubles(): Promise<readonly string[]>;
  counts(): Promise<readonly { readonly why: string; readonly n: number }[]>;
  links(scope_id: string): Promise<readonly GithubLinkView[]>;
  /** Null when it is not linked there. */
  setTriggers(scope_id: string, repository_id: number, triggers: Triggers, by: string): Promise<GithubLinkView | null>;
}

export interface DoorPorts {
  readonly github: GithubPorts;
  readonly githubAdmin: GithubAdminPorts;
  runtime(scope_id: string): RuntimeDoor;
  agent(scope_id: string, name: string): AgentDoor;
  /** Throws the SandboxFailure of agents/ports.ts. */
  resolveRepo(source: Source, ref: string): Promise<{ readonly commit: string; readonly default_branch: string }>;
  readonly artifacts: Artifacts;
  /** Rejects when the record database is down. */
  audit(scope_id: string, query: AuditQuery): Promise<Page<AuditView>>;
  readonly records: RecordsPort;
  /** Whether one of the deployment's keys made the signature; never, when it has none. */
  readonly verifySignature: Verify;
  /** Lists the scope, so that the sweep and the deployment admin find it. */
  addScope(scope: { readonly scope_id: string; readonly name: string }): Promise<void>;
  scopes(): Promise<readonly ScopeRow[]>;
  /** 32 fresh random bytes. */
  random(): Uint8Array;
  /** Milliseconds since the epoch. */
  now(): number;
  readonly scopeMacKey: Uint8Array;
  /** SHA-256 of COUNTERSIGN_ADMIN_TOKEN in lower-case hex; empty when the deployment has none. */
  readonly adminTokenHash: string;
  /** The sandbox host is this machine: paths are repositories, and an admin's first task registers one. */
  readonly localHost: boolean;
  /** The one origin that may be plain http: this machine's own git server. */
  readonly gitOrigin: string | null;
  /** Webhooks may lead to this machine over plain http. */
  readonly webhookLoopback: boolean;
  /** A model is configured for executors, so an item may have the runner `loop`. */
  readonly executorMind: boolean;
  /** The public parts of the signing keys, as JWKs; none when the deployment has no keys. */
  readonly publicKeys: readonly PublicKey[];
  features(): Promise<readonly Feature[]>;
  /** The page's files. */
  assets(request: Request): Promise<Response>;
}

/** What every handler finds in its context. */
export interface DoorEnv {
  Variables: { ports: DoorPorts };
}
/** What it finds besides once the caller is known. */
export interface CallerEnv {
  Variables: { ports: DoorPorts; caller: Caller; runtime: RuntimeDoor; credentialHash: string };
}
