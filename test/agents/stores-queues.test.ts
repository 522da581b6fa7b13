import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DurableQueue } from "../../durable-objects/durable-queue.ts";
import { queueSchema } from "../../durable-objects/queue-rows.ts";
import { applySchema, type Sql } from "../../durable-objects/sql.ts";
import { limits } from "../../src/limits.ts";
import { testMessage, testScope } from "../fakes/messages.ts";
import { type NodeSql, nodeSql } from "../fakes/node-sql.ts";
import { attemptMessage, attemptOrder } from "../fakes/orders.ts";

let sql: NodeSql;
let queue: DurableQueue;
const order = { scope_id: testScope, by: "ana", reason: "deploying" };
const put = (n: number, now = n, name = "inbox") => queue.enqueue(name, testMessage(n), {}, now).outcome;
const take = (lease_id: string, now: number, name = "inbox") =>
  queue.lease(name, { holder: "a", lease_id, lease_ms: 1_000, many: true }, now).lease;
function taken(lease_id: string, now: number) {
  const lease = take(lease_id, now);
  if (lease === null) throw new Error("nothing to lease");
  return lease;
}
/** The same tables, with every statement written down. */
function watched(asked: string[]): Sql {
  const note = (query: string) => {
    asked.push(query);
    return query;
  };
  return {
    ...sql,
    all: (query, ...params) => sql.all(note(query), ...params),
    one: (query, ...params) => sql.one(note(query), ...params),
    run: (query, ...params) => sql.run(note(query), ...params),
  };
}
beforeEach(() => {
  sql = nodeSql();
  applySchema(sql, "queue", queueSchema);
  queue = new DurableQueue(sql);
});
afterEach(() => sql.close());

describe("pause and drain", () => {
  it("[Q-20] paused, a queue takes in and hands out nothing, makes nothing due, and what is held stays held", () => {
    for (const n of [1, 2, 3]) put(n);
    const held = taken("l1", 10);
    const back = taken("l2", 10);
    queue.nack(back, "later", 0.5, 10);
    put(9, 9, "other");
    expect(queue.pause("inbox", order, 20)).toMatchObject({ changed: true, standing: { state: "paused", by: "ana" } });
    expect(put(4)).toBe("accepted");
    expect(take("l3", 5_000)).toBeNull();
    expect(queue.depth("inbox", 5_000)).toMatchObject({ queued: 3, eligible: 0, leased: 1 });
    expect(queue.nextDueAt(20)).toBe(1_010);
    const elsewhere = take("l4", 30, "other");
    if (elsewhere !== null) expect(queue.ack(elsewhere, 31).ok).toBe(true);
    expect(queue.hasProcessed("other", "message-9")).toBe(true);
    const again = { holder: "a", lease_id: "l5", lease_ms: 1_000 };
    expect(queue.lease("inbox", again, 30).lease?.lease_id).toBe("l1");
    expect(queue.leaseMany("inbox", { holder: "b", lease_ids: ["m1", "m2"], lease_ms: 1 }, 2, 5_000).leases).toEqual(
      [],
    );
    expect(queue.ack(held, 40).ok).toBe(true);
    expect(queue.nextDueAt(50)).toBeNull();
    expect(queue.pause("inbox", { ...order, by: "bo" }, 50)).toMatchObject({
      changed: false,
      standing: { by: "ana" },
      facts: { audit: [] },
    });
    queue.resume("inbox", order, 6_000);
    expect(queue.standing("inbox")).toMatchObject({ state: "open", by: "ana", at: "1970-01-01T00:00:06.000Z" });
    expect(taken("l6", 6_000).message.message_id).toBe("message-2");
  });
  it("[Q-21] draining, what stands is handed out, what is new is closed out and kept nowhere, and empty it is drained", () => {
    for (const n of [1, 2]) put(n);
    expect(queue.drain("inbox", order, 5).standing.state).toBe("draining");
    expect(put(3)).toBe("closed");
    expect(put(1)).toBe("duplicate");
    const outcomes = queue.enqueueAll("inbox", [testMessage(2), testMessage(3)], 6);
    expect(outcomes.outcomes.map(({ outcome }) => outcome)).toEqual(["duplicate", "closed"]);
    const [first, second] = [taken("l1", 10), taken("l2", 10)];
    expect(queue.ack(first, 20)).toMatchObject({ ok: true, value: { audit: [{ decision: "acked" }] } });
    expect(queue.standing("inbox").state).toBe("draining");
    const ended = queue.deadLetter(second, "never", 30);
    expect(ended.ok && ended.value.audit.map((event) => event.decision)).toEqual(["dead", "queue_drained"]);
    expect(queue.standing("inbox")).toMatchObject({ state: "drained", by: "runtime" });
    expect(put(3)).toBe("closed");
    expect(queue.requeueDead("inbox", null, 40).facts.audit.at(-1)).toMatchObject({ decision: "queue_draining" });
    expect(queue.ackAll([taken("l3", 50)], 60).facts.audit.at(-1)).toMatchObject({ decision: "queue_drained" });
    queue.resume("inbox", order, 70);
    expect(put(3)).toBe("accepted");
  });
  it("[Q-21] a queue in which nothing stands is drained at once", () => {
    const stood = queue.drain("inbox", order, 5);
    expect(stood.standing.state).toBe("drained");
    expect(stood.facts.audit.map((event) => event.decision)).toEqual(["queue_draining", "queue_drained"]);
  });
  it("[Q-22] who holds what is told: kind, holder, since when, until when, which delivery, how many heartbeats", () => {
    for (const n of [1, 2]) put(n);
    queue.heartbeat(taken("l1", 10), 20, 5_000);
    expect(queue.leases("inbox")).toEqual([
      {
        message_id: "message-1",
        message_kind: "user_message",
        holder: "a",
        leased_at: "1970-01-01T00:00:00.010Z",
        expires_at: "1970-01-01T00:00:05.020Z",
        deliveries: 1,
        heartbeats: 1,
      },
    ]);
    take("l2", 10);
    expect(queue.leases("inbox", 1)).toHaveLength(1);
  });
});

