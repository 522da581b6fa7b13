import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AuditLog, auditSchema } from "../../durable-objects/audit-log.ts";
import { Outbox, outboxSchema } from "../../durable-objects/outbox.ts";
import { type Lines, Post } from "../../durable-objects/post.ts";
import { applySchema, applySchemas } from "../../durable-objects/sql.ts";
import { TelemetryLog, telemetrySchema } from "../../durable-objects/telemetry-log.ts";
import { blobKeyOf, readSent, type Sent, sendsFor } from "../../src/domain/posted.ts";
import { limits } from "../../src/limits.ts";
import { testMessage, testScope } from "../fakes/messages.ts";
import { type NodeSql, nodeSql } from "../fakes/node-sql.ts";

let sql: NodeSql;
let outbox: Outbox;
let calls: Sent[][];
let queue: (bodies: Sent[]) => Promise<void>;
let blobs: Map<string, string>;
let put: (key: string, value: string) => Promise<void>;
const big = (n: number) => testMessage(n, { content: `${n}`.repeat(limits.message_inline_bytes) });
const ids = (sent: Sent[] | undefined) =>
  sent?.map((one) => ("message" in one ? one.message.message_id : one.message_id));

function post(): Post {
  const messages = {
    sendBatch: async (bodies: Iterable<{ body: Sent }>) => {
      const sent = [...bodies].map(({ body }) => body);
      await queue(sent);
      calls.push(sent);
    },
  };
  const bucket = {
    put: (key: string, value: string) => put(key, value),
    delete: async (keys: string[]) => {
      for (const key of keys) blobs.delete(key);
    },
  };
  // What these tests send has no records, so the other line is never used.
  const lines = { MESSAGES: messages, RECORDS: {}, BLOBS: bucket } as unknown as Lines;
  const stores = { outbox, audit: new AuditLog(sql), telemetry: new TelemetryLog(sql) };
  return new Post(sql, `${testScope}/planner`, lines, stores, () => 0.5);
}
beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  sql = nodeSql();
  applySchemas(sql, { outbox: outboxSchema, audit: auditSchema, telemetry: telemetrySchema });
  outbox = new Outbox(sql);
  calls = [];
  queue = async () => undefined;
  blobs = new Map();
  put = async (key, value) => void blobs.set(key, value);
});
afterEach(() => {
  vi.restoreAllMocks();
  sql.close();
});

