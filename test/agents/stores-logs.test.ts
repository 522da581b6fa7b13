import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EventLog, eventSchema } from "../../durable-objects/event-log.ts";
import { OutputLog, outputSchema } from "../../durable-objects/output-log.ts";
import { applySchema } from "../../durable-objects/sql.ts";
import { limits } from "../../src/limits.ts";
import { testScope } from "../fakes/messages.ts";
import { type NodeSql, nodeSql } from "../fakes/node-sql.ts";

let sql: NodeSql;
beforeEach(() => {
  sql = nodeSql();
});
afterEach(() => sql.close());

describe("events", () => {
  let log: EventLog;
  const fields = (task_id: string | null, more: object = {}) => ({
    ...{
      scope_id: testScope,
      task_id,
      trace_id: null,
      actor: "runtime",
      surfaces: ["activity" as const],
      detail: null,
    },
    ...more,
  });
  beforeEach(() => {
    applySchema(sql, "events", eventSchema);
    log = new EventLog(sql);
  });

  it("[EV-1] events are numbered from 1 and replayed from any seq, a page at a time", () => {
    expect(log.append("task_created", fields("t1", { title: "x" }), 0)).toMatchObject({
      seq: 1,
      type: "task_created",
      title: "x",
      at: "1970-01-01T00:00:00.000Z",
    });
    for (let n = 2; n <= 5; n++) log.append("message", fields("t2"), n);
    expect(log.after(2, 2)).toMatchObject({ events: [{ seq: 3 }, { seq: 4 }], last_seq: 4, reset: null });
    expect(log.after(4, 2)).toMatchObject({ events: [{ seq: 5 }], last_seq: 5, reset: null });
    expect(log.after(5, 2)).toEqual({ events: [], last_seq: 5, reset: null });
  });
  it("[EV-2] a filter takes types, and a phase's type with or without its phase; what it skips is not offered again", () => {
    log.append("phase_start:coding", fields("t1"), 0);
    log.append("phase_start:qa", fields("t1"), 0);
    log.append("message", fields("t1"), 0);
    expect(log.after(0, 10, ["phase_start"]).events.map((event) => event.seq)).toEqual([1, 2]);
    expect(log.after(0, 10, ["phase_start:qa"])).toMatchObject({ events: [{ seq: 2 }], last_seq: 3 });
    expect(log.after(0, 10, ["'; DROP TABLE events; --"])).toMatchObject({ events: [], last_seq: 3 });
    expect(log.after(0, 10, [])).toMatchObject({ events: [], last_seq: 3 });
  });
  it("[EV-3] one task's events come in pages, and an invented cursor begins at the start", () => {
    for (const task of ["t1", "t2", "t1", "t1"]) log.append("message", fields(task), 0);
    const first = log.byTask("t1", null, 2);
    expect(first).toMatchObject({ items: [{ seq: 1 }, { seq: 3 }], next_cursor: "3" });
    expect(log.byTask("t1", first.next_cursor, 2)).toMatchObject({ items: [{ seq: 4 }], next_cursor: null });
    expect(log.byTask("t1", "x'--", 1).items).toMatchObject([{ seq: 1 }]);
  });
  it("[EV-4] old and surplus events are forgotten; a reader from before, or from another life, is told to begin anew", () => {
    for (let n = 1; n <= 6; n++) log.append("message", fields("t1"), n === 1 ? 0 : limits.events_retention_ms);
    expect(log.prune(limits.events_retention_ms + 1)).toBe(false);
    expect(log.oldest()).toBe(2);
    log.prune(limits.events_retention_ms + 1, 3);
    expect(log.oldest()).toBe(4);
    expect(log.after(3, 10)).toMatchObject({ events: [{ seq: 4 }, { seq: 5 }, { seq: 6 }], reset: null });
    expect(log.after(2, 10)).toMatchObject({ events: [{ seq: 4 }, { seq: 5 }, { seq: 6 }], reset: 4 });
    expect(log.after(99, 10)).toMatchObject({ events: [{ seq: 4 }, { seq: 5 }, { seq: 6 }], reset: 4 });
    log.prune(limits.events_retention_ms * 9);
    expect(log.oldest()).toBe(7);
    expect(log.after(6, 10)).toEqual({ events: [], last_seq: 6, reset: null });
    expect(log.append("message", fields("t1"), 0).seq).toBe(7);
  });
  it("[EV-5] an event too big loses the fields of its type and says so; fields cannot forge its number, type or time", () => {
    const event = log.append(
      "message",
      fields("t1", { text: "x".repeat(40_000), seq: 99, type: "task_complete", at: "never" }),
      0,
    );
    expect(event).toMatchObject({
      seq: 1,
      type: "message",
      task_id: "t1",
      truncated: true,
      at: "1970-01-01T00:00:00.000Z",
    });
    expect(event.text).toBeUndefined();
    expect(log.append("message", fields("t1", { seq: 99, type: "task_complete" }), 0)).toMatchObject({
      seq: 2,
      type: "message",
    });
  });
});

