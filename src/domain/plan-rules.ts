/** What must hold between the items of a plan, and between an item and its section. [PLAN-*] */
import { limits } from "../limits.ts";
import { plannerShare } from "./budget.ts";
import { isLiteralGlob, matchesAny } from "./glob.ts";
import type { PlanProblem, Section } from "./plan-document.ts";
import { dependenciesOf, findCycle } from "./plan-order.ts";
import type { Plan, WrittenItem } from "./plan-shape.ts";
import type { FrontMatter } from "./plan-yaml.ts";

/** As much of an item as could be read; `index` is its place in the list. */
export interface ItemSketch {
  readonly index: number;
  readonly id: string;
  readonly depends_on: readonly string[];
  readonly runner: string;
  /** Null when the item has a problem of its own. */
  readonly written: WrittenItem | null;
}

/** Reads as much as can be read of a list whose items may be anything. */
export function sketch(index: number, raw: unknown, written: WrittenItem | null): ItemSketch | null {
  if (typeof raw !== "object" || raw === null || !("id" in raw) || typeof raw.id !== "string") return null;
  const depends =
    "depends_on" in raw && Array.isArray(raw.depends_on) ? raw.depends_on.filter((id) => typeof id === "string") : [];
  const runner = "runner" in raw && typeof raw.runner === "string" ? raw.runner : "loop";
  return { index, id: raw.id, depends_on: depends, runner, written };
}

export function itemProblems(items: readonly ItemSketch[], matter: FrontMatter): PlanProblem[] {
  const problems: PlanProblem[] = [];
  const known = new Set(items.map((item) => item.id));
  const seen = new Set<string>();
  const report = (item: ItemSketch, path: readonly PropertyKey[], message: string): void => {
    problems.push({ ...matter.at(["items", item.index, ...path]), message: `${item.id}: ${message}` });
  };
  for (const item of items) {
    if (seen.has(item.id)) report(item, ["id"], "this id stands twice: give each item its own");
    seen.add(item.id);
    item.depends_on.forEach((id, index) => {
      if (!known.has(id))
        report(item, ["depends_on", index], `depends on "${id.slice(0, 60)}", which is not an item of this plan`);
      else if (item.depends_on.indexOf(id) < index) report(item, ["depends_on", index], `names "${id}" twice`);
    });
    const before = dependenciesOf(items, item.id);
    item.written?.input_artifacts_from.forEach((id, index) => {
      if (!before.has(id))
        report(
          item,
          ["input_artifacts_from", index],
          `takes artifacts from "${id}", which it does not depend on: add it to depends_on`,
        );
    });
    contradictions(item, (path, message) => report(item, path, message));
  }
  const cycle = findCycle(items);
  const first = items.find((item) => item.id === cycle?.[0]);
  if (cycle !== null && first !== undefined)
    report(first, ["depends_on"], `items wait for each other in a circle: ${cycle.join(" -> ")}`);
  return problems;
}

/** A file granted by name and protected by the same item can never be changed: one of the two is a mistake. */
function contradictions(item: ItemSketch, report: (path: readonly PropertyKey[], message: string) => void): void {
  item.written?.allow.paths.forEach((path, index) => {
    if (isLiteralGlob(path) && matchesAny(item.written?.protect ?? [], path))
      report(["allow", "paths", index], `"${path}" is granted here and protected below: remove one of the two`);
  });
}

/** Shares of the items against what the plan has. */
export function budgetProblems(
  budget: Plan["budget"],
  items: readonly ItemSketch[],
  matter: FrontMatter,
): PlanProblem[] {
  const problems: PlanProblem[] = [];
  for (const unit of ["tokens", "usd"] as const) {
    const total = items.reduce((sum, item) => sum + (item.written?.budget[unit] ?? 0), 0);
    // A hair of slack, so that shares like 0.1 + 0.7 of 1 are not refused for binary fractions.
    const most = budget[unit] * (1 - plannerShare);
    if (total > most * (1 + 1e-9))
      problems.push({
        ...matter.at(["budget", unit]),
        message: `the items' shares of ${unit} come to ${total}, more than ${Number(most.toFixed(6))}: at least 20 % of the plan's ${budget[unit]} stays the planner's`,
      });
  }
  for (const item of items) {
    const minutes = item.written?.budget.minutes ?? 0;
    if (budget.minutes !== null && minutes > budget.minutes)
      problems.push({
        ...matter.at(["items", item.index, "budget", "minutes"]),
        message: `${item.id}: ${minutes} minutes are more than the plan's ${budget.minutes}`,
      });
  }
  return problems;
}

export function sectionProblems(
  items: readonly ItemSketch[],
  sections: readonly Section[],
  matter: FrontMatter,
): PlanProblem[] {
  const problems: PlanProblem[] = [];
  const known = new Set(items.map((item) => item.id));
  const seen = new Set<string>();
  for (const section of sections) {
    const at = { line: section.line, column: 1 };
    const id = section.id.slice(0, 60);
    if (!known.has(section.id))
      problems.push({
        ...at,
        message: `no item has the id "${id}": correct it, or use ### for a heading inside a section`,
      });
    if (seen.has(section.id)) problems.push({ ...at, message: `the section "${id}" stands twice: join them` });
    seen.add(section.id);
  }
  for (const item of items) {
    const section = sections.find((candidate) => candidate.id === item.id);
    if (section === undefined || section.markdown === "")
      problems.push({
        ...matter.at(["items", item.index, "id"]),
        message: `${item.id}: has no briefing: write a section "## ${item.id.slice(0, 60)}" below the front matter`,
      });
    // The whole of it is told to a model as its owner's words, so the whole of it must stand on the card.
    if (section !== undefined && item.runner !== "steps" && section.markdown.length > limits.card_section_chars)
      problems.push({
        line: section.line,
        column: 1,
        message: `${item.id}: its section has ${section.markdown.length} characters, and a card shows at most ${limits.card_section_chars}: shorten it, or put the rest in a file of the repository`,
      });
    if (section !== undefined && item.runner === "steps") problems.push(...stepProblems(item.id, section));
  }
  return problems;
}

/** In a `steps` item whatever looks like a step is one, or is reported. */
function stepProblems(id: string, section: Section): PlanProblem[] {
  const problems: PlanProblem[] = [];
  const steps = section.fences.filter((fence) => fence.language === "sh");
  if (steps.length === 0)
    problems.push({
      line: section.line,
      column: 1,
      message: `${id}: runner steps needs at least one fenced sh block in its section`,
    });
  if (steps.length > limits.plan_steps)
    problems.push({
      line: section.line,
      column: 1,
      message: `${id}: has ${steps.length} steps, at most ${limits.plan_steps} are allowed: join some`,
    });
  for (const fence of section.fences) {
    if (fence.language === "sh" && fence.text.trim() === "")
      problems.push({ line: fence.line, column: 1, message: `${id}: this step is empty` });
    if (/^(?:bash|shell|zsh|SH|Sh|sH)$/.test(fence.language))
      problems.push({
        line: fence.line,
        column: 1,
        message: `${id}: a block marked ${fence.language} is not a step: mark it sh, or text if it only shows something`,
      });
  }
  for (const line of section.strays)
    problems.push({
      line,
      column: 1,
      message: `${id}: this block is not at the left margin and would not run: move it there`,
    });
  return problems;
}