describe("what waits", () => {
  it("[OUT-7] the waits are spread by a quarter, so that what was sent together does not come again together", () => {
    for (const n of [1, 2, 3]) outbox.put(testMessage(n), 0);
    const given = [0, 0.5, 0.999_999];
    outbox.sent(["message-1", "message-2", "message-3"], 0, () => given.shift() ?? 0);
    const waits = sql.all<{ next_at: number }>("SELECT next_at FROM outbox ORDER BY seq").map((row) => row.next_at);
    expect(waits).toEqual([3_750, 5_000, 6_250]);
  });
  it("[OUT-8] a row that can no longer be read is given up with its reason, and stands before nobody", () => {
    const now = 2 * limits.outbox_dead_after_ms;
    for (const n of [1, 2, 3]) outbox.put(testMessage(n), now);
    sql.run("UPDATE outbox SET body = '{not json' WHERE message_id = 'message-1'");
    sql.run("UPDATE outbox SET body = '{}' WHERE message_id = 'message-2'");
    expect(outbox.due(now).map((row) => row.message.message_id)).toEqual(["message-3"]);
    expect(outbox.nextDueAt()).toBeLessThan(now);
    const dead = outbox.dead(now);
    expect(dead.map((each) => [each.message_id, each.reason])).toEqual([
      ["message-1", "the stored message cannot be read"],
      ["message-2", "the stored message cannot be read"],
    ]);
    expect(outbox.deadLetters().filter((letter) => letter.reason.includes("cannot be read"))).toHaveLength(2);
    expect(outbox.refused("message-1", "no", 5)).toBeNull();
  });
  it("[OUT-11] what its addressee puts off is asked again in half a minute, and its seven days begin anew", () => {
    outbox.put(testMessage(1), 0);
    const week = limits.outbox_dead_after_ms;
    outbox.putOff(["message-1", "unknown"], week - 1);
    expect(outbox.due(week + 5)).toEqual([]);
    expect(outbox.dead(week + 5)).toEqual([]);
    expect(outbox.nextDueAt()).toBe(week - 1 + limits.outbox_put_off_ms);
    expect(outbox.due(week - 1 + limits.outbox_put_off_ms)).toHaveLength(1);
    expect(outbox.dead(2 * week - 1)).toMatchObject([{ message_id: "message-1" }]);
  });
  it("[OUT-13] rows stored before these columns are sent, and given up, as before", () => {
    const old = nodeSql();
    applySchema(old, "outbox", outboxSchema.slice(0, 1));
    for (const [n, died_at] of [
      [1, null],
      [2, 7],
    ] as const)
      old.run(
        `INSERT INTO outbox (message_id, message_kind, object, queue, body, created_at, sends, next_at, died_at)
           VALUES (?, 'user_message', 'x/proxy', 'inbox', ?, 5, 3, 9, ?)`,
        ...[`message-${n}`, JSON.stringify(testMessage(n)), died_at],
      );
    applySchema(old, "outbox", outboxSchema);
    const after = new Outbox(old);
    expect(after.due(9)).toMatchObject([
      { message: testMessage(1), sends: 3, bytes: JSON.stringify(testMessage(1)).length },
    ]);
    expect(after.deadLetters()).toHaveLength(1);
    expect(after.dead(4 + limits.outbox_dead_after_ms)).toEqual([]);
    expect(after.dead(5 + limits.outbox_dead_after_ms)).toMatchObject([{ message_id: "message-1" }]);
    old.close();
  });
});

