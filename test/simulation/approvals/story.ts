/**
 * A story: some tasks one after the other in one scope, each a random walk of people, agents, clocks, restarts, keys,
 * policies and hands that change stored rows. The same seed makes the same choices. [WALK-1] [WALK-2]
 */
import { verifyChain } from "../../../src/domain/audit.ts";
import { isFinal } from "../../../src/domain/task.ts";
import { askingPlan, callerOf, grantedPlan, type Held, HeldScope, shell } from "../../fakes/held-scope.ts";
import { type Random, random } from "../random.ts";
import { edited, tampered } from "./hands.ts";
import { Violation, violated, Witness } from "./witness.ts";

export interface StoryReport {
  readonly seed: string;
  readonly walks: number;
  readonly steps: number;
  readonly violation: string | null;
  readonly counts: Readonly<Record<string, number>>;
  readonly trace: readonly string[];
}
const traced = 60;
const hour_ms = 3_600_000;

const people = [
  callerOf("ada#tok001"),
  callerOf("ada#tok002", "approver", "session"),
  callerOf("bob#tok003"),
  callerOf("cy#tok004", "admin", "session"),
  callerOf("sue#tok005"),
  callerOf("viv#tok006", "viewer"),
];
const sue = callerOf("sue#tok005");

interface Worker {
  readonly held: Held;
  /** The call it waited for, when it goes on after a wait. */
  readonly resumed: { readonly call_id: string; readonly arguments: string; readonly tree: string } | null;
}

export async function story(seed: string, walks: number): Promise<StoryReport> {
  const held = new HeldScope();
  const told = new Teller(held, random(seed));
  let violation: string | null = null;
  try {
    for (let walk = 0; walk < walks; walk++) await told.walk();
    const links = held.scope.stores.audit.after(0, 1_000_000);
    if (!verifyChain(links).ok) violated("the audit's chain is broken");
  } catch (error) {
    // Whatever else is thrown is a bug of the walk or of what it walks over: it ends the same way.
    violation = error instanceof Violation ? error.message : String(error instanceof Error ? error.stack : error);
  } finally {
    held.close();
  }
  const { steps, trace, witness, walked } = told;
  return { seed, walks: walked, steps, violation, counts: witness.counts, trace: trace.slice(-traced) };
}

class Teller {
  readonly witness: Witness;
  readonly trace: string[] = [];
  steps = 0;
  walked = 0;
  readonly #held: HeldScope;
  readonly #random: Random;
  #workers: Worker[] = [];
  #past: Worker[] = [];
  #task = "";
  #granted = false;
  /** What happens while somebody signs or checks a signature. */
  #meanwhile: (() => void) | null = null;
  constructor(held: HeldScope, dice: Random) {
    this.#held = held;
    this.#random = dice;
    this.witness = new Witness(held);
    held.keys.hop = async () => {
      const happens = this.#meanwhile;
      this.#meanwhile = null;
      happens?.();
      for (let hops = dice.int(4); hops > 0; hops--) await Promise.resolve();
    };
  }

