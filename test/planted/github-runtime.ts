/** Bugs of what GitHub may ask and decide, and of what is shown there. */
import type { Plant } from "./plants.ts";

const wishes = { test: "test/agents/github-wishes.test.ts" } as const;
const links = { test: "test/agents/github-links.test.ts" } as const;
const decisions = { test: "test/agents/github-decisions.test.ts" } as const;
const sync = { test: "test/agents/github-sync.test.ts" } as const;
const domain = { test: "test/domain/github-deciding.test.ts" } as const;
const power = { test: "test/agents/github-power.test.ts" } as const;

export const githubRuntimePlants: readonly Plant[] = [
  {
    id: "github-claim-forgotten",
    file: "durable-objects/runtime/doors-github.ts",
    find: "      github.claim(delivery_id, tx.now);\n",
    replace: "",
    why: "the same delivery is taken each time it comes",
    subset: links,
  },
  {
    id: "github-title-untold",
    file: "durable-objects/runtime/tasks.ts",
    find: "told || input.title",
    replace: "input.description || input.title",
    why: "an agent never hears what an issue's title says",
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