describe("output", () => {
  let log: OutputLog;
  const bytes = (length: number, from = 0) => Uint8Array.from({ length }, (_, at) => (from + at) % 251);
  beforeEach(() => {
    applySchema(sql, "output", outputSchema);
    log = new OutputLog(sql);
  });

  it("[OUTP-1] bytes come back from any offset exactly as they were appended, in pieces of any size", () => {
    let written = 0;
    for (const length of [1, 0, 65_535, 1, 65_536, 200_000, 7]) {
      expect(log.append("a1", bytes(length, written))).toEqual({ offset: written, kept: length });
      written += length;
    }
    expect(log.size("a1")).toEqual({ kept: written, seen: written, truncated: false });
    const whole = bytes(written);
    for (const [from, max] of [
      [0, written],
      [0, 10],
      [65_530, 20],
      [65_536, 65_536],
      [131_071, 100_000],
      [written - 3, 100],
    ] as const) {
      const part = log.read("a1", from, max);
      expect(part.next_offset).toBe(Math.min(from + max, written));
      expect(Buffer.compare(part.bytes, whole.subarray(from, from + max))).toBe(0);
    }
    expect(sql.one("SELECT count(*) AS n, max(length(bytes)) AS longest FROM output_chunks")).toEqual({
      n: 6,
      longest: 65_536,
    });
  });
  it("[OUTP-2] past 8 MB one line says so, and further bytes are counted but not kept", () => {
    const mega = bytes(1024 * 1024);
    for (let n = 0; n < 7; n++) log.append("a1", mega);
    expect(log.append("a1", bytes(1024 * 1024 + 5)).kept).toBe(1024 * 1024);
    const { kept } = log.size("a1");
    expect(log.append("a1", mega)).toEqual({ offset: kept, kept: 0 });
    expect(log.size("a1")).toEqual({ kept, seen: 9 * 1024 * 1024 + 5, truncated: true });
    expect(new TextDecoder().decode(log.read("a1", limits.output_attempt_bytes).bytes)).toBe(
      "\r\n[output past 8 MB is not kept]\r\n",
    );
  });
  it("[OUTP-3] exactly 8 MB is not truncated", () => {
    log.append("a1", new Uint8Array(limits.output_attempt_bytes));
    expect(log.size("a1")).toMatchObject({ kept: limits.output_attempt_bytes, truncated: false });
  });
  it("[OUTP-4] a read past the end, before the start or of an unknown attempt is empty or begins at 0; attempts do not mix", () => {
    log.append("a1", bytes(10));
    log.append("a2", bytes(3, 100));
    expect(log.read("a1", 999)).toEqual({ bytes: new Uint8Array(0), next_offset: 10 });
    expect(log.read("a1", -5, 2)).toEqual({ bytes: bytes(2), next_offset: 2 });
    expect(log.read("a1", Number.NaN, 2).next_offset).toBe(2);
    expect(log.read("none", 0)).toEqual({ bytes: new Uint8Array(0), next_offset: 0 });
    log.drop("a1");
    expect(log.size("a1").kept).toBe(0);
    expect(log.read("a2", 0).bytes).toEqual(bytes(3, 100));
  });
});
