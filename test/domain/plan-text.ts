/** Plan documents for the tests: a good one, and the same with something put in or left out. */

import type { Plan } from "../../src/domain/plan.ts";
import { parsePlan } from "../../src/domain/plan.ts";

export const fullPlan = `---
title: Show the last page
goal: The pager lists every row, the last page included
budget: { tokens: 200000, usd: 2.00, minutes: 30 }
environment:
  setup: [["npm", "ci"]]
  hosts: [npm]
  cache: [npm]
items:
  - id: fix
    title: Correct the page count
    runner: loop
    depends_on: []
    touches: { paths: ["src/pager.ts"], services: [] }
    allow:
      tools: [file_write, file_edit, shell_execute]
      paths: ["src/**"]
      commands: ["npm test", "npx vitest *"]
      hosts: []
      secrets: []
    protect: ["test/**"]
    verify:
      - { run: ["npm", "test"], timeout_s: 120 }
    max_attempts: 3
    on_stuck: consult_planner
    budget: { tokens: 100000 }
    skills: []
    input_artifacts_from: []
---
## fix
The briefing, in prose.
`;

/** One item a line of YAML (flow maps), with a section each; `head` and `sections` may be replaced. */
export function planOf(items: readonly string[], more: { head?: string; sections?: string } = {}): string {
  const ids = items.map((item) => /id: *([\w-]+)/.exec(item)?.[1] ?? "none");
  const sections = more.sections ?? ids.map((id) => `## ${id}\nDo it.\n`).join("\n");
  return `---\ntitle: t\ngoal: g\n${more.head ?? ""}items:\n${items.map((item) => `  - { ${item} }\n`).join("")}---\n${sections}`;
}

/** A plan of one `steps` item with this body in its section. */
export function stepsPlan(body: string): string {
  return planOf(["id: a, runner: steps, verify: none"], { sections: `## a\n${body}` });
}

/** The plan that a document holds; a document that holds none fails the test. */
export function good(markdown: string): Plan {
  const read = parsePlan(markdown);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.plan;
}
/** `line:column message` of each problem. */
export function problems(markdown: string): string[] {
  const read = parsePlan(markdown);
  return read.ok ? [] : read.problems.map((problem) => `${problem.line}:${problem.column} ${problem.message}`);
}
