/** Bugs of what GitHub may ask and decide, and of what is shown there. */
import type { Plant } from "./plants.ts";

const wishes = { test: "test/agents/github-wishes.test.ts" } as const;
const again = { test: "test/agents/github-again.test.ts" } as const;
const links = { test: "test/agents/github-links.test.ts" } as const;
const decisions = { test: "test/agents/github-decisions.test.ts" } as const;
const sync = { test: "test/agents/github-sync.test.ts" } as const;
const domain = { test: "test/domain/github-deciding.test.ts" } as const;
const power = { test: "test/agents/github-power.test.ts" } as const;

export const githubRuntimePlants: readonly Plant[] = [
  {
    id: "github-claim-forgotten",
    file: "durable-objects/runtime/doors-github.ts",
    find: '      github.claim(delivery_id, body, tx.now + (happening.kind === "wish" ? longer : 0));\n',
    replace: "",
    why: "the same delivery is taken each time it comes",
    subset: links,
  },
  {
    id: "github-same-bytes",
    file: "durable-objects/runtime/github-rows.ts",
    find: "WHERE id = ? OR body_hash = ?",
    replace: "WHERE id = ?1 AND ?2 IS ?2",
    why: "what was signed once counts again under another id",
    subset: again,
  },
  {
    id: "github-old-cancel",
    file: "durable-objects/runtime/github-requests.ts",
    find: 'said.via === "comment" && !isAfter(',
    replace: "said.what === null && !isAfter(",
    why: "a cancel from before ends the task that was asked for since",
    subset: again,
  },
  {
    id: "github-any-branch-is-ours",
    file: "durable-objects/runtime/github-requests.ts",
    find: "if (task === null || task.branch !== branch || task.published === null) return null;",
    replace: "if (task === null || task.branch !== branch) return branch;",
    why: "a branch that somebody named like ours is pushed to",
    subset: again,
  },
  {
    id: "task-words-untold",
    file: "durable-objects/runtime/tasks.ts",
    find: 'const told = input.description.trim() === "" ?',
    replace: 'const told = input.description.trim() !== "-" ?',
    why: "an agent hears a task's title, and never the words below it",
    subset: wishes,
  },
  {
    id: "github-inherited-permission",
    file: "src/domain/github/wish.ts",
    find: 'Object.hasOwn(people, login) ? (people[login] ?? "none") : "none"',
    replace: 'people[login] === undefined ? "none" : "write"',
    why: "who is called like what every object has may write",
    subset: wishes,
  },
  {
    id: "github-stranger-unfenced",
    file: "src/domain/github/wish.ts",
    find: 'taint === "member" ? whole : asData(whole, { taint, source })',
    replace: "whole",
    why: "a stranger's words stand beside a maintainer's as if they were the same",
    subset: domain,
  },
  {
    id: "github-labels-of-a-form",
    file: "src/domain/github/wish.ts",
    find: "(own ?? labels).filter(",
    replace: "labels.filter(",
    why: "a label that an issue's form has set counts for a standing approval",
    subset: wishes,
  },
  {
    id: "github-late-words",
    file: "src/domain/github/deciding.ts",
    find: "!(Date.parse(said.said_at) > Date.parse(showed.at))",
    replace: "false",
    why: "a yes from before the plan was shown approves it",
    subset: decisions,
  },
  {
    id: "github-any-repository",
    file: "durable-objects/runtime/github-decisions.ts",
    find: "row?.repository_id === repository.id ? row : null",
    replace: "row",
    why: "a button in one repository decides about another's task",
    subset: decisions,
  },
  {
    id: "github-page-not-asked",
    file: "durable-objects/runtime/github-decisions.ts",
    find: "if (why !== null) return { refused:",
    replace: "if (why === null) return { refused:",
    why: "what needs the page is approved by a button",
    subset: decisions,
  },
  {
    id: "github-plan-cut",
    file: "src/domain/github/plan-text.ts",
    find: "byteLength(text) <= limits.github_text_bytes",
    replace: "true",
    why: "buttons stand below the part of a plan that GitHub took",
    subset: { test: "test/domain/github-plan-text.test.ts" },
  },
  {
    id: "github-plan-unseen",
    file: "src/agents/github-parts.ts",
    find: "return text === null || (",
    replace: 'return text !== "" || (',
    why: "a plan that the check never showed is approved by its hash",
    subset: { test: "test/agents/courier-sync.test.ts" },
  },
  {
    id: "github-renamed-asker",
    file: "src/domain/github/risk.ts",
    find: "asked_id === id || ",
    replace: "",
    why: "who asked for a task approves it under another login",
    subset: domain,
  },
  {
    id: "github-others-app",
    file: "durable-objects/runtime/github-decisions.ts",
    find: "said.app === true",
    replace: "false",
    why: "what another App writes in a maintainer's name approves a plan",
    subset: decisions,
  },
  {
    id: "github-two-looks",
    file: "durable-objects/runtime/github-sync.ts",
    find: "if (row.sync !== null || row.next_at > tx.now)",
    replace: "if (row.sync === null && row.next_at > tx.now)",
    why: "each change begins another look beside the one under way",
    subset: sync,
  },
  {
    id: "github-standing-writes-ci",
    file: "durable-objects/runtime/outcomes.ts",
    find: 'decision === "approve" && standingOfSubject(by) === null',
    replace: 'decision === "approve"',
    why: "a plan that nobody saw changes what runs in CI",
    subset: power,
  },
];
