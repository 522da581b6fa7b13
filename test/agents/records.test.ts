import { beforeEach, describe, expect, it } from "vitest";
import { AuditLog, auditSchema } from "../../durable-objects/audit-log.ts";
import { applySchemas } from "../../durable-objects/sql.ts";
import { TelemetryLog, telemetrySchema } from "../../durable-objects/telemetry-log.ts";
import { Records } from "../../src/adapters/records.ts";
import { type AuditEvent, verifyChain } from "../../src/domain/audit.ts";
import { recordsBatch } from "../../src/domain/records.ts";
import type { Telemetry } from "../../src/domain/telemetry.ts";
import { type NodeD1, nodeD1 } from "../fakes/node-d1.ts";
import { nodeSql } from "../fakes/node-sql.ts";

const scope_id = "scopescopescope1";
const object = `${scope_id}/runtime`;
const event: Omit<AuditEvent, "created_at"> = {
  object,
  event_type: "enqueue",
  trace_id: "trace-1",
  message_id: null,
  scope_id,
  actor: "runtime",
  decision: "accepted",
  reason: null,
  details: { queue: "inbox", n: 1e21, text: 'é"\0', deep: { list: [1, null] } },
};
const measured: Telemetry = {
  event_name: "queue_wait_ms",
  scope_id,
  trace_id: "trace-1",
  queue_name: "inbox",
  message_id: "message-1",
  value: 1.5,
  labels: { a: 1 },
};

function logs() {
  const sql = nodeSql();
  applySchemas(sql, { audit: auditSchema, telemetry: telemetrySchema });
  return { sql, audit: new AuditLog(sql), telemetry: new TelemetryLog(sql) };
}

describe("an object's audit log", () => {
  it("[AUD-11] each event continues the stored chain, which verifies against its head; another object's event is refused", () => {
    const { audit } = logs();
    expect(audit.head()).toBeNull();
    for (let n = 0; n < 5; n++) audit.append(event, n);
    const head = audit.head();
    expect(head?.seq).toBe(5);
    expect(verifyChain(audit.after(0, 10), head === null ? [] : [head])).toMatchObject({ ok: true });
    expect(() => audit.append({ ...event, object: `${scope_id}/proxy` }, 9)).toThrow("this chain is");
  });
  it("[AUD-12] an event of a transaction that fails leaves no gap in the chain", () => {
    const { sql, audit } = logs();
    audit.append(event, 1);
    expect(() =>
      sql.transaction(() => {
        audit.append(event, 2);
        throw new Error("undone");
      }),
    ).toThrow("undone");
    expect(audit.append(event, 3).seq).toBe(2);
    expect(verifyChain(audit.after(0, 10))).toMatchObject({ ok: true });
  });
  it("[AUD-13] links are offered for shipping in order until they are confirmed; a late confirmation takes none back", () => {
    const { audit } = logs();
    for (let n = 0; n < 5; n++) audit.append({ ...event, details: { text: "x".repeat(6_000) } }, n);
    const seqs = (limit: number, bytes?: number) => audit.unshipped(limit, bytes).map((link) => link.seq);
    expect(seqs(3)).toEqual([1, 2, 3]);
    expect(seqs(10, 15_000)).toEqual([1, 2]);
    expect(seqs(10, 1)).toEqual([1]);
    audit.shipped(3);
    audit.shipped(2);
    expect(seqs(10)).toEqual([4, 5]);
    audit.shipped(1_000_000);
    expect(audit.backlog()).toBe(0);
    audit.append(event, 9);
    expect(seqs(10)).toEqual([6]);
  });
  it("[TEL-1] measurements are numbered, offered until confirmed, and never numbered twice", () => {
    const { telemetry } = logs();
    telemetry.append(object, [measured, measured], 0);
    expect(telemetry.unshipped(10)).toMatchObject([
      { seq: 1, object, created_at: "1970-01-01T00:00:00.000Z" },
      { seq: 2 },
    ]);
    telemetry.shipped(2);
    telemetry.append(object, [measured], 1);
    expect(telemetry.unshipped(10).map((row) => row.seq)).toEqual([3]);
  });
  it("[TEL-2] while D1 is away the newest ten thousand are kept", () => {
    const { sql, telemetry } = logs();
    sql.transaction(() => telemetry.append(object, Array(10_050).fill(measured), 0));
    expect(telemetry.backlog()).toBe(10_000);
    expect(telemetry.unshipped(1)).toMatchObject([{ seq: 51 }]);
  });
});

