/** A disk that is full: the transaction that meets it leaves nothing of itself, and what stood before stands. */
import { describe, expect, it } from "vitest";
import { AuditLog, auditSchema } from "../../durable-objects/audit-log.ts";
import { DurableQueue } from "../../durable-objects/durable-queue.ts";
import { Outbox, outboxSchema } from "../../durable-objects/outbox.ts";
import { queueSchema } from "../../durable-objects/queue-rows.ts";
import { applySchemas } from "../../durable-objects/sql.ts";
import { refusedBy, statusOf } from "../../src/http/problem.ts";
import { testMessage } from "../fakes/messages.ts";
import { nodeSql } from "../fakes/node-sql.ts";

describe("a full disk", () => {
  it("[RCV-9] loses nothing that was accepted, keeps no half of what was not, goes on once there is room, and is 503", () => {
    const sql = nodeSql(":memory:", { max_pages: 120 });
    applySchemas(sql, { queue: queueSchema, outbox: outboxSchema, audit: auditSchema });
    const [queue, outbox, audit] = [new DurableQueue(sql), new Outbox(sql), new AuditLog(sql)];
    const accepted: string[] = [];
    let thrown: unknown = null;
    for (let number = 1; number <= 1_000 && thrown === null; number++) {
      const message = testMessage(number, { content: "x".repeat(3_000) });
      try {
        sql.transaction(() => {
          // The small one first: the big one is what meets the full disk, in the middle of the transaction.
          outbox.put({ ...message, message_id: `${message.message_id}-out`, content: "x" }, number);
          const { facts } = queue.enqueue("inbox", message, {}, number);
          for (const event of facts.audit) audit.append({ ...event, object: "s/a" }, number);
        });
        accepted.push(message.message_id);
      } catch (error) {
        thrown = error;
      }
    }
    const refused = refusedBy(thrown);
    expect([refused.code, statusOf(refused.code)]).toEqual(["unavailable", 503]);
    expect(refused.message).toContain("storage is full");
    const stands = () => ({
      queued: sql.all<{ id: string }>("SELECT message_id AS id FROM queue_rows ORDER BY seq").map(({ id }) => id),
      sent: sql.all("SELECT message_id FROM outbox").length,
      audited: audit.head()?.seq ?? 0,
    });
    expect(accepted.length).toBeGreaterThan(5);
    expect(stands()).toEqual({ queued: accepted, sent: accepted.length, audited: accepted.length });
    sql.run("PRAGMA max_page_count = 1000");
    sql.transaction(() => queue.enqueue("inbox", testMessage(5_000), {}, 5_000));
    expect(stands().queued).toHaveLength(accepted.length + 1);
    sql.close();
  });
});
