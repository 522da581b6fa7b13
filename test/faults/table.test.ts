/** The table of faults is whole, true to the specification and to the tests, and shown as it is. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Cell, columns, table } from "./table.ts";

const tests = join(import.meta.dirname, "..");
const rows = Object.entries(table);
const cells = rows.flatMap(([name, row]) => columns.map((column) => ({ name, column, cell: row[column] as Cell })));

describe("the table of faults", () => {
  it("[FLT-28] has a cell for each moment of each row: rules, or why there is no such moment", () => {
    expect(cells.length).toBeGreaterThanOrEqual(100);
    const empty = cells.filter(({ cell }) => ("rule" in cell ? cell.rule : cell.reason).trim() === "");
    expect(empty).toEqual([]);
    for (const { cell } of cells) if ("reason" in cell) expect(cell.reason).toMatch(/^[A-Z].{20,}\.$/);
  });

  it("[FLT-28] each of its rules stands in the specification and in a test's name", () => {
    const spec = readFileSync(join(tests, "SPEC.md"), "utf8");
    const named = readdirSync(tests, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => readFileSync(join(tests, path), "utf8"))
      .join("\n");
    const rules = new Set(cells.flatMap(({ cell }) => ("rule" in cell ? cell.rule.split(" ") : [])));
    const untold = [...rules].filter((rule) => !spec.includes(`- **${rule}** `));
    const untested = [...rules].filter((rule) => !new RegExp(`["'\`](?:\\[[A-Z0-9-]+\\] ?)*\\[${rule}\\]`).test(named));
    expect({ untold, untested }).toEqual({ untold: [], untested: [] });
  });

  it("[FLT-28] README.md shows it as it is", () => {
    const shown = readFileSync(join(import.meta.dirname, "README.md"), "utf8").split("\n");
    expect(shown.filter((line) => line.startsWith("|"))).toEqual(rendered());
  });
});

function rendered(): string[] {
  const text = (cell: Cell) => ("rule" in cell ? cell.rule : cell.reason);
  const line = (each: readonly string[]) => `| ${each.join(" | ")} |`;
  const head = ["fault at", ...columns];
  const lines = rows.map(([name, row]) => line([name, ...columns.map((column) => text(row[column]))]));
  return [line(head), line(head.map(() => "---")), ...lines];
}
