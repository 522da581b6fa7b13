/**
 * The outside world as the agents see it: small interfaces owned by their callers.
 * Adapters make them real; tests make them tame. Nothing in `agents/` imports a platform.
 */
import type { PatchFile } from "../domain/evidence.ts";

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** A repository's address, and the scope that it is reached for: credentials are opened for that scope and no other. */
export interface Source {
  readonly scope_id: string;
  readonly url: string;
}

/** What a sandbox may use. A sandbox has no network of its own, ever. */
export interface SandboxSpec {
  readonly scope_id: string;
  /** The attempt or verification it was made for: a sweep destroys it once that is over. */
  readonly owner: string;
  /** Place of the worktree below the host's root, e.g. `.runtime/worktrees/<scope>/<work_item_id>/<attempt>`. */
  readonly worktree: string;
  readonly memory_mb: number;
  readonly processes: number;
  readonly file_mb: number;
}

/** A process to run. `network` opens the named hosts (or presets: npm, pip, cargo, go, apt) through the allow-list proxy. */
export interface ExecSpec {
  readonly argv: readonly string[];
  /** Relative to the workspace; "." by default. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeout_ms: number;
  readonly stdin?: string;
  readonly network?: { readonly hosts: readonly string[]; readonly cache: readonly string[] };
}

/** `unknown`: the host has never heard of the call, or lost it; nothing may be assumed about what it did. */
export type CallOutcome =
  | { readonly state: "running" }
  | {
      readonly state: "exited";
      readonly exit_code: number;
      readonly signal: string | null;
      readonly duration_ms: number;
    }
  | { readonly state: "timed_out"; readonly duration_ms: number }
  | { readonly state: "never_started"; readonly reason: string }
  | { readonly state: "unknown" };

export interface WaitAnswer {
  readonly outcome: CallOutcome;
  /** Output (stdout and stderr in the order written) from `offset`, at most 64 KB. */
  readonly chunk: Uint8Array;
  readonly next_offset: number;
}

export interface Snapshot {
  /** Binary, full-index git patch of the workspace against the checked-out commit. Empty when nothing changed. */
  readonly patch: Uint8Array;
  /** Git tree hash of the whole workspace. */
  readonly tree: string;
  readonly files: readonly PatchFile[];
}

export interface MergeInput {
  /** Commit the patch was made against. */
  readonly baseline: string;
  /** Commit to build on: the branch's tip. */
  readonly parent: string;
  readonly patch: Uint8Array;
  readonly message: string;
  /** Seconds since the epoch, so that the same merge built twice is the same commit. */
  readonly at_s: number;
}
export type MergeAnswer =
  | {
      readonly ok: true;
      readonly commit: string;
      /** Git bundle holding `countersign/candidate` at `commit`, with everything since the source's own commits. */
      readonly bundle: Uint8Array;
      /** Patch from `parent` to `commit`: what `restore` needs in a sandbox checked out at `parent`. */
      readonly patch: Uint8Array;
      readonly files: readonly PatchFile[];
    }
  | { readonly ok: false; readonly conflicts: readonly string[] };

export interface PublishInput {
  readonly source: Source;
  /** `countersign/<task>`; anything else is refused. */
  readonly branch: string;
  readonly commit: string;
  readonly bundle: Uint8Array;
}

/** `code` says what kind of failure it was; `retryable` whether the same call may succeed later. */
export class SandboxFailure extends Error {
  readonly code: SandboxFailureCode;
  readonly retryable: boolean;
  constructor(code: SandboxFailureCode, message: string, retryable = false) {
    super(message);
    this.name = "SandboxFailure";
    this.code = code;
    this.retryable = retryable;
  }
}
export const sandboxFailureCodes = [
  "unreachable", // the host did not answer
  "silent", // it was reached, and said nothing in its time
  "unauthorized",
  "no_such_sandbox",
  "no_such_call",
  "bad_request", // includes a path outside the workspace
  "call_mismatch", // same call_id, other command
  "repo_unreachable",
  "repo_not_allowed",
  "ref_not_found",
  "patch_failed", // does not apply
  "patch_too_large",
  "patch_refused", // gitlink or nested repository, named in the message
  "not_fast_forward",
  "too_many", // PTYs or sandboxes
  "internal",
] as const;
export type SandboxFailureCode = (typeof sandboxFailureCodes)[number];

/**
 * Sandboxes. Every method throws SandboxFailure and nothing else. All ids are the caller's, and every
 * method may be called again with the same ids: `create` of a live id, `exec` of a known call_id with the
 * same argv, `destroy` of a gone id answer as the first time and do nothing more.
 */
export interface Sandboxes {
  create(id: string, spec: SandboxSpec): Promise<void>;
  /** Lays the commit's files in the workspace, for the sandbox's own scope. `bundle` brings commits the source does not have yet. */
  checkout(id: string, source: Source, commit: string, bundle?: Uint8Array): Promise<void>;
  /** Starts at most one process per (id, call_id); returns once started or refused, without waiting for its end. */
  exec(id: string, call_id: string, spec: ExecSpec): Promise<void>;
  /** Waits up to `wait_ms` (at most 20,000) for output past `offset` or the end of the process. */
  wait(id: string, call_id: string, offset: number, wait_ms: number): Promise<WaitAnswer>;
  outcome(id: string, call_id: string): Promise<CallOutcome>;
  /** Ends the call's whole process group. */
  kill(id: string, call_id: string): Promise<void>;
  read(id: string, path: string): Promise<Uint8Array>;
  write(id: string, path: string, content: Uint8Array): Promise<void>;
  list(
    id: string,
    path: string,
  ): Promise<
    readonly { readonly name: string; readonly kind: "file" | "directory" | "other"; readonly size: number }[]
  >;
  remove(id: string, path: string): Promise<void>;
  openPty(
    id: string,
    pty_id: string,
    spec: { argv: readonly string[]; cols: number; rows: number; timeout_ms: number },
  ): Promise<void>;
  writePty(id: string, pty_id: string, data: Uint8Array): Promise<void>;
  resizePty(id: string, pty_id: string, cols: number, rows: number): Promise<void>;
  readPty(id: string, pty_id: string, offset: number, wait_ms: number): Promise<WaitAnswer>;
  snapshot(id: string): Promise<Snapshot>;
  /** Applies a patch of `snapshot` (or of `merge`) to the workspace; all of it or nothing. */
  restore(id: string, patch: Uint8Array): Promise<void>;
  /** Three-way merge in the sandbox's own git directory; the workspace is not touched. */
  merge(id: string, input: MergeInput): Promise<MergeAnswer>;
  /** Ends every process of the sandbox, then removes it. */
  destroy(id: string): Promise<void>;
  sandboxes(): Promise<readonly { readonly id: string; readonly scope_id: string; readonly owner: string }[]>;

