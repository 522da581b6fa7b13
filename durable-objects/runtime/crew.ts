/**
 * The scope's agents as its runtime reaches them: made and started, woken while shared work waits, told what was
 * called off until they have answered. One that does not answer keeps nobody else waiting. [RTO-*] [RCV-3]
 */
import { researchers, researchQueue } from "../../src/domain/research-crew.ts";
import { limits } from "../../src/limits.ts";
import { inTime } from "../in-time.ts";
import { earliest } from "../post.ts";
import type { RemoteAgent } from "../remote.ts";
import type { KillRow } from "./call-rows.ts";
import { giveUp } from "./open-calls.ts";
import type { Scope } from "./scope.ts";
import { nextSilence, superviseRunning } from "./supervision.ts";

const killRetryMs = 2_000;
const killRetryMaxMs = 60_000;
const againMs = 15_000;

export class Crew {
  readonly #scope: Scope;
  readonly #agent: (name: string) => RemoteAgent;
  /** Only save asking twice: after a restart those who wait are woken, and those not heard of started, at once. */
  #wokenAt = 0;
  #startedAt = 0;
  readonly #asked = new Set<string>();
  constructor(scope: Scope, agent: (name: string) => RemoteAgent) {
    this.#scope = scope;
    this.#agent = agent;
  }

  /** Starts those who have not yet reported that they live. */
  async start(now: number): Promise<void> {
    const { scope_id } = this.#scope.self();
    this.#startedAt = now;
    const names = this.#unstarted();
    for (const name of names) this.#asked.add(name);
    await this.#eachOf(names, (agent, name) => agent.start(scope_id, name));
  }
  /** Those just made, before what is for them leaves. */
  async startNew(now: number): Promise<void> {
    if (this.#unstarted().some((name) => !this.#asked.has(name))) await this.start(now);
  }
  /** Only the minute's sweep needs them all; whoever does not answer is asked again by the next. */
  async pokeAll(): Promise<void> {
    const { scope_id } = this.#scope.self();
    const names = this.#scope.directory.agents().map(({ name }) => name);
    await this.#eachOf(names, (agent) => agent.poke(scope_id));
  }
  async closeSockets(credentials: readonly string[]): Promise<void> {
    const { scope_id } = this.#scope.self();
    await Promise.all(
      this.#scope.directory.agents().map((agent) => this.#agent(agent.name).closeSockets(scope_id, credentials)),
    );
  }

  /** Agents hear that work was called off until they have answered. */
  async callOff(now: number): Promise<void> {
    const due = this.#scope.stores.rows.kills.all().filter((kill) => kill.next_at <= now);
    for (let from = 0; from < due.length; from += limits.agents_asked_at_once)
      await Promise.all(due.slice(from, from + limits.agents_asked_at_once).map((kill) => this.#tell(kill, now)));
  }
  async #tell(kill: KillRow, now: number): Promise<void> {
    const { scope_id } = this.#scope.self();
    const { kills } = this.#scope.stores.rows;
    const wait = Math.min(killRetryMs * 2 ** Math.min(kill.tries, 10), killRetryMaxMs);
    this.#scope.sql.transaction(() => kills.put({ ...kill, next_at: now + wait, tries: kill.tries + 1 }));
    const answered = await this.#ask(kill.agent, (agent) =>
      kill.what === "revive" ? agent.revive(scope_id, kill.owner) : agent.callOff(scope_id, kill.owner, kill.calls),
    );
    // What was asked for anew meanwhile is still to be done.
    if (answered) this.#forget(kill);
    else if (kill.since > 0 && now >= kill.since + limits.look_up_ms) this.#giveUp(kill);
  }
  #forget({ id, version }: KillRow): void {
    const { kills } = this.#scope.stores.rows;
    this.#scope.sql.transaction(() => {
      if (kills.get(id)?.version === version) kills.remove(id);
    });
  }
  /** Its sandbox could not be asked in all that time: what it was to be asked about is not known. */
  #giveUp({ owner, calls }: KillRow): void {
    this.#scope.commit((tx) => {
      for (const call_id of calls) {
        const call = tx.rows.calls.get(`${owner}/${call_id}`);
        if (call?.state === "asking") giveUp(tx, call, "its sandbox could not be reached any more");
      }
    });
  }

  /** While rows wait in the shared queue, crew who hold none are woken, and made if there are too few to take them. */
  async wake(now: number): Promise<void> {
    const attempts = this.#attemptsFor(now);
    const questions = this.#scope.stores.queue.depth(researchQueue, now).eligible > 0 ? researchers : [];
    const names = [...attempts, ...questions];
    if (names.length === 0) return;
    this.#wokenAt = now;
    const { scope_id } = this.#scope.self();
    this.#scope.sql.transaction(() => {
      for (const name of names) this.#scope.directory.addAgent(name);
    });
    await this.#eachOf(names, async (agent, name) => {
      await agent.start(scope_id, name);
      await agent.poke(scope_id);
    });
  }
  #attemptsFor(now: number): string[] {
    const { queue } = this.#scope.stores;
    const { eligible, leased } = queue.depth("executor_queue", now);
    if (eligible === 0) return [];
    // Those who would take it may be stuck: for each minute that a row has waited, one more is woken.
    const oldest = queue.view("executor_queue").oldest_at;
    const more = oldest === null ? 0 : Math.floor((now - Date.parse(oldest)) / limits.overdue_ms);
    const wanted = Math.min(limits.scope_slots, leased + eligible + Math.max(0, more));
    return Array.from({ length: wanted }, (_, index) => `crew-${index + 1}`);
  }
  /** Those silent for too long are asked whether they still work; those who were asked in vain lose their attempt. */
  async supervise(): Promise<void> {
    const { scope_id } = this.#scope.self();
    const silent = this.#scope.commit(superviseRunning);
    await this.#eachOf(silent, (agent) => agent.poke(scope_id));
  }

  nextDueAt(now: number): number | null {
    const { queue, rows } = this.#scope.stores;
    const kills = rows.kills.all().map((kill) => Math.max(kill.next_at, now));
    const waiting = ["executor_queue", researchQueue].some((name) => queue.depth(name, now).eligible > 0);
    return earliest(
      waiting ? Math.max(now, this.#wokenAt + againMs) : null,
      this.#unstarted().length > 0 ? Math.max(now, this.#startedAt + againMs) : null,
      nextSilence(rows),
      ...kills,
    );
  }
  /** Since when somebody should have heard something. */
  dueSince(): number | null {
    const { rows } = this.#scope.stores;
    return earliest(nextSilence(rows), ...rows.kills.all().map((kill) => kill.next_at));
  }

  #unstarted(): string[] {
    return this.#scope.directory.agents().flatMap(({ name, state }) => (state === "idle" ? [name] : []));
  }
  async #eachOf(names: readonly string[], call: (agent: RemoteAgent, name: string) => Promise<void>): Promise<void> {
    await Promise.all(names.map((name) => this.#ask(name, (agent) => call(agent, name))));
  }
  async #ask(name: string, call: (agent: RemoteAgent) => Promise<void>): Promise<boolean> {
    try {
      await inTime(call(this.#agent(name)), limits.agent_answer_ms, name);
      return true;
    } catch (error) {
      console.warn(`runtime: ${name} did not answer; it is asked again`, error);
      return false;
    }
  }
}
