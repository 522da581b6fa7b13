import { beforeEach, describe, expect, it, vi } from "vitest";
import { AuditLog, auditSchema } from "../../durable-objects/audit-log.ts";
import { Shipping } from "../../durable-objects/shipping.ts";
import { applySchemas } from "../../durable-objects/sql.ts";
import { TelemetryLog, telemetrySchema } from "../../durable-objects/telemetry-log.ts";
import { Records } from "../../src/adapters/records.ts";
import { type AuditEvent, verifyChain } from "../../src/domain/audit.ts";
import { type RecordsBatch, recordsBatch } from "../../src/domain/records.ts";
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
  it("[AUD-24] a link follows the chain's stored end, though the last one was undone, another wrote, or the log is new", () => {
    const { sql, audit } = logs();
    const undo = (of: AuditLog) =>
      expect(() =>
        sql.transaction(() => {
          of.append({ ...event, decision: "undone" }, 2);
          throw new Error("undone");
        }),
      ).toThrow("undone");
    const other = new AuditLog(sql);
    audit.append(event, 1);
    undo(audit);
    // The undone link and this one have the same number and not the same hash.
    expect(other.append({ ...event, decision: "other" }, 3).seq).toBe(2);
    expect(audit.append(event, 4).seq).toBe(3);
    undo(audit);
    undo(audit);
    expect(audit.append(event, 5).seq).toBe(4);
    sql.transaction(() => {
      expect(other.append(event, 6).seq).toBe(5);
      expect(audit.append(event, 6).seq).toBe(6);
    });
    expect(new AuditLog(sql).append(event, 7).seq).toBe(7);
    expect(audit.append(event, 8).seq).toBe(8);
    const head = audit.head();
    expect(verifyChain(audit.after(0, 20), head === null ? [] : [head])).toMatchObject({ ok: true });
    expect(audit.after(0, 20).map(({ decision }) => decision)).not.toContain("undone");
    expect(() => audit.append({ ...event, object: `${scope_id}/proxy` }, 9)).toThrow("this chain is");
  });
  it("[AUD-24] what else is wrong with a write is not taken for another end", () => {
    const { sql } = logs();
    let full = false;
    const run: typeof sql.run = (query, ...params) => {
      if (!full) return sql.run(query, ...params);
      full = false;
      throw new Error("no room");
    };
    const audit = new AuditLog({ ...sql, run });
    audit.append(event, 1);
    full = true;
    expect(() => audit.append(event, 2)).toThrow("no room");
    expect(audit.append(event, 3).seq).toBe(2);
  });
  it("[AUD-25] events recorded together leave the links that they leave one by one", () => {
    for (const count of [0, 1, 2, 24, 25, 26, 60]) {
      const [together, apart] = [logs(), logs()];
      const events = Array.from({ length: count }, (_, n) => ({ ...event, details: { n } }));
      for (const { audit } of [together, apart]) audit.append(event, 1);
      together.audit.appendAll(events, 7);
      for (const each of events) apart.audit.append(each, 7);
      const rows = (of: typeof apart) => of.sql.all("SELECT * FROM audit_chain ORDER BY seq");
      expect(rows(together)).toEqual(rows(apart));
      expect(rows(together)).toHaveLength(count + 1);
      expect(together.audit.append(event, 8)).toEqual(apart.audit.append(event, 8));
      expect(() => together.audit.appendAll([event, { ...event, object: `${scope_id}/proxy` }], 9)).toThrow("chain is");
    }
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

describe("what measurements add up to", () => {
  const counts = (telemetry: TelemetryLog) =>
    telemetry.totals().map(({ event_name, bucket, count, sum }) => [event_name, bucket, count, sum]);
  const wait = (value: number): Telemetry => ({ ...measured, value });

  it("[TEL-3] each is counted once, by queue and bucket, whether it is on its way, shipped, or confirmed twice or late", () => {
    const { telemetry } = logs();
    telemetry.append(object, [wait(5), wait(10), wait(11), { ...measured, event_name: "lease_expired", value: 1 }], 0);
    telemetry.append(object, [{ ...measured, event_name: "queue_depth_sample", value: 7 }], 0);
    const all = [
      ["lease_expired", 0, 1, 1],
      ["queue_wait_ms", 0, 2, 15],
      ["queue_wait_ms", 1, 1, 11],
    ];
    expect(counts(telemetry)).toEqual(all);
    for (const confirmed of [2, 2, 1, 3]) {
      telemetry.shipped(confirmed);
      expect(counts(telemetry)).toEqual(all);
    }
    telemetry.append(object, [wait(2_000_000)], 1);
    telemetry.shipped(99);
    expect(counts(telemetry)).toEqual([...all, ["queue_wait_ms", 13, 1, 2_000_000]]);
    expect(telemetry.backlog()).toBe(0);
  });
  it("[TEL-7] numbers go on after everything has left, and the row that keeps them is never sent or counted", () => {
    const { telemetry } = logs();
    telemetry.append(object, [wait(1), wait(2)], 0);
    telemetry.shipped(2);
    expect(telemetry.unshipped(1)).toEqual([]);
    expect(telemetry.backlog()).toBe(0);
    telemetry.append(object, [wait(3)], 0);
    expect(telemetry.unshipped(1).map(({ seq }) => seq)).toEqual([3]);
    expect(telemetry.backlog()).toBe(1);
    expect(counts(telemetry).reduce((sum, [, , count]) => sum + Number(count), 0)).toBe(3);
  });
  it("[TEL-4] what is dropped while D1 is away is counted all the same", () => {
    const { sql, telemetry } = logs();
    for (let n = 0; n < 12; n++) sql.transaction(() => telemetry.append(object, Array(1_000).fill(wait(1)), n));
    expect(telemetry.backlog()).toBe(10_000);
    expect(counts(telemetry)).toEqual([["queue_wait_ms", 0, 12_000, 12_000]]);
  });
  it("[TEL-3] a measurement of a transaction that fails is not counted, and one that cannot be read is not sent", () => {
    const { sql, telemetry } = logs();
    expect(() =>
      sql.transaction(() => {
        telemetry.append(object, [wait(1)], 0);
        throw new Error("undone");
      }),
    ).toThrow("undone");
    expect(counts(telemetry)).toEqual([]);
    telemetry.append(object, [{ ...measured, trace_id: 7 as unknown as string }, wait(1)], 0);
    expect(telemetry.unshipped(10).map(({ seq }) => seq)).toEqual([2]);
  });
});

describe("records on their way", () => {
  function sending() {
    const { audit, telemetry } = logs();
    const sent: RecordsBatch[] = [];
    const line = { refuses: false };
    const shipping = new Shipping(object, { audit, telemetry }, async (batch) => {
      if (line.refuses) throw new Error("the queue is full");
      sent.push(batch);
    });
    return { audit, telemetry, sent, line, shipping };
  }

  it("[REC-6] one batch is on its way at a time; unconfirmed it is sent again after 10 s, doubling to 5 min, and what came meanwhile goes with it", async () => {
    const { audit, sent, shipping } = sending();
    audit.append(event, 0);
    const sentAt: number[] = [];
    for (let now = 0; now <= 2_000_000; now += 1_000) {
      const before = sent.length;
      await shipping.run(now);
      if (sent.length > before) sentAt.push(now / 1_000);
      if (now === 5_000) audit.append(event, now);
      expect(shipping.nextDueAt(now)).toBeGreaterThan(now);
    }
    expect(sentAt).toEqual([0, 10, 30, 70, 150, 310, 610, 910, 1_210, 1_510, 1_810]);
    expect(sent.map((batch) => batch.audit.map(({ seq }) => seq)).slice(0, 2)).toEqual([[1], [1, 2]]);
    shipping.confirm({ audit: 1, telemetry: 0 });
    expect(shipping.nextDueAt(2_000_000)).toBe(2_000_000);
    await shipping.run(2_000_000);
    expect(sent.at(-1)?.audit.map(({ seq }) => seq)).toEqual([2]);
    shipping.confirm({ audit: 2, telemetry: 0 });
    expect(shipping.nextDueAt(2_000_000)).toBeNull();
  });
  it("[REC-6] a queue that refuses costs a wait and no row", async () => {
    const { audit, sent, line, shipping } = sending();
    const log = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    audit.append(event, 0);
    line.refuses = true;
    await shipping.run(0);
    line.refuses = false;
    await shipping.run(9_999);
    expect(sent).toEqual([]);
    await shipping.run(10_000);
    expect(sent).toHaveLength(1);
    log.mockRestore();
  });
  it("[REC-7] the fullest batch fits one message of the platform's queue, and a batch with another object's rows is none", async () => {
    const { audit, telemetry, sent, shipping } = sending();
    const big = { text: "x".repeat(8_000) };
    for (let n = 0; n < 100; n++) {
      audit.append({ ...event, details: big, reason: "é".repeat(2_000) }, n);
      telemetry.append(object, Array(10).fill({ ...measured, labels: { text: "y".repeat(500) } }), n);
    }
    await shipping.run(0);
    const text = JSON.stringify(sent[0]);
    expect(new TextEncoder().encode(text).length).toBeLessThan(120_000);
    expect(recordsBatch.safeParse(JSON.parse(text)).success).toBe(true);
    expect(recordsBatch.safeParse({ ...sent[0], object: `${scope_id}/proxy` }).success).toBe(false);
    const row = { scope_id: "otherotherother1", seq: 1, hash: "h", jws: "j", at: "t" };
    expect(recordsBatch.safeParse({ object, audit: [], telemetry: [], checkpoints: [row] }).success).toBe(false);
  });
  it("[AUD-13] links behind one that cannot be read are not sent without it", () => {
    const { sql, audit } = logs();
    for (let n = 0; n < 3; n++) audit.append(event, n);
    sql.run("UPDATE audit_chain SET body = '{' WHERE seq = 2");
    expect(audit.unshipped(10).map(({ seq }) => seq)).toEqual([1]);
    audit.shipped(1);
    expect(audit.unshipped(10)).toEqual([]);
    expect(audit.end()).toMatchObject({ seq: 3, shipped: 1 });
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
    const inOrder = items.toSorted((a, b) => a.seq - b.seq);
    expect(verifyChain(inOrder, head === null ? [] : [head])).toMatchObject({ ok: true });
    const { results } = await fake.db.prepare("SELECT value, labels FROM telemetry").all();
    expect(results).toEqual([{ value: 1.5, labels: '{"a":1}' }]);
  });
  it("[REC-2] pages go in the order rows were stored, without a gap or a repeat, and hold one scope only", async () => {
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
      seen.push(...page.items.map((link) => `${link.object} ${link.seq}`));
      cursor = page.next_cursor;
      if (cursor === null) break;
    }
    expect(seen).toHaveLength(12);
    const stored = ["runtime", "proxy"].flatMap((name) =>
      [1, 2, 3, 4, 5, 6].map((seq) => `${scope_id}/${name} ${seq}`),
    );
    expect(seen).toEqual(stored);
    expect(seen.join()).not.toContain("otherother");
  });
  it("[REC-2] a row that is made early and stored late is still ahead of every cursor", async () => {
    const [early, late] = [logs().audit, logs().audit];
    early.append(event, 0);
    for (let n = 0; n < 3; n++) late.append({ ...event, object: `${scope_id}/proxy` }, 1_000 + n);
    await records.store([{ object, audit: late.unshipped(10), telemetry: [] }]);
    const first = await records.auditPage({ ...all, limit: 2 });
    await records.store([{ object, audit: early.unshipped(10), telemetry: [] }]);
    const rest = await records.auditPage({ ...all, cursor: first.next_cursor });
    expect([...first.items, ...rest.items].map((link) => link.object.split("/")[1])).toEqual([
      "proxy",
      "proxy",
      "proxy",
      "runtime",
    ]);
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
  it("[REC-8] [Q-36] measurements are found by name, queue and time, in the order they were stored; old ones are forgotten, so many at a time", async () => {
    const { telemetry } = logs();
    const day = 86_400_000;
    for (let n = 0; n < 4; n++)
      telemetry.append(
        object,
        [
          {
            ...measured,
            queue_name: n % 2 === 0 ? "inbox" : "other",
            event_name: n < 3 ? "queue_wait_ms" : "lease_expired",
          },
        ],
        n * day,
      );
    await records.store([{ object, audit: [], telemetry: telemetry.unshipped(10) }]);
    const query = { scope_id, event_name: null, queue_name: null, since: null, cursor: null, limit: 50 };
    const seqs = async (asked: object) =>
      (await records.telemetryPage({ ...query, ...asked })).items.map((row) => row.seq);
    expect(await seqs({})).toEqual([1, 2, 3, 4]);
    const own = object.split("/")[1] ?? "";
    expect(await seqs({ event_name: "queue_wait_ms", queue_name: own })).toEqual([1, 3]);
    const named = (await records.telemetryPage(query)).items.map(({ queue_name }) => queue_name);
    expect([...new Set(named)].sort()).toEqual(["other", own].sort());
    expect(await seqs({ since: new Date(2 * day).toISOString() })).toEqual([3, 4]);
    expect(await seqs({ scope_id: "otherotherother1" })).toEqual([]);
    const first = await records.telemetryPage({ ...query, limit: 3 });
    expect(await seqs({ cursor: first.next_cursor })).toEqual([4]);
    await records.pruneTelemetry(new Date(2 * day).toISOString());
    expect(await seqs({})).toEqual([3, 4]);
  });
});
