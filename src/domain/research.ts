/**
 * The planner's questions to the crew, as one machine a plan: how many at once, how many in all, how long each is
 * waited for, and what of what comes back still counts. A table and a pure step. [RSC-*]
 */
import { z } from "zod";
import { limits } from "../limits.ts";
import { hashOf } from "./canonical.ts";
import { derivedId } from "./ids.ts";

export const researchStates = ["planning", "awaiting_research", "ready_to_finalize", "expired"] as const;
export type ResearchAt = (typeof researchStates)[number];

export const question = z.strictObject({
  id: z.string(),
  /** What makes two questions the same: see `questionKey`. */
  key: z.string(),
  task: z.string(),
  state: z.enum(["open", "answered", "timed_out", "cancelled"]),
  due_at: z.number(),
});
export type Question = z.infer<typeof question>;
export const researchState = z.strictObject({ at: z.enum(researchStates), questions: z.array(question) });
export type ResearchState = z.infer<typeof researchState>;

export const noResearch: ResearchState = { at: "planning", questions: [] };

/** What moves the machine. `all_in` and `timed_out` are said when the last open question was answered, or given up. */
type Edge = "request" | "all_in" | "timed_out" | "finalize" | "used_up" | "plan_timeout" | "emit";

/** An absent edge is a refusal: the machine stays where it is. Asking on after an answer is planning on. */
export const researchMoves: Readonly<Record<ResearchAt, Readonly<Partial<Record<Edge, ResearchAt>>>>> = {
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
};

export interface Asking {
  readonly task: string;
  readonly return_format: string;
  readonly max_tokens: number;
}
export function questionKey({ task, return_format, max_tokens }: Asking): string {
  return hashOf({ task, return_format, max_tokens });
}

export type ResearchEvent =
  | { readonly kind: "request"; readonly asking: Asking; readonly run_id: string; readonly now: number }
  | { readonly kind: "result"; readonly id: string; readonly now: number }
  | { readonly kind: "tick"; readonly now: number; readonly plan_ends_at: number }
  | { readonly kind: "finalize" }
  | { readonly kind: "emit" };

export type ResearchSaid =
  /** The question is on its way. */
  | { readonly kind: "dispatched"; readonly question: Question }
  /** The same question is under way, or answered: nothing is sent. */
  | { readonly kind: "same"; readonly question: Question }
  | { readonly kind: "too_many" }
  | { readonly kind: "used_up" }
  /** A result that still counts, or one that comes late, twice, or for a question nobody asked. */
  | { readonly kind: "taken"; readonly question: Question }
  | { readonly kind: "late" }
  | { readonly kind: "moved"; readonly timed_out: readonly Question[]; readonly cancelled: readonly Question[] };

interface Stepped {
  readonly state: ResearchState;
  readonly said: ResearchSaid;
}

export function openQuestions({ questions }: ResearchState): readonly Question[] {
  return questions.filter((one) => one.state === "open");
}
/** When the first open question is given up; null when none is open. */
export function nextDue(state: ResearchState): number | null {
  const open = openQuestions(state).map((one) => one.due_at);
  return open.length === 0 ? null : Math.min(...open);
}

export function stepResearch(state: ResearchState, event: ResearchEvent): Stepped {
  switch (event.kind) {
    case "request":
      return asked(state, event);
    case "result":
      return answered(state, event);
    case "tick":
      return ticked(state, event);
    case "finalize": {
      const { state: closed, said } = cancelOpen(state);
      return { state: moved(closed, "finalize"), said };
    }
    case "emit": {
      const { state: closed, said } = cancelOpen(state);
      return { state: moved(closed, "emit"), said };
    }
  }
}

function asked(state: ResearchState, event: Extract<ResearchEvent, { kind: "request" }>): Stepped {
  const key = questionKey(event.asking);
  const same = state.questions.findLast((one) => one.key === key && ["open", "answered"].includes(one.state));
  if (same !== undefined) return { state, said: { kind: "same", question: same } };
  if (state.at === "expired") return { state, said: { kind: "used_up" } };
  // Those under way are still waited for: only then is there nothing left to ask.
  if (state.questions.length >= limits.research_rounds)
    return {
      state: openQuestions(state).length > 0 ? state : moved(state, "used_up"),
      said: { kind: "used_up" },
    };
  if (openQuestions(state).length >= limits.research_in_flight) return { state, said: { kind: "too_many" } };
  const made: Question = {
    id: derivedId(`${event.run_id}/${key}`, "research", state.questions.length),
    key,
    task: event.asking.task,
    state: "open",
    due_at: event.now + limits.research_timeout_ms,
  };
  return {
    state: moved({ ...state, questions: [...state.questions, made] }, "request"),
    said: { kind: "dispatched", question: made },
  };
}

function answered(state: ResearchState, { id, now }: Extract<ResearchEvent, { kind: "result" }>): Stepped {
  const found = state.questions.find((one) => one.id === id);
  if (found?.state !== "open" || now > found.due_at) return { state, said: { kind: "late" } };
  const question: Question = { ...found, state: "answered" };
  const next = { ...state, questions: state.questions.map((one) => (one.id === id ? question : one)) };
  return {
    state: openQuestions(next).length === 0 ? moved(next, "all_in") : next,
    said: { kind: "taken", question },
  };
}

/** What time alone ends: questions nobody answered, and the plan itself. */
function ticked(state: ResearchState, { now, plan_ends_at }: Extract<ResearchEvent, { kind: "tick" }>): Stepped {
  const given_up = openQuestions(state).filter((one) => one.due_at < now);
  const questions = state.questions.map((one) =>
    given_up.includes(one) ? { ...one, state: "timed_out" as const } : one,
  );
  const timed_out = questions.filter((one) => given_up.some(({ id }) => id === one.id));
  let next: ResearchState = { ...state, questions };
  if (timed_out.length > 0 && openQuestions(next).length === 0) next = moved(next, "timed_out");
  if (now < plan_ends_at || next.at === "expired")
    return { state: next, said: { kind: "moved", timed_out, cancelled: [] } };
  const { state: closed, said } = cancelOpen(next);
  return { state: moved(closed, "plan_timeout"), said: { ...said, timed_out } };
}

function cancelOpen(state: ResearchState) {
  const questions = state.questions.map((one) =>
    one.state === "open" ? { ...one, state: "cancelled" as const } : one,
  );
  const cancelled = questions.filter((one, at) => one.state === "cancelled" && state.questions[at]?.state === "open");
  return { state: { ...state, questions }, said: { kind: "moved" as const, timed_out: [] as Question[], cancelled } };
}
function moved(state: ResearchState, edge: Edge): ResearchState {
  return { ...state, at: researchMoves[state.at][edge] ?? state.at };
}
