/** A task, its plan and its card, as plausible as the service would make them. */

import type { ApprovalView } from "../../src/domain/approval-view.ts";
import type { EventView } from "../../src/domain/record-view.ts";
import type { TaskView } from "../../src/domain/view.ts";
import { openCard } from "../fakes/views.ts";
import { patch } from "./example-patch.ts";
import { policiesOf } from "./example-policy.ts";
import { lettersOf, queuesOf } from "./example-queues.ts";
import { FakeApi, hashOfPlan, sealed } from "./fake-api.ts";

export const plan = `---
title: Show the last page
goal: The pager lists every row, the last page included
items:
  - id: fix
    title: Correct the page count
    runner: steps
    allow:
      paths: ["src/**"]
    verify:
      - { run: ["npm", "test"] }
---
# Why

The pager computes its page count with \`Math.floor\`, so a *partial* last page is **never** shown.

- rows that fall on the last page cannot be reached
- the count above the table is wrong as well
  1. first here
  2. then there

> Reported by two customers.

## fix

Round up instead. The tests under \`test/\` already describe what is wanted.

\`\`\`sh
sed -i 's/Math.floor/Math.ceil/' src/pager.js
\`\`\`
`;

const commit = "3f9c0a7d5be21c4486a09e1f0c6d7b8a91e2f304";
const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

export function cardOf(id: string, text = plan, change: Partial<ApprovalView["card"]> = {}): ApprovalView {
  const item = {
    id: "fix",
    item_hash: hashOfPlan(`${text}fix`),
    title: "Correct the page count",
    runner: "steps",
    depends_on: [],
    grants: {
      tools: ["shell_execute"],
      paths: ["src/**", "package.json"],
      commands: ["npm test", "npx vitest *"],
      hosts: [],
      secrets: [],
    },
    protect: ["test/**", ".npmrc", "package.json#scripts"],
    verify: [["npm", "test"]],
    steps: ["sed -i 's/Math.floor/Math.ceil/' src/pager.js\n"],
    max_attempts: 3,
  };
  return sealed({
    id,
    kind: "plan",
    task_id: "task-1",
    agent_id: "planner",
    tool_name: null,
    arguments: null,
    requested_at: ago(4),
    status: "pending",
    resolved_at: null,
    card: {
      kind: "plan",
      title: "Show the last page",
      why: "A plan runs only after a person has countersigned it.",
      repo: "https://git.example.org/acme/pager.git",
      base_commit: commit,
      publishes: "countersign/task-1",
      plan_hash: hashOfPlan(text),
      environment: { setup: [["npm", "ci"]], hosts: ["registry.example.org"], cache: ["npm"] },
      items: [
        item,
        {
          ...item,
          id: "note",
          title: "Tell it in the changelog",
          depends_on: ["fix"],
          grants: { ...item.grants, hosts: ["docs.example.org"] },
        },
      ],
      tool: null,
      facts: [],
      budget: { tokens: 200_000, usd: 2, minutes: 30 },
      taint: "member",
      policy_hash: hashOfPlan("policy"),
      requested_by: "ada",
      ...change,
    },
    content_hash: "",
    rule: "plan.needs_approval",
    decisions: [],
    ...openCard,
  });
}

export function toolCard(id: string): ApprovalView {
  const base = cardOf(id, plan, {
    kind: "tool_call",
    title: "Run npm publish --dry-run",
    why: "This command is outside what the plan grants.",
    plan_hash: null,
    publishes: null,
    environment: null,
    items: [],
    budget: null,
    taint: "web",
    tool: {
      name: "shell_execute",
      arguments: '{"command":"npm publish --dry-run","timeout_s":60}',
      workspace_tree: commit,
    },
    facts: ["The attempt is suspended until this is decided", "The workspace holds one changed file: src/pager.js"],
  });
  return sealed({
    ...base,
    kind: "tool_call",
    agent_id: "crew-1",
    tool_name: "shell_execute",
    rule: "tool.shell_execute",
    requested_at: ago(55),
  });
}

export function taskOf(id: string, change: Partial<TaskView> = {}): TaskView {
  return {
    id,
    trace_id: `trace-${id}-0123456789abcdef`,
    title: "Show the last page",
    status: "waiting",
    waiting_on: "plan",
    phase: "planning",
    repo: { url: "https://git.example.org/acme/pager.git", ref: "main" },
    labels: [],
    branch: null,
    created_by: "ada",
    created_at: ago(6),
    updated_at: ago(4),
    ended_at: null,
    error_code: null,
    reason: null,
    description: "The last page is missing when the rows do not divide evenly.",
    base_commit: commit,
    commit: null,
    plan: {
      id: "plan-1",
      version: 1,
      status: "in_review",
      title: "Show the last page",
      goal: "The pager lists every row, the last page included",
      plan_hash: hashOfPlan(plan),
      markdown: plan,
    },
    items: [],
    attempts: [],
    phases: (["discovery", "context_gathering", "spec_creation"] as const).map((phase) => ({
      ...{ phase, outcome: "completed", started_at: ago(6), duration_ms: 140, tokens: 0 },
    })),
    unknown_effects: [],
    pending_approvals: ["card-1"],
    ...change,
  };
}

