/**
 * `Github` over its REST API: one method, one small answer. What creates is sent once and never again here: whoever asks
 * looks first. Comments and check runs of others are never taken for our own. [GHA-1] [GHA-8] [GHA-9]
 */
import type { z } from "zod";
import type {
  CheckInput,
  CheckRef,
  CommentRef,
  Github,
  PullFacts,
  PullRef,
  RepoRef,
  Written,
} from "../agents/github-port.ts";
import type { Permission } from "../domain/github/shapes.ts";
import { limits } from "../limits.ts";
import type { GithubConfig } from "./github-config.ts";
import { Answered } from "./github-failures.ts";
import type { Answer, Bounds, GithubLine, Parameters } from "./github-line.ts";
import * as shapes from "./github-shapes.ts";
import type { InstallationTokens, TokenPermissions } from "./github-tokens.ts";

/** The least that each group of calls needs. A comment below a pull request is that pull request's, so it needs both. */
const needs = {
  metadata: { metadata: "read" },
  refs: { contents: "read" },
  readPulls: { pull_requests: "read" },
  comments: { issues: "write", pull_requests: "write" },
  checks: { checks: "write" },
  pulls: { pull_requests: "write", contents: "read" },
} as const satisfies Record<string, TokenPermissions>;

type Call<T> = readonly [
  repo: RepoRef,
  permissions: TokenPermissions,
  route: string,
  parameters: Parameters,
  shape: z.ZodType<T>,
  bounds?: Bounds,
];
/** Where people's texts come along. */
const texts: Bounds = { most_bytes: limits.github_texts_bytes };

export class HttpGithub implements Github {
  readonly #line: GithubLine;
  readonly #tokens: InstallationTokens;
  readonly #app: GithubConfig;

  constructor(app: GithubConfig, line: GithubLine, tokens: InstallationTokens) {
    this.#app = app;
    this.#line = line;
    this.#tokens = tokens;
  }