  async walk(): Promise<void> {
    const { chance, int } = this.#random;
    this.#granted = chance(0.3);
    this.#task = await this.#held.planned(this.#granted ? grantedPlan : askingPlan, sue);
    this.#say(`task ${this.walked}${this.#granted ? " with a granted step" : ""}`);
    for (let step = int(12, 30); step > 0; step--) {
      this.steps++;
      this.#held.now += int(3_000);
      await this.#step();
      this.witness.look(this.#task);
      const over = isFinal(this.#held.rows.tasks.get(this.#task)?.status ?? "failed");
      if (over && chance(0.4)) break;
    }
    this.walked++;
    if (chance(0.8)) await this.#held.tasks.cancelTask(sue, this.#task, "the walk is over");
    this.witness.look(this.#task);
  }

  /** Mostly what comes next on the road to an executed call, so that the rest has something to disturb. */
  async #step(): Promise<void> {
    const { chance, next } = this.#random;
    const asked = this.#held.rows.approvals.ofTask(this.#task).some(({ status }) => status === "pending");
    if (chance(0.7)) return asked ? (chance(0.15) ? this.#race() : this.#decide()) : this.#work();
    const roll = next();
    if (roll < 0.18) return this.#work();
    if (roll < 0.28) return this.#decide();
    if (roll < 0.4) return this.#alarm();
    if (roll < 0.55) return this.#jump();
    if (roll < 0.66) return this.#change("policy", edited(this.#held, this.#random));
    if (roll < 0.78) return this.#change("row", tampered(this.#held, this.#random, this.#task));
    if (roll < 0.86) return this.#keys();
    if (roll < 0.93) return this.#restart();
    if (roll < 0.97) return this.#replan();
    this.#say("cancel");
    await this.#held.tasks.cancelTask(sue, this.#task, "not any more");
  }

  #cardAndDecision(): (() => Promise<void>) | null {
    const { chance, pick } = this.#random;
    const cards = this.#held.rows.approvals.ofTask(this.#task);
    const open = cards.filter(({ status }) => status === "pending");
    if (cards.length === 0) return null;
    const card = pick(open.length > 0 && chance(0.85) ? open : cards);
    const other = pick(cards).content_hash;
    const content_hash = chance(0.95) ? card.content_hash : other;
    const by = pick(people);
    const roll = this.#random.next();
    const verb = roll < 0.82 ? "approve" : roll < 0.95 ? "deny" : "request_changes";
    this.#say(
      `${by.subject} ${verb} ${card.kind} ${card.id} ${card.status}${content_hash === card.content_hash ? "" : " of another hash"}`,
    );
    const stop = chance(0.2);
    if (verb === "approve")
      return () => this.witness.decided(by, card.id, { decision: verb, content_hash, comment: null });
    if (verb === "deny")
      return () => this.witness.decided(by, card.id, { decision: verb, content_hash, comment: "no", stop });
    return () => this.witness.decided(by, card.id, { decision: verb, content_hash, comment: "other" });
  }
  async #decide(): Promise<void> {
    const decide = this.#cardAndDecision();
    if (decide === null) return;
    if (this.#random.chance(0.1)) {
      const change = this.#random.chance(0.5) ? edited(this.#held, this.#random) : () => this.#jump();
      this.#say("  and meanwhile something changes");
      this.#meanwhile = () => void change();
    }
    await decide();
    this.#meanwhile = null;
    // The same answer once more, as after a lost reply.
    if (this.#random.chance(0.15)) await decide();
  }
  /** Several at once, each overtaking the others where it waits. */
  async #race(): Promise<void> {
    this.#say("at once:");
    const racers = Array.from({ length: this.#random.int(2, 4) }, () => this.#cardAndDecision() ?? (async () => {}));
    if (this.#random.chance(0.3)) racers.push(() => this.#alarm());
    if (this.#random.chance(0.2))
      racers.push(async () => void (await this.#held.tasks.cancelTask(sue, this.#task, "race")));
    await Promise.all(this.#random.shuffle(racers).map((racer) => racer()));
  }

  async #work(): Promise<void> {
    const { chance, pick } = this.#random;
    const idle = this.#workers.length === 0 || chance(0.2);
    if (idle) return this.#claim();
    const worker = this.#past.length > 0 && chance(0.08) ? pick(this.#past) : pick(this.#workers);
    const { resumed, held } = worker;
    const recorded = resumed !== null && chance(0.85);
    const tree = resumed === null ? null : chance(0.88) ? resumed.tree : "9".repeat(40);
    const asked = shell(
      pick(["echo a", "echo a", "echo a", "echo b", "echo evil"]),
      `step-${this.#random.int(1, 2)}`,
      tree,
    );
    const wished = recorded ? { ...asked, call_id: resumed.call_id, arguments: resumed.arguments } : asked;
    // Somebody who changed the row may well have changed what the executor asks for, too.
    const stored = this.#held.rows.calls.get(`${held.ref.attempt_id}/${wished.call_id}`);
    const call = stored !== null && chance(0.3) ? { ...wished, arguments: stored.arguments } : wished;
    const answer = await this.#held.authorize(held, call);
    this.#say(`${held.ref.agent} ${call.call_id} ${call.arguments} ${call.tree?.slice(0, 4)}: ${answer.answer}`);
    switch (answer.answer) {
      case "run":
        this.witness.ran(held.ref, call, this.#grantedFor(held) && call.arguments === shell("echo a").arguments);
        if (chance(0.6)) this.#held.settle(held, call.call_id);
        return;
      case "wait":
        if (chance(0.1)) return;
        this.#leave(worker);
        return this.#held.suspend(held, call, call.tree ?? "5".repeat(40));
      case "refused":
        if (chance(0.5)) return;
        this.#leave(worker);
        return this.#held.fail(held);
      case "stale":
        return this.#leave(worker);
    }
  }
  /** Workers outlive the walk they came from, and so does what their plan granted. */
  #grantedFor({ message }: Held): boolean {
    const item = this.#held.rows.items.get(message.work_item_id ?? "");
    return item?.spec.allow.tools.includes("shell_execute") ?? false;
  }
  async #claim(): Promise<void> {
    const held = this.#held.claim();
    if (held === null) return;
    const entry = await this.#held.begin(held);
    this.#say(`${held.ref.agent} begins ${held.ref.attempt_id} ${held.ref.entry}: ${entry.answer}`);
    const resumed = held.message.payload.resume as Worker["resumed"]; // as the runtime wrote it: an order's suspension
    if (entry.answer === "go") this.#workers.push({ held, resumed });
    else if (entry.answer === "refused") await this.#held.fail(held);
  }
  #leave(worker: Worker): void {
    this.#workers = this.#workers.filter((other) => other !== worker);
    this.#past = [...this.#past, worker].slice(-5);
  }

  async #alarm(): Promise<void> {
    this.#say("alarm");
    this.#held.mailroom.expire(this.#held.now);
    await this.#held.decisions.expire(this.#held.now);
  }
  #jump(): void {
    const { chance, int } = this.#random;
    const by_ms = chance(0.6) ? int(2 * hour_ms) : chance(0.5) ? int(40 * 24 * hour_ms) : -int(24 * hour_ms);
    this.#held.now += by_ms;
    this.#say(`the clock jumps by ${Math.round(by_ms / 60_000)} min`);
  }
  #change(what: string, change: () => string): void {
    this.#say(`${what}: ${change()}`);
  }
  #keys(): void {
    const { keys } = this.#held;
    const retired = [...keys.pairs.keys()].filter((kid) => kid !== keys.kid);
    const forget = retired.length > 0 && this.#random.chance(0.3) ? this.#random.pick(retired) : null;
    if (forget !== null) keys.pairs.delete(forget);
    else keys.rotate();
    this.#say(forget !== null ? `key ${forget} is revoked` : "a new key signs");
  }
  #restart(): void {
    this.#say("restart");
    this.#held.reopen();
  }
  async #replan(): Promise<void> {
    this.#say("another plan comes");
    const plan = (this.#granted ? grantedPlan : askingPlan).replace("A goal", `Goal ${this.steps}`);
    await this.#held.replan(this.#task, plan);
  }
  #say(line: string): void {
    this.trace.push(`${this.steps} ${line}`);
    if (this.trace.length > 2 * traced) this.trace.splice(0, traced);
  }
}
