/** What people do at GitHub, in the words of a journey: each changes the state, and tells the App's webhook of it. */
import type { Hooks, Sending } from "./hooks.ts";
import { type Comment, headOf, now, type State, type Thread } from "./state.ts";

interface Doing {
  readonly repo: string;
  readonly by: string;
}
type OnThread = Doing & { readonly number: number };

export class Doings {
  readonly #state: State;
  readonly #hooks: Hooks;
  constructor(state: State, hooks: Hooks) {
    this.#state = state;
    this.#hooks = hooks;
  }

  // --- issues and pull requests

  async openIssue({
    repo,
    by,
    title,
    body,
    labels = [],
  }: Doing & { title: string; body: string; labels?: string[] }): Promise<number> {
    const found = this.#state.repo(repo);
    const thread = this.#state.addThread(found, { title, body, by: this.#state.person(by), pull: null, labels });
    await this.#of("issues", "opened", { repo, by, number: thread.number });
    return thread.number;
  }
  /** A branch of the repository, or with `fork` of somebody's own copy. */
  async openPull({
    repo,
    by,
    title,
    body,
    head,
    base,
    fork = false,
    sha,
  }: Doing & {
    title: string;
    body: string;
    head: string;
    base?: string;
    fork?: boolean;
    sha?: string;
  }): Promise<number> {
    const found = this.#state.repo(repo);
    const at = sha ?? headOf(found, head) ?? "f".repeat(40);
    const pull = { head, base: base ?? found.default_branch, draft: false, fork, sha: at };
    const thread = this.#state.addThread(found, { title, body, by: this.#state.person(by), pull });
    await this.#of("pull_request", "opened", { repo, by, number: thread.number });
    return thread.number;
  }
  label(on: OnThread & { name: string }): Promise<Sending> {
    const thread = this.#thread(on);
    if (!thread.labels.includes(on.name)) thread.labels.push(on.name);
    return this.#of(this.#kind(thread), "labeled", on, {
      label: { id: 1, name: on.name, color: "ededed", default: false },
    });
  }
  unlabel(on: OnThread & { name: string }): Promise<Sending> {
    const thread = this.#thread(on);
    thread.labels = thread.labels.filter((one) => one !== on.name);
    return this.#of(this.#kind(thread), "unlabeled", on, {
      label: { id: 1, name: on.name, color: "ededed", default: false },
    });
  }
  assign(on: OnThread & { to: string }): Promise<Sending> {
    const thread = this.#thread(on);
    const to = this.#state.person(on.to);
    thread.assignees.push(to);
    return this.#of(this.#kind(thread), "assigned", on, {
      assignee: { login: to.login, id: to.id, type: to.bot ? "Bot" : "User" },
    });
  }
  edit(on: OnThread & { body: string }): Promise<Sending> {
    const thread = this.#thread(on);
    const changes = { body: { from: thread.body } };
    thread.body = on.body;
    return this.#of(this.#kind(thread), "edited", on, { changes });
  }
  close(on: OnThread): Promise<Sending> {
    const thread = this.#thread(on);
    thread.state = "closed";
    return this.#of(this.#kind(thread), "closed", on);
  }
  requestReview(on: OnThread & { of: string }): Promise<Sending> {
    const { login, id, bot } = this.#state.person(on.of);
    return this.#of("pull_request", "review_requested", on, {
      requested_reviewer: { login, id, type: bot ? "Bot" : "User" },
    });
  }
  async comment(on: OnThread & { body: string }): Promise<Comment & Sending> {
    const comment = { id: this.#state.id(), by: this.#state.person(on.by), body: on.body, at: now() };
    this.#thread(on).comments.push(comment);
    return { ...comment, ...(await this.#of("issue_comment", "created", on, {}, comment)) };
  }
  editComment(on: OnThread & { id: number; body: string }): Promise<Sending> {
    const comment = this.#thread(on).comments.find(({ id }) => id === on.id);
    if (comment === undefined) throw new Error(`no comment ${on.id}`);
    const changes = { body: { from: comment.body } };
    comment.body = on.body;
    return this.#of("issue_comment", "edited", on, { changes }, comment);
  }
  deleteComment(on: OnThread & { id: number }): Promise<Sending> {
    const { comments } = this.#thread(on);
    const [comment] = comments.splice(
      comments.findIndex(({ id }) => id === on.id),
      1,
    );
    if (comment === undefined) throw new Error(`no comment ${on.id}`);
    return this.#of("issue_comment", "deleted", on, {}, comment);
  }
  reviewComment(on: OnThread & { body: string; path?: string }): Promise<Sending> {
    const user = this.#state.person(on.by);
    const id = this.#state.id();
    const comment = {
      id,
      body: on.body,
      path: on.path ?? "README.md",
      html_url: `https://github.com/${on.repo}/pull/${on.number}#discussion_r${id}`,
      created_at: now(),
      user: { login: user.login, id: user.id, type: user.bot ? "Bot" : "User" },
    };
    return this.#of("pull_request_review_comment", "created", on, { comment });
  }

  // --- check runs

  /** Somebody presses one of the buttons of a check run. */
  clickAction({ repo, by, check, identifier }: Doing & { check: number; identifier: string }): Promise<Sending> {
    const found = this.#state.repo(repo);
    const one = found.checks.find(({ id }) => id === check);
    if (one === undefined) throw new Error(`no check run ${check}`);
    const told = { event: "check_run", action: "requested_action", repo: found, check: one };
    return this.#hooks.happened(told, this.#state.person(by), { requested_action: { identifier } });
  }
  /** A check of another App ends on the newest commit of the branch. */
  failCheck({
    repo,
    branch,
    name,
    conclusion = "failure",
  }: {
    repo: string;
    branch: string;
    name: string;
    conclusion?: string;
  }): Promise<Sending> {
    const found = this.#state.repo(repo);
    const sha = headOf(found, branch) ?? "f".repeat(40);
    const output = { title: `${name} failed`, summary: "1 test failed", text: null };
    const check = {
      id: this.#state.id(),
      app_id: 15_368,
      sha,
      name,
      external_id: "",
      details_url: null,
      status: "completed",
      conclusion,
      output,
      actions: [],
      at: now(),
    };
    found.checks.push(check);
    return this.#hooks.happened(
      { event: "check_run", action: "completed", repo: found, check },
      this.#state.person("github-actions[bot]"),
    );
  }

  #thread({ repo, number }: { readonly repo: string; readonly number: number }): Thread {
    return this.#state.thread(repo, number);
  }
  #kind({ pull }: Thread): string {
    return pull === null ? "issues" : "pull_request";
  }
  #of(
    event: string,
    action: string,
    on: OnThread,
    over: Record<string, unknown> = {},
    comment?: Comment,
  ): Promise<Sending> {
    const told = {
      event,
      action,
      repo: this.#state.repo(on.repo),
      thread: this.#thread(on),
      ...(comment === undefined ? {} : { comment }),
    };
    return this.#hooks.happened(told, this.#state.person(on.by), over);
  }
}
