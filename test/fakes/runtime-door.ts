/**
 * A scope's runtime object in memory, for tests of the doors: it keeps what it is given and answers
 * as the contract says. It plans nothing and runs nothing.
 */

import { decide } from "../../src/domain/approval.ts";
import type { ApprovalView, Decision } from "../../src/domain/approval-view.ts";
import type { Figures } from "../../src/domain/metrics.ts";
import type { EventView } from "../../src/domain/record-view.ts";
import { ok, type Refusal, type Result, refuse } from "../../src/domain/refusal.ts";
import type { IssuedToken } from "../../src/domain/token.ts";
import type { Caller, CallerRole, Page, TaskInput, TaskSummary, TaskView, ThoughtView } from "../../src/domain/view.ts";
import type {
  AgentView,
  ChainEnds,
  Created,
  Idempotency,
  PageQuery,
  RepoView,
  RuntimeDoor,
  TokenView,
} from "../../src/http/doors.ts";
import { paged } from "./queues-door.ts";
import { agentOf, at, madeBy, taskOf } from "./views.ts";
import { FakeWebhooks } from "./webhooks-door.ts";

const missing = (code: Refusal["code"]) => refuse(code, "there is no such thing in this scope");

export class FakeRuntime extends FakeWebhooks implements RuntimeDoor {
  readonly scope_id: string;
  readonly credentials = new Map<string, Caller>();
  readonly taskRows = new Map<string, TaskView>();
  readonly approvalRows = new Map<string, ApprovalView>();
  readonly issued = new Map<string, IssuedToken[]>();
  readonly repoRows = new Map<string, RepoView>();
  readonly tokenRows = new Map<string, TokenView>();
  readonly tickets = new Map<string, { path: string; caller: Caller }>();
  readonly patches = new Map<string, { attempt_id: string; key: string; bytes: number }[]>();
  readonly eventRows: EventView[] = [];
  readonly answers = new Map<string, { hash: string; task: TaskView }>();
  /** What the next call of this name throws instead of answering. */
  readonly failing = new Map<string, Error>();
  lastDecision: Decision | null = null;
  lastUpgrade: Request | null = null;
  oldest: number | null = null;
  ends: ChainEnds = { chains: [], silent: [], checkpoint: null, signing: false };
  counted: Figures = { objects: [], silent: [] };
  onWait: () => void = () => undefined;

  constructor(scope_id: string) {
    super();
    this.scope_id = scope_id;
  }

