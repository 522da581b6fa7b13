/** A tame API for the page: answers from plain data, remembers every change asked of it, refuses on demand. */

import type { Route, WebSocketRoute } from "playwright-core";
import type { ApprovalView } from "../../src/domain/approval-view.ts";
import { hashOf, sha256Hex } from "../../src/domain/canonical.ts";
import type { MemoryView } from "../../src/domain/memory.ts";
import type { PolicyView } from "../../src/domain/policy-shapes.ts";
import type { DeadLetterView, QueueDetail, QueueMove } from "../../src/domain/queue-shapes.ts";
import { standingMoves } from "../../src/domain/queue-standing.ts";
import type { EventView } from "../../src/domain/record-view.ts";
import type { StandingView } from "../../src/domain/standing-shape.ts";
import type { TaskView, ThoughtView } from "../../src/domain/view.ts";
import type { AgentView } from "../../src/http/doors.ts";
import { madeBy } from "../fakes/views.ts";
import { answerTo, changedBy } from "./example-policy.ts";
import { changedStanding } from "./example-standing.ts";

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly key: string | null;
}
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

export class FakeApi {
  signedIn = true;
  ticket = "cst_good";
  token = "cs_good";
  role = "admin";
  approvals: ApprovalView[] = [];
  tasks: TaskView[] = [];
  agents: AgentView[] = [];
  queues: QueueDetail[] = [];
  letters: Record<string, DeadLetterView[]> = {};
  /** Newest last. */
  policies: PolicyView[] = [];
  standing: StandingView[] = [];
  thoughts: ThoughtView[] = [];
  memories: MemoryView[] = [];
  events: EventView[] = [];
  patch = "";
  output: string[] = [];
  /** Every request that would change something. */
  readonly asked: Asked[] = [];
  /** The next decision or creation meets this instead. */
  refuseNext: Refusal | null = null;
  /** How long decisions take to be answered. */
  hold: Promise<void> = Promise.resolve();
  readonly #feeds = new Set<WebSocketRoute>();

  async answer(route: Route, path: string, query: URLSearchParams): Promise<void> {
    const request = route.request();
    const bearer = request.headers().authorization;
    if (path === "/auth/session") return this.#session(route);
    const known = bearer === undefined ? this.signedIn : bearer === `Bearer ${this.token}`;
    if (!known) return refuse(route, { status: 401, code: "unauthenticated", detail: "Nobody is signed in." });
    if (request.method() !== "GET" && path !== "/api/tickets") return this.#change(route, path);
    const found = this.#read(path, query);
    if (found === undefined) return refuse(route, { status: 404, code: "not_found", detail: "There is nothing here." });
    if (typeof found === "string") return route.fulfill({ body: found, contentType: "text/x-diff; charset=utf-8" });
    await route.fulfill({ json: found });
  }

  #session(route: Route): Promise<void> {
    if (route.request().method() === "DELETE") this.signedIn = false;
    else if (bodyOf(route).ticket !== this.ticket)
      return refuse(route, { status: 401, code: "unauthenticated", detail: "Used before." });
    else {
      this.signedIn = true;
      this.ticket = "";
    }
    return route.fulfill({ status: 201, json: this.#me() });
  }
  #me() {
    return { scope_id: "s".repeat(16), subject: "ada", role: this.role, via: "session" };
  }

  #read(path: string, query: URLSearchParams): unknown {
    const id = decodeURIComponent(path.split("/")[3] ?? "");
    if (path === "/api/me") return this.#me();
    if (path === "/api/tickets") return { ticket: "cst_socket", expires_at: "2099-01-01T00:00:00.000Z" };
    if (path === "/api/approvals") return page(this.approvals.filter((approval) => approval.status === "pending"));
    const status = query.get("status");
    if (path === "/api/tasks") return page(this.tasks.filter((task) => status === null || task.status === status));
    if (path === "/api/agents") return page(this.agents);
    if (path === "/api/repos") return page([]);
    if (path === "/api/queues") return { ...page(this.queues.map(({ leases, ...queue }) => queue)), silent: [] };
    if (path.startsWith("/api/queues/") && path.endsWith("/dead-letters")) return page(this.letters[id] ?? []);
    if (path.startsWith("/api/queues/")) return this.queues.find((queue) => queue.name === id);
    if (path === "/api/policy") return this.policies.at(-1);
    if (path === "/api/policy/versions") return page(this.policies.toReversed().map(({ policy, ...rest }) => rest));
    if (path.startsWith("/api/policy/versions/"))
      return this.policies.find((each) => String(each.version) === path.split("/")[4]);
    if (path === "/api/standing-approvals") return page(this.standing);
    if (path.startsWith("/api/standing-approvals/")) return this.standing.find((each) => each.id === id);
    if (path === "/api/memory") return page(this.#remembered(query));
    if (path === "/api/events") return { items: [], last_seq: this.events.at(-1)?.seq ?? 0, reset: null };
    if (path.startsWith("/api/approvals/")) return this.approvals.find((approval) => approval.id === id);
    if (path.endsWith("/events"))
      return page(this.events.filter((event) => event.task_id === id && query.get("cursor") === null));
    if (path.endsWith("/thoughts")) return page(this.thoughts);
    if (path.endsWith("/patch")) return this.patch === "" ? undefined : this.patch;
    if (path.startsWith("/api/tasks/")) return this.tasks.find((task) => task.id === id);
    return undefined;
  }