  /** The commit a ref of a source names now. */
  resolve(source: Source, ref: string): Promise<{ readonly commit: string; readonly default_branch: string }>;
  /** Pushes the commit to its branch, fast-forward only; a branch already there at that commit is success. */
  publish(input: PublishInput): Promise<void>;
}

export interface WebFound {
  readonly title: string;
  readonly url: string;
  readonly excerpt: string;
}
/** The web could not be searched. The message holds no key. */
export class SearchFailure extends Error {
  readonly retryable: boolean;
  constructor(message: string, retryable: boolean) {
    super(message);
    this.name = "SearchFailure";
    this.retryable = retryable;
  }
}
/** A provider that searches the web. Throws SearchFailure and nothing else. */
export interface WebSearch {
  search(query: string, limit: number): Promise<readonly WebFound[]>;
}

/** The store of artifacts did not answer, or not well: the same call may succeed later. */
export class ArtifactFailure extends Error {
  readonly code = "artifacts";
  readonly retryable = true;
  constructor(message: string) {
    super(message);
    this.name = "ArtifactFailure";
  }
}
/** Large bytes by key. Keys begin with the scope. Every method throws ArtifactFailure and nothing else. */
export interface Artifacts {
  put(key: string, bytes: Uint8Array): Promise<void>;
  get(key: string): Promise<Uint8Array | null>;
}
