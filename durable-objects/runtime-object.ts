/**
 * One scope's runtime: the bus. It owns tasks, plans, attempts, approvals, events, people, and two shared queues.
 * Every entry is: gather -> one transaction that loads, decides and writes -> flush. What is decided stands in
 * `src/domain`; what each transaction does stands in `runtime/`. Never a model, never long work. [RTO-*]
 */
import { DurableObject } from "cloudflare:workers";
import type { AttemptRef, Authorization, Entry, ToolCall } from "../src/agents/bus.ts";
import type { CallOutcome } from "../src/agents/ports.ts";
import { mayDecide } from "../src/domain/approval.ts";
import { randomId } from "../src/domain/ids.ts";
import { check, envelope, type Message } from "../src/domain/message.ts";
import { ok, type Refusal, type Result, refuse } from "../src/domain/refusal.ts";
import { isFinal } from "../src/domain/task.ts";
import type {
  ApprovalView,
  Caller,
  CallerRole,
  Decision,
  EventView,
  Page,
  TaskInput,
  TaskSummary,
  TaskView,
} from "../src/domain/view.ts";
import { type Bindings, worldOf } from "../src/env.ts";
import type {
  AgentView,
  Created,
  DeadLetterView,
  Idempotency,
  PageQuery,
  QueueView,
  RepoView,
  RuntimeDoor,
  TokenView,
} from "../src/http/doors.ts";
import { limits } from "../src/limits.ts";
import type { AgentReport, Move } from "./agent-self.ts";
import { AuditLog, auditSchema } from "./audit-log.ts";
import { DurableQueue, type Lease } from "./durable-queue.ts";
import { EventLog, eventSchema } from "./event-log.ts";
import { EventSockets } from "./event-sockets.ts";
import { IdempotencyStore, idempotencySchema } from "./idempotency.ts";
import { Outbox, outboxSchema } from "./outbox.ts";
import { People, peopleSchema } from "./people.ts";
import { earliest, Post } from "./post.ts";
import { queueSchema } from "./queue-rows.ts";
import { agentOf, type OutputNote, type RemoteAgent, type RemoteRuntime } from "./remote.ts";
import { deadLetterCard } from "./runtime/dead-letters.ts";
import { nonceOf, type Prepared, takeDecision } from "./runtime/decisions.ts";
import { Directory, directorySchema } from "./runtime/directory.ts";
import { authorize, begin, claim, neverBegun, settle } from "./runtime/entries.ts";
import { acceptVerification } from "./runtime/merging.ts";
import { acceptResult } from "./runtime/outcomes.ts";
import { openRows, rowsSchema } from "./runtime/rows.ts";
import { subjectsOf } from "./runtime/subjects.ts";
import { acceptWords, cancelTask, createTask, observe, userMessage } from "./runtime/tasks.ts";
import { goodSignatures, issue, statementFor, type VerifiedTokens } from "./runtime/tokens.ts";
import { type ScopeStores, Tx } from "./runtime/tx.ts";
import { approvalViewOf, taskSummaryOf, taskViewOf } from "./runtime/views.ts";
import { applySchemas, durableSql, type Sql } from "./sql.ts";
import { TelemetryLog, telemetrySchema } from "./telemetry-log.ts";

const killRetryMs = 2_000;
const wakeCrewMs = 15_000;
const waitForEventsMs = 20_000;
const noSigner: Refusal = {
  code: "unavailable",
  detail: "This deployment has no SIGNING_KEYS, so nothing can be approved. Set the secret.",
};

export class RuntimeObject extends DurableObject<Bindings> implements RuntimeDoor, RemoteRuntime {
  readonly #sql: Sql;
  readonly #stores: ScopeStores;
  readonly #directory: Directory;
  readonly #people: People;
  readonly #idempotency: IdempotencyStore;
  readonly #sockets: EventSockets;
  #post: Post | null = null;
  #flushing: Promise<void> | null = null;
  #waiters = new Set<() => void>();
  #crewWokenAt = 0;

