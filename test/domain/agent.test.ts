import { describe, expect, it } from "vitest";
import type { AgentEvent, AgentStanding, AgentState } from "../../src/domain/agent.ts";
import {
  activities,
  activityEvents,
  activityMoves,
  agentEvents,
  agentMoves,
  agentStates,
  answerShutdown,
  idlePollMs,
  newAgent,
  stateTimeoutMs,
  step,
  wordOf,
} from "../../src/domain/agent.ts";
import { limits } from "../../src/limits.ts";

const active = (activity: AgentStanding["activity"]): AgentStanding => ({ state: "active", activity });
/** Written again by hand, so that a slip in the table is seen. */
const edges = [
  "idle start spawning",
  "spawning spawned active",
  "spawning fail failed",
  "active pause paused",
  "paused resume active",
  "active stop stopping",
  "paused stop stopping",
  "stopping stop stopped",
  "active fail failed",
  "stopping fail failed",
  "failed recover idle",
];

describe("lifecycle", () => {
  it("[AGT-1] of the 49 pairs 11 are moves and 38 are refused with a reason", () => {
    const moved: string[] = [];
    let refused = 0;
    for (const state of agentStates)
      for (const event of agentEvents) {
        const result = step({ state, activity: state === "active" ? "working" : null }, event);
        if (result.ok) moved.push(`${state} ${event} ${result.value.state}`);
        else {
          refused++;
          expect(result.refusal).toMatchObject({ code: "not_in_this_state", detail: expect.stringContaining(event) });
        }
      }
    expect(moved.toSorted()).toEqual(edges.toSorted());
    expect([moved.length, refused]).toEqual([11, 38]);
  });
  it("[AGT-2] stopped is final, and every other state can be left", () => {
    for (const state of agentStates) expect(Object.keys(agentMoves[state]).length > 0, state).toBe(state !== "stopped");
  });
  it("[AGT-3] who becomes active is ready, and outside active there is no activity", () => {
    expect(step({ state: "spawning", activity: null }, "spawned")).toMatchObject({ value: active("ready") });
    expect(step({ state: "paused", activity: null }, "resume")).toMatchObject({ value: active("ready") });
    for (const event of ["pause", "stop", "fail"] as const)
      expect(step(active("working"), event)).toMatchObject({ ok: true, value: { activity: null } });
  });
  it("[AGT-4] only spawning and stopping have a time limit", () => {
    const timed = agentStates.filter((state) => stateTimeoutMs(state) !== null);
    expect(timed).toEqual(["spawning", "stopping"]);
    expect(stateTimeoutMs("spawning")).toBe(limits.spawn_timeout_ms);
    expect(stateTimeoutMs("stopping")).toBe(limits.stop_timeout_ms);
  });
  it("[AGT-1] a life goes from idle to stopped, and a failed one begins again", () => {
    const events: AgentEvent[] = ["start", "fail", "recover", "start", "spawned", "pause", "resume", "stop", "stop"];
    let standing = newAgent;
    const states = events.map((event) => {
      const next = step(standing, event);
      if (!next.ok) throw new Error(next.refusal.detail);
      standing = next.value;
      return standing;
    });
    expect(states.map(({ state }) => state)).toEqual([
      "spawning",
      "failed",
      "idle",
      "spawning",
      "active",
      "paused",
      "active",
      "stopping",
      "stopped",
    ]);
  });
});

describe("activity", () => {
  it("[AGT-5] of the 25 pairs 7 are moves; the others, and any outside active, are refused", () => {
    const moved: string[] = [];
    for (const activity of activities)
      for (const event of activityEvents) {
        const result = step(active(activity), event);
        if (result.ok) moved.push(`${activity} ${event} ${result.value.activity}`);
        else expect(result.refusal.code).toBe("not_in_this_state");
      }
    expect(moved.toSorted()).toEqual([
      "claiming plan planning_work",
      "claiming rest idle",
      "claiming work working",
      "idle claim claiming",
      "planning_work work working",
      "ready claim claiming",
      "working finish ready",
    ]);
    for (const state of agentStates.filter((name) => name !== "active"))
      for (const event of activityEvents) expect(step({ state, activity: null }, event).ok).toBe(false);
    expect(Object.keys(activityMoves)).toEqual([...activities]);
  });
  it("[AGT-6] state and activity together are one of the team's words", () => {
    const words: Record<Exclude<AgentState, "active">, string> = {
      idle: "Idle",
      spawning: "Spawning",
      paused: "Paused",
      stopping: "ShuttingDown",
      stopped: "Stopped",
      failed: "Error",
    };
    for (const [state, word] of Object.entries(words)) expect(wordOf(state as AgentState, null)).toBe(word); // Object.entries forgets its keys' type
    expect(activities.map((activity) => wordOf("active", activity))).toEqual([
      "Ready",
      "Claiming",
      "PlanningWork",
      "Working",
      "Idle",
    ]);
  });
  it("[AGT-7] asked to stop, an agent accepts when free, defers in an attempt, and rejects with an estimate in a merge", () => {
    for (const free of [
      active("ready"),
      active("claiming"),
      active("idle"),
      { state: "paused", activity: null },
    ] as const)
      expect(answerShutdown(free, null)).toEqual({ answer: "accept" });
    for (const busy of ["working", "planning_work"] as const)
      expect(answerShutdown(active(busy), null)).toMatchObject({ answer: "defer" });
    expect(answerShutdown(active("working"), { estimate_ms: 4000 })).toEqual({
      answer: "reject",
      reason: "a merge is under way",
      estimate_ms: 4000,
    });
  });
  it("[AGT-8] looks for work that find none grow apart: 1, 2, 4, 8, 16, then 30 s for ever", () => {
    expect([1, 2, 3, 4, 5, 6, 7, 1e9].map((looks) => idlePollMs(looks) / 1000)).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
    expect(idlePollMs(0)).toBe(limits.idle_poll_first_ms);
  });
});
