/** What a group answers, and how it is shown: rows of named figures, each with its durability, and the targets. */

export interface Row {
  readonly what: string;
  /** Units stand last in each name. Null when it was not measured; `note` says why. */
  readonly figures: Readonly<Record<string, number | null>>;
  /** What has reached the disk when a call returns. */
  readonly durable: string;
  readonly note?: string;
}
export interface Target {
  readonly what: string;
  readonly limit: number;
  readonly better: "at_least" | "at_most";
  readonly unit: string;
  /** Null when something it needs was not measured. */
  readonly seen: number | null;
}
export interface Table {
  readonly title: string;
  /** How it was measured, in a sentence or two. */
  readonly how: string;
  readonly rows: readonly Row[];
  readonly targets: readonly Target[];
}

export function isMet({ limit, better, seen }: Target): boolean | null {
  if (seen === null) return null;
  return better === "at_least" ? seen >= limit : seen <= limit;
}

export function show(table: Table): string {
  const names = [...new Set(table.rows.flatMap((row) => Object.keys(row.figures)))];
  const header = ["", ...names, "on disk when a call returns"];
  const body = table.rows.map((row) => [row.what, ...names.map((name) => figure(row.figures[name])), row.durable]);
  const notes = table.rows.flatMap(({ what, note }) => (note === undefined ? [] : [`  ${what}: ${note}`]));
  return [table.title, table.how, "", ...align([header, ...body]), ...notes, ...table.targets.map(sentence)].join("\n");
}

function sentence(target: Target): string {
  const met = isMet(target);
  const word = met === null ? "NOT MEASURED" : met ? "met" : "MISSED";
  const limit = `${target.better === "at_least" ? "at least" : "at most"} ${figure(target.limit)} ${target.unit}`;
  return `target: ${target.what}: ${limit}; seen ${figure(target.seen)} -> ${word}`;
}

/** Three digits that count: more would claim what was not seen. */
export function figure(value: number | null | undefined): string {
  if (value === undefined) return "";
  if (value === null) return "-";
  if (Math.abs(value) >= 1_000) return Math.round(Number(value.toPrecision(3))).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

/** The first and the last column are text, those between are numbers. */
function align(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) => {
    const cells = row.map((cell, at) =>
      at === 0 || at === row.length - 1 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
    );
    return `  ${cells.join("  ")}`.trimEnd();
  });
}
