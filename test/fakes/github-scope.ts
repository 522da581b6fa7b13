/**
 * A scope that a repository of GitHub is linked to, over node:sqlite: a test says what happened there and plays the
 * courier, through the same doors and messages as the objects.
 */
import { GithubDoor } from "../../durable-objects/runtime/doors-github.ts";
import { sha256Hex } from "../../src/domain/canonical.ts";
import type {
  GithubPerson,
  GithubRepository,
  GithubShown,
  Happening,
  Permission,
} from "../../src/domain/github/shapes.ts";
import { githubRequest } from "../../src/domain/github/shapes.ts";
import { derivedId } from "../../src/domain/ids.ts";
import { derive, type Message, type MessageKind } from "../../src/domain/message.ts";
import { base, HeldScope, missing, scopeId } from "./held-scope.ts";

export const linked: GithubRepository = {
  ...{ id: 500, installation_id: 70, full_name: "octo/app", private: false, default_branch: "main" },
};
export const github = "https://github.example";
export const url = `${github}/octo/app`;
export const page = "https://countersign.example";

let ids = 100;
const known = new Map<string, GithubPerson>();
export function person(login: string, is_bot = false): GithubPerson {
  const made = known.get(login) ?? { id: ++ids, login, is_bot };
  known.set(login, made);
  return made;
}
export const alice = person("alice");
export const bob = person("bob");
export const mallory = person("mallory");
export const permissions: Readonly<Record<string, Permission>> = { alice: "write", bob: "admin", mallory: "read" };

type Wish = Extract<Happening, { kind: "wish" }>;
type Said = Extract<Happening, { kind: "decision" }>;
type Change = Extract<Happening, { kind: "changed" }>;
export const issue: Wish["thread"] = {
  ...{ kind: "issue", number: 5, title: "Greet people", url: `${url}/issues/5`, head: null },
};
export function wish(more: Partial<Wish> = {}): Wish {
  return {
    ...{ kind: "wish", trigger: "label", by: alice, thread: issue, labels: ["countersign"], label: "countersign" },
    texts: [{ by: alice, text: "Say hello.", cut: false }],
    ...{ follows: null, comment_id: null },
    ...more,
  };
}
export function said(what: Said["what"], more: Partial<Said> = {}): Said {
  return {
    ...{ kind: "decision", what, by: bob, reason: null, hash: null, via: "comment", thread: issue, task_id: null },
    said_at: "2026-03-01T12:30:00Z",
    ...more,
  };
}
export function change(what: Change["what"], more: Partial<Change> = {}): Change {
  return { kind: "changed", what, by: mallory, thread: issue, comment_id: null, ...more };
}

export class GithubScope {
  readonly held: HeldScope;
  door: GithubDoor;
  #deliveries = 0;
  #answers = 0;
  constructor(held = new HeldScope()) {
    this.held = held;
    this.door = this.#open();
  }
  #open(): GithubDoor {
    const done = async () => {};
    return new GithubDoor(this.held.scope, { after: done, soon: done, places: () => ({ github, page }) });
  }
  async linked(repository = linked): Promise<this> {
    await this.door.githubLinked(scopeId, [repository]);
    return this;
  }
  reopen(): void {
    this.held.reopen();
    this.door = this.#open();
  }
  close(): void {
    this.held.close();
  }

  /** `body`: what was signed; each delivery's own, unless it is said. */
  deliver(
    happening: Happening,
    delivery_id = `delivery-${++this.#deliveries}`,
    repository = linked,
    body: string = delivery_id,
  ) {
    return this.door.githubDelivery(scopeId, { delivery_id, repository, happening }, sha256Hex(body));
  }
  /** What waits for the courier of that kind, oldest first. */
  orders(message_kind: MessageKind): Message[] {
    const waiting = this.held.scope.stores.outbox.due(Number.MAX_SAFE_INTEGER, 1_000);
    return waiting.map(({ message }) => message).filter((message) => message.message_kind === message_kind);
  }
  /** The courier has it. */
  took(message: Message): void {
    this.held.scope.sql.transaction(() => this.held.scope.stores.outbox.confirm([message.message_id]));
  }
  async answer(cause: Message, message_kind: "github_request" | "github_shown", payload: object): Promise<void> {
    const said = derive(cause, {
      ...{ message_id: derivedId(cause.message_id, message_kind, 0), message_kind, sender: "courier" },
      ...{ recipient: "runtime_queue", content: message_kind, created_at: new Date(this.held.now).toISOString() },
      // Written by the test as JSON.
      payload: payload as Message["payload"],
    });
    await this.held.mailroom.deliver(said);
  }
  /** It happened, and the courier has asked GitHub about its people. The id of the task that it would make. */
  async happens(
    happening: Happening,
    people: Readonly<Record<string, Permission>> = permissions,
    delivery_id?: string,
  ): Promise<string> {
    await this.deliver(happening, delivery_id);
    const order = this.orders("github_event").at(-1) ?? missing("event for the courier");
    this.took(order);
    await this.answer(order, "github_request", githubRequest.parse({ ...order.payload, people }));
    return `t${derivedId(String(order.payload.delivery_id), "github_task", 0).slice(0, 15)}`;
  }
  /** The courier has shown where the task stands now. */
  async shows(task_id: string, more: Partial<GithubShown> = {}): Promise<GithubShown> {
    const order = this.orders("github_sync").find((one) => one.task_id === task_id) ?? missing("order to show");
    this.took(order);
    const standing = (await this.door.githubStanding(scopeId, task_id)) ?? missing("standing");
    const number = ++this.#answers;
    const shown: GithubShown = {
      ...{ task_id, version: standing.version, pull: null, failed: null },
      comment: { id: number, url: `${url}/issues/5#issuecomment-${number}` },
      check: { id: number, url: `${url}/runs/${number}`, sha: "a".repeat(40) },
      showed:
        standing.card === null
          ? null
          : { content_hash: standing.card.content_hash, at: new Date(this.held.now).toISOString() },
      wrote: { comment: null, check: null, pull: null, sha: null },
      ...more,
    };
    await this.answer(order, "github_shown", shown);
    return shown;
  }
  /** A task of GitHub whose plan waits in review. */
  async planned(plan: string, more: Partial<Wish> = {}): Promise<string> {
    const id = await this.happens(wish(more));
    await this.held.replan(id, plan);
    return id;
  }
  /** A task that is over, with its branch on GitHub. */
  async published(): Promise<string> {
    const id = await this.happens(wish({ thread: { ...issue, number: 4 } }));
    const { rows } = this.held;
    rows.tasks.put({ ...this.task(id), status: "done", phase: "complete", published: base });
    return id;
  }
  thread(task_id: string) {
    return this.held.scope.stores.github.thread(task_id) ?? missing("thread");
  }
  task(task_id: string) {
    return this.held.rows.tasks.get(task_id) ?? missing("task");
  }
  audited(decision: string) {
    return this.held.scope.stores.audit.after(0, 10_000).filter((link) => link.decision === decision);
  }
}
