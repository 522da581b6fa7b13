/**
 * One agent's inbox and its lives: batches of commands, each held to the plain queue, and the ends of its object
 * between them and in their middle. Its clock is the test's own. [OBJ-1] [OBJ-4]
 */
import { abortAllDurableObjects, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { expect, vi } from "vitest";
import { durableSql } from "../../../durable-objects/sql.ts";
import { verifyChain } from "../../../src/domain/audit.ts";
import { judge } from "../../simulation/history.ts";
import type { Random } from "../../simulation/random.ts";
import { agentStub, inAgent, type Scope } from "../scope.ts";
import { Broken, commands, Inbox } from "./inbox.ts";
import { PlainQueue, type Ref } from "./plain-queue.ts";
import { storyOf } from "./story.ts";

const batch = 30;
/** Far enough ahead that no alarm set by it fires by itself. */
const aheadMs = 30 * 86_400_000;
const passes = [1, 500, 1_500, 2_500, 60_000] as const;
export const agentName = "planner";

/** An agent's inbox, whose object may end at any await. */
export class Chapter {
  readonly scope: Scope;
  readonly random: Random;
  readonly plain: PlainQueue;
  readonly past: Ref[] = [];
  readonly counts = { evictions: 0, aborts: 0, alarms: 0, commands: 0 };
  now = Date.now() + aheadMs;
  /** What stood after each command since the last that is known to be stored. */
  kept: string[];
  constructor(scope: Scope, dice: Random) {
    this.scope = scope;
    this.random = dice;
    this.plain = new PlainQueue(`${scope.id}/${agentName}/inbox`);
    this.kept = [this.plain.snapshot()];
    vi.useFakeTimers({ toFake: ["Date"], now: this.now });
  }
  get stub(): DurableObjectStub {
    return agentStub(this.scope, agentName);
  }

  /** A batch of commands in one life. Told to pause, it lets others in between commands. */
  async batch(pauses: boolean): Promise<void> {
    await runInDurableObject(this.stub, async (_object, state) => {
      const inbox = new Inbox(durableSql(state), this.plain, this.scope.id);
      this.same(inbox.rows());
      for (let at = 0; at < batch; at++) {
        const command = this.random.pick(commands);
        if (command === "pass") this.pass();
        inbox.apply(command, this.random, this.past, this.now);
        this.same(inbox.rows());
        this.kept.push(this.plain.snapshot());
        this.counts.commands += 1;
        if (pauses && this.random.chance(0.5)) await new Promise((resolve) => setTimeout(resolve, 0));
        if (pauses && this.random.chance(0.1)) {
          await state.storage.sync();
          this.known();
        }
      }
    });
    this.known();
  }
  pass(): void {
    this.now += this.random.pick(passes);
    vi.setSystemTime(this.now);
  }
  /** Answered to somebody outside, or synced: from here on it must outlive everything. */
  known(): void {
    this.kept = [this.plain.snapshot()];
  }
  same(stored: string): void {
    if (stored !== this.plain.text()) throw new Broken(`stored is ${stored}, and should be ${this.plain.text()}`);
  }

  async evict(): Promise<void> {
    this.counts.evictions += 1;
    await evictDurableObject(this.stub);
    await this.comeBack();
  }
  async abort(): Promise<void> {
    this.counts.aborts += 1;
    await abortAllDurableObjects();
    await this.comeBack();
  }
  /** The power goes while commands run: what stands is what stood after one of them, none that was answered missing. */
  async abortAmid(): Promise<void> {
    this.counts.aborts += 1;
    let broken: unknown = null;
    const going = this.batch(true).catch((error: unknown) => {
      if (error instanceof Broken) broken = error;
    });
    await new Promise((resolve) => setTimeout(resolve, this.random.int(4)));
    await abortAllDurableObjects();
    await going;
    if (broken !== null) throw broken;
    await this.comeBack();
  }
  private async comeBack(): Promise<void> {
    const stored = await runInDurableObject(this.stub, (_object, state) =>
      new Inbox(durableSql(state), this.plain, this.scope.id).rows(),
    );
    // A lease that expired and one that the restart gave back leave the same rows: only the record tells them apart.
    const told = await this.#told();
    for (const snapshot of this.kept.toReversed()) {
      this.plain.restore(snapshot);
      this.plain.restart(this.now);
      if (this.plain.text() === stored && linesOf(this.plain.history) === told) return this.known();
    }
    throw new Broken(
      `after its life ended there is ${stored}, by the record ${told}, which stood after none of the last commands`,
    );
  }
  async alarm(): Promise<void> {
    this.counts.alarms += 1;
    this.pass();
    await runDurableObjectAlarm(this.stub);
    this.plain.expire(this.now);
    this.same(
      await runInDurableObject(this.stub, (_o, state) =>
        new Inbox(durableSql(state), this.plain, this.scope.id).rows(),
      ),
    );
    this.known();
  }

  /** The whole story once more: by its own record, and as somebody outside would judge it. */
  async judged(): Promise<void> {
    const links = await inAgent(this.scope, agentName, (stores) => stores.audit.after(0, 1_000_000));
    expect(verifyChain(links)).toMatchObject({ ok: true });
    const final = this.plain.rows.map(({ id, state }) => ({
      queue: `${this.scope.id}/${agentName}/inbox`,
      message_id: id,
      state,
    }));
    expect(judge({ entries: this.plain.history, final })).toEqual([]);
    expect(linesOf(links)).toEqual(linesOf(this.plain.history));
  }
  async #told(): Promise<string> {
    return linesOf(await inAgent(this.scope, agentName, (stores) => stores.audit.after(0, 1_000_000)));
  }
}
function linesOf(told: Parameters<typeof storyOf>[0]): string {
  return storyOf(told)
    .map(({ message_id, decision }) => `${decision} ${message_id}`)
    .join("\n");
}
