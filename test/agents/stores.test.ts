import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DurableQueue } from "../../durable-objects/durable-queue.ts";
import { addressOf, Outbox, outboxSchema } from "../../durable-objects/outbox.ts";
import { queueSchema } from "../../durable-objects/queue-rows.ts";
import { applySchema, applySchemas, NewerData } from "../../durable-objects/sql.ts";
import { limits } from "../../src/limits.ts";
import { testMessage, testScope } from "../fakes/messages.ts";
import { type NodeSql, nodeSql } from "../fakes/node-sql.ts";

let sql: NodeSql;
beforeEach(() => {
  sql = nodeSql();
});
afterEach(() => sql.close());

describe("schema", () => {
  it("[SQL-1] each part's steps run once, in order, and a later step runs on the data of the earlier ones", () => {
    const first = "CREATE TABLE a (x INTEGER)";
    applySchema(sql, "a", [first]);
    sql.run("INSERT INTO a VALUES (?)", 1);
    applySchemas(sql, {
      a: [first, "ALTER TABLE a ADD COLUMN y INTEGER DEFAULT 7"],
      b: ["CREATE TABLE b (z INTEGER)"],
    });
    applySchemas(sql, {
      a: [first, "ALTER TABLE a ADD COLUMN y INTEGER DEFAULT 7"],
      b: ["CREATE TABLE b (z INTEGER)"],
    });
    expect(sql.all("SELECT * FROM a")).toEqual([{ x: 1, y: 7 }]);
  });
  it("[SQL-2] data newer than the code is refused before anything is written", () => {
    applySchema(sql, "a", ["CREATE TABLE a (x)", "CREATE TABLE a2 (x)"]);
    expect(() => applySchemas(sql, { b: ["CREATE TABLE b (x)"], a: ["CREATE TABLE a (x)"] })).toThrow(NewerData);
    expect(sql.all("SELECT name FROM sqlite_master WHERE name = 'b'")).toEqual([]);
  });
  it("[SQL-3] a step that fails leaves nothing of itself or its fellows behind", () => {
    expect(() => applySchema(sql, "a", ["CREATE TABLE a (x)", "CREATE TABLE oops ("])).toThrow();
    expect(sql.all("SELECT name FROM sqlite_master WHERE name = 'a'")).toEqual([]);
  });
});