  async #change(route: Route, path: string): Promise<void> {
    const request = route.request();
    this.asked.push({
      method: request.method(),
      path,
      body: bodyOf(route),
      key: request.headers()["idempotency-key"] ?? null,
    });
    await this.hold;
    if (this.refuseNext !== null) {
      const refusal = this.refuseNext;
      this.refuseNext = null;
      if (refusal.status === 0) return route.abort();
      return refuse(route, refusal);
    }
    const [, , room, id = "", verb] = path.split("/");
    if (room === "policy" && id === "evaluate") return route.fulfill({ json: answerTo(bodyOf(route)) });
    if (room === "policy") {
      const made = changedBy(this.policies, bodyOf(route), request.headers()["if-match"] ?? "");
      return "code" in made ? refuse(route, made) : route.fulfill({ json: made });
    }
    if (room === "standing-approvals") {
      this.standing = changedStanding(this.standing, decodeURIComponent(id), bodyOf(route));
      return route.fulfill({ json: this.standing.find((each) => id === "" || each.id === id) });
    }
    if (room === "approvals") {
      this.decide(id, verb === "approve" ? "approve" : verb === "deny" ? "deny" : "request_changes");
      return route.fulfill({ json: this.approvals.find((approval) => approval.id === id) ?? {} });
    }
    if (room === "memory") {
      const wiped = { title: "", text: "", excerpt: "", forgotten: true };
      this.memories = this.memories.map((each) => (each.id === id ? { ...each, ...wiped } : each));
      return route.fulfill({ json: this.memories.find((each) => each.id === id) });
    }
    if (room === "queues")
      return route.fulfill({ json: this.#queue(decodeURIComponent(id), path.split("/").slice(4)) });
    await route.fulfill({ status: room === "tasks" && id === "" ? 202 : 200, json: this.tasks[0] ?? {} });
  }

  #remembered(query: URLSearchParams): MemoryView[] {
    const [words, kind] = [query.get("q") ?? "", query.get("kind")];
    return this.memories.filter((each) => (kind ?? each.kind) === each.kind && each.text.includes(words));
  }

  /** `pause`, or `dead-letters/requeue`, or `dead-letters/<id>/requeue`. */
  #queue(name: string, [verb = "", letter]: readonly string[]): unknown {
    if (verb === "dead-letters") {
      const all = this.letters[name] ?? [];
      const left = letter === "requeue" ? [] : all.filter((each) => each.message_id !== letter);
      this.letters[name] = left;
      this.queues = this.queues.map((queue) => (queue.name === name ? { ...queue, dead: left.length } : queue));
      return { requeued: all.length - left.length, left: left.length };
    }
    const reason = String(this.asked.at(-1)?.body.reason ?? "");
    this.queues = this.queues.map((queue) => {
      if (queue.name !== name) return queue;
      const state = standingMoves[queue.state][verb as QueueMove]; // the page's own path
      return { ...queue, state, by: "ada", at: new Date().toISOString(), reason };
    });
    return this.queues.find((queue) => queue.name === name);
  }

  /** Of two approvals that are needed the first leaves the card as it was. */
  decide(id: string, decision: "approve" | "deny" | "request_changes", by = "ada"): void {
    const statuses = { approve: "approved", deny: "denied", request_changes: "superseded" } as const;
    this.approvals = this.approvals.map((approval) => {
      if (approval.id !== id) return approval;
      const { content_hash, needs, decisions } = approval;
      const decided = madeBy(by, decision, { at: new Date().toISOString(), content_hash });
      const first = decision === "approve" && decisions.length + 1 < needs.approvers;
      return { ...approval, status: first ? "pending" : statuses[decision], decisions: [...decisions, decided] };
    });
  }

  socket(socket: WebSocketRoute): void {
    if (!socket.url().includes("/api/events")) {
      for (const text of this.output) socket.send(Buffer.from(text));
      return;
    }
    this.#feeds.add(socket);
    socket.onMessage((said) => {
      const { after = 0 } = JSON.parse(String(said)) as { after?: number }; // the page's own subscribe frame
      for (const event of this.events.filter(({ seq }) => seq > after)) socket.send(JSON.stringify(event));
    });
    socket.onClose(() => this.#feeds.delete(socket));
  }
  tell(event: EventView): void {
    this.events.push(event);
    for (const feed of this.#feeds) feed.send(JSON.stringify(event));
  }
  /** The link breaks, as when the service restarts. */
  async dropFeeds(): Promise<void> {
    for (const feed of this.#feeds) await feed.close({ code: 1011 });
    this.#feeds.clear();
  }
}

function bodyOf(route: Route): Readonly<Record<string, unknown>> {
  const text = route.request().postData();
  return text === null ? {} : JSON.parse(text);
}
function page<T>(items: readonly T[]) {
  return { items, next_cursor: null };
}
function refuse(route: Route, { status, code, detail, extra }: Refusal): Promise<void> {
  const body = JSON.stringify({
    ...extra,
    type: "about:blank",
    title: code,
    status,
    detail,
    code,
    trace_id: "t".repeat(16),
  });
  return route.fulfill({ status, body, contentType: "application/problem+json" });
}

/** A card as the service makes one: its hash is the hash of its bytes. */
export function sealed(approval: ApprovalView): ApprovalView {
  return { ...approval, content_hash: hashOf(approval.card) };
}
export const hashOfPlan = sha256Hex;
