import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AttemptEnd, climb, climbOn, type LadderState, order, type Rung } from "../../src/domain/attempt.ts";
import { errorCodes } from "../../src/domain/message.ts";

const fresh: LadderState = {
  max_attempts: 3,
  counted: 0,
  uncounted: 0,
  max_uncounted: 5,
  consulted: false,
  replan_depth: 0,
  max_replan_depth: 2,
  decompose_depth: 0,
  max_decompose_depth: 2,
  on_stuck: "consult_planner",
  planner: true,
};
const pass: AttemptEnd = { kind: "verdict", verdict: "pass" };
const fail: AttemptEnd = { kind: "verdict", verdict: "fail" };
const integrity: AttemptEnd = { kind: "verdict", verdict: "integrity_violation" };
const infra: AttemptEnd = { kind: "verdict", verdict: "infra_error" };
const crashed: AttemptEnd = { kind: "crashed" };
const conflict: AttemptEnd = { kind: "conflict" };
const error = (retryable: boolean, error_code: (typeof errorCodes)[number] = "tool_failure"): AttemptEnd => ({
  kind: "error",
  error_code,
  retryable,
});
const countedEnds: [string, AttemptEnd][] = [
  ["fail", fail],
  ["integrity_violation", integrity],
  ["an error that may pass", error(true)],
  ["conflict", conflict],
];
const lostEnds: [string, AttemptEnd][] = [
  ["infra_error", infra],
  ["crashed", crashed],
];

describe("one attempt's end", () => {
  it("[LAD-1] a pass is merged, however little is left", () => {
    for (const state of [
      fresh,
      { ...fresh, counted: 99, uncounted: 99, consulted: true, replan_depth: 9, planner: false },
    ])
      expect(climb(state, pass)).toEqual({ next: "merge", counted: true, error_code: null, skipped: [] });
  });
  it("[LAD-2] every other end has its error code, and only what was lost to crashes and infrastructure is not counted", () => {
    const told = [...countedEnds, ...lostEnds].map(([name, end]) => [
      name,
      climb(fresh, end).error_code,
      climb(fresh, end).counted,
    ]);
    expect(told).toEqual([
      ["fail", "verification_failed", true],
      ["integrity_violation", "verification_failed", true],
      ["an error that may pass", "tool_failure", true],
      ["conflict", "tool_failure", true],
      ["infra_error", "tool_failure", false],
      ["crashed", "tool_failure", false],
    ]);
    for (const code of errorCodes) expect(climb(fresh, error(true, code)).error_code).toBe(code);
  });
  it.each(countedEnds)(
    "[LAD-3] after %s it is tried again while counted attempts remain, whatever was lost",
    (_, end) => {
      for (const uncounted of [0, 4, 5, 50]) {
        const nexts = [0, 1, 2, 3].map((counted) => climb({ ...fresh, counted, uncounted }, end).next);
        expect(nexts).toEqual(["retry", "retry", "consult", "consult"]);
      }
      expect(climb({ ...fresh, max_attempts: 1 }, end).next).toBe("consult");
    },
  );
  it.each(lostEnds)("[LAD-4] after %s it is tried again five times at most, then a person is asked", (_, end) => {
    for (const counted of [0, 2, 3]) {
      const nexts = [0, 3, 4, 5].map((uncounted) => climb({ ...fresh, counted, uncounted }, end).next);
      expect(nexts).toEqual(["retry", "retry", "escalate", "escalate"]);
    }
    expect(climb({ ...fresh, uncounted: 4 }, end).skipped).toEqual(["retry: 5 attempts were lost to crashes"]);
  });
  it("[LAD-5] an error that would end the same way goes to a person at once and says so", () => {
    for (const planner of [true, false])
      for (const code of errorCodes)
        expect(climb({ ...fresh, planner }, error(false, code))).toEqual({
          next: "escalate",
          counted: true,
          error_code: code,
          skipped: [`retry: ${code} would end the same way`],
        });
  });
});

describe("when the attempts are used up", () => {
  const used: LadderState = { ...fresh, counted: 2 };
  const noConsult = "consult: no planner model configured";
  const noReplan = "re-plan: no planner model configured";
  const table: [LadderState["on_stuck"], boolean, boolean, number, Rung, string[]][] = [
    // on_stuck, consulted, planner, replan_depth -> next, skipped
    ["consult_planner", false, true, 0, "consult", []],
    ["consult_planner", false, true, 2, "consult", []],
    ["consult_planner", true, true, 0, "replan", []],
    ["consult_planner", true, true, 1, "replan", []],
    ["consult_planner", true, true, 2, "escalate", []],
    ["consult_planner", false, false, 0, "escalate", [noConsult, noReplan]],
    ["consult_planner", false, false, 2, "escalate", [noConsult]],
    ["consult_planner", true, false, 0, "escalate", [noReplan]],
    ["replan", false, true, 0, "replan", []],
    ["replan", true, true, 1, "replan", []],
    ["replan", false, true, 2, "escalate", []],
    ["replan", false, false, 0, "escalate", [noReplan]],
    ["replan", false, false, 2, "escalate", []],
    ["escalate", false, true, 0, "escalate", []],
    ["escalate", false, false, 0, "escalate", []],
  ];
  it.each(table)(
    "[LAD-6] on_stuck %s, consulted %s, planner %s, depth %i: %s, passing over %j",
    (on_stuck, consulted, planner, replan_depth, next, skipped) => {
      for (const [, end] of countedEnds)
        expect(climb({ ...used, on_stuck, consulted, planner, replan_depth }, end)).toMatchObject({
          next,
          skipped,
          counted: true,
        });
    },
  );
});