describe("queue", () => {
  let queue: DurableQueue;
  const take = (holder: string, lease_id: string, now: number, many = false) =>
    queue.lease("inbox", { holder, lease_id, lease_ms: 1_000, many }, now).lease;
  beforeEach(() => {
    applySchema(sql, "queue", queueSchema);
    queue = new DurableQueue(sql);
  });

  it("[Q-2] the same message again is a duplicate, also after its ack; the same id with other bytes is refused and audited", () => {
    expect(queue.enqueue("inbox", testMessage(1), {}, 1).facts.audit).toMatchObject([
      { event_type: "enqueue", decision: "accepted", actor: "user" },
    ]);
    const again = queue.enqueue("inbox", testMessage(1), {}, 2);
    expect(again).toEqual({ outcome: "duplicate", facts: { audit: [], telemetry: [] } });
    const other = testMessage(1, { content: "other" });
    const refused = queue.enqueue("inbox", other, {}, 3);
    expect(refused.outcome).toBe("conflict");
    expect(refused.facts.audit).toMatchObject([{ decision: "refused", message_id: "message-1" }]);
    const lease = take("proxy", "l1", 4);
    if (lease === null) throw new Error("nothing to lease");
    expect(queue.ack(lease, 5).ok).toBe(true);
    expect(queue.enqueue("inbox", testMessage(1), {}, 6).outcome).toBe("duplicate");
    expect(queue.enqueue("inbox", other, {}, 7).outcome).toBe("conflict");
    expect(queue.enqueue("elsewhere", other, {}, 8).outcome).toBe("accepted");
  });
  it("[Q-4] a holder asking again gets the lease it has, and with `many` a further row; another holder never gets it", () => {
    for (const n of [1, 2, 3]) queue.enqueue("inbox", testMessage(n), {}, n);
    const first = take("a", "l1", 10);
    expect(take("a", "l2", 11)).toEqual(first);
    expect(take("a", "l3", 12, true)?.message.message_id).toBe("message-2");
    expect(take("b", "l4", 13)?.message.message_id).toBe("message-3");
    expect(take("c", "l5", 14)).toBeNull();
    expect(queue.leaseById("l1", 15)).toEqual(first);
    expect(queue.leaseById("l1", 1_010)).toBeNull();
    expect(queue.leaseById("never", 15)).toBeNull();
  });
  it("[Q-11] dead letters are listed with their reason and go back with their deliveries forgiven, one or all", () => {
    for (const n of [1, 2]) queue.enqueue("inbox", testMessage(n), {}, n);
    for (const n of [1, 2]) {
      const lease = take("a", `l${n}`, 10);
      if (lease !== null) expect(queue.deadLetter(lease, "no such recipient", 20).ok).toBe(true);
    }
    expect(queue.deadLetters("inbox")).toMatchObject([
      { message_id: "message-2", reason: "no such recipient", deliveries: 1 },
      {},
    ]);
    expect(queue.enqueue("inbox", testMessage(1), {}, 30).outcome).toBe("duplicate");
    expect(queue.view("inbox")).toEqual({ name: "inbox", queued: 0, leased: 0, dead: 2, oldest_at: null });
    expect(queue.requeueDead("inbox", "message-1", 40).requeued).toBe(1);
    expect(queue.requeueDead("inbox", "message-1", 41).requeued).toBe(0);
    expect(queue.requeueDead("inbox", null, 42).requeued).toBe(1);
    expect(take("a", "l9", 50)).toMatchObject({ message: { message_id: "message-1" }, deliveries: 1 });
  });
  it("[Q-12] the next due time is the earliest expiry or end of a back-off over all queues, and null when all wait for a consumer", () => {
    for (const name of ["inbox", "other"]) queue.enqueue(name, testMessage(1), {}, 0);
    expect(queue.nextDueAt(5)).toBeNull();
    const lease = take("a", "l1", 10);
    queue.lease("other", { holder: "a", lease_id: "l2", lease_ms: 5_000 }, 10);
    expect(queue.nextDueAt(10)).toBe(1_010);
    if (lease !== null) queue.nack(lease, "later", 0.5, 20);
    expect(queue.nextDueAt(20)).toBe(1_020);
    expect(queue.nextDueAt(1_020)).toBe(5_010);
    const { expired } = queue.expire(5_010);
    expect(expired).toMatchObject([
      {
        queue: "other",
        state: "queued",
        message: { message_id: "message-1" },
        lease: { holder: "a", lease_id: "l2", epoch: 1 },
      },
    ]);
  });
  it("[Q-15] a stored message that can no longer be read dies with a reason and the next one is served", () => {
    for (const n of [1, 2, 3]) queue.enqueue("inbox", testMessage(n), {}, n);
    sql.run("UPDATE queue_rows SET body = '{not json' WHERE message_id = 'message-1'");
    sql.run("UPDATE queue_rows SET body = '{}' WHERE message_id = 'message-2'");
    expect(take("a", "l1", 10)?.message.message_id).toBe("message-3");
    expect(queue.deadLetters("inbox").map((letter) => letter.reason)).toEqual(
      Array(2).fill("the stored message cannot be read"),
    );
  });
  it("[Q-16] a processed mark outlives its row by 30 days and is then forgotten", () => {
    queue.markProcessed("inbox", testMessage(1), 1_000);
    queue.markProcessed("inbox", testMessage(1), 2_000);
    expect(queue.enqueue("inbox", testMessage(1), {}, 3_000).outcome).toBe("duplicate");
    queue.expire(1_000 + limits.processed_retention_ms);
    expect(queue.hasProcessed("inbox", "message-1")).toBe(true);
    queue.expire(1_001 + limits.processed_retention_ms);
    expect(queue.hasProcessed("inbox", "message-1")).toBe(false);
  });
  it("[Q-17] a message too big for a row is refused and audited, not stored", () => {
    const huge = queue.enqueue("inbox", testMessage(1, { content: "x".repeat(2_000_000) }), {}, 1);
    expect(huge.outcome).toBe("too_big");
    expect(huge.facts.audit).toMatchObject([{ decision: "refused" }]);
    expect(queue.depth("inbox", 1).queued).toBe(0);
  });
  it("[Q-18] a transaction that fails takes the lease, the mark and the row back with it", () => {
    queue.enqueue("inbox", testMessage(1), {}, 1);
    const lease = take("a", "l1", 2);
    if (lease === null) throw new Error("nothing to lease");
    const failing = () =>
      sql.transaction(() => {
        queue.ack(lease, 3);
        throw new Error("later in the same transaction");
      });
    expect(failing).toThrow("later");
    expect(queue.hasProcessed("inbox", "message-1")).toBe(false);
    expect(queue.ack(lease, 4).ok).toBe(true);
    expect(queue.ack(lease, 5).ok).toBe(false);
  });
});