  constructor(ctx: DurableObjectState, bindings: Bindings) {
    super(ctx, bindings);
    this.#sql = durableSql(ctx);
    applySchemas(this.#sql, {
      directory: directorySchema,
      people: peopleSchema,
      idempotency: idempotencySchema,
      queue: queueSchema,
      outbox: outboxSchema,
      audit: auditSchema,
      telemetry: telemetrySchema,
      events: eventSchema,
      rows: rowsSchema,
    });
    this.#stores = {
      rows: openRows(this.#sql),
      queue: new DurableQueue(this.#sql),
      outbox: new Outbox(this.#sql),
      audit: new AuditLog(this.#sql),
      telemetry: new TelemetryLog(this.#sql),
      events: new EventLog(this.#sql),
    };
    this.#directory = new Directory(this.#sql);
    this.#people = new People(this.#sql);
    this.#idempotency = new IdempotencyStore(this.#sql);
    this.#sockets = new EventSockets(ctx, this.#stores.events, (credential_id) =>
      this.#people.isLive(credential_id, Date.now()),
    );
    this.#comeBack();
  }
  #comeBack(): void {
    if (this.#directory.self() === null) return;
    const now = Date.now();
    this.#commit((tx) => {
      this.#stores.outbox.resendAll(now);
      tx.facts(this.#stores.queue.requeueOwn("runtime_queue", now, () => true));
    });
    this.ctx.blockConcurrencyWhile(() => this.#arm(now));
  }

  // --- the scope itself

  async initScope(input: {
    scope_id: string;
    name: string;
    token_id: string;
    token_hash: string;
  }): Promise<Result<{ scope_id: string; name: string }>> {
    const now = Date.now();
    const known = this.#directory.self();
    if (known !== null && known.scope_id !== input.scope_id)
      return refuse("not_found", "This object belongs to another scope.");
    const done = this.#sql.transaction(() => {
      this.#directory.init(input, now);
      return this.#people.addToken(
        { id: input.token_id, name: "admin", role: "admin", secret_hash: input.token_hash },
        now,
      );
    });
    if (!done.ok) return done;
    if (known === null)
      this.#commit((tx) =>
        tx.audit("auth", { trace_id: "scope" }, { decision: "scope_created", details: { name: input.name } }),
      );
    await this.#startAgents();
    await this.#after();
    return ok({ scope_id: input.scope_id, name: input.name });
  }
  async #startAgents(): Promise<void> {
    const { scope_id } = this.#self();
    for (const agent of this.#directory.agents())
      if (agent.state === "idle") await this.#agent(agent.name).start(scope_id, agent.name);
  }
  async authenticate(scope_id: string, secret_hash: string): Promise<Caller | null> {
    return this.#directory.self()?.scope_id === scope_id
      ? this.#people.authenticate(scope_id, secret_hash, Date.now())
      : null;
  }

  // --- tasks

  async createTask(
    caller: Caller,
    input: TaskInput & { register_repo: boolean },
    idempotency: Idempotency | null,
  ): Promise<Result<Created<TaskView>>> {
    const id = `t${randomId(this.#random()).slice(0, 15)}`;
    const { register_repo, ...task } = input;
    const made = this.#commit((tx): Result<Created<TaskView>> => {
      const before = idempotency === null ? null : this.#idempotency.find(idempotency, tx.now);
      if (before?.found === "mismatch")
        return refuse("idempotency_mismatch", "This Idempotency-Key was used for another body. Use a new key.");
      // The answer of the same key is what this method stored below.
      if (before?.found === "replay") return ok({ body: before.body as TaskView, replay: true });
      if (!this.#directory.hasRepo(task.repo.url)) {
        if (!register_repo)
          return refuse("repo_not_registered", "Register this repository first: POST /api/repos, as an admin.");
        this.#directory.addRepo({ url: task.repo.url, default_ref: "HEAD", added_by: caller.subject, added_at: tx.at });
      }
      const created = createTask(tx, caller, task, id);
      if (!created.ok) return created;
      const body = taskViewOf(tx.rows, created.value);
      if (idempotency !== null) this.#idempotency.store(idempotency, 202, body, tx.now);
      return ok({ body, replay: false });
    });
    await this.#after();
    return made;
  }
  async tasks(_caller: Caller, query: PageQuery & { status: string | null }): Promise<Result<Page<TaskSummary>>> {
    const page = this.#stores.rows.tasks.page(query.status, query.limit, query.cursor);
    return ok({ items: page.items.map(taskSummaryOf), next_cursor: page.next_cursor });
  }
  async task(_caller: Caller, task_id: string): Promise<Result<TaskView>> {
    const task = this.#stores.rows.tasks.get(task_id);
    return task === null ? noTask(task_id) : ok(taskViewOf(this.#stores.rows, task));
  }
  async taskEvents(_caller: Caller, task_id: string, query: PageQuery): Promise<Result<Page<EventView>>> {
    if (this.#stores.rows.tasks.get(task_id) === null) return noTask(task_id);
    return ok(this.#stores.events.byTask(task_id, query.cursor, query.limit));
  }
  async patchKeys(
    _caller: Caller,
    task_id: string,
  ): Promise<Result<{ attempt_id: string; key: string; bytes: number }[]>> {
    if (this.#stores.rows.tasks.get(task_id) === null) return noTask(task_id);
    const newest = new Map(
      this.#stores.rows.attempts
        .ofTask(task_id)
        .flatMap((row) => (row.patch === null ? [] : [[row.work_item_id, row] as const])),
    );
    return ok(
      [...newest.values()].map((row) => ({
        attempt_id: row.id,
        key: row.patch?.key ?? "",
        bytes: row.patch?.bytes ?? 0,
      })),
    );
  }
  async cancelTask(caller: Caller, task_id: string, reason: string): Promise<Result<TaskView>> {
    const done = this.#commit((tx) => {
      const task = tx.rows.tasks.get(task_id);
      if (task === null) return noTask(task_id);
      const cancelled = cancelTask(tx, caller, task, reason);
      return cancelled.ok ? ok(taskViewOf(tx.rows, cancelled.value)) : cancelled;
    });
    await this.#after();
    return done;
  }
  async addMessage(caller: Caller, task_id: string, text: string): Promise<Result<{ message_id: string }>> {
    const cause = randomId(this.#random());
    const done = this.#commit((tx): Result<{ message_id: string }> => {
      const task = tx.rows.tasks.get(task_id);
      if (task === null) return noTask(task_id);
      if (isFinal(task.status))
        return refuse("not_in_this_state", `This task is already ${task.status}.`, { status: task.status });
      tx.event("message", task, { actor: caller.subject, surfaces: ["stream"], detail: text });
      return ok({
        message_id: userMessage(tx, task, { cause, text, plan: null, more: { follow_up: true } }).message_id,
      });
    });
    await this.#after();
    return done;
  }

  // --- decisions

  async approvals(_caller: Caller, query: PageQuery & { status: string | null }): Promise<Result<Page<ApprovalView>>> {
    const page = this.#stores.rows.approvals.page(query.status, query.limit, query.cursor);
    return ok({ items: page.items.map(approvalViewOf), next_cursor: page.next_cursor });
  }
  async approval(_caller: Caller, approval_id: string): Promise<Result<ApprovalView>> {
    const card = this.#stores.rows.approvals.get(approval_id);
    return card === null ? noCard(approval_id) : ok(approvalViewOf(card));
  }
  async decide(caller: Caller, approval_id: string, decision: Decision): Promise<Result<ApprovalView>> {
    if (!mayDecide(caller)) return refuse("forbidden", "Deciding needs the role approver.");
    const seen = this.#stores.rows.approvals.get(approval_id);
    if (seen === null) return noCard(approval_id);
    const { signer } = worldOf(this.env);
    if (signer === null && decision.decision === "approve") return { ok: false, refusal: noSigner };
    const issued = new Map<string, string>();
    if (decision.decision === "approve" && seen.status === "pending" && signer !== null)
      for (const { key, subject } of subjectsOf(this.#stores.rows, caller.scope_id, seen)) {
        const about = {
          scope_id: caller.scope_id,
          task_id: seen.task_id,
          approval_id,
          content_hash: seen.content_hash,
          subject,
        };
        const by = { approver: caller.subject, nonce: nonceOf(this.#random()), now: Date.now() };
        issued.set(key, await issue(signer, statementFor(about, by)));
      }
    const known = await this.#verifiedTokens(seen.task_id);
    const prepared: Prepared = { issued, verified: new Set([...known, ...issued.values()]) };
    const done = this.#commit((tx) => {
      const card = tx.rows.approvals.get(approval_id);
      if (card === null) return noCard(approval_id);
      const decided = takeDecision(tx, caller, card, decision, prepared);
      return decided.ok ? ok(approvalViewOf(decided.value)) : decided;
    });
    await this.#after();
    return done;
  }
  /** All tokens of a task whose signatures verify now. */
  async #verifiedTokens(task_id: string): Promise<VerifiedTokens> {
    const { signer } = worldOf(this.env);
    const { items, calls } = this.#stores.rows;
    const grants = [...items.ofTask(task_id), ...calls.ofTask(task_id)].flatMap(({ grant }) =>
      grant === null ? [] : [grant.jws],
    );
    return signer === null ? new Set() : goodSignatures(signer, [...new Set(grants)]);
  }

  // --- what a running attempt asks

  async claim(scope: string, agent: string): Promise<Lease | null> {
    this.#belongs(scope);
    const lease = this.#commit((tx) => claim(tx, agent, () => randomId(this.#random())));
    await this.#after();
    return lease;
  }
  async begin(scope: string, ref: AttemptRef): Promise<Entry> {
    this.#belongs(scope);
    const verified = await this.#verifiedOf(ref);
    const entry = this.#commit((tx) => begin(tx, ref, verified));
    await this.#after();
    return entry;
  }
  async authorize(scope: string, ref: AttemptRef, call: ToolCall): Promise<Authorization> {
    this.#belongs(scope);
    const verified = await this.#verifiedOf(ref);
    const answer = this.#commit((tx) => authorize(tx, ref, call, verified));
    await this.#after();
    return answer;
  }
  async settle(scope: string, ref: AttemptRef, call_id: string, outcome: CallOutcome): Promise<void> {
    this.#belongs(scope);
    this.#commit((tx) => settle(tx, ref, call_id, outcome));
    await this.#after();
  }
  async #verifiedOf(ref: AttemptRef): Promise<VerifiedTokens> {
    const attempt = this.#stores.rows.attempts.get(ref.attempt_id);
    return attempt === null ? new Set() : this.#verifiedTokens(attempt.task_id);
  }
  async heartbeat(scope: string, agent: string, lease: { lease_id: string; epoch: number }): Promise<boolean> {
    this.#belongs(scope);
    return this.#commit((tx) => {
      if (tx.stores.queue.leaseById(lease.lease_id, tx.now)?.holder !== agent) return false;
      const beaten = tx.stores.queue.heartbeat(lease, tx.now);
      if (beaten.ok) tx.facts(beaten.value);
      return beaten.ok;
    });
  }
  /** A piece of an attempt's output for the feed; the log itself is the agent's. */
  async noteOutput(scope: string, said: OutputNote): Promise<void> {
    this.#belongs(scope);
    this.#commit((tx) => {
      const task = said.task_id === null ? null : tx.rows.tasks.get(said.task_id);
      const { attempt_id, stage, offset, text } = said;
      tx.event("agent_output", task, { actor: said.agent, attempt_id, stage, offset, text });
    });
    this.#show();
  }
  async report(report: AgentReport): Promise<void> {
    this.#belongs(report.scope);
    this.#commit((tx) => {
      const heard = this.#directory.report(report, tx.now);
      if (heard === null) return;
      const { name } = report;
      for (const move of heard.moves) {
        tx.event("state_changed", null, {
          actor: name,
          agent: name,
          from: move.from,
          to: move.to,
          detail: move.reason,
        });
        if (move.to === "active") tx.event("agent_spawned", null, { actor: name, agent: name });
        if (move.to === "stopped") tx.event("agent_stopped", null, { actor: name, agent: name });
        if (move.to === "failed") tx.event("agent_failed", null, { actor: name, agent: name, detail: move.reason });
      }
      if (heard.before.activity === heard.after.activity) return;
      if (heard.after.activity === "working")
        tx.event("agent_working", null, { actor: name, agent: name, work_item_id: heard.after.current });
      else if (heard.before.activity === "working") tx.event("agent_idle", null, { actor: name, agent: name });
    });
    this.#show();
  }

  // --- messages

  /** Every message of the scope passes here on its way: the event, and the card if one is due. */
  async observe(message: Message): Promise<void> {
    this.#belongs(message.scope_id);
    const parsed = envelope.parse(message);
    this.#commit((tx) => observe(tx, parsed));
    await this.#after();
  }
  /** Into the runtime's own queue. */
  async deliver(message: Message): Promise<{ readonly refused: string | null }> {
    this.#belongs(message.scope_id);
    const parsed = envelope.safeParse(message);
    if (!parsed.success) return { refused: "the message does not fit its schema" };
    const broken =
      check(parsed.data) ?? (parsed.data.recipient === "runtime_queue" ? null : "it is not for the runtime");
    if (broken !== null) return { refused: broken };
    const entered = this.#commit((tx) => {
      const { outcome, facts } = tx.stores.queue.enqueue("runtime_queue", parsed.data, {}, tx.now);
      tx.facts(facts);
      return outcome;
    });
    await this.#work();
    await this.#after();
    return {
      refused:
        entered === "conflict"
          ? "a message with this id and other content came before"
          : entered === "too_big"
            ? "the message is too big"
            : null,
    };
  }
  /** An addressee can never take this message: it becomes a dead letter with a card. */
  async refusedMessage(message: Message, reason: string): Promise<void> {
    this.#belongs(message.scope_id);
    this.#commit((tx) => deadLetterCard(tx, message, reason));
    await this.#after();
  }
  async refuseOwn(message_id: string, reason: string): Promise<void> {
    this.#sql.transaction(() => this.#stores.outbox.refused(message_id, reason, Date.now()));
  }
  async confirm(ids: readonly string[]): Promise<void> {
    this.#mail().confirm(ids);
  }
  async confirmRecords(seq: { audit: number; telemetry: number }): Promise<void> {
    this.#mail().confirmRecords(seq);
  }

  /** Takes its own messages one by one; a row that meets a bug is nacked and never stops the rest. */
  async #work(): Promise<void> {
    for (let taken = 0; taken < 100; taken++) {
      const lease = this.#commit((tx) => {
        const request = {
          holder: "runtime",
          lease_id: randomId(this.#random()),
          lease_ms: limits.lease_ms,
          many: true,
        };
        const leased = tx.stores.queue.lease("runtime_queue", request, tx.now);
        tx.facts(leased.facts);
        return leased.lease;
      });
      if (lease === null) return;
      try {
        const verified =
          lease.message.task_id === null ? new Set<string>() : await this.#verifiedTokens(lease.message.task_id);
        this.#commit((tx) => {
          accept(tx, lease.message, verified);
          const acked = tx.stores.queue.ack(lease, tx.now);
          if (acked.ok) tx.facts(acked.value);
        });
      } catch (error) {
        console.error(`${lease.message.message_id}: the runtime could not take it`, error);
        const reason = error instanceof Error ? error.message : String(error);
        this.#commit((tx) => {
          const nacked = tx.stores.queue.nack(lease, reason, Math.random(), tx.now);
          if (nacked.ok) tx.facts(nacked.value);
          if (lease.deliveries >= limits.max_deliveries) deadLetterCard(tx, lease.message, reason);
        });
      }
    }
  }

  // --- time

  override async alarm(): Promise<void> {
    const now = Date.now();
    try {
      this.#commit((tx) => {
        const { expired, facts } = tx.stores.queue.expire(now);
        tx.facts(facts);
        for (const { queue, state, message } of expired) {
          if (state !== "dead" || message === null) continue;
          if (queue === "executor_queue") neverBegun(tx, message);
          else deadLetterCard(tx, message, "it was leased too often and never done");
        }
        for (const dead of tx.stores.outbox.dead(now)) deadLetterCard(tx, dead.message, dead.reason);
        tx.stores.events.prune(now);
      });
      await this.#startAgents();
      await this.#work();
    } catch (error) {
      console.error("runtime: the alarm met a bug; it goes on", error);
    } finally {
      await this.#after();
    }
  }
  /** Asked each minute: an object whose alarm was lost goes on, and wakes its agents. */
  async sweep(scope: string): Promise<void> {
    this.#belongs(scope);
    await this.alarm();
    for (const agent of this.#directory.agents()) await this.#agent(agent.name).poke(scope);
  }

  /** Of the owners of sandboxes, those whose attempt or verification is over: nobody will come back for what they left. */
  async ownersOver(scope: string, owners: readonly string[]): Promise<string[]> {
    this.#belongs(scope);
    const { attempts, verifications } = this.#stores.rows;
    return owners.filter((owner) => {
      const attempt = attempts.get(owner);
      return attempt === null
        ? verifications.get(owner)?.state !== "open"
        : attempt.state !== "running" && attempt.state !== "due";
    });
  }

  /** After each commit: what must leave, leaves; who must know, is told; the alarm is set. */
  async #after(): Promise<void> {
    this.#show();
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = null;
    });
    await this.#flushing;
    await this.#arm(Date.now());
  }
  async #flush(): Promise<void> {
    const now = Date.now();
    try {
      await this.#mail().flush(now);
      await this.#callOff(now);
      await this.#wakeCrew(now);
    } catch (error) {
      console.warn("runtime: an agent did not answer; it is asked again", error);
    }
  }
  /** Agents hear that work was called off until they have answered. */
  async #callOff(now: number): Promise<void> {
    const { scope_id } = this.#self();
    for (const kill of this.#stores.rows.kills.all()) {
      if (kill.next_at > now) continue;
      this.#sql.transaction(() =>
        this.#stores.rows.kills.put({ ...kill, next_at: now + killRetryMs, tries: kill.tries + 1 }),
      );
      const agent = this.#agent(kill.agent);
      await (kill.what === "revive" ? agent.revive(scope_id, kill.owner) : agent.callOff(scope_id, kill.owner));
      this.#sql.transaction(() => this.#stores.rows.kills.remove(kill.id));
    }
  }
  /** While rows wait in the shared queue, crew who hold none are woken, and made if there are too few. */
  async #wakeCrew(now: number): Promise<void> {
    const { queue } = this.#stores;
    const { eligible, leased } = queue.depth("executor_queue", now);
    if (eligible === 0) return;
    this.#crewWokenAt = now;
    const { scope_id } = this.#self();
    const wanted = Math.min(limits.scope_slots, leased + eligible);
    for (let index = 1; index <= wanted; index++) {
      const name = `crew-${index}`;
      this.#sql.transaction(() => this.#directory.addAgent(name));
      const crew = this.#agent(name);
      await crew.start(scope_id, name);
      await crew.poke(scope_id);
    }
  }
  async #arm(now: number): Promise<void> {
    if (this.#directory.self() === null) return;
    const { queue, rows } = this.#stores;
    const kills = rows.kills.all().map((kill) => Math.max(kill.next_at, now));
    const crew = queue.depth("executor_queue", now).eligible > 0 ? Math.max(now, this.#crewWokenAt + wakeCrewMs) : null;
    const own = queue.depth("runtime_queue", now).eligible > 0 ? now : null;
    const at = earliest(queue.nextDueAt(now), this.#mail().nextDueAt(now), crew, own, ...kills);
    if (at !== null) await this.ctx.storage.setAlarm(Math.max(at, now));
  }
  #show(): void {
    this.#sockets.push();
    for (const waiter of this.#waiters) waiter();
    this.#waiters.clear();
  }

  // --- people, repositories

  async repos(): Promise<Result<RepoView[]>> {
    return ok(this.#directory.repos());
  }
  async hasRepo(_caller: Caller, url: string): Promise<boolean> {
    return this.#directory.hasRepo(url);
  }
  async addRepo(caller: Caller, repo: { url: string; default_ref: string }): Promise<Result<RepoView>> {
    return this.#admin(caller, "repo_added", { url: repo.url }, (tx) =>
      ok(this.#directory.addRepo({ ...repo, added_by: caller.subject, added_at: tx.at })),
    );
  }
  async removeRepo(caller: Caller, url: string): Promise<Result<{ url: string }>> {
    return this.#admin(caller, "repo_removed", { url }, () => this.#directory.removeRepo(url));
  }
  async tokens(): Promise<Result<TokenView[]>> {
    return ok(this.#people.tokens());
  }
  async addToken(
    caller: Caller,
    input: { id: string; name: string; role: CallerRole; secret_hash: string },
  ): Promise<Result<TokenView>> {
    return this.#admin(caller, "token_added", { id: input.id, role: input.role }, (tx) =>
      this.#people.addToken(input, tx.now),
    );
  }
  async revokeToken(caller: Caller, id: string): Promise<Result<TokenView>> {
    const revoked = await this.#admin(caller, "token_revoked", { id }, (tx) => this.#people.revoke(id, tx.now));
    if (!revoked.ok) return revoked;
    await this.#closeSockets(revoked.value.ended);
    return ok(revoked.value.token);
  }
  async #closeSockets(credentials: readonly string[]): Promise<void> {
    this.#sockets.close(credentials);
    const { scope_id } = this.#self();
    await Promise.all(
      this.#directory.agents().map((agent) => this.#agent(agent.name).closeSockets(scope_id, credentials)),
    );
  }
  async addTicket(
    caller: Caller,
    input: { ticket_hash: string; path: string },
  ): Promise<Result<{ expires_at: string }>> {
    return this.#sql.transaction(() => this.#people.addTicket(caller, input, Date.now()));
  }
  async redeemTicket(scope_id: string, input: { ticket_hash: string; path: string }): Promise<Result<Caller>> {
    this.#belongs(scope_id);
    return this.#sql.transaction(() => this.#people.redeemTicket(scope_id, input, Date.now()));
  }
  async openSession(
    scope_id: string,
    input: { ticket_hash: string; session_id: string; session_hash: string },
  ): Promise<Result<Caller>> {
    this.#belongs(scope_id);
    return this.#commit((tx) => {
      const opened = this.#people.openSession(scope_id, input, tx.now);
      tx.audit(
        "auth",
        { trace_id: "session" },
        {
          actor: "user",
          decision: opened.ok ? "session_opened" : "refused",
          details: { by: opened.ok ? opened.value.subject : null },
        },
      );
      return opened;
    });
  }
  async closeSession(caller: Caller): Promise<Result<null>> {
    const ended = this.#commit((tx) => {
      tx.audit(
        "auth",
        { trace_id: "session" },
        { actor: "user", decision: "session_closed", details: { by: caller.subject } },
      );
      return this.#people.revoke(caller.credential_id, tx.now);
    });
    if (ended.ok) await this.#closeSockets(ended.value.ended);
    return ok(null);
  }
  async #admin<T>(
    caller: Caller,
    decision: string,
    details: Record<string, unknown>,
    change: (tx: Tx) => Result<T>,
  ): Promise<Result<T>> {
    const done = this.#commit((tx) => {
      const changed = change(tx);
      const reason = changed.ok ? null : changed.refusal.detail;
      tx.audit(
        "auth",
        { trace_id: "scope" },
        {
          actor: "user",
          decision: changed.ok ? decision : "refused",
          reason,
          details: { ...details, by: caller.subject },
        },
      );
      return changed;
    });
    await this.#after();
    return done;
  }

  // --- what is shown

  async agents(): Promise<Result<AgentView[]>> {
    return ok(this.#directory.agents());
  }
  async agent(_caller: Caller, name: string): Promise<Result<AgentView>> {
    const found = this.#directory.agent(name);
    return found === null ? refuse("agent_not_found", `There is no agent ${name} in this scope.`) : ok(found);
  }
  async agentTransitions(caller: Caller, name: string): Promise<Result<Move[]>> {
    const found = await this.agent(caller, name);
    return found.ok ? ok(await this.#agent(name).transitions(caller.scope_id)) : found;
  }
  async queues(caller: Caller): Promise<Result<QueueView[]>> {
    const inboxes = await Promise.all(
      this.#directory.agents().map((agent) => this.#agent(agent.name).queueView(caller.scope_id)),
    );
    return ok([this.#stores.queue.view("runtime_queue"), this.#stores.queue.view("executor_queue"), ...inboxes]);
  }
  async queue(caller: Caller, name: string): Promise<Result<QueueView>> {
    const all = await this.queues(caller);
    const found = all.ok ? all.value.find((queue) => queue.name === name) : undefined;
    return found === undefined ? refuse("queue_not_found", `There is no queue ${name} in this scope.`) : ok(found);
  }
  async deadLetters(caller: Caller, name: string): Promise<Result<DeadLetterView[]>> {
    if (name === "runtime_queue" || name === "executor_queue") return ok(this.#stores.queue.deadLetters(name));
    const found = await this.agent(caller, name);
    return found.ok
      ? ok(await this.#agent(name).deadLetters(caller.scope_id))
      : refuse("queue_not_found", `There is no queue ${name} in this scope.`);
  }
  async events(
    _caller: Caller,
    query: { after: number | null; limit: number; types: string[] | null; wait_ms: number },
  ): Promise<Result<{ events: EventView[]; last_seq: number; reset: number | null }>> {
    const after = query.after ?? this.#stores.events.newest();
    let feed = this.#stores.events.after(after, query.limit, query.types);
    const until = Date.now() + Math.min(query.wait_ms, waitForEventsMs);
    while (feed.events.length === 0 && feed.reset === null && Date.now() < until) {
      await this.#nextEvent(until - Date.now());
      feed = this.#stores.events.after(after, query.limit, query.types);
    }
    return ok(feed);
  }
  #nextEvent(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(ms, 1));
      this.#waiters.add(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
  async attemptAgent(_caller: Caller, attempt_id: string): Promise<Result<{ agent: string }>> {
    const agent = this.#stores.rows.attempts.get(attempt_id)?.agent ?? null;
    return agent === null
      ? refuse("attempt_not_found", "There is no attempt with this id that has started.")
      : ok({ agent });
  }
  async policy(): Promise<Result<{ version: number; policy_hash: string; policy: unknown }>> {
    return ok(this.#directory.policy());
  }
  override async fetch(request: Request): Promise<Response> {
    return this.#sockets.open(request);
  }
  override webSocketMessage(socket: WebSocket, text: string | ArrayBuffer): void {
    this.#sockets.message(socket, text);
  }
  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }

  // --- hands

  #commit<T>(change: (tx: Tx) => T): T {
    const { scope_id } = this.#self();
    const { policy, policy_hash } = this.#directory.policy();
    return this.#sql.transaction(() =>
      change(new Tx(this.#stores, { scope_id, policy, policy_hash, planner: false }, Date.now())),
    );
  }
  #self(): { scope_id: string; name: string } {
    const self = this.#directory.self();
    if (self === null) throw new Error("this scope was never made");
    return self;
  }
  #belongs(scope: string): void {
    if (this.#self().scope_id !== scope) throw new Error("this runtime belongs to another scope");
  }
  #agent(name: string): RemoteAgent {
    return agentOf(this.env, this.#self().scope_id, name);
  }
  #mail(): Post {
    this.#post ??= new Post(this.#sql, `${this.#self().scope_id}/runtime`, this.env, this.#stores);
    return this.#post;
  }
  #random(): Uint8Array {
    return crypto.getRandomValues(new Uint8Array(16));
  }
}

/** One message of the runtime's own queue. */
function accept(tx: Tx, message: Message, verified: VerifiedTokens): void {
  switch (message.message_kind) {
    case "execution_result":
      return acceptResult(tx, message, verified);
    case "verification_result":
      return acceptVerification(tx, message, verified);
    case "agent_message":
      return acceptWords(tx, message);
    default:
      tx.audit("effect", message, { decision: "ignored", reason: `nothing waits for ${message.message_kind}` });
  }
}

function noTask(id: string) {
  return refuse("task_not_found", `There is no task ${id} in this scope.`);
}
function noCard(id: string) {
  return refuse("approval_not_found", `There is no approval ${id} in this scope.`);
}
