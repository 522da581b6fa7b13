/**
 * The Worker's entry: requests go to the doors, queue batches to the objects they are addressed to, the minute's
 * tick to every scope. It decides nothing.
 */
import type { Posted } from "../durable-objects/post.ts";
import { agentOf, runtimeOf, senderOf } from "../durable-objects/remote.ts";
import { envelope } from "./domain/message.ts";
import { type RecordsBatch, recordsBatch } from "./domain/records.ts";
import { type Bindings, worldOf } from "./env.ts";
import { createApp } from "./http/app.ts";
import { doorPorts } from "./http/wiring.ts";

export { AgentObject } from "../durable-objects/agent-object.ts";
export { PoolObject } from "../durable-objects/pool-object.ts";
export { RuntimeObject } from "../durable-objects/runtime-object.ts";

export default {
  async fetch(request, bindings): Promise<Response> {
    return appOf(bindings).fetch(request);
  },
  async queue(batch, bindings): Promise<void> {
    if (batch.queue === "records") return storeRecords(batch.messages, bindings);
    if (batch.queue === "agent-messages") return deliverAll(batch.messages, bindings);
    for (const message of batch.messages)
      console.warn(`${batch.queue}: given up by the queue; its sender sends it again`, message.id);
    batch.ackAll();
  },
  async scheduled(_controller, bindings): Promise<void> {
    const { records } = worldOf(bindings);
    for (let cursor: string | null = null; ; ) {
      const page = await records.scopes(cursor, 100);
      await Promise.all(page.items.map((scope) => runtimeOf(bindings, scope.id).sweep(scope.id)));
      cursor = page.next_cursor;
      if (cursor === null) break;
    }
    await clearSandboxes(bindings);
  },
} satisfies ExportedHandler<Bindings, unknown>;

const apps = new WeakMap<Bindings, ReturnType<typeof createApp>>();
/** The doors are built once for the life of the isolate. */
function appOf(bindings: Bindings): ReturnType<typeof createApp> {
  const app = apps.get(bindings) ?? createApp(doorPorts(bindings));
  apps.set(bindings, app);
  return app;
}

/** Each message to the scope's runtime, which sees it, and to its addressee; when both have it, its sender forgets it. */
async function deliverAll(messages: readonly Message[], bindings: Bindings): Promise<void> {
  await Promise.all(
    messages.map(async (queued) => {
      try {
        // What our own outbox sent; the envelope inside is parsed again.
        await deliver(queued.body as Posted, bindings);
        queued.ack();
      } catch (error) {
        console.warn("a message was not delivered; it is sent again", error);
        queued.retry();
      }
    }),
  );
}
async function deliver({ from, message }: Posted, bindings: Bindings): Promise<void> {
  const known = envelope.parse(message);
  const runtime = runtimeOf(bindings, known.scope_id);
  await runtime.observe(known);
  const { refused } =
    known.recipient === "runtime_queue" || known.recipient === "executor_queue"
      ? await runtime.deliver(known)
      : await agentOf(bindings, known.scope_id, known.recipient).deliver(known);
  const sender = senderOf(bindings, from);
  if (refused !== null) {
    await runtime.refusedMessage(known, refused);
    await sender.refuseOwn(known.message_id, refused);
    return;
  }
  await sender.confirm([known.message_id]);
}

/** Sandboxes whose work is over are destroyed: what an agent left behind when it could not clean up. */
async function clearSandboxes(bindings: Bindings): Promise<void> {
  const { sandboxes, missing } = worldOf(bindings);
  if (missing.some(({ name }) => name === "SANDBOX_URL")) return;
  const standing = await sandboxes.sandboxes();
  for (const scope of new Set(standing.map((sandbox) => sandbox.scope_id))) {
    const own = standing.filter((sandbox) => sandbox.scope_id === scope);
    const over = await runtimeOf(bindings, scope).ownersOver(
      scope,
      own.map((sandbox) => sandbox.owner),
    );
    for (const sandbox of own) if (over.includes(sandbox.owner)) await sandboxes.destroy(sandbox.id);
  }
}

async function storeRecords(messages: readonly Message[], bindings: Bindings): Promise<void> {
  const batches: RecordsBatch[] = messages.map((queued) => recordsBatch.parse(queued.body));
  try {
    await worldOf(bindings).records.store(batches);
  } catch (error) {
    console.warn("D1 did not take the records; they stay with their objects", error);
    for (const queued of messages) queued.retry({ delaySeconds: 10 });
    return;
  }
  for (const batch of batches) {
    await senderOf(bindings, batch.object).confirmRecords({
      audit: batch.audit.at(-1)?.seq ?? 0,
      telemetry: batch.telemetry.at(-1)?.seq ?? 0,
    });
  }
}
