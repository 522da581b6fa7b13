/** A small strict reader of the Prometheus text format 0.0.4: it throws at whatever a scraper might trip over. */

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
export interface Metrics {
  readonly samples: readonly Sample[];
  readonly types: ReadonlyMap<string, string>;
  /** Of the one sample with these labels. */
  value(name: string, labels: Readonly<Record<string, string>>): number;
}

const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const labelText = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(,|$)/;

export function parseMetrics(text: string): Metrics {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  const seen = new Set<string>();
  for (const line of text.split("\n").slice(0, -1)) {
    const meta = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (meta !== null) {
      const [, kind, name = "", said = ""] = meta;
      if (kind === "HELP") continue;
      if (types.has(name)) throw new Error(`${name} has two types`);
      if (!["counter", "gauge", "histogram"].includes(said)) throw new Error(`${said} is no type`);
      types.set(name, said);
      continue;
    }
    const found = sampleLine.exec(line);
    if (found === null) throw new Error(`this is no sample: ${line}`);
    const sample = { name: found[1] ?? "", labels: labelsIn(found[2] ?? ""), value: numberIn(found[3] ?? "") };
    const key = keyOf(sample.name, sample.labels);
    if (seen.has(key)) throw new Error(`this sample stands twice: ${line}`);
    seen.add(key);
    if (!types.has(sample.name) && types.get(familyOf(sample.name)) !== "histogram")
      throw new Error(`${sample.name} has no type above it`);
    samples.push(sample);
  }
  for (const [name, type] of types) if (type === "histogram") checkHistogram(name, samples);
  const byKey = new Map(samples.map((sample) => [keyOf(sample.name, sample.labels), sample.value]));
  return {
    samples,
    types,
    value(name, labels) {
      const value = byKey.get(keyOf(name, labels));
      if (value === undefined) throw new Error(`there is no ${keyOf(name, labels)}`);
      return value;
    },
  };
}

function labelsIn(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (let rest = text; rest !== ""; ) {
    const found = labelText.exec(rest);
    if (found === null) throw new Error(`these are no labels: ${rest}`);
    const [whole, name = "", value = ""] = found;
    if (Object.hasOwn(labels, name)) throw new Error(`the label ${name} stands twice`);
    labels[name] = value.replaceAll(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter));
    rest = rest.slice(whole.length);
  }
  return labels;
}
function numberIn(text: string): number {
  if (text === "+Inf") return Number.POSITIVE_INFINITY;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) throw new Error(`${text} is no number`);
  return Number(text);
}
function familyOf(name: string): string {
  return name.replace(/_(bucket|sum|count)$/, "");
}
function keyOf(name: string, labels: Readonly<Record<string, string>>): string {
  return JSON.stringify([name, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);
}

function checkHistogram(name: string, samples: readonly Sample[]): void {
  const own = samples.filter((sample) => familyOf(sample.name) === name);
  const series = Map.groupBy(own, ({ labels: { le: _, ...rest } }) => keyOf(name, rest));
  for (const each of series.values()) {
    const buckets = each.filter((sample) => sample.name.endsWith("_bucket"));
    const bounds = buckets.map(({ labels }) => numberIn(labels.le ?? ""));
    const count = each.find((sample) => sample.name.endsWith("_count"));
    const sum = each.find((sample) => sample.name.endsWith("_sum"));
    if (count === undefined || sum === undefined) throw new Error(`${name} lacks its count or its sum`);
    if (bounds.at(-1) !== Number.POSITIVE_INFINITY) throw new Error(`${name} does not end with +Inf`);
    for (const [at, bucket] of buckets.entries()) {
      const before = buckets[at - 1];
      if (before === undefined) continue;
      if ((bounds[at] ?? 0) <= (bounds[at - 1] ?? 0) || bucket.value < before.value)
        throw new Error(`the buckets of ${name} do not grow`);
    }
    if (buckets.at(-1)?.value !== count.value) throw new Error(`the last bucket of ${name} is not its count`);
  }
}
