/** What the contract server remembers: an App, its installations, repositories with all that lies in them, tokens. */
import { execFileSync } from "node:child_process";
import { generateKeyPairSync, randomBytes, randomUUID } from "node:crypto";

export interface Person {
  readonly login: string;
  readonly id: number;
  readonly bot: boolean;
}
export interface App {
  readonly id: number;
  readonly slug: string;
  /** Whose it is. */
  readonly owner: string;
  /** PKCS#1, as GitHub hands it out. */
  readonly pem: string;
  readonly publicPem: string;
  readonly webhook_secret: string;
  readonly permissions: Readonly<Record<string, "read" | "write">>;
}
export interface Installation {
  readonly id: number;
  readonly account: string;
  suspended: boolean;
  readonly repositories: Set<number>;
}
export interface Comment {
  readonly id: number;
  readonly by: Person;
  body: string;
  readonly at: string;
}
export interface Thread {
  readonly number: number;
  readonly id: number;
  title: string;
  body: string;
  readonly by: Person;
  labels: string[];
  assignees: Person[];
  state: "open" | "closed";
  readonly comments: Comment[];
  readonly at: string;
  /** Of a pull request; null when it is an issue. */
  readonly pull: {
    readonly head: string;
    readonly base: string;
    readonly draft: boolean;
    readonly fork: boolean;
    sha: string;
  } | null;
}
export interface Check {
  readonly id: number;
  readonly app_id: number;
  readonly sha: string;
  name: string;
  external_id: string;
  details_url: string | null;
  status: string;
  conclusion: string | null;
  output: { title: string | null; summary: string | null; text: string | null };
  actions: { label: string; identifier: string; description: string }[];
  readonly at: string;
}
export interface Repo {
  readonly id: number;
  full_name: string;
  private: boolean;
  default_branch: string;
  /** GitHub's plan for it has draft pull requests. */
  drafts: boolean;
  /** Roles by login in lower case. */
  readonly roles: Map<string, Role>;
  readonly threads: Map<number, Thread>;
  readonly checks: Check[];
  /** Newest commits by branch, unless a bare repository on disk says. */
  readonly branches: Map<string, string>;
  git: string | null;
}
export type Role = "admin" | "maintain" | "write" | "triage" | "read";
export interface Token {
  readonly installation_id: number;
  /** Null: all that the installation covers. */
  readonly repositories: readonly number[] | null;
  readonly permissions: Readonly<Record<string, string>>;
  readonly expires_ms: number;
}

export const appPermissions = {
  metadata: "read",
  contents: "write",
  issues: "write",
  pull_requests: "write",
  checks: "write",
} as const;

export class State {
  app: App;
  readonly installations = new Map<number, Installation>();
  readonly repos = new Map<number, Repo>();
  readonly tokens = new Map<string, Token>();
  readonly people = new Map<string, Person>();
  /** Apps that somebody may make from a manifest, by code. */
  readonly manifests = new Map<string, App>();
  #next = 1_000;

  constructor(app: Partial<App> = {}) {
    this.app = makeApp(app);
  }
  id(): number {
    this.#next += 1;
    return this.#next;
  }
  person(login: string): Person {
    const key = login.toLowerCase();
    const known = this.people.get(key) ?? { login, id: this.id(), bot: login.endsWith("[bot]") };
    this.people.set(key, known);
    return known;
  }
  get bot(): Person {
    return this.person(`${this.app.slug}[bot]`);
  }
  repo(full_name: string): Repo {
    const found = [...this.repos.values()].find((one) => one.full_name.toLowerCase() === full_name.toLowerCase());
    if (found === undefined) throw new Error(`no repository ${full_name}`);
    return found;
  }
  thread(full_name: string, number: number): Thread {
    const found = this.repo(full_name).threads.get(number);
    if (found === undefined) throw new Error(`no thread ${full_name}#${number}`);
    return found;
  }
  installationOf(repo: Repo): Installation | null {
    return [...this.installations.values()].find(({ repositories }) => repositories.has(repo.id)) ?? null;
  }
  addThread(repo: Repo, one: Pick<Thread, "title" | "body" | "by" | "pull"> & { labels?: string[] }): Thread {
    const number = Math.max(0, ...repo.threads.keys()) + 1;
    const labels = one.labels ?? [];
    const thread: Thread = {
      ...one,
      labels,
      number,
      id: this.id(),
      assignees: [],
      state: "open",
      comments: [],
      at: now(),
    };
    repo.threads.set(number, thread);
    return thread;
  }
  makeToken(token: Token): string {
    const text = `ghs_${randomBytes(27).toString("hex").slice(0, 36)}`;
    this.tokens.set(text, token);
    return text;
  }
}

export function makeApp({ id = 4_242, slug = "countersign-test", ...own }: Partial<App> = {}): App {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  return {
    id,
    slug,
    owner: "acme",
    pem: String(privateKey.export({ type: "pkcs1", format: "pem" })),
    publicPem: String(publicKey.export({ type: "spki", format: "pem" })),
    webhook_secret: randomBytes(24).toString("hex"),
    permissions: appPermissions,
    ...own,
  };
}
export function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
export function guid(): string {
  return randomUUID();
}

/** Newest commit of the branch; null when there is no such branch. */
export function headOf(repo: Repo, branch: string): string | null {
  if (repo.git === null) return repo.branches.get(branch) ?? null;
  const asked = ["--git-dir", repo.git, "rev-parse", "--verify", "--quiet", `refs/heads/${branch}`];
  return git(asked)?.trim() ?? null;
}
export function hasCommit(repo: Repo, sha: string): boolean {
  if (repo.git === null) return [...repo.branches.values()].includes(sha) || repo.checks.some((one) => one.sha === sha);
  return git(["--git-dir", repo.git, "cat-file", "-e", `${sha}^{commit}`]) !== null;
}
function git(args: readonly string[]): string | null {
  try {
    return execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return null;
  }
}
