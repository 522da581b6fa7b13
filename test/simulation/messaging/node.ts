/**
 * One object of the simulation: the real stores over data that outlives its crashes, and beside each the ledger that
 * says what it must answer. What it does with a message stands in `actors.ts`; here is what every object does.
 */
import { AuditLog, auditSchema } from "../../../durable-objects/audit-log.ts";
import { DurableQueue, type Lease } from "../../../durable-objects/durable-queue.ts";
import { Outbox, outboxSchema } from "../../../durable-objects/outbox.ts";
import { earliest, Post } from "../../../durable-objects/post.ts";
import { queueSchema } from "../../../durable-objects/queue-rows.ts";
import { applySchemas } from "../../../durable-objects/sql.ts";
import { TelemetryLog, telemetrySchema } from "../../../durable-objects/telemetry-log.ts";
import type { QueueFacts } from "../../../src/domain/queue.ts";
import { Crash, Life } from "./crashing.ts";
import { Data } from "./data.ts";
import { HeldOutbox } from "./held-outbox.ts";
import { HeldQueues } from "./held-queues.ts";
import { Ledger } from "./ledger.ts";
import { Promises } from "./promises.ts";
import { type About, must, type Row } from "./row.ts";
import { Witness } from "./witness.ts";
import type { Said, World } from "./world.ts";

/** Undoes a transaction that found itself too late. Nobody is to blame. */
export class TooLate extends Error {}

/** A message an object works on, as it holds it in memory: gone with its life. */
export interface Hand {
  readonly lease: Lease;
  readonly queue: string;
}

const schema = [
  `CREATE TABLE effects (message_id TEXT NOT NULL, lease_id TEXT NOT NULL);
   CREATE TABLE runs (id TEXT PRIMARY KEY, steps INTEGER NOT NULL, doc TEXT NOT NULL);
   CREATE TABLE attempts (message_id TEXT PRIMARY KEY, state TEXT NOT NULL, agent TEXT, lease_id TEXT, epoch INTEGER);`,
];
/** While orders wait, the runtime wakes its crew this often. */
const wakeCrewMs = 15_000;

export class Node {
  readonly world: World;
  readonly scope: string;
  readonly name: string;
  readonly object: string;
  readonly isCrew: boolean;
  /** The queue whose messages it works on itself. */
  readonly own: string;
  readonly ledger: Ledger;
  readonly promises = new Promises();
  readonly witness: Witness;
  readonly queues: HeldQueues;
  readonly mail: HeldOutbox;
  readonly #data: Data;
  life: Life;
  queue: DurableQueue;
  outbox: Outbox;
  audit: AuditLog;
  telemetry: TelemetryLog;
  post: Post;
  hands: Hand[] = [];
  flushing = false;
  crewWokenAt = 0;
  /** With faults off: when its alarm rings. */
  alarmAt: number | null = null;
  /** Leases of the past, shown again by who does not know. */
  readonly past: Lease[] = [];

