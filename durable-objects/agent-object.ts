/**
 * One agent: its inbox, its runs, its lifecycle. Every role runs this same object; what a role does with one
 * message is in `src/agents`, how a run lives is in `agent/`. Here is what others may ask, and the alarm. [AGO-*]
 */
import { DurableObject } from "cloudflare:workers";
import { lookUpAnywhere } from "../src/agents/effects.ts";
import { check, envelope, type Message } from "../src/domain/message.ts";
import type { ObjectFigures } from "../src/domain/metrics.ts";
import { overdueBy } from "../src/domain/overdue.ts";
import { type Bindings, worldOf } from "../src/env.ts";
import { Inbox } from "./agent/inbox.ts";
import { AgentRecords } from "./agent/records.ts";
import { remotesOf } from "./agent/remotes.ts";
import { SharedWork } from "./agent/shared.ts";
import { Shift } from "./agent/shift.ts";
import { Shown } from "./agent/shown.ts";
import { Steps } from "./agent/steps.ts";
import { type AgentStores, inbox, openStores } from "./agent/stores.ts";
import { Told } from "./agent/told.ts";
import { Work } from "./agent/work.ts";
import type { ChainEnd } from "./audit-log.ts";
import { OutputSockets } from "./output-sockets.ts";
import { earliest, Post } from "./post.ts";
import { type Answer, type RemoteAgent, runtimeOf } from "./remote.ts";
import { startedAgents } from "./runtime/directory.ts";
import type { Confirmed } from "./shipping.ts";
import { durableSql } from "./sql.ts";

/** One shift works at most this long, then the next goes on. */
const workMs = 4 * 60_000;

export class AgentObject extends DurableObject<Bindings> implements RemoteAgent {
  readonly #stores: AgentStores;
  readonly #records: AgentRecords;
  readonly #shared: SharedWork;
  readonly #told: Told;
  readonly #inbox: Inbox;
  readonly #work: Work;
  readonly #steps: Steps;
  readonly #sockets: OutputSockets;
  readonly #shift: Shift;
  #post: Post | null = null;

