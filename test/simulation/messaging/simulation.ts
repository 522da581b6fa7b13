/**
 * One episode: a deployment of two or three scopes lives through so many random events, faults among them, and then,
 * with all faults off, must come to its end. The same seed is the same episode. [SIM-*]
 */
import type { Entry } from "../history.ts";
import { type Random, random } from "../random.ts";
import { alarm, orderQueue, produce, sendAgain, sendOtherBytes, showOldLease, spoil, take, work } from "./actors.ts";
import { Crash } from "./crashing.ts";
import { type Node, TooLate } from "./node.ts";
import { must, Violation } from "./row.ts";
import { cancel, claim, forgottenOrders, workShared } from "./shared.ts";
import { type Figures, start, World } from "./world.ts";

export interface Outcome {
  readonly figures: Figures;
  /** Null when every promise was kept. */
  readonly violation: string | null;
  /** The last events, oldest first. */
  readonly trace: readonly string[];
  readonly history: readonly Entry[] | null;
  readonly final: readonly { queue: string; message_id: string; state: string }[];
}

type Act = (world: World) => boolean;
const on =
  (act: (node: Node) => boolean, which: "nodes" | "runtimes" | "crew" = "nodes"): Act =>
  (world) =>
    act(world.random.pick(world[which]));

/** How often each thing is tried, out of the sum of all. */
const events: readonly (readonly [string, number, Act])[] = [
  ["produce", 60, produceSome],
  ["move", 330, (world) => world.network.move()],
  ["answer", 130, (world) => world.network.answer()],
  ["alarm", 22, on(alarm)],
  ["take", 150, on(take)],
  ["work", 190, on(work)],
  ["claim", 50, on(claim, "crew")],
  ["work shared", 70, on(workShared, "crew")],
  ["old lease", 20, on(showOldLease)],
  ["other bytes", 4, on(sendOtherBytes)],
  ["spoil", 2, on(spoil)],
  ["send again", 3, on(sendAgain)],
  ["order a queue", 4, on(orderQueue)],
  ["cancel", 4, on(cancel, "runtimes")],
  ["power cut", 6, on(cut)],
  ["time", 14, pass],
];
const total = events.reduce((sum, [, weight]) => sum + weight, 0);
const mostOpen = 50;
const auditEvery = 2_000;
/** Lives in a row that end while they begin: more says that something always kills them. */
const mostLives = 50;
const traced = 60;
const mostDays = 20;
const calmMs = 86_400_000;
const mostCalmTurns = 20_000;

function produceSome(world: World): boolean {
  const open = world.nodes.reduce((sum, node) => sum + node.promises.waiting.size + node.ledger.leased.size, 0);
  const queued = world.nodes.reduce((sum, node) => sum + (node.ledger.queued.get(node.own)?.size ?? 0), 0);
  return open + queued < mostOpen && produce(world.random.pick(world.nodes));
}
function cut(node: Node): boolean {
  node.life.end();
  return true;
}
function pass(world: World): boolean {
  const { random } = world;
  const roll = random.next();
  const ms = roll < 0.5 ? 1_000 : roll < 0.8 ? 10_000 : roll < 0.93 ? 60_000 : roll < 0.97 ? 310_000 : 3_600_000;
  const days = random.chance(0.02) ? random.int(1, 8) * 86_400_000 : 0;
  // A mark of what was done is forgotten after 30 days; nothing is under way for so long.
  world.now += world.now + days < start + mostDays * 86_400_000 ? days : 0;
  world.now += random.int(1, ms);
  return true;
}
function drawn(dice: Random): readonly [string, number, Act] {
  let roll = dice.int(total);
  for (const event of events) {
    roll -= event[1];
    if (roll < 0) return event;
  }
  throw new Error("the weights do not add up");
}

/** Never throws for what the code under test did: that is the violation. */
export async function episode(seed: string, steps: number, watched = false): Promise<Outcome> {
  const world = new World(random(seed), watched);
  const trace: string[] = [];
  let violation: string | null = null;
  const { warn } = console;
  // That a queue did not take something is said by the post each time, and meant to happen here.
  console.warn = () => {};
  try {
    await live(world, steps, trace);
    await end(world, trace);
  } catch (error) {
    violation =
      error instanceof Error ? (error instanceof Violation ? error.message : `${error.stack}`) : String(error);
  } finally {
    console.warn = warn;
  }
  const final = world.nodes.flatMap((node) =>
    [...node.ledger.rows.values()]
      .filter((row) => row.state !== "acked")
      .map((row) => ({ queue: `${node.object}/${row.queue}`, message_id: row.message_id, state: row.state })),
  );
  world.close();
  return { figures: world.figures, violation, trace: trace.slice(-traced), history: world.history, final };
}