  #note(name: string): void {
    this.calls.push(name);
    const error = this.failing.get(name);
    if (error !== undefined) throw error;
  }

  async initScope(input: { scope_id: string; name: string; token_id: string; token_hash: string }) {
    this.#note("initScope");
    const subject = `${input.name}-admin`;
    this.credentials.set(input.token_hash, this.#caller(subject, "admin", "token", input.token_id));
    return ok({ scope_id: input.scope_id, name: input.name });
  }
  async authenticate(scope_id: string, secret_hash: string): Promise<Caller | null> {
    this.#note("authenticate");
    return scope_id === this.scope_id ? (this.credentials.get(secret_hash) ?? null) : null;
  }

  async createTask(caller: Caller, input: TaskInput & { register_repo: boolean }, idempotency: Idempotency | null) {
    this.#note("createTask");
    const own = `${caller.subject} ${idempotency?.route} ${idempotency?.key}`;
    const before = idempotency === null ? undefined : this.answers.get(own);
    if (before !== undefined && before.hash !== idempotency?.body_hash)
      return refuse("idempotency_mismatch", "this key was used for another body: use a new key");
    if (before !== undefined) return ok<Created<TaskView>>({ body: before.task, replay: true });
    const task = taskOf(`task-${this.taskRows.size + 1}`, input, caller.subject);
    if (input.register_repo) this.#register(caller, { url: input.repo.url, default_ref: "HEAD" });
    this.taskRows.set(task.id, task);
    if (idempotency !== null) this.answers.set(own, { hash: idempotency.body_hash, task });
    return ok<Created<TaskView>>({ body: task, replay: false });
  }
  async tasks(_: Caller, query: PageQuery & { status: string | null }): Promise<Result<Page<TaskSummary>>> {
    this.#note("tasks");
    const rows = [...this.taskRows.values()].filter((task) => query.status === null || task.status === query.status);
    return ok(paged(rows.map(summary), query));
  }
  async task(_: Caller, task_id: string): Promise<Result<TaskView>> {
    this.#note("task");
    const task = this.taskRows.get(task_id);
    return task === undefined ? missing("task_not_found") : ok(task);
  }
  async taskEvents(_: Caller, task_id: string, query: PageQuery): Promise<Result<Page<EventView>>> {
    if (!this.taskRows.has(task_id)) return missing("task_not_found");
    return ok(
      paged(
        this.eventRows.filter((event) => event.task_id === task_id),
        query,
      ),
    );
  }
  async thoughts(_: Caller, task_id: string, query: PageQuery): Promise<Result<Page<ThoughtView>>> {
    this.#note("thoughts");
    return this.taskRows.has(task_id) ? ok(paged([], query)) : missing("task_not_found");
  }
  async patchKeys(_: Caller, task_id: string) {
    return this.taskRows.has(task_id) ? ok(this.patches.get(task_id) ?? []) : missing("task_not_found");
  }
  async cancelTask(_: Caller, task_id: string, reason: string): Promise<Result<TaskView>> {
    const task = this.taskRows.get(task_id);
    if (task === undefined) return missing("task_not_found");
    if (task.status === "cancelled") return refuse("not_in_this_state", "the task is cancelled already");
    const cancelled = { ...task, status: "cancelled" as const, reason };
    this.taskRows.set(task_id, cancelled);
    return ok(cancelled);
  }
  async addMessage(_: Caller, task_id: string, text: string) {
    if (!this.taskRows.has(task_id)) return missing("task_not_found");
    return ok({ message_id: `message-${this.messages.push(text)}` });
  }

  async approvals(_: Caller, query: PageQuery & { status: string | null }): Promise<Result<Page<ApprovalView>>> {
    const rows = [...this.approvalRows.values()];
    return ok(
      paged(
        rows.filter(({ status }) => query.status === null || status === query.status),
        query,
      ),
    );
  }
  async approval(_: Caller, approval_id: string): Promise<Result<ApprovalView>> {
    const approval = this.approvalRows.get(approval_id);
    return approval === undefined ? missing("approval_not_found") : ok(approval);
  }
  async decide(caller: Caller, approval_id: string, decision: Decision): Promise<Result<ApprovalView>> {
    this.#note("decide");
    this.lastDecision = decision;
    const approval = this.approvalRows.get(approval_id);
    if (approval === undefined) return missing("approval_not_found");
    const answer = decide(approval, decision, { caller, needs: approval.needs });
    if (!answer.ok) return answer;
    const { comment, content_hash } = decision;
    const made = madeBy(caller.subject, decision.decision, { comment, content_hash, proof: caller.via });
    const winner = { by: caller.subject, what: decision.decision, at, reason: comment };
    const settled = answer.value === "pending" ? {} : { status: answer.value, resolved_at: at, winner };
    const decided = { ...approval, ...settled, decisions: [...approval.decisions, made] };
    this.approvalRows.set(approval_id, decided);
    return ok(decided);
  }

  async approvalTokens(_: Caller, approval_id: string): Promise<Result<IssuedToken[]>> {
    return this.approvalRows.has(approval_id) ? ok(this.issued.get(approval_id) ?? []) : missing("approval_not_found");
  }

  async repos(): Promise<Result<RepoView[]>> {
    return ok([...this.repoRows.values()]);
  }
  async addRepo(caller: Caller, repo: { url: string; default_ref: string }): Promise<Result<RepoView>> {
    this.#note("addRepo");
    return ok(this.#register(caller, repo));
  }
  async removeRepo(_: Caller, url: string): Promise<Result<{ url: string }>> {
    return this.repoRows.delete(url) ? ok({ url }) : missing("repo_not_found");
  }
  async hasRepo(_: Caller, url: string): Promise<boolean> {
    this.#note("hasRepo");
    return this.repoRows.has(url);
  }

  async tokens(): Promise<Result<TokenView[]>> {
    return ok([...this.tokenRows.values()]);
  }
  async addToken(_: Caller, input: { id: string; name: string; role: CallerRole; secret_hash: string }) {
    const view = { id: input.id, name: input.name, role: input.role, created_at: at, revoked_at: null };
    this.tokenRows.set(input.id, view);
    this.credentials.set(input.secret_hash, this.#caller(input.name, input.role, "token", input.id));
    return ok(view);
  }
  async revokeToken(_: Caller, id: string): Promise<Result<TokenView>> {
    const token = this.tokenRows.get(id);
    if (token === undefined) return missing("not_found");
    const revoked = { ...token, revoked_at: at };
    this.tokenRows.set(id, revoked);
    for (const [hash, caller] of this.credentials) if (caller.credential_id === id) this.credentials.delete(hash);
    return ok(revoked);
  }
  async addTicket(caller: Caller, input: { ticket_hash: string; path: string; token_id?: string }) {
    this.#note("addTicket");
    const named = [...this.credentials.values()].find(({ credential_id }) => credential_id === input.token_id);
    if (input.token_id !== undefined && named === undefined) return missing("not_found");
    this.tickets.set(input.ticket_hash, { path: input.path, caller: named ?? caller });
    return ok({ expires_at: at });
  }
  async redeemTicket(_: string, input: { ticket_hash: string; path: string }): Promise<Result<Caller>> {
    this.#note("redeemTicket");
    const ticket = this.tickets.get(input.ticket_hash);
    this.tickets.delete(input.ticket_hash);
    return ticket?.path === input.path
      ? ok(ticket.caller)
      : refuse("unauthenticated", "this ticket is used, expired or for something else");
  }
  async openSession(scope: string, input: { ticket_hash: string; session_id: string; session_hash: string }) {
    const redeemed = await this.redeemTicket(scope, { ticket_hash: input.ticket_hash, path: "/" });
    if (!redeemed.ok) return redeemed;
    const caller = this.#caller(redeemed.value.subject, redeemed.value.role, "session", input.session_id);
    this.credentials.set(input.session_hash, caller);
    return ok(caller);
  }
  async closeSession(caller: Caller): Promise<Result<null>> {
    for (const [hash, known] of this.credentials)
      if (known.credential_id === caller.credential_id) this.credentials.delete(hash);
    return ok(null);
  }

  async agents(): Promise<Result<AgentView[]>> {
    return ok([agentOf("proxy"), agentOf("planner")]);
  }
  async agent(_: Caller, name: string): Promise<Result<AgentView>> {
    this.#note("agent");
    return ["proxy", "planner"].includes(name) ? ok(agentOf(name)) : missing("agent_not_found");
  }
  async agentTransitions(_: Caller, name: string) {
    return name === "proxy"
      ? ok([{ from: "idle", event: "start", to: "spawning", reason: "the scope was made", at }])
      : missing("agent_not_found");
  }
  async events(_: Caller, query: { after: number | null; limit: number; types: string[] | null; wait_ms: number }) {
    this.#note("events");
    const last = this.eventRows.at(-1)?.seq ?? 0;
    const after = query.after ?? last;
    const find = () =>
      this.eventRows
        .filter(({ seq, type }) => seq > after && (query.types?.includes(type) ?? true))
        .slice(0, query.limit);
    if (find().length === 0 && query.wait_ms > 0) this.onWait();
    const reset = this.oldest !== null && after < this.oldest - 1 ? this.oldest : null;
    return ok({ events: find(), last_seq: this.eventRows.at(-1)?.seq ?? 0, reset });
  }
  async attemptAgent(_: Caller, attempt_id: string): Promise<Result<{ agent: string }>> {
    return attempt_id === "attempt-1" ? ok({ agent: "crew-1" }) : missing("attempt_not_found");
  }
  async chainEnds() {
    this.#note("chainEnds");
    return ok(this.ends);
  }
  async figures() {
    this.#note("figures");
    return ok(this.counted);
  }
  async fetch(request: Request): Promise<Response> {
    this.lastUpgrade = request;
    return new Response("a socket");
  }

  #register(caller: Caller, repo: { url: string; default_ref: string }): RepoView {
    const view = { ...repo, added_by: caller.subject, added_at: at };
    this.repoRows.set(repo.url, view);
    return view;
  }
  #caller(subject: string, role: CallerRole, via: Caller["via"], credential_id: string): Caller {
    return { scope_id: this.scope_id, subject, role, via, credential_id };
  }
}

function summary(task: TaskView): TaskSummary {
  const { description, base_commit, commit, plan, items, attempts, phases, pending_approvals, ...rest } = task;
  return rest;
}