describe("records in D1", () => {
  let fake: NodeD1;
  let records: Records;
  const all = { scope_id, trace_id: null, event_type: null, cursor: null, limit: 50 };
  beforeEach(() => {
    fake = nodeD1("migrations");
    records = new Records(fake.db);
  });

  it("[REC-1] a batch stored twice, or overlapping another, stores each row once, and what is read back still verifies", async () => {
    const { audit, telemetry } = logs();
    for (let n = 0; n < 4; n++) audit.append(event, n);
    telemetry.append(object, [measured], 0);
    const batch = recordsBatch.parse(
      JSON.parse(JSON.stringify({ object, audit: audit.unshipped(10), telemetry: telemetry.unshipped(10) })),
    );
    await records.store([{ ...batch, audit: batch.audit.slice(2) }]);
    await records.store([batch, batch]);
    await records.store([]);
    await records.store([{ ...batch, audit: batch.audit.map((link) => ({ ...link, decision: "forged" })) }]);
    const { items, next_cursor } = await records.auditPage(all);
    const head = audit.head();
    expect(items).toHaveLength(4);
    expect(next_cursor).toBeNull();
    expect(verifyChain(items, head === null ? [] : [head])).toMatchObject({ ok: true });
    const { results } = await fake.db.prepare("SELECT value, labels FROM telemetry").all();
    expect(results).toEqual([{ value: 1.5, labels: '{"a":1}' }]);
  });
  it("[REC-2] pages go by time, object and seq without a gap or a repeat, and hold one scope only", async () => {
    const others = ["runtime", "proxy"].map((name) => ({ name, log: logs().audit }));
    for (let n = 0; n < 6; n++)
      for (const { name, log } of others)
        log.append({ ...event, object: `${scope_id}/${name}`, trace_id: `trace-${n % 2}` }, Math.floor(n / 3));
    const foreign = logs().audit;
    foreign.append({ ...event, object: "otherotherother1/runtime", scope_id: "otherotherother1" }, 0);
    for (const log of [...others.map((one) => one.log), foreign])
      await records.store([{ object, audit: log.unshipped(50), telemetry: [] }]);
    const seen: string[] = [];
    for (let cursor: string | null = null, pages = 0; pages < 20; pages++) {
      const page: Awaited<ReturnType<Records["auditPage"]>> = await records.auditPage({ ...all, cursor, limit: 5 });
      seen.push(...page.items.map((link) => `${link.created_at} ${link.object} ${link.seq}`));
      cursor = page.next_cursor;
      if (cursor === null) break;
    }
    expect(seen).toHaveLength(12);
    expect(seen).toEqual([...new Set(seen)].sort());
    expect(seen.join()).not.toContain("otherother");
  });
  it("[REC-3] filters by trace and by type join; an invented cursor begins at the start", async () => {
    const { audit } = logs();
    audit.append(event, 0);
    audit.append({ ...event, trace_id: "trace-2" }, 1);
    audit.append({ ...event, trace_id: "trace-2", event_type: "merge" }, 2);
    await records.store([{ object, audit: audit.unshipped(10), telemetry: [] }]);
    const seqs = async (query: object) => (await records.auditPage({ ...all, ...query })).items.map((link) => link.seq);
    expect(await seqs({ trace_id: "trace-2" })).toEqual([2, 3]);
    expect(await seqs({ trace_id: "trace-2", event_type: "merge" })).toEqual([3]);
    expect(await seqs({ event_type: "' OR 1=1 --" })).toEqual([]);
    for (const cursor of ["", "!!", btoa("[1]"), btoa('["a"')]) expect(await seqs({ cursor })).toEqual([1, 2, 3]);
  });
  it("[REC-4] D1 away is an error to the caller and stores nothing by halves", async () => {
    const { audit } = logs();
    audit.append(event, 0);
    const batch = { object, audit: audit.unshipped(10), telemetry: [] };
    fake.down = true;
    await expect(records.store([batch])).rejects.toThrow("away");
    fake.down = false;
    await records.store([batch]);
    expect((await records.auditPage(all)).items).toHaveLength(1);
  });
  it("[REC-5] scopes are listed by id, a page at a time, and the same scope again changes nothing", async () => {
    for (const id of ["c", "a", "b", "a"]) await records.addScope({ id: id.repeat(16), name: id, created_at: "now" });
    const first = await records.scopes(null, 2);
    expect(first.items.map((scope) => scope.name)).toEqual(["a", "b"]);
    expect(await records.scopes(first.next_cursor, 2)).toMatchObject({ items: [{ name: "c" }], next_cursor: null });
  });
});
