/**
 * One agent: its inbox, its runs, its lifecycle. Every role runs this same object; what a role does with one
 * message is in `src/agents`. A run's step is asked, then committed in one transaction, then the next. [AGO-*]
 */
import { DurableObject } from "cloudflare:workers";
import { executor } from "../src/agents/executor.ts";
import { planner } from "../src/agents/planner.ts";
import { proxy } from "../src/agents/proxy.ts";
import type { Outgoing, Ports, Role, RunContext, Step } from "../src/agents/step.ts";
import { verifier } from "../src/agents/verifier.ts";
import { actorOf } from "../src/domain/audit.ts";
import { derivedId, randomId } from "../src/domain/ids.ts";
import { check, derive, envelope, type Message, partyOf } from "../src/domain/message.ts";
import type { QueueFacts } from "../src/domain/queue.ts";
import { type Bindings, worldOf } from "../src/env.ts";
import { limits } from "../src/limits.ts";
import { type Run, Runs, runsSchema } from "./agent-runs.ts";
import { AgentSelf, selfSchema } from "./agent-self.ts";
import { AuditLog, auditSchema } from "./audit-log.ts";
import { DurableQueue } from "./durable-queue.ts";
import { Outbox, outboxSchema } from "./outbox.ts";
import { OutputLog, outputSchema } from "./output-log.ts";
import { OutputSockets } from "./output-sockets.ts";
import { earliest, Post } from "./post.ts";
import { queueSchema } from "./queue-rows.ts";
import { poolOf, type RemoteAgent, runtimeOf } from "./remote.ts";
import { firstAgents } from "./runtime/directory.ts";
import { applySchemas, durableSql, type Sql } from "./sql.ts";
import { TelemetryLog, telemetrySchema } from "./telemetry-log.ts";

const inbox = "inbox";
/** One alarm works at most this long, then the next goes on. */
const workMs = 4 * 60_000;
/** A wait this short is slept through inside the alarm. */
const napMs = 1_000;
const maxErrors = 8;
const noSlotRetryMs = 2_000;
const resultRetryMs = 1_000;
/** Marks of work from the scope's shared queue that this agent has answered. */
const shared = "executor_queue";
/** Marks of dead letters the runtime has heard of. */
const told = "told";

const roles: Record<string, { role: Role<unknown>; runs: number }> = {
  proxy: { role: proxy as Role<unknown>, runs: limits.proxy_runs },
  planner: { role: planner as Role<unknown>, runs: limits.planner_runs },
  verifier: { role: verifier as Role<unknown>, runs: limits.verifier_runs },
  executor: { role: executor as Role<unknown>, runs: limits.crew_runs },
};

export class AgentObject extends DurableObject<Bindings> implements RemoteAgent {
  readonly #sql: Sql;
  readonly #queue: DurableQueue;
  readonly #outbox: Outbox;
  readonly #audit: AuditLog;
  readonly #telemetry: TelemetryLog;
  readonly #output: OutputLog;
  readonly #runs: Runs;
  readonly #self: AgentSelf;
  readonly #sockets: OutputSockets;
  #post: Post | null = null;
  /** Ends the pause of an alarm that is at work, so that what just came is seen at once. */
  #wake: (() => void) | null = null;
  #working = false;
  #claimAgainAt = 0;
  #toldAt = new Map<string, { at: number; offset: number }>();

