/** The simulated platform itself: what it promises to those who write tests with it. */
import { DurableObject } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Faults } from "./faults.ts";
import { Namespace } from "./objects.ts";
import { type Platform, simulate } from "./platform.ts";

type AlarmMode = "throws" | "slow";
/** Counts in a table; each method is one thing that can go wrong. */
class Counter extends DurableObject {
  inMemory = 0;
  #ringing = 0;
  readonly #sql: SqlStorage;
  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    if (this.#sql.exec("SELECT 1 FROM sqlite_schema").toArray().length === 0)
      this.#sql.exec("CREATE TABLE counts (n INTEGER NOT NULL); CREATE TABLE mode (mode TEXT)");
  }
  async add(n: number): Promise<number> {
    this.inMemory++;
    this.ctx.storage.transactionSync(() => this.#sql.exec("INSERT INTO counts (n) VALUES (?)", n));
    return this.inMemory;
  }
  async addLater(n: number, ms: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ms));
    await this.add(n);
  }
  async fail(how: "throws" | "nested" | "async"): Promise<void> {
    this.ctx.storage.transactionSync(() => {
      this.#sql.exec("INSERT INTO counts (n) VALUES (?)", -1);
      if (how === "throws") throw new Error("undo");
      if (how === "nested") this.ctx.storage.transactionSync(() => {});
      return how === "async" ? Promise.resolve() : null;
    });
  }
  async wake(ms: number, mode: AlarmMode): Promise<void> {
    this.#sql.exec("INSERT INTO mode (mode) VALUES (?)", mode);
    await this.ctx.storage.setAlarm(Date.now() + ms);
  }
  /** Writes how many of it run, itself included. */
  override async alarm(): Promise<void> {
    this.#ringing++;
    this.#sql.exec("INSERT INTO counts (n) VALUES (?)", this.#ringing);
    const throws = this.#sql.exec("SELECT mode FROM mode").toArray()[0]?.mode === "throws";
    if (!throws) await this.ctx.storage.setAlarm(Date.now());
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    this.#ringing--;
    if (throws) throw new Error("it always throws");
  }
}
interface Remote {
  add(n: number): Promise<number>;
  addLater(n: number, ms: number): Promise<void>;
  fail(how: string): Promise<void>;
  wake(ms: number, mode: AlarmMode): Promise<void>;
}

function counter({ timeline, faults, network }: Platform) {
  const namespace = new Namespace(Counter, { timeline, faults, network, env: () => ({}), born: () => {} });
  const object = namespace.object("c");
  const rows = () => (object.disk.commits === 0 ? [] : object.disk.all("SELECT n FROM counts").map(({ n }) => n));
  return { remote: namespace.getByName("c") as Remote, object, rows }; // a stub has its object's methods
}

