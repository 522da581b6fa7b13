import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  nextDue,
  noResearch,
  openQuestions,
  questionKey,
  type ResearchEvent,
  type ResearchState,
  researchMoves,
  researchState,
  researchStates,
  stepResearch,
} from "../../src/domain/research.ts";
import { limits } from "../../src/limits.ts";

const run_id = "message-plan";
const plan_ends_at = limits.plan_timeout_ms;
const asking = (task: string) => ({ task, return_format: "one line", max_tokens: 100 });
const request = (task: string, now = 0): ResearchEvent => ({ kind: "request", asking: asking(task), run_id, now });
function ask(state: ResearchState, task: string, now = 0) {
  const { state: next, said } = stepResearch(state, request(task, now));
  if (said.kind !== "dispatched") throw new Error(`${task}: ${said.kind}`);
  return { state: next, id: said.question.id };
}
const result = (state: ResearchState, id: string, now = 1) => stepResearch(state, { kind: "result", id, now });
const tick = (state: ResearchState, now: number) => stepResearch(state, { kind: "tick", now, plan_ends_at });

describe("the planner's questions", () => {
  it("[RSC-1] the machine is this table, and every other edge is refused", () => {
    expect(researchMoves).toEqual({
      planning: {
        request: "awaiting_research",
        finalize: "ready_to_finalize",
        used_up: "expired",
        plan_timeout: "expired",
      },
      awaiting_research: {
        request: "awaiting_research",
        all_in: "ready_to_finalize",
        timed_out: "planning",
        finalize: "ready_to_finalize",
        plan_timeout: "expired",
      },
      ready_to_finalize: {
        request: "awaiting_research",
        finalize: "ready_to_finalize",
        used_up: "expired",
        plan_timeout: "expired",
        emit: "planning",
      },
      expired: { emit: "planning" },
    });
    expect(Object.keys(researchMoves)).toEqual([...researchStates]);
  });
  it("[RSC-1] it is ready when the last open question is answered, and plans on when that one was given up", () => {
    const first = ask(noResearch, "a");
    const second = ask(first.state, "b");
    expect(second.state.at).toBe("awaiting_research");
    const one = result(second.state, first.id).state;
    expect(one.at).toBe("awaiting_research");
    expect(result(one, second.id).state.at).toBe("ready_to_finalize");
    const over = tick(one, limits.research_timeout_ms + 1);
    expect(over.state.at).toBe("planning");
    expect(over.said).toMatchObject({ kind: "moved", timed_out: [{ id: second.id, state: "timed_out" }] });
  });
  it("[RSC-2] three are under way at once and five are asked in all; then what is under way is waited for", () => {
    let state = noResearch;
    const ids: string[] = [];
    for (const task of ["a", "b", "c"]) {
      const asked = ask(state, task);
      state = asked.state;
      ids.push(asked.id);
    }
    expect(stepResearch(state, request("d")).said).toEqual({ kind: "too_many" });
    for (const id of ids) state = result(state, id).state;
    state = ask(state, "d").state;
    const last = ask(state, "e");
    expect(last.state.questions).toHaveLength(limits.research_rounds);
    const more = stepResearch(last.state, request("f"));
    expect(more.said).toEqual({ kind: "used_up" });
    expect(more.state).toEqual(last.state);
    const none = tick(last.state, limits.research_timeout_ms + 1).state;
    expect(stepResearch(none, request("f"))).toMatchObject({ said: { kind: "used_up" }, state: { at: "expired" } });
  });
  it("[RSC-3] the same question, form and length are asked once while it is open or answered, and anew once it was given up", () => {
    const asked = ask(noResearch, "a");
    expect(stepResearch(asked.state, request("a")).said).toMatchObject({ kind: "same", question: { id: asked.id } });
    const answered = result(asked.state, asked.id).state;
    expect(stepResearch(answered, request("a")).said.kind).toBe("same");
    const given_up = tick(asked.state, limits.research_timeout_ms + 1).state;
    const anew = ask(given_up, "a", limits.research_timeout_ms + 1);
    expect(anew.id).not.toBe(asked.id);
    const keys = [
      asking("a"),
      { ...asking("a"), max_tokens: 99 },
      { ...asking("a"), return_format: "two" },
      asking("b"),
    ];
    expect(new Set(keys.map(questionKey)).size).toBe(keys.length);
  });
  it("[RSC-4] an answer counts once, in time, and only to a question that is open", () => {
    const asked = ask(noResearch, "a");
    expect(result(asked.state, "another").said).toEqual({ kind: "late" });
    expect(result(asked.state, asked.id, limits.research_timeout_ms + 1)).toEqual({
      state: asked.state,
      said: { kind: "late" },
    });
    const once = result(asked.state, asked.id, limits.research_timeout_ms);
    expect(once.said.kind).toBe("taken");
    expect(result(once.state, asked.id)).toEqual({ state: once.state, said: { kind: "late" } });
    const cancelled = stepResearch(asked.state, { kind: "finalize" });
    expect(cancelled.said).toMatchObject({ cancelled: [{ id: asked.id }] });
    expect(result(cancelled.state, asked.id).said).toEqual({ kind: "late" });
  });
  it("[RSC-5] when the plan's time is over it has expired: what is open is cancelled and nothing more is asked", () => {
    const asked = ask(noResearch, "a", plan_ends_at - 10);
    const over = tick(asked.state, plan_ends_at);
    expect(over.state.at).toBe("expired");
    expect(over.said).toMatchObject({ timed_out: [], cancelled: [{ id: asked.id }] });
    expect(stepResearch(over.state, request("b")).said).toEqual({ kind: "used_up" });
    expect(stepResearch(over.state, { kind: "emit" }).state.at).toBe("planning");
  });

  const step = fc.oneof(
    fc.record({ do: fc.constant("ask" as const), what: fc.integer({ min: 0, max: 7 }) }),
    fc.record({ do: fc.constant("result" as const), what: fc.integer({ min: 0, max: 6 }) }),
    fc.record({ do: fc.constant("wait" as const), what: fc.integer({ min: 0, max: 200_000 }) }),
    fc.record({ do: fc.constant("finalize" as const), what: fc.constant(0) }),
  );
  it("[RSC-6] in every order of questions, answers, repetitions and lost time the bounds hold and nothing counts twice", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let state = noResearch;
        let now = 0;
        const taken: string[] = [];
        for (const { do: what, what: value } of steps) {
          if (what === "wait") now += value;
          const id = state.questions[value]?.id ?? "nobody's";
          const event: ResearchEvent =
            what === "ask"
              ? request(`question ${value}`, now)
              : what === "result"
                ? { kind: "result", id, now }
                : what === "wait"
                  ? { kind: "tick", now, plan_ends_at }
                  : { kind: "finalize" };
          const before = state;
          const stepped = stepResearch(state, event);
          state = researchState.parse(JSON.parse(JSON.stringify(stepped.state)));
          expect(stepResearch(before, event)).toEqual(stepped);
          if (stepped.said.kind === "taken") taken.push(stepped.said.question.id);
          const open = openQuestions(state);
          expect(open.length).toBeLessThanOrEqual(limits.research_in_flight);
          expect(state.questions.length).toBeLessThanOrEqual(limits.research_rounds);
          expect(new Set(open.map(({ key }) => key)).size).toBe(open.length);
          expect(state.at === "awaiting_research").toBe(open.length > 0);
          expect(nextDue(state) === null).toBe(open.length === 0);
          // What was decided of a question stays so.
          for (const [at, { state: was }] of before.questions.entries())
            if (was !== "open") expect(state.questions[at]?.state).toBe(was);
        }
        expect(new Set(taken).size).toBe(taken.length);
        expect(new Set(state.questions.map(({ id }) => id)).size).toBe(state.questions.length);
      }),
      { numRuns: 300 },
    );
  });
});
