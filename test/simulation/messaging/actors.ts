/**
 * What an object does with its own queue: takes messages, works on them over several steps, and ends each in one
 * transaction: effect, follow-up messages, ack. Each function is one event; false means there was nothing to do.
 */
import type { Lease } from "../../../durable-objects/durable-queue.ts";
import type { Message } from "../../../src/domain/message.ts";
import { first, next, read, type Sort, write } from "./letters.ts";
import type { Hand, Node } from "./node.ts";
import { TooLate } from "./node.ts";
import { must } from "./row.ts";
import { acceptAnswer, orderWork } from "./shared.ts";

const mostHands = 4;
/** Words to the runtime say their route. */
const toRuntime = { route: "planner", ends_task: false, version: null };
/** Past what travels inside a queue's message. */
const bigChars = 110_000;
const signs = ["a", "b", "c"] as const;

/** Somebody asks for something: a person through the runtime, or an agent by itself. */
export function produce(node: Node): boolean {
  const { random, now } = node.world;
  const id = `asked-${node.world.freshId()}`;
  const sort: Sort = random.chance(0.04) ? "poison" : random.chance(0.5) ? "work" : "plain";
  const big = random.chance(0.01) ? ` ${"x".repeat(bigChars)}` : "";
  const content = `${write({ sign: random.pick(signs), sort, hops: random.int(4) })}${big}`;
  // Nobody made that agent: its addressee can never take it.
  const ghost = random.chance(0.08) ? "ghost" : null;
  const named = { message_id: id, trace_id: `trace-${id}`, scope_id: node.scope, content };
  const message =
    node.name === "runtime"
      ? first(
          {
            ...named,
            message_kind: "user_message",
            sender: "user",
            recipient: ghost ?? "proxy",
          },
          now,
        )
      : first(
          { ...named, message_kind: "agent_message", sender: node.name, recipient: ghost ?? other(node.name) },
          now,
        );
  node.wake();
  node.world.arm(node.life);
  node.tx(() => node.mail.put(message, null));
  node.flush();
  return true;
}
function other(name: string): string {
  return name === "proxy" ? "crew-1" : "proxy";
}

export function take(node: Node): boolean {
  node.wake();
  if (node.hands.length >= mostHands || (node.ledger.queued.get(node.own)?.size ?? 0) === 0) return false;
  node.world.arm(node.life);
  const lease = node.tx(() => node.queues.lease(node.own, node.name, true));
  if (lease !== null) node.hands.push({ lease, queue: node.own });
  return lease !== null;
}

/** One step with one message in hand. */
export function work(node: Node): boolean {
  node.wake();
  const { random, faulty } = node.world;
  if (node.hands.length === 0) return false;
  const hand = faulty ? random.pick(node.hands) : node.hands[0];
  if (hand === undefined) return false;
  node.world.arm(node.life);
  const poison = read(hand.lease.message).sort === "poison";
  const roll = faulty ? random.next() : 0;
  if (poison) return use(node, hand, roll < 0.8 ? "nack" : "bury");
  if (roll < 0.6) return finish(node, hand);
  if (roll < 0.7) return use(node, hand, "heartbeat");
  if (roll < 0.8) return step(node, hand);
  if (roll < 0.89) return use(node, hand, "nack");
  if (roll < 0.91) return use(node, hand, "bury");
  // It hangs: nobody does anything until the lease is over.
  if (random.chance(0.3)) drop(node, hand);
  return true;
}
function use(node: Node, hand: Hand, how: "nack" | "bury" | "heartbeat"): boolean {
  const kept = node.tx(() => node.queues.use(how, hand.lease));
  if (!kept || how !== "heartbeat") drop(node, hand);
  return true;
}
function drop(node: Node, hand: Hand): void {
  node.hands = node.hands.filter((each) => each !== hand);
}
function step(node: Node, { lease }: Hand): boolean {
  if (node.name === "runtime") return false;
  // Named by its message alone: no work of the shared queue.
  const id = lease.message.message_id;
  node.tx(() => node.putRun(id, node.stepsOf(id) + 1, lease));
  return true;
}
function finish(node: Node, hand: Hand): boolean {
  const { lease, queue } = hand;
  const { message } = lease;
  let out: Message[] = [];
  try {
    node.tx(() => {
      // The lease was over long ago, and somebody else was quicker.
      if (node.queue.hasProcessed(queue, message.message_id)) throw new TooLate();
      node.queues.effect(queue, lease);
      out = followUps(node, message);
      for (const each of out) node.mail.put(each, message);
      if (node.name === "runtime") carryOut(node, lease);
      else node.dropRun(message.message_id);
      if (!node.queues.use("ack", lease)) throw new TooLate();
    });
  } finally {
    drop(node, hand);
  }
  if (out.length > 0 || node.world.random.chance(0.2)) node.flush();
  return true;
}
function carryOut(node: Node, { message }: Lease): void {
  if (message.message_kind === "execution_result") acceptAnswer(node, message);
  else if (read(message).sort === "work") orderWork(node, message, 0);
}

