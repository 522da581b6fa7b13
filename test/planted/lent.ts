/** Bugs of what a stranger slipped through: names that go after protected files, words with gaps, and lent sign-in links. */
import type { Plant } from "./plants.ts";

const standing = { test: "test/domain/standing-hostile.test.ts" } as const;
const texts = { test: "test/domain/gate-texts.test.ts" } as const;
const deciding = { test: "test/domain/deciding.test.ts" } as const;
const who = { test: "test/agents/lent-links.test.ts" } as const;
const steps = { test: "test/agents/gates-steps.test.ts" } as const;

export const lentPlants: readonly Plant[] = [
  {
    id: "lent-glob-names-a-hook",
    file: "src/domain/standing.ts",
    find: " && !mayNameProtected(glob)",
    replace: "",
    why: "a plan names .husky/** under a standing approval of everything",
    subset: standing,
  },
  {
    id: "lent-glob-in-another-case",
    file: "src/domain/protected-files.ts",
    find: 'const name = folded(parts[at] ?? "");',
    replace: 'const name = parts[at] ?? "";',
    why: "a glob in capital letters names a protected file",
    subset: standing,
  },
  {
    id: "lent-anybody-in-advance",
    file: "src/domain/standing-shape.ts",
    find: 'name.includes("*") || ',
    replace: "",
    why: "a standing approval speaks for people by a wildcard",
    subset: standing,
  },
  {
    id: "lent-unseen-joins-words",
    file: "src/domain/gate-texts.ts",
    find: "holds(plain) || this.#holdsUnseen(plain)",
    replace: "holds(plain)",
    why: "a filler between two words hides both",
    subset: texts,
  },
  {
    id: "lent-blank-inside-a-word",
    file: "src/domain/gate-texts.ts",
    find: "!inside || there < 2",
    replace: "!inside || there < 3",
    why: "a word is found where blanks part its letters",
    subset: texts,
  },
  {
    id: "lent-two-links-two-people",
    file: "src/domain/deciding.ts",
    find: "return link_by === undefined ? [by] : [by, link_by];",
    replace: "return link_by === null ? [] : [by];",
    why: "one admin opens two links and approves twice",
    subset: deciding,
  },
  {
    id: "lent-link-not-looked-up",
    file: "durable-objects/runtime/needs.ts",
    find: "people.makerOf(caller.credential_id)",
    replace: "people.makerOf(caller.subject)",
    why: "nobody asks who made the link of a session",
    subset: who,
  },
  {
    id: "lent-link-from-a-lent-session",
    file: "durable-objects/people.ts",
    find: "input.token_id !== undefined && first !== null",
    replace: "input.token_id === undefined && first !== null",
    why: "a lent session makes a link that hides its own maker",
    subset: { test: "test/agents/stores-people.test.ts" },
  },
  {
    id: "lent-output-unread",
    file: "durable-objects/runtime/calls.ts",
    find: "afterStep(tx, attempt, call, outcome, said)",
    replace: 'afterStep(tx, attempt, call, outcome, "")',
    why: "gates after a step never see what it printed",
    subset: steps,
  },
  {
    id: "lent-case-opens-a-gate",
    file: "src/domain/gate-paths.ts",
    find: "globMatches(glob, folded(file))",
    replace: "globMatches(glob, file)",
    why: "a gated path in another case is not gated",
    subset: { test: "test/domain/gate-paths.test.ts" },
  },
];