describe("the simulated platform", () => {
  it("[SIM-20] an object that crashes before a commit has not made it, after it has, and its caller hears an error either way", () =>
    simulate(1, async (platform) => {
      const { remote, rows } = counter(platform);
      const outcome = async (set: (faults: Faults) => { fired: number }) => {
        const rule = set(platform.faults);
        const said = await platform.done(remote.add(1).catch((error: Error) => error.message));
        expect(rule.fired).toBe(1);
        return said;
      };
      expect(await platform.done(remote.add(1))).toBe(1);
      const lost = /the object was reset/;
      expect(await outcome((faults) => faults.crash({ object: "c", at: "before", wrote: "counts" }))).toMatch(lost);
      expect(rows()).toEqual([1]);
      expect(await outcome((faults) => faults.crash({ object: "c", at: "after", wrote: "counts" }))).toMatch(lost);
      expect(rows()).toEqual([1, 1]);
      expect(await outcome((faults) => faults.call({ to: "c", method: "add", crash: "after" }))).toMatch(lost);
      expect(rows()).toEqual([1, 1, 1]);
      expect(await platform.done(remote.add(2))).toBe(1);
    }));

  it("[SIM-21] whatever a crashed or evicted instance still does has no effect", () =>
    simulate(1, async (platform) => {
      const { remote, object, rows } = counter(platform);
      const heard = remote.addLater(1, 5_000).catch((error: Error) => error.message);
      await platform.pass(1_000);
      expect(object.evict()).toBe(false);
      object.crash("in a test");
      expect(await platform.done(heard)).toMatch(/reset/);
      await platform.pass(60_000);
      expect(rows()).toEqual([]);
      expect(await platform.done(remote.add(1))).toBe(1);
      expect(object.evict()).toBe(true);
      expect(await platform.done(remote.add(2))).toBe(1);
    }));

  it("[SIM-22] a lost request was never carried out, a lost reply was, and a late one arrives late", () =>
    simulate(1, async (platform) => {
      const { remote, rows } = counter(platform);
      const asked = (n: number) => platform.done(remote.add(n).then(String, (error: Error) => error.message));
      platform.faults.call({ to: "c", method: "add", lose: "request" });
      expect(await asked(1)).toMatch(/connection lost/);
      expect(rows()).toEqual([]);
      platform.faults.call({ to: "c", method: "add", lose: "reply" });
      expect(await asked(2)).toMatch(/connection lost/);
      expect(rows()).toEqual([2]);
      platform.faults.call({ to: "c", method: "add", delay_ms: 90_000 });
      const before = platform.timeline.now;
      expect(await asked(3)).toBe("2");
      expect(platform.timeline.now - before).toBeGreaterThan(90_000);
    }));

  it("[SIM-23] a transaction that throws is undone, and one inside another or an async one throws", () =>
    simulate(1, async (platform) => {
      const { remote, rows } = counter(platform);
      const said = (how: string) => platform.done(remote.fail(how).then(String, (error: Error) => error.message));
      expect(await said("throws")).toBe("undo");
      expect(await said("nested")).toMatch(/inside a transaction/);
      expect(await said("async")).toMatch(/async/);
      expect(rows()).toEqual([]);
    }));

  it("[SIM-24] an alarm that throws is tried six times more and then never; none begins while one runs; one whose object dies rings again", () =>
    simulate(1, async (platform) => {
      const failing = counter(platform);
      await platform.done(failing.remote.wake(1_000, "throws"));
      await platform.pass(3_600_000);
      expect(failing.rows()).toEqual(Array(7).fill(1));

      const { remote, object, rows } = counter(platform);
      await platform.done(remote.wake(1_000, "slow"));
      await platform.pass(10_500);
      expect(rows()).toEqual(Array(rows().length).fill(1));
      expect(rows().length).toBeGreaterThan(5);
      object.disk.alarm = null;
      object.crash("while its alarm runs");
      const before = rows().length;
      await platform.pass(10_000);
      expect(rows().length).toBeGreaterThan(before);
    }));

  it("[SIM-25] a queue refuses what is too big or too much, brings a message three times and then hands it to the dead queue", () =>
    simulate(1, async (platform) => {
      const said = (sent: Promise<void>) =>
        platform.done(
          sent.then(
            () => "taken",
            (error: Error) => error.message,
          ),
        );
      const many = (count: number, bytes: number) => Array.from({ length: count }, () => ({ body: "x".repeat(bytes) }));
      const { messages } = platform;
      expect(await said(messages.sendBatch(many(1, 128_001)))).toMatch(/length exceeds/);
      expect(await said(messages.sendBatch(many(3, 100_000)))).toMatch(/batch length/);
      expect(await said(messages.sendBatch(many(101, 10)))).toMatch(/more than 100/);
      expect(messages.counts.sent).toBe(0);
      expect(await said(messages.send({ from: "nobody", message: "no message" }))).toBe("taken");
      await platform.pass(60_000);
      expect(messages.counts).toMatchObject({ sent: 1, delivered: 4, dead: 1 });
    }));

  it("[SIM-26] a service that is down does nothing and fails; the clock, chance and timers are the simulation's and are given back", async () => {
    const real = { date: Date, timer: setTimeout, random: Math.random };
    await simulate(1, async (platform) => {
      const put = () =>
        platform.done(
          platform.env.BLOBS.put("a", "1").then(
            () => "stored",
            () => "failed",
          ),
        );
      platform.r2.down = true;
      expect([await put(), platform.blobs.size]).toEqual(["failed", 0]);
      platform.r2.down = false;
      expect([await put(), platform.blobs.size]).toEqual(["stored", 1]);
      const before = Date.now();
      await platform.pass(3_600_000);
      expect(Date.now() - before).toBe(3_600_000);
    });
    expect({ date: Date, timer: setTimeout, random: Math.random }).toEqual(real);
  });
});