describe("what leaves", () => {
  it("[OUT-12] one call carries at most 100 messages and 240 KB; one that is refused costs its messages a growing wait", async () => {
    const content = "x".repeat(60 * 1024);
    for (let n = 1; n <= 8; n++) outbox.put(testMessage(n, { content }), 0);
    for (let n = 9; n <= 20; n++) outbox.put(testMessage(n), 0);
    queue = async (sent) => {
      if (ids(sent)?.includes("message-4")) throw new Error("the queue refuses");
    };
    const mail = post();
    await mail.flush(0);
    expect(calls.map((sent) => sent.length)).toEqual([3, 14]);
    for (const sent of calls) expect(JSON.stringify(sent).length).toBeLessThan(256 * 1024);
    expect(outbox.waiting()).toBe(20);
    expect(outbox.due(4_999)).toEqual([]);
    mail.confirm([...(ids(calls[0]) ?? []), ...(ids(calls[1]) ?? [])], 1);
    await mail.flush(5_000);
    expect(outbox.due(14_999)).toEqual([]);
    queue = async () => undefined;
    await mail.flush(15_000);
    expect(ids(calls[2])).toEqual(["message-4", "message-5", "message-6"]);
  });
  it("[OUT-9] a big body is put under the scope's own key, and only its reference travels; the small ones go first", async () => {
    outbox.put(big(1), 0);
    outbox.put(testMessage(2), 0);
    await post().flush(0);
    expect(calls.map(ids)).toEqual([["message-2"], ["message-1"]]);
    const [reference] = calls[1] ?? [];
    if (reference === undefined || "message" in reference) throw new Error("a reference was sent");
    expect(Object.keys(reference).sort()).toEqual(["bytes", "from", "key", "message_id", "scope_id", "sha256"]);
    expect(reference.key).toBe(`${testScope}/messages/message-1-${reference.sha256}`);
    expect(JSON.parse(blobs.get(reference.key) ?? "")).toEqual(big(1));
    expect(readSent(JSON.parse(JSON.stringify(reference)))).toEqual(reference);
    expect(reference.bytes).toBe(blobs.get(reference.key)?.length);
  });
  it("[OUT-9] a reference to elsewhere, of no size or with more than it says is none of ours", () => {
    const sha256 = "a".repeat(64);
    const named = { scope_id: testScope, message_id: "message-1", sha256 };
    const good = { from: `${testScope}/planner`, ...named, key: blobKeyOf(named), bytes: 9 };
    expect(readSent(good)).toEqual(good);
    for (const bad of [
      { ...good, key: `another0scope000/messages/message-1-${sha256}` },
      { ...good, key: `${testScope}/artifacts/x` },
      { ...good, message_id: "message-2" },
      { ...good, bytes: limits.message_bytes + 1 },
      { ...good, bytes: 0 },
      { ...good, sha256: "../../x" },
      { ...good, more: 1 },
      { from: good.from },
      "text",
      null,
    ])
      expect(() => readSent(bad), JSON.stringify(bad)).toThrow();
    expect(sendsFor(`${testScope}/planner`, testScope)).toBe(true);
    expect(sendsFor(`${testScope}x/planner`, testScope)).toBe(false);
  });
  it("[OUT-10] blobs that are down, slow or lost cost the big ones a wait, and the small ones nothing", async () => {
    put = () => Promise.reject(new Error("R2 is away"));
    outbox.put(big(1), 0);
    const mail = post();
    await mail.flush(0);
    expect(calls).toEqual([]);
    expect(outbox.nextDueAt()).toBe(5_000);
    let release: () => void = () => undefined;
    put = (key, value) =>
      new Promise((resolve) => {
        release = () => {
          blobs.set(key, value);
          resolve();
        };
      });
    await mail.flush(5_000);
    outbox.put(testMessage(2), 5_001);
    await mail.flush(5_001);
    expect(calls.map(ids)).toEqual([["message-2"]]);
    release();
    await vi.waitFor(() => expect(calls.map(ids)).toEqual([["message-2"], ["message-1"]]));
    expect(outbox.waiting()).toBe(2);
  });
  it("[OUT-10] a body is put again each time its message is sent again, and deleted a while after nobody needs it", async () => {
    outbox.put(big(1), 0);
    const mail = post();
    await mail.flush(0);
    blobs.clear();
    await mail.flush(5_000);
    expect(blobs.size).toBe(1);
    mail.confirm(["message-1"], 6_000);
    expect(mail.nextDueAt(6_000)).toBe(6_000 + limits.blob_grace_ms);
    await mail.flush(6_000);
    expect(blobs.size).toBe(1);
    await mail.flush(6_000 + limits.blob_grace_ms);
    expect(blobs.size).toBe(0);
    expect(mail.nextDueAt(100_000)).toBeNull();
  });
  it("[OUT-10] a body whose message went while it was being put is deleted too; a few are left to delete at a time", async () => {
    const mail = post();
    put = async (key, value) => {
      blobs.set(key, value);
      sql.transaction(() => outbox.confirm(["message-1"], 0));
      sql.run("DELETE FROM outbox_blobs");
    };
    outbox.put(big(1), 0);
    await mail.flush(0);
    await mail.flush(limits.blob_grace_ms);
    expect(blobs.size).toBe(0);
    for (let n = 0; n < 25; n++) sql.run("INSERT INTO outbox_blobs VALUES (?, 0, 0)", `key-${n}`);
    expect(outbox.blobsToDelete(1)).toHaveLength(limits.spill_batch);
  });
  it("[OUT-10] at most a few big ones are read at a time, and they stand before no small one", () => {
    for (let n = 1; n <= 30; n++) outbox.put(big(n), 0);
    outbox.put(testMessage(99), 0);
    const due = outbox.due(0);
    expect(due).toHaveLength(limits.spill_batch + 1);
    expect(due.at(-1)?.message.message_id).toBe("message-99");
  });
});
