import { describe, expect, it } from "vitest";
import {
  backoffMs,
  pick,
  type QueueRow,
  type QueueStep,
  type RowEvent,
  rowDueAt,
  rowMoves,
  rowStates,
  step,
} from "../../src/domain/queue.ts";
import { limits } from "../../src/limits.ts";
import { testMessage } from "../fakes/messages.ts";

const lease = { lease_id: "lease-1", epoch: 1 };
const queued: QueueRow = {
  queue: "inbox",
  head: testMessage(1),
  state: "queued",
  seq: 1,
  priority: 0,
  max_deliveries: 5,
  deliveries: 0,
  epoch: 1,
  enqueued_at: 0,
  available_at: 0,
  lease: null,
  reason: null,
  died_at: null,
};
const leased: QueueRow = {
  ...queued,
  state: "leased",
  deliveries: 1,
  lease: { ...lease, holder: "planner", leased_at: 0, expires_at: 100, heartbeats: 0 },
};
const rows: Record<QueueRow["state"], QueueRow> = {
  queued,
  leased,
  acked: { ...leased, state: "acked" },
  dead: { ...queued, state: "dead", deliveries: 5, reason: "gave up", died_at: 1 },
};
const steps: Record<RowEvent, QueueStep> = {
  lease: { event: "lease", lease_id: "lease-2", holder: "planner", lease_ms: 100 },
  heartbeat: { event: "heartbeat", lease, extend_ms: 50 },
  ack: { event: "ack", lease },
  nack: { event: "nack", lease, reason: "later", random: 0.5 },
  bury: { event: "bury", lease, reason: "never" },
  expire: { event: "expire" },
  requeue: { event: "requeue", counted: true },
  revive: { event: "revive" },
};
const events = Object.keys(steps) as RowEvent[]; // the keys of a Record<RowEvent, _>
const moved = (row: QueueRow, asked: QueueStep, now: number) => {
  const result = step(row, asked, now);
  if (!result.ok) throw new Error(result.refusal.detail);
  return result.value;
};

describe("a row's life", () => {
  it("[Q-1] every pair of state and event is a move of the table or a refusal", () => {
    for (const state of rowStates)
      for (const event of events) {
        const now = event === "expire" ? 100 : 10;
        const result = step(rows[state], steps[event], now);
        const to = rowMoves[state][event];
        expect(result.ok ? result.value.row.state : null, `${state} ${event}`).toBe(to ?? null);
      }
  });

  it("[Q-5] a lease shown with another id, another epoch or after its time is stale", () => {
    for (const event of ["heartbeat", "ack", "nack", "bury"] as const) {
      const asked = steps[event];
      expect(step(leased, asked, 99).ok).toBe(true);
      expect(step(leased, asked, 100).ok).toBe(false);
      expect(step(leased, { ...asked, lease: { ...lease, epoch: 2 } } as QueueStep, 10).ok).toBe(false); // same event, other lease
      expect(step(leased, { ...asked, lease: { ...lease, lease_id: "other" } } as QueueStep, 10).ok).toBe(false);
    }
  });

  it("[Q-6] back-off doubles from a second to five minutes, give or take a quarter", () => {
    expect([1, 2, 3, 4].map((deliveries) => backoffMs(deliveries, 0.5))).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(backoffMs(1, 0)).toBe(750);
    expect(backoffMs(1, 0.999_999)).toBe(1_250);
    expect(backoffMs(1_000_000, 0.5)).toBe(limits.backoff_max_ms);
    expect(backoffMs(0, 0.5)).toBe(1_000);
  });

  it("[Q-7] a row whose deliveries are used up dies instead of going back, with the reason kept", () => {
    const last = { ...leased, deliveries: 5 };
    for (const event of ["nack", "expire", "requeue"] as const) {
      const { row } = moved(last, steps[event], event === "expire" ? 100 : 10);
      expect(row.state).toBe("dead");
      expect(row.lease).toBeNull();
      expect(row.reason).toContain("delivered 5 times");
    }
  });

  it("[Q-8] a lease that ends without an ack moves the epoch on", () => {
    for (const event of ["nack", "expire", "requeue", "bury"] as const)
      expect(moved(leased, steps[event], event === "expire" ? 100 : 10).row.epoch).toBe(2);
    expect(moved(leased, steps.heartbeat, 10).row.epoch).toBe(1);
  });

  it("[Q-9] a holder's restart gives the delivery back unless it is counted", () => {
    expect(moved(leased, { event: "requeue", counted: false }, 10).row.deliveries).toBe(0);
    expect(moved(leased, { event: "requeue", counted: true }, 10).row.deliveries).toBe(1);
  });

  it("[Q-10] a heartbeat extends the lease from now and never shortens it", () => {
    expect(moved(leased, steps.heartbeat, 80).row.lease?.expires_at).toBe(130);
    expect(moved(leased, steps.heartbeat, 10).row.lease?.expires_at).toBe(100);
  });

  it("[Q-3] the row picked is eligible, of the highest priority, and first in", () => {
    const a = { ...queued, seq: 3 };
    expect(pick([a, { ...queued, seq: 1 }, { ...queued, seq: 2 }], 10)?.seq).toBe(1);
    const b = { ...queued, seq: 2, priority: 1, available_at: 50 };
    expect(pick([a, b, { ...leased, seq: 1, priority: 9 }], 10)?.seq).toBe(3);
    expect(pick([a, b], 50)?.seq).toBe(2);
    expect(step(b, steps.lease, 49).ok).toBe(false);
    expect(step(b, steps.lease, 50).ok).toBe(true);
    expect(pick([rows.dead, rows.leased], 1_000)).toBeNull();
  });

  it("[Q-12] a lease's expiry and a back-off's end are due; an eligible or dead row is not", () => {
    expect(rowDueAt(leased, 500)).toBe(100);
    expect(rowDueAt({ ...queued, available_at: 50 }, 10)).toBe(50);
    expect(rowDueAt(queued, 10)).toBeNull();
    expect(rowDueAt(rows.dead, 10)).toBeNull();
  });

  it("[Q-13] each lease's life leaves an audit event at both ends, with wait and duration measured", () => {
    const taken = moved({ ...queued, enqueued_at: 5, available_at: 15, deliveries: 1 }, steps.lease, 25);
    expect(taken.facts.audit).toMatchObject([
      { event_type: "dequeue", decision: "leased", actor: "planner", message_id: "message-1" },
    ]);
    expect(taken.facts.telemetry).toMatchObject([
      { event_name: "queue_wait_ms", value: 20, labels: { deliveries: 2 } },
    ]);
    const beaten = moved(leased, steps.heartbeat, 50);
    expect(beaten.facts).toMatchObject({ audit: [], telemetry: [{ event_name: "lease_heartbeat", value: 1 }] });
    const over = moved(beaten.row, steps.expire, 200);
    expect(over.facts.audit).toMatchObject([{ event_type: "dequeue", decision: "expired" }]);
    expect(over.facts.telemetry).toMatchObject([
      { event_name: "lease_duration_ms", value: 200, labels: { outcome: "expired", heartbeats: 1 } },
      { event_name: "lease_expired", value: 1 },
    ]);
    for (const event of ["ack", "nack", "bury", "requeue"] as const) {
      const { telemetry } = moved(beaten.row, steps[event], 60).facts;
      expect(telemetry).toMatchObject([{ event_name: "lease_duration_ms", value: 60, labels: { heartbeats: 1 } }]);
    }
    expect(moved({ ...queued, enqueued_at: 40 }, steps.lease, 25).facts.telemetry[0]?.value).toBe(0);
  });
});
