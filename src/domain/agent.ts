/**
 * An agent's life as one table: seven states, eleven moves, everything else refused with a reason. Inside
 * `active` an activity machine says what it is doing; the team's word names both together. [AGT-*]
 */
import { limits } from "../limits.ts";
import type { Result } from "./refusal.ts";
import { ok, refuse } from "./refusal.ts";

export const agentStates = ["idle", "spawning", "active", "paused", "stopping", "stopped", "failed"] as const;
export type AgentState = (typeof agentStates)[number];
export const agentEvents = ["start", "spawned", "fail", "pause", "resume", "stop", "recover"] as const;
export type AgentEvent = (typeof agentEvents)[number];

/** An empty pair is a refusal. The page asks this table which buttons to show. */
export const agentMoves: Readonly<Record<AgentState, Readonly<Partial<Record<AgentEvent, AgentState>>>>> = {
  idle: { start: "spawning" },
  spawning: { spawned: "active", fail: "failed" },
  active: { pause: "paused", stop: "stopping", fail: "failed" },
  paused: { resume: "active", stop: "stopping" },
  stopping: { stop: "stopped", fail: "failed" },
  stopped: {},
  failed: { recover: "idle" },
};

export const activities = ["ready", "claiming", "planning_work", "working", "idle"] as const;
export type Activity = (typeof activities)[number];
export const activityEvents = ["claim", "plan", "work", "finish", "rest"] as const;
export type ActivityEvent = (typeof activityEvents)[number];

/** `claim`: looks for an item. `plan`: must have its plan approved first. `rest`: nothing was claimable. */
export const activityMoves: Readonly<Record<Activity, Readonly<Partial<Record<ActivityEvent, Activity>>>>> = {
  ready: { claim: "claiming" },
  claiming: { work: "working", plan: "planning_work", rest: "idle" },
  planning_work: { work: "working" },
  working: { finish: "ready" },
  idle: { claim: "claiming" },
};

/** `activity` is null outside `active`. */
export interface AgentStanding {
  readonly state: AgentState;
  readonly activity: Activity | null;
}
export const newAgent: AgentStanding = { state: "idle", activity: null };

/** The standing after an event of either machine. Who becomes active is `ready`: what it did before has been given back. */
export function step(from: AgentStanding, event: AgentEvent | ActivityEvent): Result<AgentStanding> {
  if (isAgentEvent(event)) {
    const to = agentMoves[from.state][event];
    if (to === undefined)
      return refuse(
        "not_in_this_state",
        `${event} is not possible while the agent is ${from.state}${possible(agentMoves[from.state])}`,
      );
    return ok({ state: to, activity: to === "active" ? "ready" : null });
  }
  if (from.state !== "active" || from.activity === null)
    return refuse("not_in_this_state", `${event} needs an active agent; this one is ${from.state}`);
  const to = activityMoves[from.activity][event];
  if (to === undefined)
    return refuse(
      "not_in_this_state",
      `${event} is not possible while the agent is ${from.activity}${possible(activityMoves[from.activity])}`,
    );
  return ok({ state: "active", activity: to });
}
function isAgentEvent(event: string): event is AgentEvent {
  return (agentEvents as readonly string[]).includes(event);
}
function possible(moves: object): string {
  const names = Object.keys(moves);
  return names.length === 0 ? ": it is final" : `; possible: ${names.join(", ")}`;
}

/** How long the state may last before it is `fail`; null for ever. */
export function stateTimeoutMs(state: AgentState): number | null {
  if (state === "spawning") return limits.spawn_timeout_ms;
  return state === "stopping" ? limits.stop_timeout_ms : null;
}

const activityWords: Readonly<Record<Activity, string>> = {
  ready: "Ready",
  claiming: "Claiming",
  planning_work: "PlanningWork",
  working: "Working",
  idle: "Idle",
};
const stateWords: Readonly<Record<AgentState, string>> = {
  idle: "Idle",
  spawning: "Spawning",
  active: "Ready",
  paused: "Paused",
  stopping: "ShuttingDown",
  stopped: "Stopped",
  failed: "Error",
};
/** The team's word. */
export function wordOf(state: AgentState, activity: Activity | null): string {
  return state === "active" && activity !== null ? activityWords[activity] : stateWords[state];
}

export type ShutdownAnswer =
  | { readonly answer: "accept" }
  /** It stops by itself once the attempt it works on has ended. */
  | { readonly answer: "defer"; readonly reason: string }
  | { readonly answer: "reject"; readonly reason: string; readonly estimate_ms: number };

/** What an agent answers when it is asked to stop. `merging` says how long a merge under way may still take. */
export function answerShutdown(from: AgentStanding, merging: { readonly estimate_ms: number } | null): ShutdownAnswer {
  if (merging !== null) return { answer: "reject", reason: "a merge is under way", estimate_ms: merging.estimate_ms };
  const busy = from.state === "active" && (from.activity === "working" || from.activity === "planning_work");
  return busy ? { answer: "defer", reason: "it finishes its attempt first" } : { answer: "accept" };
}

/** How long to wait before looking for work again, after so many looks in a row found none: 1, 2, 4 ... 30 s. */
export function idlePollMs(emptyLooks: number): number {
  const doublings = Math.min(Math.max(emptyLooks - 1, 0), 20);
  return Math.min(limits.idle_poll_first_ms * 2 ** doublings, limits.idle_poll_max_ms);
}
