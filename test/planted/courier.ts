/** Bugs of the courier: of making things once on GitHub, of waiting for it, and of words that do something there. */
import type { Plant } from "./plants.ts";

const sync = { test: "test/agents/courier-sync.test.ts" } as const;
const faults = { test: "test/agents/courier-faults.test.ts" } as const;
const events = { test: "test/agents/courier-events.test.ts" } as const;
const words = { test: "test/domain/github-words.test.ts" } as const;
const render = { test: "test/domain/github-render.test.ts" } as const;

export const courierPlants: readonly Plant[] = [
  {
    id: "courier-makes-without-a-look",
    file: "src/agents/github-parts.ts",
    find: "if (found !== null) return kept(found, false);",
    replace: "",
    why: "an object that died after the call makes it again",
    subset: faults,
  },
  {
    id: "courier-forgets-the-commit",
    file: "src/agents/github-sync.ts",
    find: "stands.check?.sha ?? stands.wrote.sha ?? standing.base_commit",
    replace: "stands.check?.sha ?? standing.base_commit ?? stands.wrote.sha",
    why: "a check that was made without an answer is made again on another commit",
    subset: sync,
  },
  {
    id: "courier-shows-what-it-gathered",
    file: "src/agents/github-sync.ts",
    find: 'state: { ...unsure, ...patience, at: "gather" }',
    replace: "state: { ...unsure, ...patience }",
    why: "after a long wait an old state is shown",
    subset: faults,
  },
  {
    id: "courier-trusts-a-lost-write",
    file: "src/agents/github-sync.ts",
    find: "const unsure = { ...current, stands: { ...stands, wrote: { ...stands.wrote, [part]: null } } };",
    replace: "const unsure = { ...current, stands };",
    why: "what nobody knows the end of is taken to stand as it was",
    subset: faults,
  },
  {
    id: "courier-card-shown-anew",
    file: "src/agents/github-sync.ts",
    find: "if (card !== null && card === now.showed?.content_hash) return next;",
    replace: "",
    why: "each edit makes an approval written before it too early",
    subset: sync,
  },
  {
    id: "courier-fork-counts",
    file: "src/agents/github-event.ts",
    find: "found?.same_repository === true ?",
    replace: "found !== null ?",
    why: "the branch of a fork is worked on as if it were ours",
    subset: events,
  },
  {
    id: "courier-suspended-in-the-middle",
    file: "src/agents/github-event.ts",
    find: "return end({ ...current, people }, event);",
    replace: "return end(current, event);",
    why: "what was answered before the installation went still counts",
    subset: events,
  },
  {
    id: "github-span-as-long-as-its-text",
    file: "src/domain/github/words.ts",
    find: 'const fence = "`".repeat(longestRun(text) + 1);',
    replace: 'const fence = "`";',
    why: "a word with a backtick ends its own code span",
    subset: words,
  },
  {
    id: "github-marker-of-another",
    file: "src/domain/github/words.ts",
    find: 'return text.replaceAll("<!--", "<! --");',
    replace: "return text;",
    why: "a text that holds a marker takes another task's comment",
    subset: words,
  },
  {
    id: "github-buttons-of-the-page",
    file: "src/domain/github/check.ts",
    find: "decidedHere(card) ? [approve(hash), ...no(hash)] : no(hash)",
    replace: "[approve(hash), ...no(hash)]",
    why: "what must be decided on the page has buttons on GitHub",
    subset: render,
  },
];
