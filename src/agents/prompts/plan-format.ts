/** How a plan is written, told to a model: each key it may need, and one whole example that the parser takes. [PROMPT-4] */

export const examplePlan = `---
title: Show the last page of the list
goal: The pager offers every row, the last page included, and a test holds it
budget: { tokens: 300000, usd: 3.00, minutes: 30 }
environment:
  setup: [["npm", "ci"]]
  hosts: [npm]
  cache: [npm]
items:
  - id: test-it
    title: Write the test that fails today
    runner: loop
    allow:
      tools: [file_write, file_edit, shell_execute]
      paths: ["test/pager.test.ts"]
      commands: ["npm test", "npx vitest run **"]
    verify:
      - { run: ["npx", "tsc", "--noEmit"], timeout_s: 120 }
    budget: { tokens: 80000 }
  - id: fix
    title: Correct the page count
    runner: loop
    depends_on: [test-it]
    touches: { paths: ["src/pager.ts"], services: [] }
    allow:
      tools: [file_write, file_edit, shell_execute]
      paths: ["src/**"]
      commands: ["npm test", "npx vitest run **"]
    protect: ["test/**"]
    verify:
      - { run: ["npm", "test"], timeout_s: 300 }
    max_attempts: 3
    on_stuck: consult_planner
    budget: { tokens: 120000 }
    skills: []
---
## test-it

Add a case to \`test/pager.test.ts\`: 21 rows at 10 a page are three pages, and the third holds one row. It fails with the
code as it is; that is meant. Change no other file.

## fix

\`pageCount\` in \`src/pager.ts\` rounds down, so the rows of the last page are never offered. Round up, and keep an empty
list at one page. The tests say what is wanted; do not change them.
`;

export const planFormat = `A plan is one markdown document: YAML front matter between two lines ---, then for each item a section "## <its id>" with
its briefing in prose. A person approves it byte for byte, so write it for a reader. Unknown keys, comments (<!-- -->),
YAML anchors and characters nobody can see are refused.

Keys of the plan: title (one line), goal, budget { tokens, usd, minutes (of one attempt) }, environment, items.
- environment: setup is a list of commands, each a list of words without a shell; hosts is what setup alone may reach (host
  names, or npm, pip, cargo, go, apt); cache takes the same five words. It is made anew for each attempt and each
  verification, then the network is closed. Leave it out if the project needs no set-up.

Keys of an item: id (a-z, 0-9, -) and verify are required.
- runner: loop gives the item to an agent with a model; steps runs the fenced sh blocks of its section in order, each a bash
  process of its own, and needs no model. Take steps where the commands are certain.
- depends_on: items whose changes must be merged before it begins. input_artifacts_from: items it depends on.
- touches { paths, services }: items that touch the same do not run side by side; without it allow.paths counts.
- allow: what approving grants, and what is not named is not granted. tools (file_write, file_edit, shell_execute,
  python_execute, skill_execute, git_add, git_commit; reading needs no grant), paths (globs the changes may touch), commands
  (words of one command each, * inside a word, a last ** for any rest; no quotes, pipes or redirects), hosts and secrets
  (leave them out unless the work cannot be done without). Grant the least that will do.
- protect: globs nothing may change. What defines the checks (package.json, test and CI configuration, lock files) is
  protected by itself unless allow.paths names that very file.
- verify: a list of checks { run: [program, words...], timeout_s }, run by the runtime elsewhere on a clean checkout, or none.
- max_attempts (1 to 10), on_stuck (consult_planner, replan or escalate), skills (names of the repository's skills).
- preset: READONLY for an item that must change nothing, STRICT to have a person asked before each change; PERMISSIVE only
  if the wish names it. Leave it out otherwise.
- budget { tokens, usd, minutes }: an item with the runner loop needs tokens. All shares together leave at least 20 % of the
  plan's tokens and usd unshared.

An example:

${examplePlan}`;
