/**
 * What GitHub tells an App's webhook: payloads after the examples that people collected, signed and posted, each kept
 * with how it went so that it can be listed and asked for again.
 */
import { createHmac } from "node:crypto";
import { createRequire } from "node:module";
import type { Answers } from "./answers.ts";
import type { Json, Told } from "./rules.ts";
import { guid, type Installation, now, type Person, type Repo, type State, type Thread } from "./state.ts";

export interface Delivery {
  /** Above 2^53, as GitHub's are. */
  readonly id: string;
  readonly guid: string;
  readonly event: string;
  readonly action: string | null;
  readonly delivered_at: string;
  readonly redelivery: boolean;
  readonly payload: Json;
  /** What the receiver answered; 0 until then, 502 when it could not be reached. */
  status: number;
}
export type Sending = Pick<Delivery, "guid" | "status">;

let collected: readonly { name: string; examples: readonly Json[] }[] | undefined;
function example(event: string, action: string | null): Json {
  collected ??= createRequire(import.meta.url)("@octokit/webhooks-examples") as NonNullable<typeof collected>;
  const all = collected.find(({ name }) => name === event)?.examples ?? [];
  const found = all.find((one) => one.action === action) ?? all[0];
  if (found === undefined) throw new Error(`there is no example of ${event}`);
  return structuredClone(found);
}

export class Hooks {
  readonly deliveries: Delivery[] = [];
  readonly #state: State;
  readonly #answers: Answers;
  readonly #underWay = new Set<Promise<unknown>>();
  #url: string | null = null;
  #secret: string | null = null;
  #lost = 0;
  #id = 3_804_004_623_172_239_366n;

  constructor(state: State, answers: Answers) {
    this.#state = state;
    this.#answers = answers;
  }
  /** From now on everything that happens is posted there; null: nowhere, as if the receiver were down. */
  to(url: string | null, secret: string | null = null): void {
    this.#url = url;
    this.#secret = secret;
  }
  /** The next so many do not arrive. */
  lose(times: number): void {
    this.#lost = times;
  }
  /** All that was begun has been answered. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  /** Posts it, waits for the answer. `over` stands in the example's place. */
  send(event: string, action: string | null, over: Json): Promise<Sending> {
    const { sender: _sender, organization: _organization, ...like } = example(event, action);
    return this.#post(guid(), event, action, { ...like, ...(action === null ? {} : { action }), ...over }, false);
  }
  redeliver(id: string): boolean {
    const found = this.deliveries.find((one) => one.id === id);
    if (found === undefined) return false;
    void this.#post(found.guid, found.event, found.action, found.payload, true);
    return true;
  }
  #post(guid: string, event: string, action: string | null, payload: Json, redelivery: boolean): Promise<Sending> {
    this.#id += 1n;
    const id = String(this.#id);
    const delivery: Delivery = { id, guid, event, action, delivered_at: now(), redelivery, payload, status: 0 };
    this.deliveries.unshift(delivery);
    const posting = this.#carry(delivery).then((status) => {
      delivery.status = status;
      return { guid, status };
    });
    this.#underWay.add(posting);
    void posting.finally(() => this.#underWay.delete(posting));
    return posting;
  }
  async #carry({ guid, event, payload }: Delivery): Promise<number> {
    if (this.#url === null || this.#lost > 0) {
      this.#lost = Math.max(0, this.#lost - 1);
      return 502;
    }
    const body = JSON.stringify(payload);
    const signature = createHmac("sha256", this.#secret ?? this.#state.app.webhook_secret)
      .update(body)
      .digest("hex");
    const headers = {
      "content-type": "application/json",
      "user-agent": "GitHub-Hookshot/7654321",
      "x-github-event": event,
      "x-github-delivery": guid,
      "x-github-hook-id": "1",
      "x-github-hook-installation-target-type": "integration",
      "x-github-hook-installation-target-id": String(this.#state.app.id),
      "x-hub-signature-256": `sha256=${signature}`,
    };
    try {
      const signal = AbortSignal.timeout(10_000);
      const response = await fetch(this.#url, { method: "POST", body, headers, redirect: "manual", signal });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return 502;
    }
  }

  /** Of something in a repository, done by somebody; `over` for what that event has of its own. */
  happened({ event, action, repo, thread, comment, check }: Told, by: Person, over: Json = {}): Promise<Sending> {
    const installation = this.#state.installationOf(repo);
    return this.send(event, action, {
      repository: this.#repository(event, repo),
      sender: this.#answers.user(by),
      installation: installation === null ? undefined : { id: installation.id, node_id: "MDIzOkludGVncmF0aW9u" },
      ...(thread === undefined ? {} : this.#thread(event, repo, thread)),
      ...(comment === undefined || thread === undefined
        ? {}
        : { comment: this.#answers.comment(repo, thread, comment) }),
      ...(check === undefined ? {} : { check_run: this.#check(repo, check) }),
      ...over,
    });
  }
  ofInstallation(event: string, action: string, one: Installation, by: Person, over: Json = {}): Promise<Sending> {
    const sender = this.#answers.user(by);
    return this.send(event, action, { installation: this.#answers.installation(one), sender, ...over });
  }

  #repository(event: string, repo: Repo): Json {
    const like = example(event, null).repository as Json;
    const { id, full_name, name, private: hidden, default_branch, html_url, owner } = this.#answers.repository(repo);
    return { ...like, id, full_name, name, private: hidden, default_branch, html_url, owner };
  }
  #thread(event: string, repo: Repo, thread: Thread): Json {
    if (event.startsWith("pull_request")) {
      const labels = thread.labels.map((name) => ({ id: 1, name }));
      return {
        number: thread.number,
        pull_request: { ...this.#answers.pull(repo, thread, "whole"), labels, updated_at: now() },
      };
    }
    const like = example("issues", "opened").issue as Json;
    const html_url = this.#answers.web(
      `${repo.full_name}/${thread.pull === null ? "issues" : "pull"}/${thread.number}`,
    );
    const { id, number, title, body, state } = thread;
    const issue: Json = {
      ...like,
      ...{ id, number, title, body, state, html_url, updated_at: now() },
      user: this.#answers.user(thread.by),
      labels: thread.labels.map((name, at) => ({ ...(like.labels as Json[])[0], id: at + 1, name })),
      assignees: thread.assignees.map((one) => this.#answers.user(one)),
      assignee: thread.assignees[0] === undefined ? null : this.#answers.user(thread.assignees[0]),
      author_association: this.#answers.association(repo, thread.by),
      comments: thread.comments.length,
    };
    // So GitHub tells that an issue's comment lies below a pull request.
    return { issue: thread.pull === null ? issue : { ...issue, pull_request: { html_url } } };
  }
  #check(repo: Repo, check: NonNullable<Told["check"]>): Json {
    const like = example("check_run", "completed").check_run as Json;
    const branch = [...repo.branches].find(([, sha]) => sha === check.sha)?.[0] ?? null;
    const pulls = [...repo.threads.values()].filter(({ pull }) => pull?.sha === check.sha && !pull.fork);
    const { id: repo_id, full_name } = repo;
    const pull_requests = pulls.flatMap(({ id, number, pull }) =>
      pull === null
        ? []
        : [
            {
              id,
              number,
              head: { ref: pull.head, sha: pull.sha, repo: { id: repo_id } },
              base: { ref: pull.base, sha: "", repo: { id: repo_id, name: full_name } },
            },
          ],
    );
    const suite = { ...(like.check_suite as Json), head_branch: branch, head_sha: check.sha, pull_requests };
    return { ...like, ...this.#answers.check(check, repo), check_suite: suite, pull_requests };
  }
}