/** The ladder as its owner walks it: each rung taken changes what is left. */
function walk(from: LadderState, ends: readonly AttemptEnd[]): Rung[] {
  let state = from;
  const rungs: Rung[] = [];
  for (const end of ends) {
    const { next, counted } = climb(state, end);
    rungs.push(next);
    if (next === "merge" || next === "escalate") break;
    state = counted ? { ...state, counted: state.counted + 1 } : { ...state, uncounted: state.uncounted + 1 };
    if (next === "consult") state = { ...state, consulted: true };
    if (next === "replan")
      state = { ...state, replan_depth: state.replan_depth + 1, counted: 0, uncounted: 0, consulted: false };
  }
  return rungs;
}

describe("the whole ladder", () => {
  it("[LAD-7] each rung is used up before the next: retries, one consultation, one more attempt, a new plan", () => {
    const rungs = walk(fresh, Array<AttemptEnd>(20).fill(fail));
    const once: Rung[] = ["retry", "retry", "consult", "replan"];
    expect(rungs).toEqual([...once, ...once, "retry", "retry", "consult", "escalate"]);
    expect(walk({ ...fresh, planner: false }, Array<AttemptEnd>(20).fill(fail))).toEqual([
      "retry",
      "retry",
      "escalate",
    ]);
  });
  it("[LAD-7] in any order of ends it comes to a merge or a person, and is never climbed for ever", () => {
    const ends = fc.constantFrom<AttemptEnd>(fail, integrity, infra, crashed, conflict, error(true), error(false));
    const longest = 3 * (fresh.max_attempts + 1 + fresh.max_uncounted);
    fc.assert(
      fc.property(fc.array(ends, { minLength: 60, maxLength: 60 }), fc.boolean(), (given, planner) => {
        const rungs = walk({ ...fresh, planner }, given);
        return rungs.at(-1) === "escalate" && rungs.length <= longest;
      }),
    );
  });
});

describe("what the planner could not help with, and what a loop gave up", () => {
  const stuck = (next: "decompose" | "ask_person"): AttemptEnd => ({ kind: "stuck", next });
  const used: LadderState = { ...fresh, counted: 2 };
  it.each<[string, Partial<LadderState>, Rung, string[]]>([
    ["parted while it may be", {}, "decompose", []],
    ["parted although attempts are left", { counted: 0 }, "decompose", []],
    ["parted too often", { decompose_depth: 2 }, "consult", ["decompose: its task was parted 2 times"]],
    [
      "parted too often, attempts left",
      { decompose_depth: 2, counted: 0 },
      "retry",
      ["decompose: its task was parted 2 times"],
    ],
    [
      "goes to a person when stuck",
      { on_stuck: "escalate" },
      "escalate",
      ["decompose: the item goes to a person when it is stuck"],
    ],
    ["re-planned when stuck", { on_stuck: "replan" }, "decompose", []],
    [
      "no planner",
      { planner: false },
      "escalate",
      ["decompose", "consult", "re-plan"].map((rung) => `${rung}: no planner model configured`),
    ],
  ])("[LAD-8] a loop too big for one item: %s", (_, more, next, skipped) => {
    expect(climb({ ...used, ...more }, stuck("decompose"))).toEqual({
      ...{ next, counted: true, error_code: "tool_failure", skipped },
    });
  });
  it("[LAD-9] a loop that asks for a person gets one at once, and the card says so", () => {
    const skipped = ["retry: the agent tried every way it has and asks for a person"];
    for (const state of [fresh, used, { ...fresh, planner: false }])
      expect(climb(state, stuck("ask_person"))).toMatchObject({ next: "escalate", skipped });
  });
  it.each<["consult" | "decompose" | "replan", Partial<LadderState>, Rung]>([
    ["consult", {}, "replan"],
    ["consult", { replan_depth: 2 }, "escalate"],
    ["decompose", {}, "consult"],
    ["decompose", { consulted: true }, "replan"],
    ["decompose", { consulted: true, replan_depth: 2 }, "escalate"],
    ["decompose", { on_stuck: "replan" }, "replan"],
    ["replan", {}, "escalate"],
    ["replan", { consulted: false, counted: 0 }, "escalate"],
  ])("[LAD-10] after %s came to nothing, with %o: %s", (from, more, next) => {
    const climbed = climbOn({ ...used, consulted: from === "consult", ...more }, from, "no word came");
    expect(climbed.next).toBe(next);
    expect(climbed.skipped[0]).toBe(`${from}: no word came`);
  });
  it("[LAD-11] of every pair it is written down which rung comes before which; each order ends with a person or a merge", () => {
    const pairs = Object.entries(order).flatMap(([after, rungs]) =>
      rungs.flatMap((rung, at) => rungs.slice(at + 1).map((later) => `${after}: ${rung} before ${later}`)),
    );
    expect(pairs).toEqual([
      ...["retry before consult", "retry before replan", "retry before escalate"].map((pair) => `failed: ${pair}`),
      ...["consult before replan", "consult before escalate", "replan before escalate"].map(
        (pair) => `failed: ${pair}`,
      ),
      "lost: retry before escalate",
      ...["retry", "consult", "replan", "escalate"].map((later) => `stuck: decompose before ${later}`),
      ...["retry before consult", "retry before replan", "retry before escalate"].map((pair) => `stuck: ${pair}`),
      ...["consult before replan", "consult before escalate", "replan before escalate"].map((pair) => `stuck: ${pair}`),
      "consult: replan before escalate",
      ...["consult before replan", "consult before escalate", "replan before escalate"].map(
        (pair) => `decompose: ${pair}`,
      ),
    ]);
    for (const [after, rungs] of Object.entries(order))
      expect(rungs.at(-1)).toBe(after === "passed" ? "merge" : "escalate");
  });
});
