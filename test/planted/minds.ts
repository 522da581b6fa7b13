/** Bugs in attempts of agents that think, in what a person decides about them, and in looking things up for a planner. */
import type { Plant } from "./plants.ts";

const attempt = { test: "test/agents/executor-loop.test.ts" } as const;
const question = { test: "test/agents/researcher.test.ts" } as const;
const runtime = { test: "test/agents/thinking-waits.test.ts" } as const;

const loop = "src/agents/runners/loop.ts";
const research = "src/agents/research.ts";

export const mindPlants: readonly Plant[] = [
  {
    id: "mind-told-its-own-plan",
    file: "src/agents/runners/brief.ts",
    find: "(memory) => memory.task_id !== task_id",
    replace: "(memory) => memory.id !== task_id",
    why: "an executor is told of the other items of its plan, and what their agents found out",
    subset: attempt,
  },
  {
    id: "mind-no-is-forgotten",
    file: loop,
    find: "refused === null ? { state, turns: [] } : answer",
    replace: "refused !== null ? { state, turns: [] } : answer",
    why: "what a person refused is asked for again",
    subset: attempt,
  },
  {
    id: "mind-tree-not-told",
    file: loop,
    find: "{ step, tree: state.tree });",
    replace: "{ step, tree: null });",
    why: "the allowed call is asked for in no workspace at all",
    subset: attempt,
  },
  {
    id: "mind-waits-for-budget-awake",
    file: loop,
    find: 'moved.waits_for === "budget"',
    replace: 'moved.waits_for !== "budget"',
    why: "an attempt without budget holds its place",
    subset: attempt,
  },
  {
    id: "mind-open-call-left",
    file: loop,
    find: 'ending?.end === "suspended" || mind.at !== "act" ? null',
    replace: 'ending?.end !== "suspended" || mind.at !== "act" ? null',
    why: "a call that still runs is destroyed without a question",
    subset: attempt,
  },
  {
    id: "mind-conversation-lost",
    file: loop,
    find: "const more = { turns: [...turns, ...answered.turns], output };",
    replace: "const more = { turns: answered.turns, output };",
    why: "the model begins anew after each card",
    subset: attempt,
  },
  {
    id: "mind-told-twice",
    file: loop,
    find: "if (state.mind === null) return begin(scene);",
    replace: "if (state.mind === null || state.mind.steps === 1) return begin(scene);",
    why: "the order is assembled anew in the middle",
    subset: attempt,
  },
  {
    id: "mind-expired-is-a-no",
    file: "durable-objects/runtime/expiry.ts",
    find: "{ unanswered: ended.reason }",
    replace: "{ denied: ended.reason }",
    why: "nobody's answer is told as a person's no",
    subset: runtime,
  },
  {
    id: "mind-steps-go-on",
    file: "durable-objects/runtime/without.ts",
    find: 'item.spec.runner !== "loop" || plan',
    replace: "plan",
    why: "steps go on past what a person refused",
    subset: runtime,
  },
  {
    id: "mind-words-as-they-are",
    file: "durable-objects/runtime/outcomes.ts",
    find: "const said = visibleLine(words.slice(0, wordsMax).toWellFormed());",
    replace: "const said = words.slice(0, wordsMax).toWellFormed();",
    why: "an agent's words may hide what a person decides on",
    subset: runtime,
  },
  {
    id: "mind-refusal-ends-all",
    file: "durable-objects/runtime/calls.ts",
    find: 'return { ...refusedFor("call"',
    replace: 'return { ...refusedFor("attempt"',
    why: "one denied call ends the attempt",
    subset: runtime,
  },
  {
    id: "research-takes-attempts",
    file: "durable-objects/runtime/mailroom.ts",
    find: "enqueue(asks ? researchQueue : recipient",
    replace: "enqueue(recipient",
    why: "questions wait behind attempts, and nobody is given them",
    subset: runtime,
  },
  {
    id: "research-web-untold",
    file: research,
    find: 'read.taint = joinTaint(read.taint, "web");',
    replace: "",
    why: "what the web says is trusted as the repository is",
    subset: question,
  },
  {
    id: "research-never-cut",
    file: research,
    find: "if (estimatedTokens(text) <= max_tokens)",
    replace: "if (estimatedTokens(text) >= 0)",
    why: "an answer of any length floods the planner",
    subset: question,
  },
  {
    id: "research-answers-late",
    file: research,
    find: "if (!closing && (context.cancelled || over))",
    replace: "if (!closing && context.cancelled)",
    why: "a question is looked up after its time",
    subset: question,
  },
];
