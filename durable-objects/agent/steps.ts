/**
 * The life of one run: opened by a message, stepped, each step committed in one transaction before the next,
 * closed with its answers. What a step does is the role's; what may not be chosen is stamped here. [AGO-*]
 */
import type { Note, Outgoing, RunContext, Step } from "../../src/agents/step.ts";
import { derivedId } from "../../src/domain/ids.ts";
import { derive, type Message } from "../../src/domain/message.ts";
import { limits } from "../../src/limits.ts";
import type { AgentRecords } from "./records.ts";
import type { AgentRemotes } from "./remotes.ts";
import { roleOf } from "./roles.ts";
import type { Run } from "./runs.ts";
import type { SharedWork } from "./shared.ts";
import type { Shown } from "./shown.ts";
import { type AgentStores, inbox } from "./stores.ts";

/** A wait this short is slept through inside the alarm. */
const napMs = 1_000;
const maxErrors = 8;

export class Steps {
  readonly #stores: AgentStores;
  readonly #records: AgentRecords;
  readonly #remotes: AgentRemotes;
  readonly #shared: SharedWork;
  readonly #shown: Shown;
  readonly #roleOf: typeof roleOf;
  /** Of the steps under way, by run: what calls one off ends its model call in flight. */
  readonly #signals = new Map<string, AbortController>();
  constructor(
    stores: AgentStores,
    parts: {
      records: AgentRecords;
      remotes: AgentRemotes;
      shared: SharedWork;
      shown: Shown;
      roleOf?: typeof roleOf;
    },
  ) {
    this.#stores = stores;
    this.#records = parts.records;
    this.#remotes = parts.remotes;
    this.#shared = parts.shared;
    this.#shown = parts.shown;
    this.#roleOf = parts.roleOf ?? roleOf;
  }

