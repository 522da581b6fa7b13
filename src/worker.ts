/**
 * The Worker's entry: requests go to the doors, queue batches to the objects they are addressed to, the minute's
 * tick to every scope. It decides nothing.
 */
import { senderOf } from "../durable-objects/remote.ts";
import { deliverAll } from "./deliver.ts";
import { type RecordsBatch, recordsBatch } from "./domain/records.ts";
import { type Bindings, worldOf } from "./env.ts";
import { createApp } from "./http/app.ts";
import { doorPorts } from "./http/wiring.ts";
import { sweep } from "./sweep.ts";

export { AgentObject } from "../durable-objects/agent-object.ts";
export { GithubObject } from "../durable-objects/github-object.ts";
export { PoolObject } from "../durable-objects/pool-object.ts";
export { RuntimeObject } from "../durable-objects/runtime-object.ts";
export { SandboxObject, SandboxOutbound } from "../durable-objects/sandbox-object.ts";

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
    await sweep(bindings);
  },
} satisfies ExportedHandler<Bindings, unknown>;

const apps = new WeakMap<Bindings, ReturnType<typeof createApp>>();
/** The doors are built once for the life of the isolate. */
function appOf(bindings: Bindings): ReturnType<typeof createApp> {
  const app = apps.get(bindings) ?? createApp(doorPorts(bindings));
  apps.set(bindings, app);
  return app;
}

/** Each batch is its object's own: one that cannot be read or stored holds up no other. */
async function storeRecords(messages: readonly Message[], bindings: Bindings): Promise<void> {
  const { records } = worldOf(bindings);
  const read = messages.map((queued) => ({ queued, batch: recordsBatch.safeParse(queued.body) }));
  const good: { queued: Message; batch: RecordsBatch }[] = [];
  for (const { queued, batch } of read) {
    if (batch.success) good.push({ queued, batch: batch.data });
    else console.error("records that no object of ours sends were dropped", queued.id, batch.error.message);
  }
  const together = await attempt(() => records.store(good.map(({ batch }) => batch)));
  for (const { queued, batch } of good) {
    if (!together && !(good.length > 1 && (await attempt(() => records.store([batch]))))) {
      queued.retry({ delaySeconds: 10 });
      continue;
    }
    // An object that does not hear it sends the batch again, and it is stored once.
    await attempt(() =>
      senderOf(bindings, batch.object).confirmRecords({
        audit: batch.audit.at(-1)?.seq ?? 0,
        telemetry: batch.telemetry.at(-1)?.seq ?? 0,
        checkpoints: batch.checkpoints?.at(-1)?.seq ?? 0,
      }),
    );
  }
}
async function attempt(act: () => Promise<void>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    console.warn("records stay with their objects until they are stored and confirmed", error);
    return false;
  }
}