  constructor(ctx: DurableObjectState, bindings: Bindings) {
    super(ctx, bindings);
    this.#sql = durableSql(ctx);
    applySchemas(this.#sql, {
      self: selfSchema,
      queue: queueSchema,
      outbox: outboxSchema,
      audit: auditSchema,
      telemetry: telemetrySchema,
      output: outputSchema,
      runs: runsSchema,
    });
    this.#queue = new DurableQueue(this.#sql);
    this.#outbox = new Outbox(this.#sql);
    this.#audit = new AuditLog(this.#sql);
    this.#telemetry = new TelemetryLog(this.#sql);
    this.#output = new OutputLog(this.#sql);
    this.#runs = new Runs(this.#sql);
    this.#self = new AgentSelf(this.#sql);
    this.#sockets = new OutputSockets(ctx, this.#output, (owner) => this.#runs.ofOwner(owner).length > 0);
    this.#comeBack();
  }

  /** What a restart means: unconfirmed messages are sent again, and leases of the former life return to the inbox. */
  #comeBack(): void {
    const self = this.#self.read();
    if (self === null) return;
    const now = Date.now();
    this.#sql.transaction(() => {
      this.#outbox.resendAll(now);
      const begun = (id: string) => (this.#runs.get(id)?.steps ?? 0) > 0;
      this.#record(
        this.#queue.requeueOwn(inbox, now, (id) => !begun(id)),
        now,
      );
    });
    this.ctx.blockConcurrencyWhile(() => this.#arm(now));
  }

  /** Makes the agent, or wakes it. Its scope and name never change. */
  async start(scope: string, name: string): Promise<void> {
    const now = Date.now();
    this.#sql.transaction(() => {
      for (const moved of this.#self.start({ scope, name }, now)) this.#auditMove(moved, now);
    });
    await this.#rouse(now);
  }
  async poke(scope: string): Promise<void> {
    this.#belongs(scope);
    this.#claimAgainAt = 0;
    await this.#rouse(Date.now());
  }

  /** Takes a message into the inbox. `refused` is for what it can never take; anything thrown is tried again. */
  async deliver(message: Message): Promise<{ readonly refused: string | null }> {
    // The agents a scope begins with are started before anything can be sent to them, so theirs is only late.
    if (this.#self.read() === null && !(firstAgents as readonly string[]).includes(message.recipient))
      return { refused: `there is no agent ${message.recipient}` };
    const { scope, name } = this.#belongs(message.scope_id);
    const now = Date.now();
    const parsed = envelope.safeParse(message);
    if (!parsed.success) return { refused: "the message does not fit its schema" };
    const broken = check(parsed.data);
    if (broken !== null) return { refused: broken };
    if (message.recipient !== name)
      return { refused: `it is addressed to ${message.recipient}, not to ${scope}/${name}` };
    const outcome = this.#sql.transaction(() => {
      if (this.#self.read()?.state === "stopped") return "stopped" as const;
      const entered = this.#queue.enqueue(inbox, parsed.data, {}, now);
      this.#record(entered.facts, now);
      return entered.outcome;
    });
    await this.#rouse(now);
    if (outcome === "stopped") return { refused: `${name} has stopped` };
    if (outcome === "conflict") return { refused: "a message with this id and other content came before" };
    return { refused: outcome === "too_big" ? "the message is too big" : null };
  }
  async confirm(ids: readonly string[]): Promise<void> {
    this.#mail().confirm(ids);
  }
  async refuseOwn(message_id: string, reason: string): Promise<void> {
    this.#sql.transaction(() => this.#outbox.refused(message_id, reason, Date.now()));
  }
  async confirmRecords(seq: { audit: number; telemetry: number }): Promise<void> {
    this.#mail().confirmRecords(seq);
  }

  /** Calls off the run of an attempt or a verification: its sandbox is destroyed now, not when it next looks. */
  async callOff(scope: string, owner: string): Promise<void> {
    this.#belongs(scope);
    const open = this.#runs.ofOwner(owner);
    this.#sql.transaction(() => {
      for (const run of open) this.#runs.put({ ...run, cancelled: true, next_at: 0 });
    });
    const { sandboxes } = worldOf(this.env);
    const made = (await sandboxes.sandboxes()).filter(
      (sandbox) => sandbox.owner === owner && sandbox.scope_id === scope,
    );
    await Promise.all(made.map((sandbox) => sandboxes.destroy(sandbox.id)));
    await this.#rouse(Date.now());
  }
  /** A dead letter of its own goes on: sent again, or back in the inbox. */
  async revive(scope: string, message_id: string): Promise<void> {
    if (this.#self.read() === null) return;
    this.#belongs(scope);
    const now = Date.now();
    this.#sql.transaction(() => {
      this.#outbox.revive(message_id, now);
      this.#record(this.#queue.requeueDead(inbox, message_id, now).facts, now);
    });
    await this.#rouse(now);
  }
  async closeSockets(scope: string, credentials: readonly string[]): Promise<void> {
    if (this.#self.read() === null) return;
    this.#belongs(scope);
    this.#sockets.close(credentials);
  }

  async queueView(scope: string) {
    const { name } = this.#belongs(scope);
    return { ...this.#queue.view(inbox), name };
  }
  async deadLetters(scope: string) {
    this.#belongs(scope);
    return this.#queue.deadLetters(inbox);
  }
  async transitions(scope: string) {
    this.#belongs(scope);
    return this.#self.transitions();
  }
  override async fetch(request: Request): Promise<Response> {
    return this.#sockets.open(request);
  }
  override webSocketMessage(): void {}
  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }

  override async alarm(): Promise<void> {
    const started = Date.now();
    this.#working = true;
    try {
      await this.#work(started + workMs);
    } catch (error) {
      console.error(`${this.#self.read()?.name}: the alarm met a bug; it goes on`, error);
      await new Promise((resolve) => setTimeout(resolve, napMs));
    } finally {
      this.#working = false;
      await this.#arm(Date.now());
    }
  }

  /** Steps every due run side by side until nothing is due or the time is up. */
  async #work(until: number): Promise<void> {
    const self = this.#self.read();
    if (self === null) return;
    const active = new Map<string, Promise<void>>();
    let beat = Date.now();
    for (;;) {
      const now = Date.now();
      this.#sql.transaction(() => this.#record(this.#queue.expire(now).facts, now));
      if (now < until) {
        await this.#claim();
        for (const run of this.#runs.all())
          if (run.next_at <= now && !active.has(run.id))
            active.set(
              run.id,
              this.#drive(run.id, until).finally(() => active.delete(run.id)),
            );
      }
      await this.#mail().flush(now);
      await this.#report();
      await this.#tellDead();
      if (now >= beat + limits.agent_heartbeat_ms) {
        beat = now;
        await this.#heartbeat();
      }
      if (active.size === 0) return;
      await Promise.race([...active.values(), this.#pause(limits.agent_heartbeat_ms)]);
    }
  }
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Takes on new work, as far as the role works side by side. */
  async #claim(): Promise<void> {
    const self = this.#self.read();
    if (self === null || self.state !== "active") return;
    const party = roles[partyOf(self.name)];
    const now = Date.now();
    // A run whose message went back to the inbox takes its lease again: it goes on where it was.
    const running = this.#runs.all().filter((run) => !this.#queue.isWaiting(inbox, run.id));
    for (let free = (party?.runs ?? 1) - running.length; free > 0; free--) {
      const leased = this.#sql.transaction(() => {
        const request = { holder: self.name, lease_id: this.#random(), lease_ms: limits.lease_ms, many: true };
        const { lease, facts } = this.#queue.lease(inbox, request, now);
        this.#record(facts, now);
        if (lease === null) return false;
        try {
          this.#open(lease.message.message_id, lease.message, lease, now);
        } catch (error) {
          // A message nobody can begin must not stand in the way of those behind it.
          const nacked = this.#queue.nack(lease, reasonOf(error), Math.random(), now);
          if (nacked.ok) this.#record(nacked.value, now);
        }
        return true;
      });
      if (!leased) break;
    }
    if (partyOf(self.name) === "executor" && this.#runs.count() === 0 && now >= this.#claimAgainAt)
      await this.#claimShared(self);
  }
  /** From the scope's shared queue: the deployment's slot first, then the row. */
  async #claimShared({ scope, name }: { scope: string; name: string }): Promise<void> {
    const pool = poolOf(this.env);
    const holder = `${scope}/${name}`;
    if (!(await pool.acquire(scope, holder))) {
      this.#claimAgainAt = Date.now() + noSlotRetryMs;
      return;
    }
    const lease = await this.#runtime().claim(scope, name);
    const id = lease === null ? "" : `${lease.message.message_id}.${lease.epoch}`;
    if (lease === null || this.#queue.hasProcessed(shared, id)) {
      // A row whose result is still on its way is leased to us until the runtime has it.
      this.#claimAgainAt = lease === null ? Number.POSITIVE_INFINITY : Date.now() + resultRetryMs;
      return pool.release(holder);
    }
    const now = Date.now();
    try {
      this.#sql.transaction(() => this.#open(id, lease.message, lease, now));
    } catch (error) {
      console.error(`${id}: it cannot be begun`, error);
      this.#sql.transaction(() => this.#queue.markProcessed(shared, { ...lease.message, message_id: id }, now));
      await pool.release(holder);
    }
  }
  #open(id: string, message: Message, { lease_id, epoch }: { lease_id: string; epoch: number }, now: number): void {
    const known = this.#runs.get(id);
    const lease = { lease_id, epoch };
    if (known !== null) {
      this.#runs.put({ ...known, lease, next_at: now });
      return;
    }
    const { attempt_id, verification_id } = message.payload;
    const owner =
      typeof verification_id === "string"
        ? verification_id
        : typeof attempt_id === "string"
          ? attempt_id
          : message.message_id;
    const opening = { id, message, lease, owner, cancelled: false, opened_at: now, next_at: now, steps: 0, errors: 0 };
    this.#runs.put({ ...opening, state: this.#role().open(this.#context({ ...opening, state: null })) });
    for (const event of ["claim", "work"] as const) this.#self.act(event);
  }

  /** Steps one run until it ends, must wait longer, or the time is up. */
  async #drive(id: string, until: number): Promise<void> {
    for (;;) {
      const run = this.#runs.get(id);
      const now = Date.now();
      if (run === null || now >= until) return;
      if (run.next_at > now) {
        if (run.next_at - now > napMs) return;
        await new Promise((resolve) => setTimeout(resolve, run.next_at - now));
        continue;
      }
      let step: Step<unknown>;
      try {
        const role = this.#role();
        step = await role.step(role.parse(run.state), this.#context(run), this.#ports());
        this.#commit(id, step);
      } catch (error) {
        if (this.#stumble(run, error)) await this.#afterEnd();
        return;
      }
      await this.#show(run, step.kind === "end");
      if (step.kind === "end") return this.#afterEnd();
    }
  }

  /** A bug or an object that did not answer: the run tries the same step again, a few times. True when it gave up. */
  #stumble(run: Run, error: unknown): boolean {
    const now = Date.now();
    const reason = reasonOf(error);
    console.error(`${run.id}: a step failed`, error);
    return this.#sql.transaction(() => {
      const errors = run.errors + 1;
      if (errors < maxErrors) {
        this.#runs.put({ ...run, errors, next_at: now + Math.min(500 * 2 ** errors, 30_000) });
        return false;
      }
      this.#close(run.id);
      const dead = this.#queue.deadLetter(run.lease, reason, now);
      if (dead.ok) this.#record(dead.value, now);
      // Shared work dies at the runtime: without heartbeats its lease ends, and a fresh attempt begins.
      else this.#queue.markProcessed(shared, { ...run.message, message_id: run.id }, now);
      return true;
    });
  }

  #commit(id: string, step: Step<unknown>): void {
    const now = Date.now();
    this.#sql.transaction(() => {
      const run = this.#runs.get(id);
      if (run === null) return;
      if (step.output !== undefined && step.output.byteLength > 0) this.#output.append(run.owner, step.output);
      for (const effect of step.effects ?? [])
        this.#auditEvent(
          run.message,
          { event_type: "effect", decision: effect.decision, reason: effect.reason, details: { ...effect.details } },
          now,
        );
      if (step.kind !== "end") {
        const next_at = step.kind === "wait" && !run.cancelled ? now + step.wait_ms : now;
        this.#runs.put({ ...run, state: step.state, next_at, steps: run.steps + 1, errors: 0 });
        return;
      }
      for (const [index, out] of step.out.entries()) this.#outbox.put(this.#stamp(run, out, index, now), now);
      const acked = this.#queue.ack(run.lease, now);
      if (acked.ok) this.#record(acked.value, now);
      else this.#queue.markProcessed(shared, { ...run.message, message_id: id }, now);
      this.#close(id);
    });
  }
  #close(id: string): void {
    this.#runs.remove(id);
    if (this.#runs.count() === 0) this.#self.act("finish");
  }
  /** What a model or a role may not choose: who sends, in which scope, on which trace, with which taint at least. */
  #stamp(run: Run, out: Outgoing, index: number, now: number): Message {
    const { name } = this.#identity();
    const error_code = out.error_code ?? null;
    const attempt_number = out.attempt_number ?? run.message.attempt_number ?? (error_code === null ? null : 0);
    return derive(run.message, {
      work_item_id: run.message.work_item_id,
      ...out,
      message_id: derivedId(run.id, out.message_kind, index),
      sender: name,
      attempt_number,
      retryable: error_code === null ? null : (out.retryable ?? false),
      origin_agent: error_code === null ? null : name,
      created_at: new Date(now).toISOString(),
    });
  }

  async #afterEnd(): Promise<void> {
    const { scope, name } = this.#identity();
    if (partyOf(name) === "executor") {
      await poolOf(this.env).release(`${scope}/${name}`);
      this.#claimAgainAt = 0;
    }
    await this.#mail().flush(Date.now());
    this.#wake?.();
  }

  /** Shows output where it is watched: open terminals at once, the feed at most four times a second. */
  async #show(run: Run, ended: boolean): Promise<void> {
    this.#sockets.push(run.owner, ended);
    const now = Date.now();
    const told = this.#toldAt.get(run.id) ?? { at: 0, offset: 0 };
    const { kept } = this.#output.size(run.owner);
    if (kept <= told.offset || (!ended && now - told.at < 1000 / limits.output_events_per_second)) return;
    const from = Math.max(told.offset, kept - limits.output_event_bytes);
    const { bytes } = this.#output.read(run.owner, from, limits.output_event_bytes);
    this.#toldAt.set(run.id, { at: now, offset: kept });
    if (ended) this.#toldAt.delete(run.id);
    const { attempt_id } = run.message.payload;
    const { scope, name } = this.#identity();
    try {
      await this.#runtime().noteOutput(scope, {
        task_id: run.message.task_id,
        agent: name,
        attempt_id: typeof attempt_id === "string" ? attempt_id : run.owner,
        stage: partyOf(name) === "verifier" ? "verify" : "execute",
        offset: from,
        text: new TextDecoder().decode(bytes),
      });
    } catch {
      // The feed is a notice; the log itself is kept here.
    }
  }

  /** What died in the inbox becomes a card: the runtime is told until it has heard. */
  async #tellDead(): Promise<void> {
    for (const { message, reason, mark } of this.#untold()) {
      try {
        await this.#runtime().refusedMessage(message, reason);
      } catch (error) {
        console.warn(`${mark}: the runtime did not hear of a dead letter; it is told again`, error);
        return;
      }
      this.#sql.transaction(() => this.#queue.markProcessed(told, { ...message, message_id: mark }, Date.now()));
    }
  }
  #untold() {
    const dead = this.#queue
      .dead(inbox)
      .map((letter) => ({ ...letter, mark: `${letter.message.message_id}.${letter.epoch}` }));
    return dead.filter(({ mark }) => !this.#queue.hasProcessed(told, mark));
  }

  async #heartbeat(): Promise<void> {
    const { scope, name } = this.#identity();
    const now = Date.now();
    for (const run of this.#runs.all()) {
      if (partyOf(name) !== "executor") {
        this.#sql.transaction(() => {
          const beaten = this.#queue.heartbeat(run.lease, now);
          if (beaten.ok) this.#record(beaten.value, now);
        });
        continue;
      }
      const kept = await this.#runtime().heartbeat(scope, name, run.lease);
      await poolOf(this.env).acquire(scope, `${scope}/${name}`);
      if (!kept)
        this.#sql.transaction(() => {
          const current = this.#runs.get(run.id);
          if (current !== null && !current.cancelled) this.#runs.put({ ...current, cancelled: true });
        });
    }
  }

  /** Tells the runtime what changed about this agent, until it has heard. */
  async #report(): Promise<void> {
    const report = this.#self.report(this.#runs.all()[0]?.message.work_item_id ?? null);
    if (report === null) return;
    try {
      await this.#runtime().report(report);
      this.#sql.transaction(() => this.#self.reported(report));
    } catch (error) {
      console.warn(`${report.name}: the runtime did not hear a report; it is told again`, error);
    }
  }

  #context(run: Run): RunContext {
    const { scope, name } = this.#identity();
    return {
      scope_id: scope,
      agent: name,
      message: run.message,
      lease: run.lease,
      cancelled: run.cancelled,
      opened_at_ms: run.opened_at,
    };
  }
  #ports(): Ports {
    const { sandboxes, artifacts } = worldOf(this.env);
    const runtime = this.#runtime();
    const { scope } = this.#identity();
    return {
      sandboxes,
      artifacts,
      clock: { now: () => Date.now() },
      bus: {
        begin: (ref) => runtime.begin(scope, ref),
        authorize: (ref, call) => runtime.authorize(scope, ref, call),
        settle: (ref, call_id, outcome) => runtime.settle(scope, ref, call_id, outcome),
        heartbeat: (ref) => runtime.heartbeat(scope, ref.agent, ref),
      },
    };
  }
  #role(): Role<unknown> {
    const party = roles[partyOf(this.#identity().name)];
    if (party === undefined) throw new Error("this agent has no role");
    return party.role;
  }
  #runtime() {
    return runtimeOf(this.env, this.#identity().scope);
  }
  #identity(): { scope: string; name: string } {
    const self = this.#self.read();
    if (self === null) throw new Error("this agent was never started");
    return self;
  }
  /** An agent that was started for one scope answers no other. */
  #belongs(scope: string): { scope: string; name: string } {
    const self = this.#identity();
    if (self.scope !== scope) throw new Error("this agent belongs to another scope");
    return self;
  }
  #mail(): Post {
    const { scope, name } = this.#identity();
    this.#post ??= new Post(this.#sql, `${scope}/${name}`, this.env, {
      outbox: this.#outbox,
      audit: this.#audit,
      telemetry: this.#telemetry,
    });
    return this.#post;
  }
  #random(): string {
    return randomId(crypto.getRandomValues(new Uint8Array(16)));
  }

  #record(facts: QueueFacts, now: number): void {
    const { scope, name } = this.#identity();
    for (const event of facts.audit) this.#audit.append({ ...event, object: `${scope}/${name}` }, now);
    this.#telemetry.append(`${scope}/${name}`, facts.telemetry, now);
  }
  #auditEvent(
    about: Message,
    event: { event_type: "effect" | "transition"; decision: string; reason: string; details: Record<string, unknown> },
    now: number,
  ): void {
    const { scope, name } = this.#identity();
    this.#audit.append(
      {
        object: `${scope}/${name}`,
        trace_id: about.trace_id,
        message_id: about.message_id,
        scope_id: scope,
        actor: actorOf(name),
        ...event,
      },
      now,
    );
  }
  #auditMove(moved: { from: string; event: string; to: string; reason: string }, now: number): void {
    const { scope, name } = this.#identity();
    this.#audit.append(
      {
        object: `${scope}/${name}`,
        event_type: "transition",
        trace_id: `agent:${scope}/${name}`,
        message_id: null,
        scope_id: scope,
        actor: "runtime",
        decision: moved.event,
        reason: moved.reason,
        details: { from: moved.from, to: moved.to },
      },
      now,
    );
  }

  async #rouse(now: number): Promise<void> {
    this.#wake?.();
    if (!this.#working) await this.ctx.storage.setAlarm(now);
  }
  /** One alarm for everything that is due, set again at the end of every entry. */
  async #arm(now: number): Promise<void> {
    const self = this.#self.read();
    if (self === null) return;
    const waiting = this.#queue.depth(inbox, now).eligible > 0 && self.state === "active" ? now : null;
    const free = self.state === "active" && partyOf(self.name) === "executor" && this.#runs.count() === 0;
    const claim = free && Number.isFinite(this.#claimAgainAt) ? Math.max(now, this.#claimAgainAt) : null;
    const unheard = this.#self.report(null) === null && this.#untold().length === 0 ? null : now + 1_000;
    const at = earliest(
      this.#queue.nextDueAt(now),
      this.#mail().nextDueAt(now),
      this.#runs.nextDueAt(),
      waiting,
      claim,
      unheard,
    );
    if (at !== null) await this.ctx.storage.setAlarm(Math.max(at, now));
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
