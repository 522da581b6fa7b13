/**
 * Plan markdown -> the plan a person approves. Every problem is reported with its line and column,
 * and a document with a problem is no plan. [PLAN-*]
 */

import type { PlanProblem, Section } from "./plan-document.ts";
import { splitDocument } from "./plan-document.ts";
import { readShape } from "./plan-explain.ts";
import { defaultProtect } from "./plan-protect.ts";
import type { ItemSketch } from "./plan-rules.ts";
import { budgetProblems, itemProblems, sectionProblems, sketch } from "./plan-rules.ts";
import type { Plan, PlanItem, WrittenItem } from "./plan-shape.ts";
import { writtenHead, writtenItem } from "./plan-shape.ts";
import type { FrontMatter } from "./plan-yaml.ts";
import { readFrontMatter } from "./plan-yaml.ts";

export type { PlanProblem } from "./plan-document.ts";
export type { Plan, PlanItem } from "./plan-shape.ts";

const maxProblems = 200;

export type PlanReading =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly problems: readonly PlanProblem[] };

export function parsePlan(markdown: string): PlanReading {
  const document = splitDocument(markdown);
  if (document.frontMatter === null) return refused(document.problems);
  const matter = readFrontMatter(document.frontMatter.text, document.frontMatter.first_line);
  if (matter.value === undefined) return refused([...document.problems, ...matter.problems]);
  const head = readShape(writtenHead, matter.value, { matter, path: [], name: "" });
  const items = readItems(matter);
  const problems = [
    ...document.problems,
    ...matter.problems,
    ...head.problems,
    ...items.problems,
    ...itemProblems(items.sketches, matter),
    ...sectionProblems(items.sketches, document.sections, matter),
    ...(head.value === null ? [] : budgetProblems(head.value.budget, items.sketches, matter)),
  ];
  if (head.value === null || problems.length > 0) return refused(problems);
  const written = items.sketches.flatMap((item) => (item.written === null ? [] : [item.written]));
  return { ok: true, plan: { ...head.value, items: written.map((item) => complete(item, document.sections)) } };
}

function refused(problems: readonly PlanProblem[]): PlanReading {
  const ordered = problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
  if (ordered.length <= maxProblems) return { ok: false, problems: ordered };
  const more = { line: 1, column: 1, message: `${ordered.length} problems; the first ${maxProblems} are listed` };
  return { ok: false, problems: [more, ...ordered.slice(0, maxProblems)] };
}

function readItems(matter: FrontMatter): { sketches: ItemSketch[]; problems: PlanProblem[] } {
  const value = matter.value;
  const raw: unknown[] =
    typeof value === "object" && value !== null && "items" in value && Array.isArray(value.items) ? value.items : [];
  const sketches: ItemSketch[] = [];
  const problems: PlanProblem[] = [];
  // The rules between items take time quadratic in their number; the list's own limit is reported by its shape.
  raw.slice(0, 2 * maxProblems).forEach((item, index) => {
    const read = readShape(writtenItem, item, { matter, path: ["items", index], name: `items[${index + 1}]` });
    problems.push(...read.problems);
    const outline = sketch(index, item, read.value);
    if (outline !== null) sketches.push(outline);
  });
  return { sketches, problems };
}

function complete(item: WrittenItem, sections: readonly Section[]): PlanItem {
  const section = sections.find((candidate) => candidate.id === item.id);
  const steps = item.runner === "steps" ? (section?.fences ?? []).filter((fence) => fence.language === "sh") : [];
  return {
    ...item,
    title: item.title ?? item.id,
    touches: { paths: item.touches?.paths ?? item.allow.paths, services: item.touches?.services ?? [] },
    protect: [...new Set([...item.protect, ...defaultProtect(item)])],
    section: section?.markdown ?? "",
    steps: steps.map((fence) => fence.text),
  };
}
