/** A lease that ends while its holder is at work: the work counts once, for whoever holds the message then. */
import { describe, expect, it } from "vitest";
import { AgentRecords } from "../../durable-objects/agent/records.ts";
import type { AgentRemotes } from "../../durable-objects/agent/remotes.ts";
import { SharedWork } from "../../durable-objects/agent/shared.ts";
import type { Shown } from "../../durable-objects/agent/shown.ts";
import { Steps } from "../../durable-objects/agent/steps.ts";
import { inbox, openStores } from "../../durable-objects/agent/stores.ts";
import { Mailroom } from "../../durable-objects/runtime/mailroom.ts";
import { Scope } from "../../durable-objects/runtime/scope.ts";
import type { Signatures } from "../../durable-objects/runtime/signatures.ts";
import type { Outgoing, Role } from "../../src/agents/step.ts";
import { testMessage, testScope } from "../fakes/messages.ts";
import { nodeSql } from "../fakes/node-sql.ts";

/** A proxy that has one message leased and its run open. */
function working() {
  const sql = nodeSql();
  const stores = openStores(sql);
  // This role asks nobody anything: a call would be an error here.
  const remotes = { ports: () => ({}) } as unknown as AgentRemotes;
  const records = new AgentRecords(stores);
  const shown = { show: async () => undefined } as unknown as Shown;
  const answer: Outgoing = {
    ...{ message_kind: "plan_request", recipient: "planner", content: "a wish" },
    payload: { repo: "file:///r", ref: "HEAD" },
  };
  const role: Role<unknown> = {
    open: () => null,
    parse: (stored) => stored,
    step: async (state) => ({ kind: "end", state, out: [answer] }),
  };
  const shared = new SharedWork(stores, remotes);
  const steps = new Steps(stores, { records, remotes, shared, shown, roleOf: () => role });
  stores.self.start({ scope: testScope, name: "proxy" }, Date.now());
  const message = testMessage(1, { task_id: "task-1", payload: {} });
  stores.queue.enqueue(inbox, message, {}, Date.now());
  const take = () => {
    const request = { holder: "proxy", lease_id: `lease-${Math.random()}`, lease_ms: 60_000, many: true };
    const { lease } = stores.queue.lease(inbox, request, Date.now());
    if (lease === null) throw new Error("nothing to lease");
    steps.open(message.message_id, message, lease, Date.now());
    return lease;
  };
  const lapse = () => sql.run("UPDATE queue_rows SET expires_at = 1");
  return { stores, steps, message, take, lapse, drive: (ms = 20) => steps.drive(message.message_id, Date.now() + ms) };
}

describe("a lease that lapsed under its holder", () => {
  it("[AGO-10] an agent's run gives its answers once, when it has its message back", async () => {
    const { stores, message, take, lapse, drive } = working();
    take();
    lapse();
    expect(await drive()).toBe(false);
    expect(stores.outbox.waiting()).toBe(0);
    expect(stores.runs.count()).toBe(1);

    stores.queue.expire(Date.now());
    take();
    expect(await drive(10_000)).toBe(true);
    expect(stores.outbox.waiting()).toBe(1);
    expect(stores.runs.count()).toBe(0);
    expect(stores.queue.hasProcessed(inbox, message.message_id)).toBe(true);
    expect(stores.queue.depth(inbox, Date.now())).toMatchObject({ queued: 0, leased: 0 });
  });

  it("[AGO-10] a run whose message died meanwhile ends in silence", async () => {
    const { stores, take, drive } = working();
    const lease = take();
    stores.queue.deadLetter(lease, "given up", Date.now());
    expect(await drive(10_000)).toBe(true);
    expect(stores.outbox.waiting()).toBe(0);
    expect(stores.runs.count()).toBe(0);
  });

  it("[RTO-13] the runtime takes a message only under a lease that still stands as it commits", async () => {
    const sql = nodeSql();
    const scope = new Scope(sql);
    scope.init({ scope_id: testScope, name: "test", token_id: "token-1", token_hash: "f".repeat(64) });
    let lapse = true;
    const signatures = {
      ofTask: async () => {
        if (lapse) sql.run("UPDATE queue_rows SET expires_at = 1");
        lapse = false;
        return new Set<string>();
      },
      canSign: () => true,
    } as unknown as Signatures; // what the mailroom asks of it
    const mailroom = new Mailroom(scope, signatures, async () => undefined);
    // Of a kind that nothing waits for: taking it leaves one row that says so.
    const guidance = testMessage(2, {
      message_kind: "planner_guidance",
      task_id: "task-1",
      sender: "planner",
      recipient: "runtime_queue",
      payload: { consult_id: "nobody-asked" },
    });
    const taken = () => scope.stores.audit.after(0, 100).filter((row) => row.decision === "ignored").length;

    await mailroom.deliver(guidance);
    expect(taken()).toBe(0);
    expect(scope.stores.queue.hasProcessed("runtime_queue", guidance.message_id)).toBe(false);
    mailroom.expire(Date.now());
    await mailroom.work();
    expect(taken()).toBe(1);
    expect(scope.stores.queue.hasProcessed("runtime_queue", guidance.message_id)).toBe(true);
  });
});