async function live(world: World, steps: number, trace: string[]): Promise<void> {
  while (world.figures.steps < steps) {
    const [name, , act] = drawn(world.random);
    world.now += world.random.int(40);
    note(trace, world, name);
    if (!attempt(world, act)) continue;
    world.figures.steps += 1;
    await world.calm();
    if (world.figures.steps % auditEvery === 0) auditAll(world);
  }
}
/** A crash ends who crashed, not the run. */
function attempt(world: World, act: Act): boolean {
  try {
    return act(world);
  } catch (error) {
    if (error instanceof Crash || error instanceof TooLate) return true;
    throw error;
  } finally {
    world.disarm();
  }
}
function note(trace: string[], world: World, name: string): void {
  if (trace.length > 8 * traced) trace.splice(0, 7 * traced);
  trace.push(`${world.figures.steps} +${world.now - start} ms ${name}`);
}
/** A life may end on its way back: then another follows it. */
function comeBack(world: World, node: Node): void {
  for (let lives = 0; node.life.dead; lives++) {
    must(lives < mostLives, () => `${node.object} never comes back`);
    attempt(world, () => {
      node.wake();
      return true;
    });
  }
}
function auditAll(world: World): void {
  for (const node of world.nodes) {
    comeBack(world, node);
    node.witness.audit(world.now);
    node.queues.counted();
  }
}

/** With faults off, whatever is under way comes to its end by what objects set their alarms by, and nothing else. */
async function end(world: World, trace: string[]): Promise<void> {
  world.faulty = false;
  for (const node of world.nodes) {
    node.wake();
    for (const [queue, standing] of node.ledger.standing) if (standing !== "open") node.queues.order(queue, "resume");
  }
  const until = world.now + calmMs;
  for (const node of world.nodes) world.awake.add(node);
  for (let turn = 0; ; turn++) {
    must(turn < mostCalmTurns, () => "with faults off, the objects go on for ever");
    await world.calm();
    if (world.network.answer() || world.network.move() || attempt(world, anyBusy)) {
      world.figures.steps += 1;
      continue;
    }
    await world.calm();
    const due = world.nodes.flatMap((node) => node.alarmAt ?? []);
    if (due.length === 0) break;
    world.now = Math.max(world.now, Math.min(...due));
    must(world.now < until, () => "with faults off, something is still open after a day");
    note(trace, world, "alarm");
    for (const node of world.nodes) {
      if (node.alarmAt === null || node.alarmAt > world.now) continue;
      node.alarmAt = null;
      alarm(node);
      world.awake.add(node);
      wakeCrew(node);
    }
  }
  auditAll(world);
  for (const node of world.nodes) {
    for (const row of node.ledger.rows.values())
      must(
        row.state === "acked" || row.state === "dead",
        () => `${row.message_id} is ${row.state} and nothing moves it`,
      );
    must(node.promises.waiting.size === 0, () => `${node.object} still promises, and nothing will send it`);
    const forgotten = node.name === "runtime" ? forgottenOrders(node) : [];
    must(forgotten.length === 0, () => `${node.object} waits for ${forgotten.join(", ")}, and nobody works on it`);
    must(world.network.blobs.size === 0, () => "a body lies in the blobs, and nobody will delete it");
    must(node.outbox.waiting() === 0, () => `${node.object} has an outbox that nothing empties`);
  }
}
/** Only who was woken does anything: by its alarm, by a delivery, or by its runtime when orders wait. */
const anyBusy: Act = (world) => {
  for (const node of world.awake) {
    if (take(node) || work(node) || (node.isCrew && (workShared(node) || claim(node)))) {
      wakeCrew(node);
      return true;
    }
    // As an object does at the end of every entry: its alarm rings for what it knew then.
    node.alarmAt = node.nextDueAt();
    world.awake.delete(node);
  }
  return false;
};
function wakeCrew(runtime: Node): void {
  if (runtime.name !== "runtime" || runtime.queue.depth("executor_queue", runtime.world.now).eligible === 0) return;
  runtime.crewWokenAt = runtime.world.now;
  for (const crew of runtime.world.crew) if (crew.scope === runtime.scope) runtime.world.awake.add(crew);
}
