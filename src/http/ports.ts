/**
 * All the HTTP door knows of the world: built once by the composition root, made tame by tests.
 * Nothing in this folder reads a binding, a clock or the environment by itself.
 */
import type { Artifacts } from "../agents/ports.ts";
import type { Verify } from "../domain/checkpoint.ts";
import type { AuditView } from "../domain/record-view.ts";
import type { CheckpointRow } from "../domain/records.ts";
import type { TelemetryView } from "../domain/telemetry.ts";
import type { Caller, Page } from "../domain/view.ts";
import type { AgentDoor, RuntimeDoor } from "./doors.ts";

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

export interface DoorPorts {
  runtime(scope_id: string): RuntimeDoor;
  agent(scope_id: string, name: string): AgentDoor;
  /** Throws the SandboxFailure of agents/ports.ts. */
  resolveRepo(source: string, ref: string): Promise<{ readonly commit: string; readonly default_branch: string }>;
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
