/**
 * One run: several scopes side by side, people at work, faults by chance for a number of steps; then faults off, people
 * gone, and everything must come to rest within a bounded virtual time. The laws hold after every step.
 */
import { swarm } from "../platform/faults.ts";
import { type Platform, simulate } from "../platform/platform.ts";
import { unrest } from "./ends.ts";
import { type Ledger, Violation, watchScopes } from "./ledger.ts";
import { installPrograms } from "./programs.ts";
import { checkRecords } from "./record-laws.ts";
import { type Crowd, crowd, makeScope } from "./users.ts";

export interface Report {
  readonly seed: string;
  readonly hash: string;
  readonly steps: number;
  readonly virtual_s: number;
  readonly crashes: number;
  readonly counts: Readonly<Record<string, number>>;
  /** Null when all laws held. */
  readonly violation: string | null;
  /** The newest lines of the trace, when one did not. */
  readonly trace: readonly string[];
}
export interface Asked {
  readonly seed: string | number;
  /** Steps under faults; coming to rest afterwards takes what it takes. */
  readonly steps: number;
  readonly faults?: boolean;
  /** Whether it goes on until all is at rest: yes. */
  readonly toRest?: boolean;
  /** Lines of the trace to report of a failing run. */
  readonly lines?: number;
}

const restWithinMs = 3 * 3_600_000;
/** Longer than any single back-off of the product. */
const longestOutageMs = 1_200_000;
const lookAgainMs = 60_000;
/** How often, in steps, all that D1 holds is looked through. */
const recordsEvery = 2_500;
const scopeLetters = ["a", "b"];
const tasksEach = 4;

export function runScopes({ seed, steps, faults = true, toRest = true, lines = 60 }: Asked): Promise<Report> {
  return simulate(seed, async (platform) => {
    platform.timeline.trace.kept = lines;
    const ledger = watchScopes(platform);
    const begun = platform.timeline.now;
    let violation: string | null = null;
    let checkpoints = 0;
    try {
      const crowds = await begin(platform);
      const calmAgain = faults ? weather(platform) : () => {};
      while (platform.timeline.steps < steps && (await platform.step()))
        if (platform.timeline.steps % recordsEvery === 0) await checkRecords(platform, ledger.queues);
      if (toRest) {
        calmAgain();
        clear(platform, crowds);
        await rest(platform, ledger);
        checkpoints = await checkRecords(platform, ledger.queues);
        if (ledger.work.counts.tasks_ended > 0 && checkpoints === 0)
          throw new Violation("tasks ended and no checkpoint was made");
        for (const { faults: found } of crowds) if (found[0] !== undefined) throw new Violation(found[0]);
      }
    } catch (thrown) {
      violation =
        thrown instanceof Violation ? thrown.message : String(thrown instanceof Error ? thrown.stack : thrown);
    }
    return {
      seed: String(seed),
      hash: platform.timeline.trace.hash,
      steps: platform.timeline.steps,
      virtual_s: Math.round((platform.timeline.now - begun) / 1_000),
      crashes: platform.objects().reduce((sum, object) => sum + object.crashes, 0),
      counts: {
        ...ledger.queues.counts,
        ...ledger.work.counts,
        ...ledger.ends.counts,
        checkpoints,
        calls_lost: platform.network.lost,
        ...platform.messages.counts,
      },
      violation,
      trace: violation === null ? [] : platform.timeline.trace.last(lines),
    };
  });
}

async function begin(platform: Platform): Promise<Crowd[]> {
  installPrograms(platform);
  const crowds: Crowd[] = [];
  for (const letter of scopeLetters) {
    const scope = await makeScope(platform, letter);
    crowds.push(crowd(scope, platform.random.fork(`people of ${letter}`), tasksEach));
  }
  return crowds;
}

/** Faults at rates of this seed's own, services that go away and come back, power that fails. Returns what ends it. */
function weather(platform: Platform): () => void {
  const { faults, timeline, random, d1, r2, host, messages, records } = platform;
  const luck = random.fork("weather");
  let over = false;
  faults.rates = swarm(luck);
  const services = [d1, r2, host, messages, records].filter(() => luck.chance(0.4));
  const turn = () =>
    timeline.after(
      luck.pick([luck.int(1_000, 60_000), luck.int(60_000, longestOutageMs)]),
      "the weather changes",
      () => {
        if (over) return;
        for (const service of services) service.down = luck.chance(0.3);
        turn();
      },
    );
  if (services.length > 0) turn();
  const cut = () =>
    timeline.after(luck.int(30_000, 900_000), "the power may fail", () => {
      if (over) return;
      if (faults.chance("power_cut")) platform.powerCut();
      cut();
    });
  if (faults.rates.power_cut > 0) cut();
  const evict = () =>
    timeline.after(luck.int(500, 20_000), "something idle is evicted", () => {
      if (over) return;
      const idle = platform.objects().filter(({ alive }) => alive);
      if (idle.length > 0 && faults.chance("evict")) luck.pick(idle).evict();
      evict();
    });
  if (faults.rates.evict > 0) evict();
  return () => {
    over = true;
  };
}
function clear({ faults, d1, r2, host, messages, records, timeline }: Platform, crowds: readonly Crowd[]): void {
  timeline.trace.note("faults are over");
  faults.stop();
  for (const each of crowds) each.leave();
  for (const service of [d1, r2, host, messages, records]) service.down = false;
}

async function rest(platform: Platform, ledger: Ledger): Promise<void> {
  const until = platform.timeline.now + restWithinMs;
  for (;;) {
    await platform.pass(lookAgainMs);
    const left = (await Promise.all(scopeLetters.map((letter) => unrest(platform, letter.repeat(16))))).flat();
    if (left.length === 0) return ledger.lookForDeadEnds();
    if (platform.timeline.now > until)
      throw new Violation(`no rest after ${restWithinMs / 60_000} minutes: ${left.join("; ")}`);
  }
}
