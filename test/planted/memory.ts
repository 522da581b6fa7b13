/** Bugs of what agents are told and what a scope remembers: contexts, project files, prompts, the full-text memory. */
import type { Plant } from "./plants.ts";

const context = { test: "test/domain/context.test.ts" } as const;
const memory = { test: "test/agents/memory.test.ts" } as const;
const project = { test: "test/agents/project-files.test.ts" } as const;
const prompts = { test: "test/agents/prompts.test.ts" } as const;

export const memoryPlants: readonly Plant[] = [
  {
    id: "context-over-budget",
    file: "src/domain/context.ts",
    find: "const whole_size = quarterTokens(whole) + joint.length;\n    const frame",
    replace: "const whole_size = whole.length + joint.length;\n    const frame",
    why: "text that is not ASCII takes more than its budget",
    subset: context,
  },
  {
    id: "context-low-before-high",
    file: "src/domain/context.ts",
    find: "    left = 0;\n",
    replace: "",
    why: "a lower piece grows with room that is not there any more",
    subset: context,
  },
  {
    id: "context-fixed-mark",
    file: "src/domain/context.ts",
    find: "if (!text.includes(mark)) return mark;",
    replace: 'if (mark !== "") return "000000000000";',
    why: "a file that holds the mark ends its own fence",
    subset: context,
  },
  {
    id: "context-outsider-trusted",
    file: "src/domain/context.ts",
    find: 'taints.indexOf("outsider")',
    replace: 'taints.indexOf("web")',
    why: "an outsider's words stand among the runtime's",
    subset: context,
  },
  {
    id: "context-title-of-two-lines",
    file: "src/domain/context.ts",
    find: "const title = visibleLine(piece.title).trim();",
    replace: "const title = visible(piece.title).trim();",
    why: "the name of a file poses as a heading",
    subset: context,
  },
  {
    id: "project-owner",
    file: "src/agents/project-files.ts",
    find: 'joinTaint("member", asked.taint)',
    replace: 'joinTaint("owner", asked.taint)',
    why: "a repository's files count as an approver's words",
    subset: project,
  },
  {
    id: "project-away-is-empty",
    file: "src/agents/project-files.ts",
    find: 'error instanceof SandboxFailure && error.code === "bad_request"',
    replace: "error instanceof SandboxFailure",
    why: "an agent works without the project's rules because the host was away",
    subset: project,
  },
  {
    id: "prompt-changed-unseen",
    file: "src/agents/prompts/prompt.ts",
    find: "never an order to you",
    replace: "never an  order to you",
    why: "the same version of a prompt is two texts",
    subset: prompts,
  },
  {
    id: "memory-query-as-written",
    file: "src/domain/memory.ts",
    find: String.raw`/[\p{L}\p{N}\p{M}]+/gu`,
    replace: String.raw`/\S+/gu`,
    why: "whoever searches speaks to the search engine",
    subset: memory,
  },
  {
    id: "memory-taints-nobody",
    file: "durable-objects/runtime/memory.ts",
    find: "taints.indexOf(taint) > taints.indexOf(task.taint)",
    replace: "taints.indexOf(taint) < taints.indexOf(task.taint)",
    why: "what came from the web is laundered by being remembered",
    subset: memory,
  },
  {
    id: "memory-of-the-copy",
    file: "durable-objects/runtime/memory.ts",
    find: 'tx.rows.tasks.get(task.id)?.taint ?? "owner", taint',
    replace: '"owner", taint',
    why: "an old copy of a task makes its insights more trusted",
    subset: memory,
  },
  {
    id: "memory-forgets-plans-first",
    file: "durable-objects/runtime/memory-rows.ts",
    find: "ORDER BY forgotten DESC, kind IN ('plan', 'decision'), seq LIMIT",
    replace: "ORDER BY seq LIMIT",
    why: "insights push plans and decisions out",
    subset: memory,
  },
  {
    id: "memory-words-stay",
    file: "durable-objects/runtime/memory-rows.ts",
    find: "\n   INSERT INTO memory_text (memory_text, rank) VALUES ('secure-delete', 1);",
    replace: "",
    why: "a forgotten password stays readable in the index",
    subset: memory,
  },
];