describe("kinds and order", () => {
  it("[Q-23] a row has the priority and the most deliveries of its kind unless they are given", () => {
    const low = testMessage(1);
    const high = attemptMessage(attemptOrder("c"));
    queue.enqueueAll("executor_queue", [low, { ...high, message_id: "message-2" }], 1);
    queue.enqueue("executor_queue", { ...high, message_id: "message-3" }, {}, 1);
    queue.enqueue("executor_queue", testMessage(4), { priority: 99 }, 1);
    const order = ["l1", "l2", "l3", "l4"].map((id) => take(id, 5, "executor_queue")?.message.message_id);
    expect(order).toEqual(["message-4", "message-2", "message-3", "message-1"]);
  });
  it("[Q-24] rows whose back-off ended are handed out in order again, and a clock that went back takes no row away", () => {
    for (const n of [1, 2, 3]) put(n);
    for (const id of ["l1", "l2"]) queue.nack(taken(id, 10), "later", 0.5, 10);
    expect(queue.depth("inbox", 10)).toMatchObject({ queued: 3, eligible: 1 });
    expect(queue.depth("inbox", 1_010)).toMatchObject({ queued: 3, eligible: 3 });
    const order = ["l4", "l5", "l6"].map((id) => take(id, 1_010)?.message.message_id);
    expect(order).toEqual(["message-1", "message-2", "message-3"]);
    put(7, 5_000);
    expect(take("l7", 4_000)?.message.message_id).toBe("message-7");
  });
});