describe("outbox", () => {
  let outbox: Outbox;
  const ids = (now: number, limit?: number) => outbox.due(now, limit).map((row) => row.message.message_id);
  beforeEach(() => {
    applySchema(sql, "outbox", outboxSchema);
    outbox = new Outbox(sql);
  });

  it("[OUT-1] a message put is due at once, oldest first, addressed by its recipient; put again it stays one", () => {
    outbox.put(testMessage(1), 0);
    outbox.put(testMessage(2), 0);
    outbox.put(testMessage(1), 50);
    expect(ids(0)).toEqual(["message-1", "message-2"]);
    expect(ids(0, 1)).toEqual(["message-1"]);
    expect(outbox.due(0)[0]).toMatchObject({
      to: { object: `${testScope}/proxy`, queue: "inbox" },
      sends: 0,
      message: testMessage(1),
    });
    for (const recipient of ["runtime_queue", "executor_queue"])
      expect(addressOf({ scope_id: testScope, recipient })).toEqual({
        object: `${testScope}/runtime`,
        queue: recipient,
      });
  });
  it("[OUT-2] other bytes under a known id, or a body that cannot travel, undo the caller's transaction", () => {
    outbox.put(testMessage(1), 0);
    expect(() => outbox.put(testMessage(1, { content: "other" }), 1)).toThrow("other content");
    expect(() => outbox.put(testMessage(2, { content: "x".repeat(limits.message_bytes) }), 1)).toThrow(RangeError);
    expect(outbox.waiting()).toBe(1);
  });
  it("[OUT-3] what is sent waits 5 s, doubling to 5 min, and is due again until it is confirmed", () => {
    outbox.put(testMessage(1), 0);
    const waits: number[] = [];
    for (let now = 0, n = 0; n < 9; n++) {
      outbox.sent(["message-1", "unknown"], now);
      const next = outbox.nextDueAt() ?? 0;
      waits.push(next - now);
      expect(ids(next - 1)).toEqual([]);
      expect(ids(next)).toEqual(["message-1"]);
      now = next;
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300].map((seconds) => seconds * 1_000));
    outbox.confirm(["message-1", "unknown"]);
    outbox.confirm(["message-1"]);
    expect(outbox.nextDueAt()).toBeNull();
  });
  it("[OUT-4] at the object's start everything unconfirmed is due at once", () => {
    outbox.put(testMessage(1), 0);
    outbox.sent(["message-1"], 0);
    outbox.resendAll(10);
    expect(ids(10)).toEqual(["message-1"]);
  });
  it("[OUT-5] unconfirmed for seven days is dead, told once, and no longer sent", () => {
    outbox.put(testMessage(1), 0);
    outbox.sent(["message-1"], limits.outbox_dead_after_ms - 1);
    expect(outbox.nextDueAt()).toBe(limits.outbox_dead_after_ms);
    expect(outbox.dead(limits.outbox_dead_after_ms - 1)).toEqual([]);
    expect(outbox.dead(limits.outbox_dead_after_ms)).toMatchObject([
      { message: { message_id: "message-1" }, reason: expect.stringContaining("seven days") },
    ]);
    expect(outbox.dead(limits.outbox_dead_after_ms)).toEqual([]);
    outbox.resendAll(limits.outbox_dead_after_ms + 1);
    expect(ids(limits.outbox_dead_after_ms * 2)).toEqual([]);
    expect(outbox.nextDueAt()).toBeNull();
  });
  it("[OUT-6] what its addressee refuses is dead with the reason, once, and can be promised anew", () => {
    outbox.put(testMessage(1), 0);
    expect(outbox.refused("message-1", "no such agent", 5)).toMatchObject({
      reason: "no such agent",
      message: { message_id: "message-1" },
    });
    expect(outbox.refused("message-1", "no such agent", 6)).toBeNull();
    expect(outbox.refused("unknown", "no such agent", 6)).toBeNull();
    expect(outbox.deadLetters()).toMatchObject([{ message_id: "message-1", reason: "no such agent" }]);
    expect(outbox.revive("message-1", 10)).toBe(true);
    expect(outbox.revive("message-1", 11)).toBe(false);
    expect(ids(10)).toEqual(["message-1"]);
    expect(outbox.deadLetters()).toEqual([]);
  });
});