function followUps(node: Node, cause: Message): Message[] {
  const { sort, hops, sign } = read(cause);
  if (hops === 0 || cause.message_kind === "execution_result") return [];
  const { now } = node.world;
  const content = write({ sign, sort, hops: hops - 1 });
  if (node.name === "runtime") {
    const given = { message_kind: "system_event" as const, sender: "runtime", recipient: "proxy", content };
    return [next(cause, cause.message_id, 0, given, now)];
  }
  const kind = { message_kind: "agent_message" as const, sender: node.name, content };
  const to = node.name === "proxy" ? ["runtime_queue", "crew-2"] : ["proxy"];
  return to.slice(0, 1 + (hops % 2)).map((recipient, index) => {
    const payload = recipient === "runtime_queue" ? toRuntime : {};
    return next(cause, cause.message_id, index, { ...kind, recipient, payload }, now);
  });
}

/** What is due at an object's alarm: leases and promises that are over end, and what waits is sent. */
export function alarm(node: Node): boolean {
  node.wake();
  node.world.arm(node.life);
  node.world.figures.alarms += 1;
  node.world.figures.dead += node.queues.expire().length;
  node.flush();
  return true;
}

/** A holder that does not know its lease is over, or one that shows another epoch. */
export function showOldLease(node: Node): boolean {
  const { random, now } = node.world;
  node.wake();
  const lease = node.past.length === 0 ? null : random.pick(node.past);
  if (lease === null) return false;
  const shown = random.chance(0.3) ? { lease_id: lease.lease_id, epoch: lease.epoch + 1 } : lease;
  if (node.ledger.current(shown, now) !== null) return false;
  const how = random.pick(["ack", "nack", "heartbeat", "bury"] as const);
  node.tx(() => node.queues.use(how, shown));
  must(
    node.queue.leaseById(shown.lease_id, now)?.epoch !== shown.epoch,
    () => `${shown.lease_id} is said to be current`,
  );
  return true;
}
/** Other bytes under a known id. */
export function sendOtherBytes(node: Node): boolean {
  const { random } = node.world;
  node.wake();
  const known = [...node.ledger.rows.values()];
  if (known.length === 0) return false;
  const row = random.pick(known);
  const { message_id, trace_id, scope } = row;
  const named = {
    message_id,
    trace_id,
    scope_id: scope,
    message_kind: "agent_message" as const,
    content: `${row.content} forged`,
  };
  const forged = first({ ...named, sender: "crew-1", recipient: "proxy" }, node.world.now);
  node.tx(() => node.queues.enqueue(row.queue, forged, { priority: 99, max_deliveries: 1 }));
  return true;
}
export function spoil(node: Node): boolean {
  const waiting = [...(node.ledger.queued.get(node.own) ?? [])].filter((row) => !row.spoilt);
  if (waiting.length === 0) return false;
  node.spoil(node.world.random.pick(waiting));
  return true;
}
/** A person sends dead letters again. */
export function sendAgain(node: Node): boolean {
  node.wake();
  node.world.arm(node.life);
  const { now } = node.world;
  const dead = [...node.promises.all.values()].filter((promised) => promised.state === "dead");
  // What the addressee forgot after 30 days it would take for new: people are quicker.
  const fresh = dead.filter((promised) => now - promised.heard_at < 15 * 86_400_000);
  if (fresh.length > 0) node.mail.revive(node.world.random.pick(fresh).message.message_id);
  else node.queues.requeueDead(node.own);
  return true;
}
/** A person stops a queue, lets it run dry, or lets it go on. */
export function orderQueue(node: Node): boolean {
  node.wake();
  const { random } = node.world;
  node.world.arm(node.life);
  const queue = node.name === "runtime" && random.chance(0.5) ? "executor_queue" : node.own;
  const stopped = (node.ledger.standing.get(queue) ?? "open") !== "open";
  node.queues.order(queue, stopped && random.chance(0.8) ? "resume" : random.pick(["pause", "drain"] as const));
  return true;
}