  /** Within the transaction that leased the message. A run that is known goes on where it was. */
  open(id: string, message: Message, { lease_id, epoch }: { lease_id: string; epoch: number }, now: number): void {
    const { runs, self } = this.#stores;
    const known = runs.get(id);
    const lease = { lease_id, epoch };
    if (known !== null) {
      runs.put({ ...known, lease, next_at: now });
      return;
    }
    const { attempt_id, verification_id } = message.payload;
    const owner =
      typeof verification_id === "string"
        ? verification_id
        : typeof attempt_id === "string"
          ? attempt_id
          : message.message_id;
    const at = { opened_at: now, next_at: now, steps: 0, errors: 0, waits: false };
    const opening = { id, message, lease, owner, cancelled: false, ...at };
    runs.put({ ...opening, state: this.#role().open(this.#context({ ...opening, state: null })) });
    for (const event of ["claim", "work"] as const) self.act(event);
  }

  /** Steps one run until it ends, must wait longer, or the time is up. True when it has ended. */
  async drive(id: string, until: number): Promise<boolean> {
    for (;;) {
      const run = this.#stores.runs.get(id);
      const now = Date.now();
      if (run === null || now >= until) return false;
      if (run.next_at > now) {
        if (run.next_at - now > napMs) return false;
        await new Promise((resolve) => setTimeout(resolve, run.next_at - now));
        continue;
      }
      let step: Step<unknown>;
      let ended: boolean;
      try {
        const role = this.#role();
        const context = this.#context(run);
        const ending = new AbortController();
        this.#signals.set(id, ending);
        if (run.cancelled) ending.abort();
        step = await role.step(role.parse(run.state), { ...context, signal: ending.signal }, this.#remotes.ports());
        ended = this.#commit(id, step, context.notes.length);
      } catch (error) {
        return this.#stumble(run, error);
      } finally {
        this.#signals.delete(id);
      }
      await this.#shown.show(run, ended);
      if (ended) return true;
    }
  }

  /** Its row says already that it is called off: nothing in flight is waited for. */
  abort(id: string): void {
    this.#signals.get(id)?.abort();
  }

  /** A bug or an object that did not answer: the run tries the same step again, a few times. True when it gave up. */
  #stumble(run: Run, error: unknown): boolean {
    const { sql, runs, queue } = this.#stores;
    const now = Date.now();
    console.error(`${run.id}: a step failed`, error);
    return sql.transaction(() => {
      // As it stands now: it may have been called off, or have got another lease, since the step began.
      const current = runs.get(run.id);
      if (current === null) return false;
      const errors = current.errors + 1;
      if (errors < maxErrors) {
        runs.put({ ...current, errors, next_at: now + Math.min(500 * 2 ** errors, 30_000) });
        return false;
      }
      this.#close(current.id);
      if (isShared(current)) {
        // Shared work dies at the runtime: without heartbeats its lease ends, and a fresh attempt begins.
        this.#shared.answered(current.id, current.message, now);
        return true;
      }
      // Refused once the lease has lapsed: the message is in the inbox again, and its deliveries are counted.
      const dead = queue.deadLetter(current.lease, reasonOf(error), now);
      if (dead.ok) this.#records.facts(dead.value, now);
      return true;
    });
  }

  /** True when the run has ended. `seen`: of the notes left for it, how many the step knew. */
  #commit(id: string, step: Step<unknown>, seen: number): boolean {
    const { sql, runs, turns, outbox, output } = this.#stores;
    const now = Date.now();
    return sql.transaction(() => {
      const run = runs.get(id);
      if (run === null) return true;
      if (step.kind === "end" && !this.#hasAnswered(run, now)) return this.#hold(run, now);
      if (step.output !== undefined && step.output.byteLength > 0) output.append(run.owner, step.output);
      for (const { decision, reason, details } of step.effects ?? [])
        this.#records.event(run.message, { event_type: "effect", decision, reason, details: { ...details } }, now);
      for (const { key, ...out } of step.send ?? []) outbox.put(this.#stamp(run, out, 0, now, `${id}/${key}`), now);
      if (step.kind !== "end") {
        turns.add(id, step.turns ?? []);
        const { next_at, waits } = this.#pause(run, step, seen, now);
        runs.put({ ...run, state: step.state, next_at, waits, steps: run.steps + 1, errors: 0 });
        return false;
      }
      for (const [index, out] of step.out.entries()) outbox.put(this.#stamp(run, out, index, now), now);
      for (const { run_id, ...note } of step.notes ?? []) this.#leave(run_id, note, now);
      this.#close(id);
      return true;
    });
  }
  /** When it goes on. What came while the step was under way is seen at once; a lease lasts as long as the wait for it. */
  #pause(run: Run, step: Step<unknown>, seen: number, now: number): Pick<Run, "next_at" | "waits"> {
    if (step.kind !== "wait" || run.cancelled) return { next_at: now, waits: false };
    const waits = step.for_notes === true && this.#stores.notes.count(run.id) <= seen;
    if (step.for_notes === true && !waits) return { next_at: now, waits };
    if (waits && !isShared(run)) {
      const kept = this.#stores.queue.heartbeat(run.lease, now, step.wait_ms + limits.heartbeat_extend_ms);
      if (kept.ok) this.#records.facts(kept.value, now);
    }
    return { next_at: now + step.wait_ms, waits };
  }
  /** A note for a run that is gone is dropped; the run that waits for it is woken. */
  #leave(run_id: string, note: Note, now: number): void {
    const { runs, notes } = this.#stores;
    const target = runs.get(run_id);
    if (target === null || !notes.add(run_id, note, now)) return;
    if (target.waits) runs.put({ ...target, next_at: now, waits: false });
  }
  /** Its message is done with: acked in the inbox, or marked as answered for the runtime, which acks shared work. */
  #hasAnswered(run: Run, now: number): boolean {
    if (isShared(run)) {
      this.#shared.answered(run.id, run.message, now);
      return true;
    }
    const acked = this.#stores.queue.ack(run.lease, now);
    if (acked.ok) this.#records.facts(acked.value, now);
    return acked.ok;
  }
  /**
   * The lease lapsed, so the message is, or soon will be, in the inbox again. The run gives its answers once it has the
   * message back, or else the message would be worked on twice; it ends in silence when the message died meanwhile.
   */
  #hold(run: Run, now: number): boolean {
    const { runs, queue } = this.#stores;
    if (queue.isOpen(inbox, run.message.message_id)) {
      runs.put({ ...run, next_at: now + napMs });
      return false;
    }
    this.#close(run.id);
    return true;
  }
  #close(id: string): void {
    const { runs, turns, notes, self } = this.#stores;
    runs.remove(id);
    turns.remove(id);
    notes.remove(id);
    if (runs.count() === 0) self.act("finish");
  }

  /** What a model or a role may not choose: who sends, in which scope, on which trace, with which taint at least. */
  #stamp(run: Run, out: Outgoing, index: number, now: number, cause: string = run.id): Message {
    const { name } = this.#stores.self.identity();
    const error_code = out.error_code ?? null;
    const attempt_number = out.attempt_number ?? run.message.attempt_number ?? (error_code === null ? null : 0);
    return derive(run.message, {
      work_item_id: run.message.work_item_id,
      ...out,
      message_id: derivedId(cause, out.message_kind, index),
      sender: name,
      attempt_number,
      retryable: error_code === null ? null : (out.retryable ?? false),
      origin_agent: error_code === null ? null : name,
      created_at: new Date(now).toISOString(),
    });
  }
  #context(run: Run): RunContext {
    const { scope, name } = this.#stores.self.identity();
    return {
      scope_id: scope,
      agent: name,
      message: run.message,
      lease: run.lease,
      cancelled: run.cancelled,
      opened_at_ms: run.opened_at,
      run_id: run.id,
      turns: this.#stores.turns.of(run.id),
      notes: this.#stores.notes.of(run.id),
    };
  }
  #role() {
    return this.#roleOf(this.#stores.self.identity().name);
  }
}

/** Work of the scope's shared queue is a run for each lease; a message of the inbox is one run, however often it is leased. */
function isShared(run: Run): boolean {
  return run.id !== run.message.message_id;
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
