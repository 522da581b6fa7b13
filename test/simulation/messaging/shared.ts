/**
 * The queue several objects share: the runtime holds it and the crew leases from it by calls whose answers may be
 * lost. A crew member never acks: the runtime does, in the transaction that accepts the answer.
 */
import type { Lease } from "../../../durable-objects/durable-queue.ts";
import type { Message } from "../../../src/domain/message.ts";
import type { LeaseRef } from "../../../src/domain/queue.ts";
import { answer, next, order, read, write } from "./letters.ts";
import { givenOf } from "./network.ts";
import type { Node } from "./node.ts";
import { must } from "./row.ts";

const shared = "executor_queue";
const mostAttempts = 3;
const lostReply = 0.06;

interface Attempt {
  readonly message_id: string;
  readonly state: "due" | "running" | "done" | "crashed" | "cancelled" | "lost";
  readonly agent: string | null;
  readonly lease_id: string | null;
  readonly epoch: number | null;
}
function attemptOf(node: Node, message_id: string): Attempt | null {
  return node.life.one<Attempt>("SELECT * FROM attempts WHERE message_id = ?", message_id);
}
function put(node: Node, { message_id, state, agent, lease_id, epoch }: Attempt): void {
  const columns = "message_id, state, agent, lease_id, epoch";
  node.life.run(
    `INSERT OR REPLACE INTO attempts (${columns}) VALUES (?, ?, ?, ?, ?)`,
    message_id,
    state,
    agent,
    lease_id,
    epoch,
  );
}

/** In the runtime's transaction: an order for whoever is free. */
export function orderWork(node: Node, cause: Message, number: number): void {
  const { sign, sort } = read(cause);
  // One order in eight breaks whoever takes it.
  const bad = cause.message_id.charCodeAt(0) % 8 === 0 || sort === "poison";
  const content = write({ sign, sort: bad ? "poison" : "plain", hops: number });
  const given = { message_kind: "execution_request" as const, sender: "runtime", recipient: shared, content };
  const message = next(cause, cause.message_id, number, { ...given, payload: order("an-attempt") }, node.world.now);
  must(message.trace_id === cause.trace_id, () => `${message.message_id} left the trace of its cause`);
  const { priority, max_deliveries } = givenOf(message);
  const about = { queue: `${node.object}/${shared}`, message_id: message.message_id };
  node.world.saw("runtime", about, { what: "invoke", priority, max_deliveries });
  const outcome = node.queues.enqueue(shared, message, { priority, max_deliveries });
  // While the queue is being emptied it waits in the outbox, as with every sender.
  if (outcome === "closed") node.mail.put(message, cause);
  else node.world.saw("runtime", about, { what: "return", ok: true });
  put(node, { message_id: message.message_id, state: "due", agent: null, lease_id: null, epoch: null });
}
/** In the runtime's transaction: the answer of the holder of a current lease is accepted; any other is kept for the record. */
export function acceptAnswer(node: Node, message: Message): void {
  const { lease_id, epoch, attempt_id } = message.payload;
  const attempt = attemptOf(node, String(attempt_id));
  const lease = node.queue.leaseById(String(lease_id), node.world.now);
  const current = attempt?.state === "running" && attempt.lease_id === lease_id && attempt.epoch === epoch;
  if (attempt === null || lease === null || !current || lease.epoch !== epoch || attempt.agent !== message.sender)
    return node.say("stale_result", message);
  node.queues.effect(shared, lease);
  node.queues.use("ack", lease);
  put(node, { ...attempt, state: "done" });
}

/** A crew member asks for work, and takes what it is given as a run of its own. */
export function claim(crew: Node): boolean {
  crew.wake();
  if (crew.sharedRun() !== null) return false;
  const runtime = runtimeOf(crew);
  if ((runtime.ledger.queued.get(shared)?.size ?? 0) === 0 && !holdsShared(runtime, crew.name)) return false;
  const { random, faulty } = crew.world;
  crew.world.arm(runtime.life);
  const lease = runtime.tx(() => leaseWanted(runtime, crew.name));
  if (lease === null) return faulty;
  if (faulty && random.chance(lostReply)) return true;
  const id = runOf(lease);
  if (crew.queue.hasProcessed(shared, id)) return false;
  crew.world.arm(crew.life);
  crew.tx(() => crew.putRun(id, 0, lease));
  return true;
}
function holdsShared(runtime: Node, agent: string): boolean {
  for (const row of runtime.ledger.leased) if (row.queue === shared && row.holder === agent) return true;
  return false;
}
function runOf(lease: Lease): string {
  return `${lease.message.message_id}.${lease.epoch}`;
}
function runtimeOf(node: Node): Node {
  const runtime = node.world.node(`${node.scope}/runtime`);
  must(runtime !== null, () => `the scope ${node.scope} has no runtime`);
  runtime.wake();
  return runtime;
}
/** Orders nobody wants any more are dropped here; one whose holder fell silent is given out anew. */
function leaseWanted(runtime: Node, agent: string): Lease | null {
  for (let tried = 0; tried < 50; tried++) {
    const lease = runtime.queues.lease(shared, agent, false);
    if (lease === null) return null;
    const attempt = attemptOf(runtime, lease.message.message_id);
    if (attempt?.state === "due") return lease;
    if (attempt?.state === "running" && attempt.lease_id === lease.lease_id && attempt.epoch === lease.epoch)
      return lease;
    must(runtime.queues.use("ack", lease), () => `${agent} could not ack the lease it was just given`);
    if (attempt?.state !== "running") continue;
    put(runtime, { ...attempt, state: "crashed" });
    const number = read(lease.message).hops + 1;
    if (number < mostAttempts) orderWork(runtime, lease.message, number);
  }
  return null;
}

