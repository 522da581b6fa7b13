/**
 * What goes wrong: by chance, at `rates`, and as directed by a test, once, at one named place.
 *
 *   faults.crash({ object: `${scope}/crew-1`, at: "after", wrote: "runs", nth: 3 })
 *       dies right after its third commit that wrote the table `runs` (`before`: that commit never happens)
 *   faults.crash({ object: /runtime$/, at: "after", decision: "merged" })       ... that recorded this audit decision
 *   faults.call({ to: /runtime$/, method: "authorize", lose: "reply" })        done, and the caller hears an error
 *   faults.call({ to: "sandboxes", method: "exec", lose: "request", times: 3 })  never arrives
 *   faults.call({ to: /crew/, method: "poke", delay_ms: 90_000 })              arrives late
 *   faults.call({ to: /runtime$/, method: "claim", crash: "after" })           the callee dies before its reply
 *
 * A pattern given as a text must be the whole name. Names: objects as in their namespace (`<scope>/runtime`, `pool`), and the
 * services `d1`, `r2`, `sandboxes`, `agent-messages`, `records`. Each rule tells by `fired` whether it was ever met:
 * a test asserts it, so that it cannot pass for want of its fault.
 */
import type { Random } from "../random.ts";

export type Pattern = string | RegExp;
export interface Rule {
  fired: number;
}
export interface CrashAt {
  readonly object: Pattern;
  readonly at: "before" | "after";
  /** The commit writes this table (`alarm` for the alarm). */
  readonly wrote?: string;
  /** The commit appends this decision to the audit. */
  readonly decision?: string;
  /** Which of the commits that fit: the first. */
  readonly nth?: number;
}
export interface CallFault {
  readonly to: Pattern;
  readonly from?: Pattern;
  readonly method: string;
  readonly nth?: number;
  /** How many in a row: one. */
  readonly times?: number;
  readonly lose?: "request" | "reply";
  readonly delay_ms?: number;
  /** Objects only: the callee dies before it begins, or when it is done and before its reply. */
  readonly crash?: "before" | "after";
}
/** A commit as a rule sees it. */
export interface Commit {
  readonly object: string;
  readonly wrote: ReadonlySet<string>;
  readonly decisions: () => readonly string[];
}

/** Probabilities, each of one moment of its kind; the two in ms are upper bounds of a delay that is drawn evenly. */
export const calm = {
  crash_before_write: 0,
  crash_after_write: 0,
  lose_request: 0,
  lose_reply: 0,
  slow_call: 0,
  slow_call_ms: 20_000,
  evict: 0,
  alarm_lost: 0,
  alarm_late: 0,
  queue_lost: 0,
  queue_repeated: 0,
  queue_late: 0,
  queue_late_ms: 60_000,
  queue_refuses: 0,
  worker_dies: 0,
  service_fails: 0,
  sandbox_dies: 0,
  /** Of each moment at which the power may fail: see scope/run.ts. */
  power_cut: 0,
};
export type Rates = typeof calm;

/** Every kind of fault is left out of half of the runs, so that no run is all noise and each kind is seen alone, too. */
export function swarm(random: Random): Rates {
  const some = (highest: number) => (random.chance(0.5) ? 0 : highest * random.next() ** 2);
  return {
    ...calm,
    crash_before_write: some(0.02),
    crash_after_write: some(0.02),
    lose_request: some(0.05),
    lose_reply: some(0.05),
    slow_call: some(0.05),
    slow_call_ms: random.pick([500, 20_000, 400_000]),
    evict: some(0.02),
    alarm_lost: some(0.05),
    alarm_late: some(0.2),
    queue_lost: some(0.2),
    queue_repeated: some(0.2),
    queue_late: some(0.2),
    queue_late_ms: random.pick([2_000, 60_000, 600_000]),
    queue_refuses: some(0.1),
    worker_dies: some(0.05),
    service_fails: some(0.1),
    sandbox_dies: some(0.01),
    power_cut: some(0.8),
  };
}

interface Counted<T> {
  readonly fault: T;
  readonly rule: Rule;
  met: number;
}

export class Faults {
  rates: Rates = { ...calm };
  readonly #random: Random;
  readonly #crashes: Counted<CrashAt>[] = [];
  readonly #calls: Counted<CallFault>[] = [];
  constructor(random: Random) {
    this.#random = random;
  }

  crash(fault: CrashAt): Rule {
    return this.#add(this.#crashes, fault);
  }
  call(fault: CallFault): Rule {
    return this.#add(this.#calls, fault);
  }
  /** No more faults, neither by chance nor by rule. */
  stop(): void {
    this.rates = { ...calm };
    this.#crashes.length = 0;
    this.#calls.length = 0;
  }
  chance(rate: Exclude<keyof Rates, `${string}_ms`>): boolean {
    const p = this.rates[rate];
    return p > 0 && this.#random.chance(p);
  }
  upTo(ms: "slow_call_ms" | "queue_late_ms"): number {
    return this.#random.int(this.rates[ms] + 1);
  }

  crashes(commit: Commit, at: "before" | "after"): boolean {
    for (const counted of this.#crashes) {
      const { object, wrote, decision, nth = 1, at: when } = counted.fault;
      if (when !== at || counted.rule.fired > 0 || !fits(object, commit.object)) continue;
      if (wrote !== undefined && !commit.wrote.has(wrote)) continue;
      if (decision !== undefined && !commit.decisions().includes(decision)) continue;
      counted.met++;
      if (counted.met < nth) continue;
      counted.rule.fired++;
      return true;
    }
    return this.chance(at === "before" ? "crash_before_write" : "crash_after_write");
  }
  ofCall(from: string, to: string, method: string): CallFault | null {
    for (const counted of this.#calls) {
      const { fault, rule } = counted;
      if (fault.method !== method || !fits(fault.to, to) || (fault.from !== undefined && !fits(fault.from, from)))
        continue;
      if (rule.fired >= (fault.times ?? 1)) continue;
      counted.met++;
      if (counted.met < (fault.nth ?? 1)) continue;
      rule.fired++;
      return fault;
    }
    return null;
  }

  #add<T>(list: Counted<T>[], fault: T): Rule {
    const rule: Rule = { fired: 0 };
    list.push({ fault, rule, met: 0 });
    return rule;
  }
}

function fits(pattern: Pattern, name: string): boolean {
  return typeof pattern === "string" ? pattern === name : pattern.test(name);
}