describe("what stays cheap", () => {
  it("[Q-28] leasing, depth and the next due time read no rows that wait, whatever the depth", () => {
    const plan = (query: string) =>
      sql.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${query}`).map(({ detail }) => detail);
    const asked: string[] = [];
    const watching = new DurableQueue(watched(asked));
    put(1);
    watching.lease("inbox", { holder: "a", lease_id: "l1", lease_ms: 10 }, 5);
    watching.depth("inbox", 5);
    watching.nextDueAt(5);
    for (const query of asked)
      for (const step of plan(query).filter((detail) => detail.includes("queue_rows") || detail.includes("other")))
        expect(step, query).toMatch(/USING (COVERING )?INDEX|USING INTEGER PRIMARY KEY/);
    const plans = asked.flatMap(plan).join();
    for (const index of ["ready", "waiting", "leased"]) expect(plans).toContain(`queue_rows_${index}`);
    for (const query of asked) expect(plan(query).join(), query).not.toContain("TEMP B-TREE");
  });
  it("[Q-29] counts are right after any change, also of many rows at once", () => {
    queue.enqueueAll(
      "inbox",
      Array.from({ length: 250 }, (_, n) => testMessage(n)),
      1,
    );
    const lease_ids = Array.from({ length: 150 }, (_, n) => `l${n}`);
    const { leases } = queue.leaseMany("inbox", { holder: "a", lease_ids, lease_ms: 10 }, 150, 5);
    queue.ackAll(leases.slice(0, 20), 6);
    for (const lease of leases.slice(20, 30)) queue.deadLetter(lease, "never", 7);
    expect(queue.depth("inbox", 8)).toEqual({ queued: 100, eligible: 100, leased: 120, dead: 10 });
    queue.expire(50);
    expect(queue.depth("inbox", 50)).toEqual({ queued: 200, eligible: 200, leased: 20, dead: 10 });
    expect(queue.requeueOwn("inbox", 60).audit).toHaveLength(20);
    queue.requeueDead("inbox", null, 70);
    expect(queue.depth("inbox", 70)).toEqual({ queued: 230, eligible: 230, leased: 0, dead: 0 });
  });
  it("[Q-30] forgetting old marks and ending old leases is bounded at each tick, and what is left is due at once", () => {
    sql.run(
      `INSERT INTO queue_processed (queue, message_id, body_hash, at) SELECT 'inbox', value, 'h', 0 FROM json_each(?)`,
      JSON.stringify(Array.from({ length: limits.processed_forgotten_per_tick + 5 }, (_, n) => `m${n}`)),
    );
    const left = () => sql.one<{ n: number }>("SELECT count(*) AS n FROM queue_processed")?.n;
    queue.expire(limits.processed_retention_ms + 1);
    expect(left()).toBe(5);
    queue.expire(limits.processed_retention_ms + 1);
    expect(left()).toBe(0);
    queue.enqueueAll(
      "inbox",
      Array.from({ length: 130 }, (_, n) => testMessage(n)),
      1,
    );
    const lease_ids = Array.from({ length: 130 }, (_, n) => `l${n}`);
    queue.leaseMany("inbox", { holder: "a", lease_ids, lease_ms: 10 }, 130, 5);
    expect(queue.expire(50).expired).toHaveLength(limits.queue_batch);
    expect(queue.nextDueAt(50)).toBe(15);
    expect(queue.expire(50).expired).toHaveLength(30);
  });
  it.each([1, 2])("[Q-31] rows stored at version %i are leased, waited for and counted like new ones", (version) => {
    const old = nodeSql();
    applySchema(old, "queue", queueSchema.slice(0, version));
    const insert = (n: number, fields: Record<string, number | string | null>) => {
      const { message_id, message_kind, trace_id, scope_id, sender } = testMessage(n);
      const row = {
        queue: "inbox",
        message_id,
        message_kind,
        trace_id,
        scope_id,
        sender,
        body: JSON.stringify(testMessage(n)),
      };
      const rest = { body_hash: `h${n}`, state: "queued", priority: 0, max_deliveries: 5, deliveries: 0, epoch: 1 };
      const ready =
        version === 1 ? {} : { ready: fields.state === undefined && fields.available_at === undefined ? 1 : 0 };
      const all = { ...row, ...rest, ...ready, enqueued_at: 10, available_at: 10, ...fields };
      const names = Object.keys(all);
      old.run(
        `INSERT INTO queue_rows (${names.join()}) VALUES (${names.map(() => "?").join()})`,
        ...Object.values(all),
      );
    };
    insert(1, {});
    insert(2, { deliveries: 1, available_at: 5_000 });
    insert(3, { state: "leased", lease_id: "l", holder: "a", leased_at: 10, expires_at: 3_000, heartbeats: 0 });
    insert(4, { state: "dead", reason: "never", died_at: 20 });
    const stored = () =>
      old.all(
        `SELECT seq, queue, message_id, message_kind, trace_id, scope_id, sender, body, body_hash, state, priority, max_deliveries,
           deliveries, epoch, enqueued_at, available_at, lease_id, holder, leased_at, expires_at, heartbeats, reason, died_at
           FROM queue_rows ORDER BY seq`,
      );
    const before = stored();
    applySchema(old, "queue", queueSchema);
    expect(stored()).toEqual(before);
    const after = new DurableQueue(old);
    expect(after.depth("inbox", 100)).toEqual({ queued: 2, eligible: 1, leased: 1, dead: 1 });
    expect(after.nextDueAt(100)).toBe(3_000);
    expect(after.view("inbox")).toMatchObject({ oldest_at: "1970-01-01T00:00:00.010Z" });
    const lease = (id: string, now: number) =>
      after.lease("inbox", { holder: "b", lease_id: id, lease_ms: 10_000 }, now).lease?.message.message_id;
    expect(lease("l1", 100)).toBe("message-1");
    expect(after.requeueDead("inbox", null, 100).requeued).toBe(1);
    expect(
      after.lease("inbox", { holder: "c", lease_id: "l2", lease_ms: 10_000 }, 5_000).lease?.message.message_id,
    ).toBe("message-2");
    old.close();
  });
});

describe("depth samples", () => {
  it("[Q-32] a queue is measured at each tick while it changes, and every ten seconds while it does not", () => {
    const taken = (now: number) => queue.sampleDepth(testScope, ["inbox", "other"], now).telemetry;
    expect(taken(0)).toHaveLength(2);
    expect(taken(1)).toEqual([]);
    put(1);
    expect(taken(2)).toEqual([
      {
        event_name: "queue_depth_sample",
        scope_id: testScope,
        trace_id: null,
        queue_name: "inbox",
        message_id: null,
        value: 1,
        labels: { eligible: 1, leased: 0, dead: 0 },
      },
    ]);
    expect(taken(limits.depth_sample_ms)).toMatchObject([{ queue_name: "other", value: 0 }]);
    expect(taken(2 + limits.depth_sample_ms)).toMatchObject([{ queue_name: "inbox", value: 1 }]);
  });
});