/** One step of a crew member's run: begin, heartbeat, end. */
export function workShared(crew: Node): boolean {
  crew.wake();
  const run = crew.sharedRun();
  if (run === null) return false;
  const { random, faulty } = crew.world;
  const { lease } = run;
  crew.world.arm(crew.life);
  const roll = faulty ? random.next() : 1;
  if (run.steps === 0) {
    const runtime = runtimeOf(crew);
    crew.world.arm(runtime.life);
    const begun = runtime.tx(() => begin(runtime, crew.name, lease));
    if (faulty && random.chance(lostReply)) return true;
    if (!begun) return giveUp(crew, run.id, lease);
    crew.tx(() => crew.putRun(run.id, 1, lease));
    return true;
  }
  if (read(lease.message).sort === "poison") return giveUp(crew, run.id, lease);
  if (roll < 0.15) return true;
  if (roll < 0.5) return beat(crew, lease);
  crew.tx(() => {
    const { content } = lease.message;
    const given = { message_kind: "execution_result" as const, sender: crew.name, recipient: "runtime_queue", content };
    const payload = answer(lease.message.message_id, lease);
    crew.mail.put(next(lease.message, run.id, 0, { ...given, payload }, crew.world.now), lease.message);
    crew.queue.markProcessed(shared, { ...lease.message, message_id: run.id }, crew.world.now);
    crew.dropRun(run.id);
  });
  crew.flush();
  return true;
}
function giveUp(crew: Node, id: string, lease: Lease): boolean {
  crew.tx(() => {
    crew.queue.markProcessed(shared, { ...lease.message, message_id: id }, crew.world.now);
    crew.dropRun(id);
  });
  return true;
}
function begin(runtime: Node, agent: string, ref: Lease): boolean {
  const attempt = attemptOf(runtime, ref.message.message_id);
  const lease = runtime.queue.leaseById(ref.lease_id, runtime.world.now);
  if (lease === null || lease.epoch !== ref.epoch || lease.holder !== agent || attempt === null) return false;
  if (attempt.state !== "due" && attempt.state !== "running") return false;
  put(runtime, { ...attempt, state: "running", agent, lease_id: lease.lease_id, epoch: lease.epoch });
  return true;
}
function beat(crew: Node, ref: LeaseRef): boolean {
  const runtime = runtimeOf(crew);
  crew.world.arm(runtime.life);
  runtime.tx(() => {
    if (runtime.queue.leaseById(ref.lease_id, runtime.world.now)?.holder !== crew.name) return;
    runtime.queues.use("heartbeat", ref);
  });
  return true;
}

/** A person calls an order off, at any moment of its life. */
export function cancel(runtime: Node): boolean {
  runtime.wake();
  const open = runtime.life.all<Attempt>(
    "SELECT * FROM attempts WHERE state IN ('due', 'running') ORDER BY message_id",
  );
  if (open.length === 0) return false;
  runtime.world.arm(runtime.life);
  const attempt = runtime.world.random.pick(open);
  runtime.tx(() => {
    put(runtime, { ...attempt, state: "cancelled" });
    const { lease_id, epoch } = attempt;
    if (lease_id !== null && epoch !== null) runtime.queues.use("ack", { lease_id, epoch });
  });
  return true;
}
/** Orders that are neither answered nor called off, nor dead in their queue: nobody will ever look at them again. */
export function forgottenOrders(runtime: Node): string[] {
  const open = runtime.life.all<Attempt>("SELECT * FROM attempts WHERE state IN ('due', 'running')");
  return open
    .map((attempt) => attempt.message_id)
    .filter(
      (id) => runtime.ledger.find(shared, id)?.state !== "dead" && runtime.promises.all.get(id)?.state !== "dead",
    );
}