  constructor(ctx: DurableObjectState, bindings: Bindings) {
    super(ctx, bindings);
    const stores = openStores(durableSql(ctx));
    const records = new AgentRecords(stores);
    const remotes = remotesOf(bindings, stores.self);
    const sockets = new OutputSockets(ctx, stores.output, (owner) => stores.runs.ofOwner(owner).length > 0);
    const shared = new SharedWork(stores, remotes);
    const told = new Told(stores, remotes);
    const shown = new Shown(stores, sockets, remotes);
    const steps = new Steps(stores, { records, remotes, shared, shown });
    this.#stores = stores;
    this.#records = records;
    this.#shared = shared;
    this.#told = told;
    this.#inbox = new Inbox(stores, records);
    this.#work = new Work(stores, { records, steps, shared, told, mail: () => this.#mail() });
    this.#steps = steps;
    this.#sockets = sockets;
    this.#shift = new Shift(ctx.storage, {
      name: () => stores.self.read()?.name ?? "an agent",
      work: (started) => this.#work.run(started + workMs),
      nextDueAt: (now) => this.#nextDueAt(now),
    });
    this.#comeBack();
  }

  /** What a restart means: unconfirmed messages are sent again, and leases of the former life return to the inbox. */
  #comeBack(): void {
    const self = this.#stores.self.read();
    if (self === null) return;
    const now = Date.now();
    this.#stores.sql.transaction(() => {
      this.#stores.outbox.resendAll(now);
      const begun = (id: string) => (this.#stores.runs.get(id)?.steps ?? 0) > 0;
      this.#records.facts(
        this.#stores.queue.requeueOwn(inbox, now, (id) => !begun(id)),
        now,
      );
    });
    this.ctx.blockConcurrencyWhile(() => this.#shift.arm(now));
  }

  /** Makes the agent, or wakes it. Its scope and name never change. */
  async start(scope: string, name: string): Promise<void> {
    const now = Date.now();
    this.#stores.sql.transaction(() => {
      for (const moved of this.#stores.self.start({ scope, name }, now)) this.#records.move(moved, now);
    });
    await this.#rouse(now);
  }
  async poke(scope: string): Promise<void> {
    this.#stores.self.belongs(scope);
    const now = Date.now();
    const late_ms = overdueBy(this.#dueSince(now), now, this.#shift.isOn(now));
    if (late_ms !== null) this.#stores.sql.transaction(() => this.#records.recovered(late_ms, now));
    this.#shared.askAgain();
    await this.#rouse(now);
  }

  /** Takes a message into the inbox. `refused` is for what it can never take; anything thrown is tried again. */
  async deliver(message: Message): Promise<Answer> {
    // These are started before anything is sent to them, or with it, so theirs is only late.
    if (this.#stores.self.read() === null && !startedAgents.includes(message.recipient))
      return { refused: `there is no agent ${message.recipient}` };
    const { scope, name } = this.#stores.self.belongs(message.scope_id);
    const now = Date.now();
    const parsed = envelope.safeParse(message);
    if (!parsed.success) return { refused: "the message does not fit its schema" };
    const broken = check(parsed.data);
    if (broken !== null) return { refused: broken };
    if (message.recipient !== name)
      return { refused: `it is addressed to ${message.recipient}, not to ${scope}/${name}` };
    const outcome = this.#stores.sql.transaction(() => {
      if (this.#stores.self.read()?.state === "stopped") return "stopped" as const;
      const entered = this.#stores.queue.enqueue(inbox, parsed.data, {}, now);
      this.#records.facts(entered.facts, now);
      return entered.outcome;
    });
    await this.#rouse(now);
    if (outcome === "stopped") return { refused: `${name} has stopped` };
    if (outcome === "conflict") return { refused: "a message with this id and other content came before" };
    if (outcome === "closed") return { refused: null, closed: true };
    return { refused: outcome === "too_big" ? "the message is too big" : null };
  }
  async confirm(ids: readonly string[]): Promise<void> {
    this.#mail().confirm(ids);
  }
  async putOff(ids: readonly string[]): Promise<void> {
    this.#mail().putOff(ids);
  }
  async refuseOwn(message_id: string, reason: string): Promise<void> {
    const now = Date.now();
    const { sql, outbox, letters } = this.#stores;
    sql.transaction(() => {
      if (outbox.refused(message_id, reason, now) !== null) letters.noteOutbox(message_id, now);
    });
    await this.#rouse(now);
  }
  async confirmRecords(seq: Confirmed): Promise<void> {
    this.#mail().confirmRecords(seq);
    if (!this.#mail().recordsWait(Date.now())) return;
    await this.#mail().flush(Date.now());
    await this.#shift.arm(Date.now());
  }

  /**
   * Calls off the run of an attempt or a verification, or the run of that very id: a model it is asking is let go, and
   * its sandbox is destroyed now, not when it next looks. Before, it is asked about the calls that were left open.
   */
  async callOff(scope: string, owner: string, calls: readonly string[] = []): Promise<void> {
    this.#stores.self.belongs(scope);
    const { runs } = this.#stores;
    const named = runs.get(owner);
    const open = named === null || named.owner === owner ? runs.ofOwner(owner) : [named];
    this.#stores.sql.transaction(() => {
      for (const run of open) runs.put({ ...run, cancelled: true, next_at: 0 });
    });
    for (const run of open) this.#steps.abort(run.id);
    const { sandboxes } = worldOf(this.env);
    const made = (await sandboxes.sandboxes()).filter(
      (sandbox) => sandbox.owner === owner && sandbox.scope_id === scope,
    );
    for (const call_id of calls) {
      const found = await lookUpAnywhere(sandboxes, made, call_id);
      await runtimeOf(this.env, scope).lookedUp(scope, null, { attempt_id: owner, call_id }, found);
    }
    await Promise.all(made.map((sandbox) => sandboxes.destroy(sandbox.id)));
    await this.#rouse(Date.now());
  }
  /** A dead letter of its own goes on: sent again, or back in the inbox. */
  async revive(scope: string, message_id: string): Promise<void> {
    if (this.#stores.self.read() === null) return;
    this.#stores.self.belongs(scope);
    this.#inbox.revive(message_id);
    await this.#rouse(Date.now());
  }
  async closeSockets(scope: string, credentials: readonly string[]): Promise<void> {
    if (this.#stores.self.read() === null) return;
    this.#stores.self.belongs(scope);
    this.#sockets.close(credentials);
  }

  async queueView(scope: string) {
    this.#stores.self.belongs(scope);
    return this.#inbox.view();
  }
  async queueDetail(scope: string) {
    this.#stores.self.belongs(scope);
    return this.#inbox.detail();
  }
  async moveQueue(scope: string, ...[move, order]: Parameters<Inbox["move"]>) {
    this.#stores.self.belongs(scope);
    const moved = this.#inbox.move(move, order);
    await this.#rouse(Date.now());
    return moved;
  }
  async letters(scope: string, query: Parameters<Inbox["letters"]>[0]) {
    this.#stores.self.belongs(scope);
    return this.#inbox.letters(query);
  }
  async letter(scope: string, message_id: string) {
    this.#stores.self.belongs(scope);
    return this.#inbox.letter(message_id);
  }
  async transitions(scope: string) {
    this.#stores.self.belongs(scope);
    return this.#stores.self.transitions();
  }
  async chainHead(scope: string): Promise<ChainEnd | null> {
    if (this.#stores.self.read() === null) return null;
    this.#stores.self.belongs(scope);
    return this.#stores.audit.end();
  }
  async figures(scope: string): Promise<ObjectFigures> {
    const { name } = this.#stores.self.belongs(scope);
    const { queue, audit, telemetry } = this.#stores;
    return {
      name,
      totals: telemetry.totals(),
      queues: [{ ...queue.view(inbox), name }],
      backlog: { audit: audit.backlog(), telemetry: telemetry.backlog(), checkpoints: 0 },
    };
  }
  override async fetch(request: Request): Promise<Response> {
    return this.#sockets.open(request);
  }
  override webSocketMessage(): void {}
  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }

  override async alarm(): Promise<void> {
    await this.#shift.alarm(Date.now());
  }
  /** Since when something should have happened here: how late it is tells an alarm that was lost or is stuck. */
  #dueSince(now: number): number | null {
    const { queue, outbox, runs } = this.#stores;
    return earliest(queue.nextDueAt(now), outbox.nextDueAt(), runs.nextDueAt());
  }
  async #rouse(now: number): Promise<void> {
    this.#work.wake();
    await this.#shift.begin(now);
  }
  /** One alarm for everything that is due. */
  #nextDueAt(now: number): number | null {
    const { self, queue, runs } = this.#stores;
    if (self.read() === null) return null;
    const waiting = this.#work.mayClaim(now) ? now : null;
    return earliest(
      queue.nextDueAt(now),
      this.#mail().nextDueAt(now),
      ...runs.all().flatMap((run) => (queue.isWaiting(inbox, run.id) ? [] : [run.next_at])),
      waiting,
      this.#shared.nextDueAt(now),
      this.#told.nextDueAt(now),
    );
  }
  /** Made at first use: before the agent is started it has no name to send under. */
  #mail(): Post {
    const { sql, self } = this.#stores;
    const { scope, name } = self.identity();
    this.#post ??= new Post(sql, `${scope}/${name}`, this.env, this.#stores);
    return this.#post;
  }
}