  constructor(world: World, scope: string, name: string) {
    this.world = world;
    this.scope = scope;
    this.name = name;
    this.object = `${scope}/${name}`;
    this.isCrew = name.startsWith("crew");
    this.own = name === "runtime" ? "runtime_queue" : "inbox";
    this.ledger = new Ledger(this.object, scope);
    this.#data = new Data();
    const parts = { queue: queueSchema, outbox: outboxSchema, audit: auditSchema, telemetry: telemetrySchema };
    applySchemas(this.#data, { ...parts, simulated: schema });
    this.witness = new Witness(this.#data, this.object, { ledger: this.ledger, promises: this.promises });
    this.queues = new HeldQueues(this);
    this.mail = new HeldOutbox(this);
    this.life = new Life(this.#data);
    this.queue = new DurableQueue(this.life);
    this.outbox = new Outbox(this.life);
    this.audit = new AuditLog(this.life);
    this.telemetry = new TelemetryLog(this.life);
    this.post = this.#open();
  }
  close(): void {
    this.life.end();
    this.#data.close();
  }

  /** A new instance over the same data, when the last one is dead. It may die on its way too. */
  wake(): void {
    if (!this.life.dead) return;
    this.world.figures.crashes += 1;
    this.life = new Life(this.#data);
    this.world.arm(this.life);
    this.queue = new DurableQueue(this.life);
    this.outbox = new Outbox(this.life);
    this.audit = new AuditLog(this.life);
    this.telemetry = new TelemetryLog(this.life);
    this.post = this.#open();
    this.hands = [];
    this.flushing = false;
    const { now } = this.world;
    this.tx(() => {
      this.outbox.resendAll(now);
      this.promises.resent(now);
      const counted = (id: string): boolean => this.name === "runtime" || this.stepsOf(id) === 0;
      const held = [...this.ledger.leased].filter((row) => row.queue === this.own);
      this.record(this.queue.requeueOwn(this.own, now, counted));
      this.ledger.restarted(this.own, counted, now);
      for (const row of held) {
        const forgives = counted(row.message_id) ? "none" : "one";
        this.saw(this.name, row, row.state === "dead" ? { what: "dead" } : { what: "requeue", forgives });
      }
    });
    const due = this.outbox.nextDueAt();
    const resent = this.promises.waiting.size === 0 || (due !== null && due <= now);
    must(resent, () => `${this.object} came back, and what it promised is not due`);
  }
  #open(): Post {
    return new Post(this.life, this.object, this.world.linesOf(this), this, () => this.world.random.next());
  }

  /** One transaction, held to the ledger when it commits and undone in both when not. */
  tx<T>(change: () => T): T {
    const { life } = this;
    const before = life.commits;
    const seen = this.world.mark();
    try {
      return life.transaction(change);
    } finally {
      const committed = life.commits > before;
      this.ledger.settle(committed);
      this.promises.settle(committed);
      this.world.settle(seen, committed);
      if (committed) this.witness.look();
    }
  }
  record(facts: QueueFacts): void {
    const { now } = this.world;
    for (const event of facts.audit) this.audit.append({ ...event, object: this.object }, now);
    this.telemetry.append(this.object, facts.telemetry, now);
  }
  say(decision: string, about: About): void {
    const { object, scope } = this;
    const { message_id, trace_id } = about;
    const event = {
      object,
      event_type: "effect" as const,
      trace_id,
      message_id,
      scope_id: scope,
      actor: "runtime" as const,
    };
    this.audit.append({ ...event, decision, reason: null, details: {} }, this.world.now);
    this.ledger.trail.audit.push({ event: "effect", decision, row: { message_id, trace_id } });
  }

  /** Starts to send what is due. Its answers are events of their own. */
  flush(): void {
    if (this.flushing) return;
    const { life } = this;
    this.flushing = true;
    this.world.stirred = true;
    this.post
      .flush(this.world.now)
      .catch((error: unknown) => {
        if (!(error instanceof Crash)) this.world.broken(error);
      })
      .finally(() => {
        if (this.life === life) this.flushing = false;
      });
  }

  /** What an object sets its alarm by. */
  nextDueAt(): number | null {
    const { now } = this.world;
    const waits = this.queue.depth(this.own, now).eligible > 0 ? now : null;
    const runs = this.sharedRun() !== null ? now : null;
    const orders = this.name === "runtime" && this.queue.depth("executor_queue", now).eligible > 0;
    const crew = orders ? Math.max(now, this.crewWokenAt + wakeCrewMs) : null;
    return earliest(this.queue.nextDueAt(now), this.post.nextDueAt(now), waits, runs, crew);
  }

  // --- runs: work of several steps, stored

  /** The run it has from the shared queue: at most one, named by message and epoch. */
  sharedRun(): { id: string; steps: number; lease: Lease } | null {
    const sql = "SELECT id, steps, doc FROM runs WHERE instr(id, '.') > 0";
    const run = this.life.one<{ id: string; steps: number; doc: string }>(sql);
    return run === null ? null : { id: run.id, steps: run.steps, lease: JSON.parse(run.doc) };
  }
  stepsOf(id: string): number {
    return this.life.one<{ steps: number }>("SELECT steps FROM runs WHERE id = ?", id)?.steps ?? 0;
  }
  putRun(id: string, steps: number, lease: Lease): void {
    this.life.run("INSERT OR REPLACE INTO runs (id, steps, doc) VALUES (?, ?, ?)", id, steps, JSON.stringify(lease));
  }
  dropRun(id: string): void {
    this.life.run("DELETE FROM runs WHERE id = ?", id);
  }
  /** Spoils a stored body, as a bad disk would. */
  spoil(row: Row): void {
    this.#data.run("UPDATE queue_rows SET body = ? WHERE message_id = ?", "{not json", row.message_id);
    this.ledger.spoil(row);
  }

  saw(process: string, about: { queue: string; message_id: string }, said: Said): void {
    this.world.saw(process, { queue: `${this.object}/${about.queue}`, message_id: about.message_id }, said);
  }
}
