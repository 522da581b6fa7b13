/**
 * The work of one shift: it claims what is new, drives every due run side by side, keeps leases and tells what
 * changed, until nothing is due or the time is up. [AGO-*]
 */
import { limits } from "../../src/limits.ts";
import { inTime } from "../in-time.ts";
import type { Post } from "../post.ts";
import { newId } from "../random.ts";
import type { AgentRecords } from "./records.ts";
import { runsAtOnce } from "./roles.ts";
import type { SharedWork } from "./shared.ts";
import { reasonOf, type Steps } from "./steps.ts";
import { type AgentStores, inbox } from "./stores.ts";
import type { Told } from "./told.ts";

export class Work {
  readonly #stores: AgentStores;
  readonly #records: AgentRecords;
  readonly #steps: Steps;
  readonly #shared: SharedWork;
  readonly #told: Told;
  readonly #mail: () => Post;
  /** Ends the pause of a shift, so that what just came is seen at once. */
  #endPause: (() => void) | null = null;
  /** Something came since the last look. */
  #woken = false;
  /** The runs being stepped. It outlives a shift that ended early, so that no run is ever stepped by two at once. */
  readonly #active = new Map<string, Promise<void>>();
  constructor(
    stores: AgentStores,
    parts: { records: AgentRecords; steps: Steps; shared: SharedWork; told: Told; mail: () => Post },
  ) {
    this.#stores = stores;
    this.#records = parts.records;
    this.#steps = parts.steps;
    this.#shared = parts.shared;
    this.#told = parts.told;
    this.#mail = parts.mail;
  }

  wake(): void {
    this.#woken = true;
    this.#endPause?.();
  }

  /** Steps every due run side by side until nothing is due or the time is up. */
  async run(until: number): Promise<void> {
    const { sql, self, queue, runs } = this.#stores;
    if (self.read() === null) return;
    const active = this.#active;
    // The first beat is at once: an alarm that came late must not look like silence.
    let beat = 0;
    const begun = Date.now();
    sql.transaction(() => this.#records.facts(queue.sampleDepth(self.identity().scope, [inbox], begun), begun));
    for (;;) {
      const now = Date.now();
      this.#woken = false;
      sql.transaction(() => this.#records.facts(queue.expire(now).facts, now));
      if (now < until) {
        await this.#claim();
        // Without its lease a run stands still: its inbox is paused, or the agent is.
        // What was just claimed is due too, though the clock went on.
        const due = Date.now();
        for (const run of runs.all())
          if (run.next_at <= due && !active.has(run.id) && !queue.isWaiting(inbox, run.id))
            active.set(
              run.id,
              this.#drive(run.id, until).finally(() => active.delete(run.id)),
            );
      }
      await this.#flush(now);
      await this.#told.report();
      this.#told.giveUp(now);
      await this.#told.tellDead();
      if (now >= beat + limits.agent_heartbeat_ms) {
        beat = now;
        await this.#heartbeat();
      }
      // What came while all this was told would else wait for the alarm, or the next heartbeat.
      if (this.#woken && now < until) continue;
      if (active.size === 0) return;
      await Promise.race([...active.values(), this.#pause(limits.agent_heartbeat_ms)]);
    }
  }
  /** A queue that takes long to take what is sent keeps nobody from working, nor from being heard of. */
  async #flush(now: number): Promise<void> {
    try {
      await inTime(this.#mail().flush(now), limits.agent_heartbeat_ms, "what must leave");
    } catch (error) {
      console.warn(`${this.#stores.self.read()?.name}: it does not wait any longer`, error);
    }
  }
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Whether something in the inbox would be taken now. */
  mayClaim(now: number): boolean {
    const { self, queue } = this.#stores;
    const standing = self.read();
    return standing?.state === "active" && this.#free(standing.name) > 0 && queue.depth(inbox, now).eligible > 0;
  }
  /**
   * A run whose message went back to the inbox holds no place: it takes its lease again and goes on where it was. Nor
   * does one that waits for notes, up to a number: else runs that wait would keep out what they wait for. [RUN-24]
   */
  #free(name: string): number {
    const { queue, runs } = this.#stores;
    const now = Date.now();
    const standing = runs.all().filter((run) => !queue.isWaiting(inbox, run.id));
    const waiting = standing.filter((run) => run.waits && run.next_at > now).length;
    return runsAtOnce(name) - (standing.length - Math.min(waiting, limits.waiting_runs));
  }

  /** Takes on new work, as far as the role works side by side. */
  async #claim(): Promise<void> {
    const { self } = this.#stores;
    const standing = self.read();
    if (standing === null || standing.state !== "active") return;
    const now = Date.now();
    for (let free = this.#free(standing.name); free > 0; free--) if (!this.#claimOwn(standing.name, now)) break;
    if (this.#shared.isDue(now)) await this.#claimShared();
  }
  /** False when nothing waits in the inbox. */
  #claimOwn(holder: string, now: number): boolean {
    const { sql, queue } = this.#stores;
    return sql.transaction(() => {
      const request = { holder, lease_id: newId(), lease_ms: limits.lease_ms, many: true };
      const { lease, facts } = queue.lease(inbox, request, now);
      this.#records.facts(facts, now);
      if (lease === null) return false;
      try {
        this.#steps.open(lease.message.message_id, lease.message, lease, now);
      } catch (error) {
        // A message nobody can begin must not stand in the way of those behind it.
        const nacked = queue.nack(lease, reasonOf(error), Math.random(), now);
        if (nacked.ok) this.#records.facts(nacked.value, now);
      }
      return true;
    });
  }
  async #claimShared(): Promise<void> {
    const claimed = await this.#shared.claim();
    if (claimed === null) return;
    const { sql } = this.#stores;
    const { id, lease } = claimed;
    const now = Date.now();
    try {
      sql.transaction(() => this.#steps.open(id, lease.message, lease, now));
    } catch (error) {
      console.error(`${id}: it cannot be begun`, error);
      sql.transaction(() => this.#shared.answered(id, lease.message, now));
      await this.#shared.release();
    }
  }

  async #drive(id: string, until: number): Promise<void> {
    if (!(await this.#steps.drive(id, until))) {
      // The place it left is free for what it waits for.
      if (this.#stores.runs.get(id)?.waits === true) this.wake();
      return;
    }
    if (this.#shared.isMine()) {
      await this.#shared.release();
      this.#shared.askAgain();
    }
    await this.#flush(Date.now());
    this.wake();
  }

  /** Keeps the leases of what runs; shared work whose lease is lost is cancelled. */
  async #heartbeat(): Promise<void> {
    const { sql, queue, runs } = this.#stores;
    const now = Date.now();
    for (const run of runs.all()) {
      if (!this.#shared.isMine()) {
        sql.transaction(() => {
          const beaten = queue.heartbeat(run.lease, now);
          if (beaten.ok) this.#records.facts(beaten.value, now);
        });
        continue;
      }
      if (await this.#shared.keep(run)) continue;
      sql.transaction(() => {
        const current = runs.get(run.id);
        if (current !== null && !current.cancelled) runs.put({ ...current, cancelled: true });
      });
      this.#steps.abort(run.id);
    }
  }
}
