import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DurableQueue } from "../../durable-objects/durable-queue.ts";
import { queueSchema } from "../../durable-objects/queue-rows.ts";
import { applySchema, type Sql } from "../../durable-objects/sql.ts";
import type { Message } from "../../src/domain/message.ts";
import { limits } from "../../src/limits.ts";
import { testMessage } from "../fakes/messages.ts";
import { type NodeSql, nodeSql } from "../fakes/node-sql.ts";
import { attemptMessage, attemptOrder } from "../fakes/orders.ts";

let sql: NodeSql;
let queue: DurableQueue;
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

describe("batches", () => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => testMessage(n));
  const ids = (count: number) => Array.from({ length: count }, (_, n) => `lease-${n}`);
  const rows = (of: NodeSql) => of.all("SELECT * FROM queue_rows ORDER BY seq");
  const marks = (of: NodeSql) => of.all("SELECT * FROM queue_processed ORDER BY message_id");

  it("[Q-25] enqueued, leased and acked together, rows, marks and facts are those of one by one", () => {
    const other = nodeSql();
    applySchema(other, "queue", queueSchema);
    const single = new DurableQueue(other);
    const messages = [
      ...many(5),
      testMessage(3),
      testMessage(2, { content: "other" }),
      attemptMessage(attemptOrder("c")),
    ];
    const together = queue.enqueueAll("inbox", messages, 5);
    const apart = messages.map((message) => single.enqueue("inbox", message, {}, 5));
    expect(together.outcomes.map(({ outcome }) => outcome)).toEqual(apart.map(({ outcome }) => outcome));
    expect(together.facts.audit).toEqual(apart.flatMap(({ facts }) => facts.audit));
    expect(rows(sql)).toEqual(rows(other));
    const leased = queue.leaseMany("inbox", { holder: "a", lease_ids: ids(4), lease_ms: 100 }, 4, 10);
    const one = ids(4).map((lease_id) =>
      single.lease("inbox", { holder: "a", lease_id, lease_ms: 100, many: true }, 10),
    );
    expect(leased.leases).toEqual(one.map(({ lease }) => lease));
    expect(leased.facts).toEqual({
      audit: one.flatMap(({ facts }) => facts.audit),
      telemetry: one.flatMap(({ facts }) => facts.telemetry),
    });
    expect(rows(sql)).toEqual(rows(other));
    const acked = queue.ackAll(leased.leases, 20);
    const acks = leased.leases.map((lease) => single.ack(lease, 20));
    expect(acked.refusals).toEqual([null, null, null, null]);
    expect(acked.facts.audit).toEqual(acks.flatMap((ack) => (ack.ok ? ack.value.audit : [])));
    expect(rows(sql)).toEqual(rows(other));
    expect(marks(sql)).toEqual(marks(other));
    expect(queue.depth("inbox", 20)).toEqual(single.depth("inbox", 20));
    other.close();
  });
  it("[Q-26] each element is answered by itself: one that is wrong spoils no other", () => {
    const unsayable = { ...testMessage(7), content: "\ud800" } as Message;
    const huge = testMessage(8, { content: "x".repeat(1_900_000) });
    const big = testMessage(9, { content: "\u0001".repeat(200_000) });
    const { outcomes, facts } = queue.enqueueAll("inbox", [testMessage(1), unsayable, huge, big, testMessage(2)], 1);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      "accepted",
      "malformed",
      "too_big",
      "accepted",
      "accepted",
    ]);
    expect(facts.audit.map((event) => event.decision)).toEqual([
      "accepted",
      "refused",
      "refused",
      "accepted",
      "accepted",
    ]);
    sql.run("UPDATE queue_rows SET body = '{not json' WHERE message_id = 'message-9'");
    const { leases } = queue.leaseMany("inbox", { holder: "a", lease_ids: ids(3), lease_ms: 100 }, 3, 10);
    expect(leases.map((lease) => lease.message.message_id)).toEqual(["message-1", "message-2"]);
    expect(queue.deadLetters("inbox")).toMatchObject([
      { message_id: "message-9", reason: "the stored message cannot be read" },
    ]);
    const [first, second] = leases;
    if (first === undefined || second === undefined) throw new Error("two were leased");
    const stale = { lease_id: second.lease_id, epoch: 9 };
    const acked = queue.ackAll([stale, first, first, { lease_id: "never", epoch: 1 }, second], 20);
    expect(acked.refusals.map((refusal) => refusal?.code ?? "acked")).toEqual([
      ...["not_in_this_state", "acked", "not_in_this_state", "not_in_this_state", "acked"],
    ]);
    expect(queue.hasProcessed("inbox", "message-2")).toBe(true);
  });
  it("[Q-27] a thousand at a time and no more, in a few statements", () => {
    const asked: string[] = [];
    const counting = new DurableQueue(watched(asked));
    const messages = many(limits.batch_messages);
    counting.enqueueAll("inbox", messages, 1);
    const { leases } = counting.leaseMany("inbox", { holder: "a", lease_ids: ids(1_000), lease_ms: 100 }, 1_000, 10);
    expect(leases.map((lease) => lease.message.message_id)).toEqual(messages.map((message) => message.message_id));
    expect(counting.ackAll(leases, 20).refusals.every((refusal) => refusal === null)).toBe(true);
    expect(asked.length).toBeLessThan(20);
    expect(queue.depth("inbox", 20)).toEqual({ queued: 0, eligible: 0, leased: 0, dead: 0 });
    expect(() => counting.enqueueAll("inbox", [...messages, testMessage(5_000)], 1)).toThrow("at most 1000");
  });
});
