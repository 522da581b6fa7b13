/**
 * What the scope's objects count, in the text format 0.0.4 that Prometheus reads. Counters and histograms come from
 * totals that only grow; gauges from the queues as they stand. Times are in seconds, as the format wants them. [TEL-6]
 */
import { bucketsMs, type TelemetryTotal } from "./telemetry.ts";

export interface QueueFigures {
  readonly name: string;
  readonly queued: number;
  readonly leased: number;
  readonly dead: number;
  readonly oldest_at: string | null;
}
/** One object's own numbers. `queue_name` of an agent's totals is its inbox. */
export interface ObjectFigures {
  readonly name: string;
  readonly totals: readonly TelemetryTotal[];
  readonly queues: readonly QueueFigures[];
  /** Records that D1 has not confirmed. */
  readonly backlog: { readonly audit: number; readonly telemetry: number; readonly checkpoints: number };
}
export interface Figures {
  readonly objects: readonly ObjectFigures[];
  /** Objects that did not answer: their series are left out, and each is shown as not up. */
  readonly silent: readonly string[];
}

type Labels = Readonly<Record<string, string>>;

export function metricsText(figures: Figures, now_ms: number): string {
  const queues = figures.objects.flatMap((object) => object.queues);
  const totals = figures.objects.flatMap((object) =>
    object.totals.map((total) => ({ ...total, queue: total.queue_name === "inbox" ? object.name : total.queue_name })),
  );
  const gauge = (name: string, help: string, of: (queue: QueueFigures) => number) =>
    family(
      `countersign_queue_${name}`,
      "gauge",
      help,
      queues.map((queue) => [{ queue: queue.name }, of(queue)]),
    );
  const age = ({ oldest_at }: QueueFigures) =>
    oldest_at === null ? 0 : Math.max(0, now_ms - Date.parse(oldest_at)) / 1000;
  const counter = (name: string, event: TelemetryTotal["event_name"], help: string) => {
    const own = Map.groupBy(
      totals.filter(({ event_name }) => event_name === event),
      ({ queue }) => queue,
    );
    const samples = [...own].map(([queue, each]): [Labels, number] => [{ queue }, sum(each, ({ count }) => count)]);
    return family(name, "counter", help, samples);
  };
  const histogram = (name: string, event: TelemetryTotal["event_name"], help: string) =>
    histogramOf(
      name,
      help,
      totals.filter(({ event_name }) => event_name === event),
    );
  return [
    gauge("queued", "Messages that wait in the queue.", ({ queued }) => queued),
    gauge("leased", "Messages somebody works on.", ({ leased }) => leased),
    gauge("dead", "Dead letters.", ({ dead }) => dead),
    gauge("oldest_seconds", "Age of the oldest message that is waiting or worked on.", age),
    histogram("countersign_queue_wait_seconds", "queue_wait_ms", "From when a message could be taken to when it was."),
    histogram("countersign_lease_seconds", "lease_duration_ms", "How long messages were worked on, however it ended."),
    counter("countersign_lease_heartbeats_total", "lease_heartbeat", "Leases extended by their holder."),
    counter("countersign_lease_expired_total", "lease_expired", "Leases that ran out."),
    family(
      "countersign_records_backlog",
      "gauge",
      "Records the database has not confirmed.",
      figures.objects.flatMap(({ name, backlog }) =>
        Object.entries(backlog).map(([record, count]): [Labels, number] => [{ object: name, record }, count]),
      ),
    ),
    family(
      "countersign_object_up",
      "gauge",
      "Whether the object answered; without an answer its other series are left out.",
      [
        ...figures.objects.map(({ name }): [Labels, number] => [{ object: name }, 1]),
        ...figures.silent.map((name): [Labels, number] => [{ object: name }, 0]),
      ],
    ),
  ].join("");
}

function family(name: string, type: string, help: string, samples: readonly (readonly [Labels, number])[]): string {
  const lines = samples.map(([labels, value]) => sample(name, labels, value));
  return head(name, type, help) + lines.join("");
}
function histogramOf(name: string, help: string, totals: readonly (TelemetryTotal & { queue: string })[]): string {
  const lines = [...Map.groupBy(totals, ({ queue }) => queue)].flatMap(([queue, own]) => {
    const upTo = (bucket: number) =>
      sum(
        own.filter((total) => total.bucket <= bucket),
        ({ count }) => count,
      );
    return [
      ...bucketsMs.map((bound, at) => sample(`${name}_bucket`, { queue, le: String(bound / 1000) }, upTo(at))),
      sample(`${name}_bucket`, { queue, le: "+Inf" }, upTo(bucketsMs.length)),
      sample(`${name}_sum`, { queue }, sum(own, (total) => total.sum) / 1000),
      sample(`${name}_count`, { queue }, upTo(bucketsMs.length)),
    ];
  });
  return head(name, "histogram", help) + lines.join("");
}
function head(name: string, type: string, help: string): string {
  return `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} ${type}\n`;
}
function sample(name: string, labels: Labels, value: number): string {
  const said = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`);
  return `${name}{${said.join(",")}} ${value}\n`;
}
function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}
function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}
