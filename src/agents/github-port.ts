/**
 * GitHub as the courier sees it: one method a call, bounded answers, no token ever. Made real by `adapters/github*.ts`.
 * Every method throws GithubFailure and nothing else. [GHA-*]
 */
import type { GithubRepository, Permission } from "../domain/github/shapes.ts";

export type RepoRef = Pick<GithubRepository, "id" | "installation_id" | "full_name">;

export const githubFailureCodes = [
  "not_configured",
  "unauthorized", // the App's own credentials are refused
  "suspended", // the installation is suspended, removed, or no longer covers the repository
  "forbidden",
  "not_found",
  "invalid", // GitHub refuses what was sent: sending it again cannot help
  "rate_limited", // primary or secondary limit: `retry_after_ms` says how long
  "unavailable", // 5xx, no answer, cut off
] as const;
export type GithubFailureCode = (typeof githubFailureCodes)[number];
export class GithubFailure extends Error {
  readonly code: GithubFailureCode;
  readonly retryable: boolean;
  readonly retry_after_ms: number | null;
  constructor(code: GithubFailureCode, message: string, retry_after_ms: number | null = null) {
    super(message);
    this.name = "GithubFailure";
    this.code = code;
    this.retryable = code === "rate_limited" || code === "unavailable";
    this.retry_after_ms = retry_after_ms;
  }
}

export interface CommentRef {
  readonly id: number;
  readonly url: string;
}
export interface CheckRef {
  readonly id: number;
  readonly url: string;
  readonly sha: string;
}
/** When GitHub answered that it stands so, by its own clock in whole seconds (ISO 8601); null when it did not say. */
export interface Written {
  readonly at: string | null;
}
export interface PullRef {
  readonly number: number;
  readonly url: string;
}
/** A check run as it shall stand. `completed` has a conclusion; at most three actions, only with `action_required`. */
export interface CheckInput {
  readonly name: string;
  readonly external_id: string;
  readonly details_url: string | null;
  readonly status: "queued" | "in_progress" | "completed";
  readonly conclusion: "action_required" | "success" | "failure" | "neutral" | "cancelled" | null;
  readonly title: string;
  /** Markdown, at most 65,535 characters each. */
  readonly summary: string;
  readonly text: string | null;
  readonly actions: readonly {
    /** At most 20, 20 and 40 characters. */
    readonly label: string;
    readonly identifier: string;
    readonly description: string;
  }[];
}
export interface PullFacts extends PullRef {
  readonly state: "open" | "closed";
  readonly draft: boolean;
  readonly head_branch: string;
  readonly head_sha: string;
  /** The head lies in the same repository: not a fork's. */
  readonly same_repository: boolean;
  readonly base_branch: string;
}

export interface Github {
  permission(repo: RepoRef, login: string): Promise<Permission>;
  /** The branch's newest commit; of the default branch when null. Null when there is no such branch. */
  head(repo: RepoRef, branch: string | null): Promise<{ readonly branch: string; readonly sha: string } | null>;
  pull(repo: RepoRef, number: number): Promise<PullFacts | null>;
  /** Our own comment whose body holds the marker: the oldest, when there are several. */
  findComment(repo: RepoRef, issue: number, marker: string): Promise<CommentRef | null>;
  createComment(repo: RepoRef, issue: number, body: string): Promise<CommentRef & Written>;
  /** Null when it is gone. */
  updateComment(repo: RepoRef, id: number, body: string): Promise<(CommentRef & Written) | null>;
  /** Our own check run of that commit with that `external_id`. */
  findCheck(repo: RepoRef, sha: string, external_id: string): Promise<CheckRef | null>;
  createCheck(repo: RepoRef, sha: string, check: CheckInput): Promise<CheckRef & Written>;
  updateCheck(repo: RepoRef, id: number, check: CheckInput): Promise<(CheckRef & Written) | null>;
  /** The pull request from that branch of the same repository, open or closed: the newest. */
  findPull(repo: RepoRef, head_branch: string): Promise<PullFacts | null>;
  createPull(
    repo: RepoRef,
    pull: { readonly head: string; readonly base: string; readonly title: string; readonly body: string },
  ): Promise<PullRef>;
  updatePull(
    repo: RepoRef,
    number: number,
    change: { readonly title: string; readonly body: string },
  ): Promise<PullRef | null>;
}

/** A person, an organisation or an enterprise. */
export interface Account {
  readonly id: number;
  readonly name: string;
}

/** What only the App itself may ask: installations and failed deliveries. */
export interface GithubApp {
  /** Whose the App is; null where GitHub does not say. */
  owner(): Promise<Account | null>;
  /** Null when it is gone. */
  installation(id: number): Promise<{
    readonly id: number;
    readonly account: Account | null;
    readonly suspended: boolean;
  } | null>;
  /** All repositories that the installation covers. */
  repositories(installation_id: number): Promise<readonly GithubRepository[]>;
  /** Newest first. */
  deliveries(cursor: string | null): Promise<{
    readonly items: readonly {
      /** Decimal digits: they are above 2^53. */
      readonly id: string;
      readonly guid: string;
      readonly delivered_at: string;
      readonly redelivery: boolean;
      readonly ok: boolean;
    }[];
    readonly next: string | null;
  }>;
  redeliver(id: string): Promise<void>;
}

/** Short-lived credentials for git itself, narrowed to one repository: never inside a sandbox. */
export interface GitCredentials {
  /** Null when the address is no repository that this scope is linked to: git goes without. */
  open(
    scope_id: string,
    url: string,
    access: "read" | "write",
  ): Promise<{
    readonly username: string;
    readonly password: string;
    /** Where the repository is now, when the address given is one that it had before. */
    readonly moved_to: string | null;
    close(): Promise<void>;
  } | null>;
}