export function doneTask(id: string): TaskView {
  const waiting = taskOf(id);
  const phases = (["planning", "coding", "qa", "merging"] as const).map((phase, index) => ({
    ...{ phase, outcome: "completed" as const, started_at: ago(4), duration_ms: 2_345 * (index + 1), tokens: 0 },
  }));
  const check = {
    argv: ["npm", "test"],
    exit_code: 0,
    timed_out: false,
    duration_ms: 1_840,
    output: "\u001b[32m✓\u001b[39m 12 tests passed\r\n",
  };
  const attempt: TaskView["attempts"][number] = {
    id: "attempt-2",
    work_item_id: "plan-1.fix",
    number: 2,
    state: "done",
    agent: "crew-1",
    baseline: commit,
    error_code: null,
    detail: null,
    started_at: ago(3),
    ended_at: ago(2.8),
    patch: { files: [{ path: "src/pager.js", change: "modified", old_mode: "100644", mode: "100644" }], bytes: 412 },
    verifications: [
      { verdict: "pass", detail: "All checks passed in a clean checkout.", checks: [check], parent: commit, commit },
    ],
  };
  const failed = { ...check, exit_code: 1, output: "not ok 3 - the last page is shown\r\n  expected 4, got 3\r\n" };
  return {
    ...waiting,
    ...{
      status: "done",
      waiting_on: null,
      phase: "complete",
      branch: "countersign/task-1",
      commit,
      unknown_effects: [],
      pending_approvals: [],
      ended_at: ago(1),
    },
    phases: [...waiting.phases, ...phases],
    items: [
      {
        id: "plan-1.fix",
        item_id: "fix",
        title: "Correct the page count",
        runner: "steps",
        state: "done",
        outcome: "done",
        depends_on: [],
        attempts_used: 2,
        max_attempts: 3,
      },
    ],
    attempts: [
      {
        ...attempt,
        id: "attempt-1",
        number: 1,
        state: "failed",
        error_code: "verification_failed",
        detail: "npm test failed with exit code 1.",
        verifications: [{ verdict: "fail", detail: "One check failed.", checks: [failed], parent: null, commit: null }],
      },
      attempt,
    ],
  };
}

export function eventOf(seq: number, type: string, fields: Partial<EventView> = {}): EventView {
  const rest = {
    scope_id: "s".repeat(16),
    trace_id: null,
    at: ago(0),
    actor: "runtime",
    surfaces: ["activity" as const],
    detail: null,
  };
  return { ...rest, seq, type, task_id: "task-1", ...fields };
}

/** A scope with two cards, two tasks and some life. */
export function exampleApi(): FakeApi {
  const api = new FakeApi();
  api.approvals = [cardOf("card-1"), toolCard("card-2")];
  api.tasks = [taskOf("task-1"), { ...doneTask("task-2"), title: "Round the totals to cents" }];
  api.patch = patch;
  api.output = ["$ sed -i 's/Math.floor/Math.ceil/' src/pager.js\r\n", "\u001b[1mrunning\u001b[0m 1 of 1\r\n"];
  api.agents = (["proxy", "planner", "verifier", "crew-1"] as const).map((name) => ({
    ...{
      name,
      role: name === "crew-1" ? "executor" : name,
      state: "active",
      activity: name === "crew-1" ? "working" : "ready",
    },
    ...{
      word: name === "crew-1" ? "Working" : "Ready",
      current: name === "crew-1" ? "Correct the page count" : null,
      last_seen: ago(1),
    },
  }));
  api.queues = queuesOf();
  api.policies = policiesOf();
  api.letters = { proxy: lettersOf("proxy") };
  api.events = [
    eventOf(1, "task_created", { actor: "ada", detail: "Show the last page", surfaces: ["stream"] }),
    eventOf(2, "phase_start:discovery"),
    eventOf(3, "plan_ready", { actor: "planner", surfaces: ["review"], detail: "A plan of 2 items is ready" }),
    eventOf(4, "approval_requested", { surfaces: ["review"] }),
    eventOf(5, "agent_working", { actor: "crew-1" }),
    eventOf(6, "agent_output", {
      actor: "crew-1",
      attempt_id: "attempt-2",
      offset: 0,
      text: "added 12 packages\nin 2 s\n",
    }),
  ];
  return api;
}
