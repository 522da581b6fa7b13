/** What owners do at GitHub: repositories, who may do what in them, and which installation of the App covers them. */
import type { Hooks, Sending } from "./hooks.ts";
import { appPermissions, type Installation, makeApp, type Repo, type Role, type State } from "./state.ts";

export interface RepoSpec {
  readonly full_name: string;
  readonly private?: boolean;
  readonly default_branch?: string;
  /** Commits of its branches; or a bare repository on disk, which then is the truth. */
  readonly branches?: Readonly<Record<string, string>>;
  readonly git?: string;
  readonly drafts?: boolean;
  /** Logins and what they may do. */
  readonly people?: Readonly<Record<string, Role>>;
  /** Which installation covers it: the first when left out, none when null. */
  readonly installation?: number | null;
}
export class Owners {
  readonly #state: State;
  readonly #hooks: Hooks;
  constructor(state: State, hooks: Hooks) {
    this.#state = state;
    this.#hooks = hooks;
  }

  // --- set-up

  install(account: string): Installation {
    const installation = { id: this.#state.id(), account, suspended: false, repositories: new Set<number>() };
    this.#state.installations.set(installation.id, installation);
    return installation;
  }
  makeRepo(spec: RepoSpec): Repo {
    const { full_name, branches = {}, people = {}, default_branch = "main" } = spec;
    const repo: Repo = {
      id: this.#state.id(),
      full_name,
      private: spec.private ?? false,
      default_branch,
      drafts: spec.drafts ?? true,
      roles: new Map(),
      threads: new Map(),
      checks: [],
      branches: new Map(Object.entries(branches)),
      git: spec.git ?? null,
    };
    this.#state.repos.set(repo.id, repo);
    for (const [login, role] of Object.entries(people)) this.collaborator(full_name, login, role);
    const [first] = this.#state.installations.values();
    const owner = full_name.split("/")[0] ?? "";
    if (spec.installation === undefined) (first ?? this.install(owner)).repositories.add(repo.id);
    else if (spec.installation !== null) this.#state.installations.get(spec.installation)?.repositories.add(repo.id);
    return repo;
  }
  /** Null takes them out. */
  collaborator(repo: string, login: string, role: Role | null): void {
    const { roles } = this.#state.repo(repo);
    this.#state.person(login);
    if (role === null) roles.delete(login.toLowerCase());
    else roles.set(login.toLowerCase(), role);
  }
  /** Sends the manifest in, as the form at GitHub does: the code that comes back makes the App. */
  offerManifest(manifest: {
    readonly name?: string;
    readonly default_permissions?: Record<string, "read" | "write">;
  }): string {
    const slug = (manifest.name ?? "countersign").toLowerCase().replace(/[^a-z0-9]+/g, "-");
    const permissions = { ...manifest.default_permissions, metadata: "read" as const };
    const code = `code${this.#state.id()}`;
    this.#state.manifests.set(
      code,
      makeApp({ id: this.#state.id(), slug, permissions: manifest.default_permissions ? permissions : appPermissions }),
    );
    return code;
  }

  // --- installations

  installed(id: number, by: string): Promise<Sending> {
    const repositories = this.#listed(id);
    return this.#hooks.ofInstallation("installation", "created", this.#installation(id), this.#state.person(by), {
      repositories,
    });
  }
  suspend(id: number, by: string, suspended = true): Promise<Sending> {
    const one = this.#installation(id);
    one.suspended = suspended;
    return this.#hooks.ofInstallation("installation", suspended ? "suspend" : "unsuspend", one, this.#state.person(by));
  }
  uninstall(id: number, by: string): Promise<Sending> {
    const one = this.#installation(id);
    const repositories = this.#listed(id);
    this.#state.installations.delete(id);
    return this.#hooks.ofInstallation("installation", "deleted", one, this.#state.person(by), { repositories });
  }
  cover(id: number, repo: string, by: string, covered = true): Promise<Sending> {
    const one = this.#installation(id);
    const { id: repo_id, full_name, private: hidden } = this.#state.repo(repo);
    if (covered) one.repositories.add(repo_id);
    else one.repositories.delete(repo_id);
    const listed = [{ id: repo_id, node_id: "x", name: full_name.split("/")[1], full_name, private: hidden }];
    const over = {
      repositories_added: covered ? listed : [],
      repositories_removed: covered ? [] : listed,
      repository_selection: "selected",
    };
    return this.#hooks.ofInstallation(
      "installation_repositories",
      covered ? "added" : "removed",
      one,
      this.#state.person(by),
      over,
    );
  }
  rename(repo: string, to: string, by: string): Promise<Sending> {
    const found = this.#state.repo(repo);
    const changes = { repository: { name: { from: repo.split("/")[1] } } };
    found.full_name = to;
    return this.#hooks.happened({ event: "repository", action: "renamed", repo: found }, this.#state.person(by), {
      changes,
    });
  }
  #installation(id: number): Installation {
    const found = this.#state.installations.get(id);
    if (found === undefined) throw new Error(`no installation ${id}`);
    return found;
  }
  #listed(id: number) {
    return [...this.#installation(id).repositories].flatMap((repo_id) => {
      const repo = this.#state.repos.get(repo_id);
      if (repo === undefined) return [];
      return [
        {
          id: repo.id,
          node_id: "x",
          name: repo.full_name.split("/")[1],
          full_name: repo.full_name,
          private: repo.private,
        },
      ];
    });
  }
}
