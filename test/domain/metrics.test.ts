import { describe, expect, it } from "vitest";
import { type Figures, metricsText } from "../../src/domain/metrics.ts";
import { bucketsMs } from "../../src/domain/telemetry.ts";
import { parseMetrics } from "../fakes/prometheus.ts";

const figures: Figures = {
  silent: ["crew-2"],
  objects: [
    {
      name: "runtime",
      totals: [
        { event_name: "queue_wait_ms", queue_name: "executor_queue", bucket: 0, count: 2, sum: 15 },
        {
          event_name: "queue_wait_ms",
          queue_name: "executor_queue",
          bucket: bucketsMs.length,
          count: 1,
          sum: 2_000_000,
        },
        { event_name: "lease_expired", queue_name: "executor_queue", bucket: 0, count: 3, sum: 3 },
        { event_name: "lease_heartbeat", queue_name: "executor_queue", bucket: 0, count: 4, sum: 10 },
        { event_name: "lease_heartbeat", queue_name: "executor_queue", bucket: 1, count: 1, sum: 20 },
      ],
      queues: [{ name: "executor_queue", queued: 4, leased: 1, dead: 2, oldest_at: "1970-01-01T00:00:01.000Z" }],
      backlog: { audit: 7, telemetry: 0, checkpoints: 1 },
    },
    {
      name: 'odd"name\\\n',
      totals: [{ event_name: "lease_duration_ms", queue_name: "inbox", bucket: 3, count: 1, sum: 200 }],
      queues: [{ name: 'odd"name\\\n', queued: 0, leased: 0, dead: 0, oldest_at: null }],
      backlog: { audit: 0, telemetry: 0, checkpoints: 0 },
    },
  ],
};

describe("metrics", () => {
  it("[TEL-6] the text is Prometheus' format: every sample has a type, labels are escaped, buckets grow to +Inf, which is the count", () => {
    const parsed = parseMetrics(metricsText(figures, 5_000));
    const value = (name: string, labels: Record<string, string>) => parsed.value(name, labels);
    expect(value("countersign_queue_queued", { queue: "executor_queue" })).toBe(4);
    expect(value("countersign_queue_oldest_seconds", { queue: "executor_queue" })).toBe(4);
    expect(value("countersign_queue_wait_seconds_bucket", { queue: "executor_queue", le: "0.01" })).toBe(2);
    expect(value("countersign_queue_wait_seconds_bucket", { queue: "executor_queue", le: "+Inf" })).toBe(3);
    expect(value("countersign_queue_wait_seconds_count", { queue: "executor_queue" })).toBe(3);
    expect(value("countersign_queue_wait_seconds_sum", { queue: "executor_queue" })).toBeCloseTo(2_000.015);
    expect(value("countersign_lease_heartbeats_total", { queue: "executor_queue" })).toBe(5);
    expect(value("countersign_lease_expired_total", { queue: "executor_queue" })).toBe(3);
    // An agent's inbox goes by the agent's name, whatever letters stand in it.
    expect(value("countersign_lease_seconds_count", { queue: 'odd"name\\\n' })).toBe(1);
    expect(value("countersign_records_backlog", { object: "runtime", record: "audit" })).toBe(7);
    expect(value("countersign_object_up", { object: "runtime" })).toBe(1);
    expect(value("countersign_object_up", { object: "crew-2" })).toBe(0);
    expect(parsed.types.get("countersign_queue_wait_seconds")).toBe("histogram");
  });
  it("[TEL-6] the parser of the tests refuses what is not the format", () => {
    const good = '# HELP a b\n# TYPE a counter\na{x="1"} 1\n';
    expect(parseMetrics(good).value("a", { x: "1" })).toBe(1);
    const type = "# TYPE h histogram\n";
    const bad = [
      "a 1\n",
      good.slice(0, -1),
      `${good}a{x="1"} 2\n`,
      good.replace('"1"', '"1'),
      good.replace("} 1", "} one"),
      good.replace('"1"', '"\\q"'),
      `${good}# TYPE a counter\n`,
      `${type}h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n`,
      `${type}h_bucket{le="1"} 1\nh_sum 1\nh_count 1\n`,
    ];
    for (const text of bad) expect(() => parseMetrics(text), text).toThrow();
  });
});
