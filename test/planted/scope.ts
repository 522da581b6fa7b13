/** Bugs of approvals, tokens, grants, the ladder of attempts and its entries. */
import type { Plant } from "./plants.ts";

const approval = { test: "test/domain/approval.test.ts" } as const;
const attempt = { test: "test/domain/attempt.test.ts" } as const;
const grant = { test: "test/domain/grant.test.ts" } as const;
const pool = { test: "test/domain/pool.test.ts" } as const;
const token = { test: "test/domain/token.test.ts" } as const;

const scope = { scope: { seed: "2", steps: 1_500 } } as const;

export const scopePlants: readonly Plant[] = [
  {
    id: "second-decision-counts",
    file: "src/domain/approval.ts",
    find: 'if (card.status !== "pending")',
    replace: 'if (card.status === "superseded")',
    why: "who comes second overrules who was first",
    subset: approval,
  },
  {
    id: "other-content-approved",
    file: "src/domain/approval.ts",
    find: "decision.content_hash !== null && decision.content_hash !== card.content_hash",
    replace: 'decision.content_hash === ""',
    why: "a person approves what they never saw",
    subset: approval,
  },
  {
    id: "executed-is-checked-again",
    file: "src/domain/approval.ts",
    find: "executed: {},",
    replace: 'executed: { check: "checked" },',
    why: "a spent approval comes back to life",
    subset: approval,
  },
  {
    id: "submitters-decide",
    file: "src/domain/approval.ts",
    find: 'caller.role === "approver" ||',
    replace: 'caller.role === "submitter" || caller.role === "approver" ||',
    why: "who asks may also allow",
    subset: approval,
  },
  {
    id: "one-attempt-too-many",
    file: "src/domain/attempt.ts",
    find: "state.counted + 1 < state.max_attempts",
    replace: "state.counted < state.max_attempts",
    why: "the item's limit is one more",
    subset: attempt,
  },
  {
    id: "crashes-count",
    file: "src/domain/attempt.ts",
    find: 'case "crashed":\n      return "lost";',
    replace: 'case "crashed":\n      return "failed";',
    why: "a lost sandbox uses up an attempt",
    subset: attempt,
  },
  {
    id: "hopeless-tried-again",
    file: "src/domain/attempt.ts",
    find: 'end.retryable ? "failed" : "final"',
    replace: 'end.retryable ? "final" : "failed"',
    why: "what would end the same way is tried again",
    subset: attempt,
  },
  {
    id: "crashes-without-end",
    file: "src/domain/attempt.ts",
    find: "state.uncounted + 1 < state.max_uncounted",
    replace: "state.uncounted >= 0",
    why: "an item that kills its sandbox goes on for ever",
    subset: attempt,
  },
  {
    id: "token-good-for-a-second-more",
    file: "src/domain/token.ts",
    find: "now_ms >= said.exp * 1000",
    replace: "now_ms > said.exp * 1000",
    why: "an expired token opens",
    subset: token,
  },
  {
    id: "token-of-any-scope",
    file: "src/domain/token.ts",
    find: "said.scope !== expected.scope",
    replace: 'said.scope === ""',
    why: "a genuine token of another scope opens",
    subset: token,
  },
  {
    id: "token-of-any-task",
    file: "src/domain/token.ts",
    find: "said.task !== expected.task",
    replace: 'said.task === ""',
    why: "a genuine token of another task opens",
    subset: token,
  },
  {
    id: "token-of-any-bytes",
    file: "src/domain/token.ts",
    find: "canonicalJson(said.subject) !== canonicalJson(expected.subject)",
    replace: "said.subject.type !== expected.subject.type",
    why: "what was approved is not what runs",
    subset: token,
  },
  {
    id: "one-protected-file-passes",
    file: "src/domain/grant.ts",
    find: "if (guarded.length > 0)",
    replace: "if (guarded.length > 1)",
    why: "a patch may change the test it has to pass",
    subset: grant,
  },
  {
    id: "links-pass",
    file: "src/domain/grant.ts",
    find: 'file.mode === "120000"',
    replace: 'file.mode === "120001"',
    why: "a symbolic link leads out of the workspace",
    subset: grant,
  },
  {
    id: "any-words-granted",
    file: "src/domain/grant.ts",
    find: "open ? words.length < fixed.length : words.length !== fixed.length",
    replace: "words.length < fixed.length",
    why: "a granted command with any more words",
    subset: grant,
  },
  {
    id: "queue-jumping",
    file: "src/domain/pool.ts",
    find: "facts.slots - facts.used > facts.waiting_before",
    replace: "facts.slots > facts.used",
    why: "a busy scope takes every slot",
    subset: pool,
  },
  {
    id: "attempts-never-counted",
    file: "durable-objects/runtime/ladder.ts",
    find: "counted: item.counted + (step.counted ? 1 : 0)",
    replace: "counted: item.counted",
    why: "an item is tried for ever",
    subset: { test: "test/agents/ladder.test.ts" },
  },
  {
    id: "approved-and-not-begun",
    file: "durable-objects/runtime/approved.ts",
    find: "    dispatch(tx, task);\n",
    replace: "",
    why: "an approved plan starts nothing",
    subset: scope,
  },
];
