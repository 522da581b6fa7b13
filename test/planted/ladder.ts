/** Bugs of the ladder and of what thinking costs: what a hurried hand might write between two rungs or two charges. */
import type { Plant } from "./plants.ts";

const rules = { test: "test/domain/attempt.test.ts" } as const;
const ladder = { test: "test/agents/ladder.test.ts" } as const;
const replanning = { test: "test/agents/replan.test.ts" } as const;
const charging = { test: "test/agents/charges.test.ts" } as const;
const shares = { test: "test/domain/budget.test.ts" } as const;

const guidance = "durable-objects/runtime/guidance.ts";
const replan = "durable-objects/runtime/replan.ts";
const charges = "durable-objects/runtime/charges.ts";
const budgets = "durable-objects/runtime/budgets.ts";

export const ladderPlants: readonly Plant[] = [
  {
    id: "ladder-consults-last",
    file: "src/domain/attempt.ts",
    find: 'failed: ["retry", "consult", "replan", "escalate"]',
    replace: 'failed: ["retry", "replan", "consult", "escalate"]',
    why: "another plan is asked for before guidance",
    subset: rules,
  },
  {
    id: "late-guidance-counts",
    file: guidance,
    find: 'tx.rows.rungs.get(rung.id)?.state !== "open"',
    replace: "rung.to === null",
    why: "guidance that came late starts an attempt",
    subset: ladder,
  },
  {
    id: "guidance-for-any-item",
    file: guidance,
    find: "task.id !== message.task_id || !itsOwn",
    replace: "task.id !== message.task_id",
    why: "guidance of one item reaches another",
    subset: ladder,
  },
  {
    id: "guidance-past-gates",
    file: guidance,
    find: 'if (gateResponse(tx, task, message).action !== "pass")',
    replace: "if (gateResponse(tx, task, message) === null)",
    why: "words that a gate stops reach the executor",
    subset: ladder,
  },
  {
    id: "replan-beside-siblings",
    file: replan,
    find: "first === undefined || busy ||",
    replace: "first === undefined ||",
    why: "another plan is asked for while siblings run",
    subset: replanning,
  },
  {
    id: "old-cards-live-on",
    file: replan,
    find: 'if (card.status === "pending" && its) tx.supersede(card, void_reason);',
    replace: "if (card.status === void_reason && its) tx.supersede(card, void_reason);",
    why: "what the old plan's items ask can be approved under the new one",
    subset: replanning,
  },
  {
    id: "called-off-still-asks",
    file: "durable-objects/runtime/tx.ts",
    find: "    takeBackAsked(this, attempt, reason);\n",
    replace: "",
    why: "a yes is taken for a call whose attempt is gone",
    subset: replanning,
  },
  {
    id: "old-tokens-live-on",
    file: replan,
    find: 'life: "void" as const, void_reason }',
    replace: "void_reason }",
    why: "tokens of a plan that was replaced still stand",
    subset: replanning,
  },
  {
    id: "old-plan-begins-more",
    file: "durable-objects/runtime/dispatch.ts",
    find: "plan === null || replansOf(tx.rows, task.id).length > 0",
    replace: "plan === null",
    why: "items of a plan that is being replaced are begun",
    subset: replanning,
  },
  {
    id: "charged-twice",
    file: charges,
    find: 'if (row.state === "charged") return;',
    replace: "",
    why: "a price told twice is charged twice",
    subset: charging,
  },
  {
    id: "lost-call-free",
    file: charges,
    find: "if (row.id !== ref.thought_id && lost(row)) chargeLost(tx, row);",
    replace: "if (lost(row)) continue;",
    why: "a call whose price was lost costs nothing",
    subset: charging,
  },
  {
    id: "consult-pays-from-item",
    file: "durable-objects/runtime/accounts.ts",
    find: 'return open(rows, task, { kind: "plan", limit: shares(rows, plan).parts.planner, plan, item: null });',
    replace: "return taskAccount(rows, task);",
    why: "the planner's calls under a plan are charged past it",
    subset: charging,
  },
  {
    id: "card-for-each-ask",
    file: budgets,
    find: 'card.kind === "budget" && card.status === "pending"',
    replace: 'card.kind === "budget" && card.status === "denied"',
    why: "each ask puts another card before people",
    subset: charging,
  },
  {
    id: "denied-budget-escalates",
    file: budgets,
    find: "    tx.rows.attempts.put({ ...left, ...ended });",
    replace: "    if (ended.detail === null) tx.rows.attempts.put({ ...left, ...ended });",
    why: "an attempt that may spend no more is still under way",
    subset: charging,
  },
  {
    id: "planner-part-shared-out",
    file: "src/domain/budget.ts",
    find: "Math.max(0, total * (1 - plannerShare) - stated)",
    replace: "Math.max(0, total - stated)",
    why: "nothing is left for the planner",
    subset: shares,
  },
];