  async permission(repo: RepoRef, login: string): Promise<Permission> {
    const route = "GET /repos/{owner}/{repo}/collaborators/{username}/permission";
    const found = await nullIfGone(this.#data(repo, needs.metadata, route, { username: login }, shapes.held));
    // Nobody of that name.
    return found ?? "none";
  }

  async head(repo: RepoRef, branch: string | null): Promise<{ branch: string; sha: string } | null> {
    const name = branch ?? (await this.#defaultBranch(repo));
    const route = "GET /repos/{owner}/{repo}/git/ref/{ref}";
    const found = this.#data(repo, needs.refs, route, { ref: `heads/${name}` }, shapes.ref);
    // 409: the repository has no commit at all.
    const ref = await nullIfGone(found, 409);
    return ref === null ? null : { branch: name, sha: ref.object.sha };
  }

  async #defaultBranch(repo: RepoRef): Promise<string> {
    const found = await this.#data(repo, needs.metadata, "GET /repos/{owner}/{repo}", {}, shapes.repository);
    return found.default_branch;
  }

  pull(repo: RepoRef, number: number): Promise<PullFacts | null> {
    const route = "GET /repos/{owner}/{repo}/pulls/{pull_number}";
    return nullIfGone(this.#data(repo, needs.readPulls, route, { pull_number: number }, shapes.pull));
  }

  async findComment(repo: RepoRef, issue: number, marker: string): Promise<CommentRef | null> {
    const route = "GET /repos/{owner}/{repo}/issues/{issue_number}/comments";
    for (let page = 1; page <= limits.github_comment_pages; page++) {
      const parameters = { issue_number: issue, per_page: limits.github_texts_page, page };
      // They come in the order they were written.
      const { data, next } = await this.#call(repo, needs.comments, route, parameters, shapes.comments, texts);
      const ours = data.find((one) => this.#wrote(one) && one.body?.includes(marker) === true);
      if (ours !== undefined) return { id: ours.id, url: ours.html_url };
      if (next === null) return null;
    }
    throw tooMany("comments in the thread");
  }

  #wrote({ user, performed_via_github_app: app }: z.infer<typeof shapes.comment>): boolean {
    return app?.id === this.#app.app_id || user?.login.toLowerCase() === this.#app.bot_login;
  }

  async createComment(repo: RepoRef, issue: number, body: string): Promise<CommentRef & Written> {
    const route = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments";
    const { data, at } = await this.#call(repo, needs.comments, route, { issue_number: issue, body }, shapes.comment);
    return { ...commentRef(data), at };
  }

  async updateComment(repo: RepoRef, id: number, body: string): Promise<(CommentRef & Written) | null> {
    const route = "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}";
    const found = await nullIfGone(this.#call(repo, needs.comments, route, { comment_id: id, body }, shapes.comment));
    return found === null ? null : { ...commentRef(found.data), at: found.at };
  }

  async findCheck(repo: RepoRef, sha: string, external_id: string): Promise<CheckRef | null> {
    const route = "GET /repos/{owner}/{repo}/commits/{ref}/check-runs";
    const ours: CheckRef[] = [];
    for (let page = 1; page <= limits.github_check_pages; page++) {
      const parameters = {
        ref: sha,
        app_id: this.#app.app_id,
        filter: "all",
        per_page: limits.github_texts_page,
        page,
      };
      const { data, next } = await this.#call(repo, needs.checks, route, parameters, shapes.checks, texts);
      for (const one of data.check_runs)
        if (one.app?.id === this.#app.app_id && one.external_id === external_id) ours.push(this.#checkRef(repo, one));
      // The oldest, should there be several: newest come first, in no promised order.
      if (next === null) return ours.toSorted((one, other) => one.id - other.id)[0] ?? null;
    }
    throw tooMany("check runs of the commit");
  }

  async createCheck(repo: RepoRef, sha: string, check: CheckInput): Promise<CheckRef & Written> {
    const route = "POST /repos/{owner}/{repo}/check-runs";
    const parameters = { head_sha: sha, ...checkBody(check) };
    const { data, at } = await this.#call(repo, needs.checks, route, parameters, shapes.check);
    return { ...this.#checkRef(repo, data), at };
  }

  async updateCheck(repo: RepoRef, id: number, check: CheckInput): Promise<(CheckRef & Written) | null> {
    const route = "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}";
    const parameters = { check_run_id: id, ...checkBody(check) };
    const found = await nullIfGone(this.#call(repo, needs.checks, route, parameters, shapes.check));
    return found === null ? null : { ...this.#checkRef(repo, found.data), at: found.at };
  }

  #checkRef(repo: RepoRef, { id, head_sha, html_url }: z.infer<typeof shapes.check>): CheckRef {
    return { id, sha: head_sha, url: html_url ?? `${this.#app.url}/${repo.full_name}/runs/${id}` };
  }

  async findPull(repo: RepoRef, head_branch: string): Promise<PullFacts | null> {
    const parameters = {
      head: `${ownerOf(repo)}:${head_branch}`,
      state: "all",
      sort: "created",
      direction: "desc",
      per_page: limits.github_texts_page,
    };
    const route = "GET /repos/{owner}/{repo}/pulls";
    const { data } = await this.#call(repo, needs.readPulls, route, parameters, shapes.pulls, texts);
    const own = data.filter((one) => one.same_repository && one.head_branch === head_branch);
    return own.toSorted((one, other) => other.number - one.number)[0] ?? null;
  }

  async createPull(
    repo: RepoRef,
    pull: { readonly head: string; readonly base: string; readonly title: string; readonly body: string },
  ): Promise<PullRef> {
    const create = (draft: boolean) =>
      this.#data(repo, needs.pulls, "POST /repos/{owner}/{repo}/pulls", { ...pull, draft }, shapes.pull);
    const made = await create(true).catch((error: unknown) => {
      // Refused, so nothing was made: where GitHub's plan has no drafts it can only be an ordinary one.
      const noDrafts =
        error instanceof Answered &&
        error.status === 422 &&
        /draft pull requests are not supported/i.test(error.message);
      if (noDrafts) return create(false);
      throw error;
    });
    return { number: made.number, url: made.url };
  }

  async updatePull(
    repo: RepoRef,
    number: number,
    { title, body }: { readonly title: string; readonly body: string },
  ): Promise<PullRef | null> {
    const route = "PATCH /repos/{owner}/{repo}/pulls/{pull_number}";
    const found = await nullIfGone(
      this.#data(repo, needs.pulls, route, { pull_number: number, title, body }, shapes.pull),
    );
    return found === null ? null : { number: found.number, url: found.url };
  }

  async #data<T>(...call: Call<T>): Promise<T> {
    return (await this.#call(...call)).data;
  }

  #call<T>(...[repo, permissions, route, parameters, shape, bounds]: Call<T>): Promise<Answer<T>> {
    const [, name = ""] = repo.full_name.split("/");
    const all = { owner: ownerOf(repo), repo: name, ...parameters };
    return this.#tokens.with(repo, permissions, (token) => this.#line.call(route, all, shape, { token }, bounds));
  }
}

/** Null where GitHub says that nothing is there (any more): 404 and 410, and the status named. */
async function nullIfGone<T>(call: Promise<T>, status?: number): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Answered && (error.code === "not_found" || error.status === status)) return null;
    throw error;
  }
}

function tooMany(what: string): Answered {
  return new Answered("invalid", `There are more ${what} than are looked through.`, null);
}

function ownerOf({ full_name }: RepoRef): string {
  return full_name.split("/")[0] ?? "";
}
function commentRef({ id, html_url }: z.infer<typeof shapes.comment>): CommentRef {
  return { id, url: html_url };
}

/** The whole of it each time: what is left out would stay as it was, the buttons of a card that is decided for one. */
function checkBody({
  name,
  external_id,
  details_url,
  status,
  conclusion,
  title,
  summary,
  text,
  actions,
}: CheckInput): Parameters {
  return {
    name,
    external_id,
    ...(details_url === null ? {} : { details_url }),
    status,
    // A conclusion completes it, whatever the status says.
    ...(status === "completed" ? { conclusion } : {}),
    output: { title, summary, text: text ?? "" },
    actions,
  };
}
