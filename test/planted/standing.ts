/** Bugs of standing approvals: of what lies inside a bound, of using one, and of taking it back. */
import type { Plant } from "./plants.ts";

const rule = { test: "test/domain/standing.test.ts" } as const;
const runtime = { test: "test/agents/standing.test.ts" } as const;
const containment = "src/domain/containment.ts";
const fit = "src/domain/standing.ts";
const use = "durable-objects/runtime/standing-use.ts";
const revoked = "durable-objects/runtime/standing-revoked.ts";

export const standingPlants: readonly Plant[] = [
  {
    id: "one-name-holds-many-folders",
    file: containment,
    find: 'if (inner === "**") return false;',
    replace: "",
    why: "a bound of one folder's files lets a plan have every folder below",
    subset: rule,
  },
  {
    id: "closed-command-holds-open-one",
    file: containment,
    find: "if (within.open && !out.open) return false;",
    replace: "",
    why: "npm * lets a plan have npm **",
    subset: rule,
  },
  {
    id: "standing-lives-a-moment-longer",
    file: fit,
    find: "now >= standing.until_ms",
    replace: "now > standing.until_ms",
    why: "it speaks at the moment it ends",
    subset: rule,
  },
  {
    id: "anybodys-labels-count",
    file: fit,
    find: 'const byApprover = task.labels_by_role === "approver"',
    replace: "const byApprover = task.labels_by_role !== null",
    why: "who asks gives themselves the label that approves",
    subset: rule,
  },
  {
    id: "freed-file-counts-as-protected",
    file: fit,
    find: "!freed.some((path) => globContains(glob, path)) &&",
    replace: "",
    why: "an item changes a file that had to be protected",
    subset: rule,
  },
  {
    id: "no-budget-is-no-spending",
    file: fit,
    find: "if (amount === null) return",
    replace: "if (amount === null) continue;\n    if (amount < 0) return",
    why: "a plan that states no budget fits every one",
    subset: rule,
  },
  {
    id: "first-block-not-read",
    file: fit,
    find: "if (block >= 0) return",
    replace: "if (block > 0) return",
    why: "the first block of steps runs whatever it says",
    subset: rule,
  },
  {
    id: "uses-never-run-out",
    file: use,
    find: "const uses_left = row.uses_left - 1;",
    replace: "const uses_left = row.uses_left;",
    why: "it speaks for ever more plans",
    subset: runtime,
  },
  {
    id: "not-read-again-before-committing",
    file: use,
    find: "if (!this.#fit(tx, row, card, task).fits) return false;",
    replace: "",
    why: "one that was revoked while it signed still approves",
    subset: runtime,
  },
  {
    id: "clock-set-back-frees-the-day",
    file: "durable-objects/runtime/standing.ts",
    find: "WHERE standing_id = ? AND at > ?",
    replace: "WHERE standing_id = ?1 AND at > ?2 AND at <= ?2 + 86400000",
    why: "a clock set back forgets what was spent",
    subset: runtime,
  },
  {
    id: "queued-work-survives-revocation",
    file: revoked,
    find: "if (!isOver(attempt)) tx.callOff(attempt, why);",
    replace: 'if (attempt.state === "running") tx.callOff(attempt, why);',
    why: "what is queued starts although it was taken back",
    subset: runtime,
  },
  {
    id: "revoked-token-still-good",
    file: revoked,
    find: 'life: "void" as const, void_reason',
    replace: "void_reason",
    why: "the token of a revoked approval is not void",
    subset: runtime,
  },
  {
    id: "standing-over-the-asker",
    file: "src/domain/standing-budget.ts",
    find: "if (beside?.over === true)",
    replace: "if (beside?.over === null)",
    why: "a plan over what its asker gave is approved without a person",
    subset: runtime,
  },
  {
    id: "each-plan-for-itself",
    file: "src/domain/standing-budget.ts",
    find: "spent.tokens + tokens",
    replace: "tokens",
    why: "plan after plan spends what the task was given once",
    subset: { test: "test/agents/standing-budget.test.ts" },
  },
  {
    id: "nothing-asked-is-no-bound",
    file: "src/domain/standing-budget.ts",
    find: "if (!own && usd === 0) return",
    replace: "if (!own && usd < 0) return",
    why: "no limit in dollars is approved where nobody gave that",
    subset: { test: "test/agents/standing-budget.test.ts" },
  },
  {
    id: "minutes-unsaid-are-none",
    file: "src/domain/asked-budget.ts",
    find: "(minutes ?? limits.attempt_minutes) > given.minutes",
    replace: "(minutes ?? 0) > given.minutes",
    why: "a plan that states no minutes counts as if it had none",
    subset: { test: "test/agents/told.test.ts" },
  },
];
