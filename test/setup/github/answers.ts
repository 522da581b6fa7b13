/** What the contract server's state looks like in GitHub's answers: GitHub's own examples with our values in them. */
import type { Description } from "./description.ts";
import {
  type App,
  type Check,
  type Comment,
  headOf,
  type Installation,
  type Person,
  type Repo,
  type State,
  type Thread,
} from "./state.ts";

type Json = Record<string, unknown>;

export class Answers {
  readonly #description: Description;
  readonly #state: State;
  readonly #base: () => string;
  constructor(description: Description, state: State, base: () => string) {
    this.#description = description;
    this.#state = state;
    this.#base = base;
  }
  #like(example: string): Json {
    return this.#description.example(example);
  }

  user(person: Person): Json {
    const like = this.#like("issue-comment").user as Json;
    const type = person.bot ? "Bot" : "User";
    const html_url = this.web(person.bot ? `apps/${person.login.replace("[bot]", "")}` : person.login);
    return { ...like, login: person.login, id: person.id, type, html_url, site_admin: false };
  }
  owner(repo: Repo): Json {
    return this.user(this.#state.person(repo.full_name.split("/")[0] ?? ""));
  }
  /** The page of it for people. */
  web(path: string): string {
    return `${this.#base()}/${path}`;
  }

  app(app: App = this.#state.app): Json {
    const like = this.#like("check-run").app as Json;
    const owner = this.user(this.#state.person(app.owner));
    return { ...like, id: app.id, slug: app.slug, name: app.slug, permissions: app.permissions, owner };
  }
  installation(one: Installation): Json {
    const like = this.#like("base-installation");
    const { id: app_id, slug: app_slug, permissions } = this.#state.app;
    const account = this.user(this.#state.person(one.account));
    const suspended_at = one.suspended ? "2026-01-01T00:00:00Z" : null;
    return {
      ...like,
      id: one.id,
      account,
      app_id,
      app_slug,
      permissions,
      suspended_at,
      repository_selection: "selected",
    };
  }
  fromManifest(app: App): Json {
    const like = this.#like("integration-from-manifest");
    const { id, slug, pem, webhook_secret } = app;
    return { ...like, id, slug, name: slug, pem, webhook_secret, html_url: this.web(`apps/${slug}`) };
  }

  repository(repo: Repo): Json {
    const like = (this.#like("repository-paginated-2").repositories as Json[])[0];
    return { ...like, ...this.#repositoryValues(repo) };
  }
  fullRepository(repo: Repo): Json {
    // What it was made from is left out; and the example forgets a field that the description demands.
    const {
      source: _source,
      parent: _parent,
      template_repository: _template,
      ...like
    } = this.#like("full-repository-default-response");
    return { ...like, language: null, ...this.#repositoryValues(repo) };
  }
  #repositoryValues(repo: Repo): Json {
    const [, name = ""] = repo.full_name.split("/");
    const { id, full_name, default_branch } = repo;
    const html_url = this.web(full_name);
    return { id, name, full_name, private: repo.private, default_branch, html_url, owner: this.owner(repo) };
  }
  permission(repo: Repo, person: Person): Json {
    const like = this.#like("repository-collaborator-permission-response-if-user-has-admin-permissions");
    const role = repo.roles.get(person.login.toLowerCase()) ?? (repo.private ? "none" : "read");
    // The old name of it knows four.
    const permission = role === "maintain" ? "write" : role === "triage" ? "read" : role;
    const { user } = like;
    return { ...like, permission, role_name: role, user: { ...(user as Json), ...this.user(person), role_name: role } };
  }
  ref(branch: string, sha: string): Json {
    const like = this.#like("git-ref");
    return { ...like, ref: `refs/heads/${branch}`, object: { ...(like.object as Json), sha } };
  }

  comment(repo: Repo, thread: Thread, one: Comment): Json {
    const html_url = `${this.#threadUrl(repo, thread)}#issuecomment-${one.id}`;
    const via = one.by.id === this.#state.bot.id ? this.app() : null;
    return {
      ...this.#like("issue-comment"),
      id: one.id,
      html_url,
      body: one.body,
      user: this.user(one.by),
      created_at: one.at,
      updated_at: one.at,
      author_association: this.association(repo, one.by),
      performed_via_github_app: via,
    };
  }
  #threadUrl(repo: Repo, thread: Thread): string {
    return this.web(`${repo.full_name}/${thread.pull === null ? "issues" : "pull"}/${thread.number}`);
  }
  association(repo: Repo, by: Person): string {
    const role = repo.roles.get(by.login.toLowerCase());
    return role === undefined ? "NONE" : "COLLABORATOR";
  }

  check(one: Check, repo: Repo): Json {
    const like = this.#like("check-run");
    const other = this.app({ ...this.#state.app, id: one.app_id, slug: "another-app" });
    return {
      ...like,
      id: one.id,
      head_sha: one.sha,
      name: one.name,
      external_id: one.external_id,
      html_url: this.web(`${repo.full_name}/runs/${one.id}`),
      details_url: one.details_url ?? this.web(`apps/${this.#state.app.slug}`),
      status: one.status,
      conclusion: one.conclusion,
      started_at: one.at,
      completed_at: one.status === "completed" ? one.at : null,
      output: { ...(like.output as Json), ...one.output },
      app: one.app_id === this.#state.app.id ? this.app() : other,
      pull_requests: [],
    };
  }

  pull(repo: Repo, thread: Thread, form: "whole" | "listed"): Json {
    const examples = this.#like("pull-request-simple-items") as unknown as Json[];
    const like = form === "whole" ? this.#like("pull-request") : (examples[0] ?? {});
    const { head, base, draft, fork, sha } = thread.pull ?? { head: "", base: "", draft: false, fork: false, sha: "" };
    const here = this.#repositoryValues(repo);
    const side = (name: "head" | "base", ref: string, commit: string, values: Json): Json => {
      const own = like[name] as Json;
      const { owner } = values;
      const label = `${(owner as Json).login}:${ref}`;
      return { ...own, ref, sha: commit, label, user: owner, repo: { ...(own.repo as Json), ...values } };
    };
    const elsewhere = {
      ...here,
      id: repo.id + 500_000,
      full_name: `stranger/${here.name}`,
      owner: this.user(thread.by),
    };
    return {
      ...like,
      id: thread.id,
      number: thread.number,
      html_url: this.#threadUrl(repo, thread),
      title: thread.title,
      body: thread.body,
      user: this.user(thread.by),
      state: thread.state,
      draft,
      created_at: thread.at,
      head: side("head", head, (fork ? null : headOf(repo, head)) ?? sha, fork ? elsewhere : here),
      base: side("base", base, headOf(repo, base) ?? sha, here),
      labels: [],
      requested_teams: [],
      requested_reviewers: [],
      assignees: thread.assignees.map((one) => this.user(one)),
      assignee: null,
    };
  }
}
