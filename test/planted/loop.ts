/** Bugs of the loop: of charging calls, of running them once, of repairs, of seeing that it is stuck, and of notes. */
import type { Plant } from "./plants.ts";

const loop = { test: "test/agents/loop.test.ts" } as const;
const act = { test: "test/agents/loop-act.test.ts" } as const;
const stuck = { test: "test/domain/stuck.test.ts" } as const;
const stuckLoop = { test: "test/agents/loop-stuck.test.ts" } as const;
const runs = { test: "test/agents/runs.test.ts" } as const;

export const loopPlants: readonly Plant[] = [
  {
    id: "lost-call-repeated-under-its-id",
    file: "src/agents/loop-think.ts",
    find: "life.makes(state.asked);",
    replace: "",
    why: "the call that was lost and its repetition are charged once",
    subset: loop,
  },
  {
    id: "former-life-trusted",
    file: "src/agents/loop-think.ts",
    find: "if (!life.expects(state.asked)) return numbered(state);",
    replace: "life.expect(state.asked);",
    why: "after a restart the call is made under the id of the one that was lost",
    subset: loop,
  },
  {
    id: "loses-calls-for-ever",
    file: "src/agents/loop-think.ts",
    find: "state.asked === 0 ? 0 : state.lost + 1",
    replace: "state.asked === 0 ? 0 : Math.min(1, state.lost + 1)",
    why: "a call that ends the process each time is made again and again",
    subset: loop,
  },
  {
    id: "all-models-refuse-for-ever",
    file: "src/agents/loop-think.ts",
    find: "? 0 : state.refusals + 1;",
    replace: "? 0 : 1;",
    why: "with two models, keys that are refused are tried until the failures are used up",
    subset: loop,
  },
  {
    id: "providers-names-of-calls",
    file: "src/agents/loop-think.ts",
    find: "tool, arguments: args };",
    replace: "tool, arguments: args, ...{ call_id: call.call_id } };",
    why: "a provider that counts from one each time has a call taken for an earlier one",
    subset: act,
  },
  {
    id: "repairs-without-end",
    file: "src/agents/loop-think.ts",
    find: "repairs: bad ? state.repairs + 1 : 0",
    replace: "repairs: bad ? Math.min(1, state.repairs + 1) : 0",
    why: "an answer that cannot be used is sent back for ever",
    subset: act,
  },
  {
    id: "ends-over-a-failure",
    file: "src/agents/loop-act.ts",
    find: "if (failed > 0) {",
    replace: "if (failed > 1) {",
    why: "the work is called done in the same breath as the call that failed",
    subset: act,
  },
  {
    id: "ends-by-a-wrong-name",
    file: "src/agents/loop-read.ts",
    find: "args.ok && !tool.ends ?",
    replace: "args.ok ?",
    why: "a misnamed call ends the work",
    subset: act,
  },
  {
    id: "numbers-count-as-new",
    file: "src/domain/stuck.ts",
    find: '.replace(/\\d+/g, "#")',
    replace: "",
    why: "a loop whose results differ in the milliseconds is never seen",
    subset: stuck,
  },
  {
    id: "ok-is-a-pattern",
    file: "src/domain/stuck.ts",
    find: 'like.length >= tellingChars && (is_error || !changing.includes(tool)) ? "l" : "",',
    replace: '"l",',
    why: "four commands in a row that say nothing are taken for a loop",
    subset: stuck,
  },
  {
    id: "same-failure-for-ever",
    file: "src/domain/stuck.ts",
    find: "if (failing.length >= limits.same_failures)",
    replace: "if (failing.length > recentKept)",
    why: "a test that fails the same way after each edit is never seen",
    subset: { test: "test/agents/loop-fenced.test.ts" },
  },
  {
    id: "told-between-call-and-result",
    file: "src/agents/loop.ts",
    find: 'state.at === "think" ? [{ kind: "told"',
    replace: 'state.at !== null ? [{ kind: "told"',
    why: "a notice stands between a call and its result, which providers refuse",
    subset: stuckLoop,
  },
  {
    id: "note-missed-under-way",
    file: "durable-objects/agent/steps.ts",
    find: "this.#stores.notes.count(run.id) <= seen",
    replace: "seen >= 0",
    why: "a note that came during the step is seen only after the whole wait",
    subset: runs,
  },
  {
    id: "waiting-runs-hold-places",
    file: "durable-objects/agent/work.ts",
    find: "Math.min(waiting, limits.waiting_runs)",
    replace: "Math.min(waiting, 0)",
    why: "plans that wait for research keep its results out",
    subset: runs,
  },
];
