/**
 * The loop of every role that thinks: the model is called, its calls are run one by one, their results are told, until a
 * tool that ends the work is called. One model call or one look at one call a step; each step is one commit of its
 * caller's, and whatever dies between two commits is at most the call in flight. [LOOP-1]
 *
 * Before the model is asked, the commit before has named the call (`asked`): a step that is repeated after a restart
 * leaves that name behind and takes a new one, so that the lost call and its repetition are both charged. See loop-life.
 */
import { judge, nextRecovery, type Stuck } from "../domain/stuck.ts";
import { act, withResult } from "./loop-act.ts";
import { reduced } from "./loop-context.ts";
import { Life } from "./loop-life.ts";
import { type LoopWorld, think } from "./loop-think.ts";
import type { LoopMove, LoopState, Mind, Recovered } from "./mind.ts";
import type { Turn } from "./models.ts";
import { note } from "./workspace.ts";

export function openLoop(now: number): LoopState {
  return {
    ...{ at: "think", steps: 0, asked: 0, failures: 0, refusals: 0, lost: 0, pending: [], progress: null },
    ...{ repairs: 0, tool_errors: 0, recent: [], moved_at: now, recovered: [] },
  };
}

/** `context.turns` begin with what the model is told to do. The move's state and turns are for one commit. */
export async function stepLoop(stored: LoopState, mind: Mind, world: LoopWorld): Promise<LoopMove> {
  const { clock, models } = world.ports;
  const life = new Life(models, world.context.run_id);
  // The time in which there was no object to do anything was nobody's standing still.
  const state = life.knows() ? stored : { ...stored, moved_at: clock.now() };
  life.expect(null);
  const stuck = judge({ ...state, max_steps: mind.max_steps, thinks: state.at === "think" }, clock.now());
  const move =
    stuck !== null
      ? recover(state, stuck, world)
      : state.at === "think"
        ? await think(state, mind, world, life)
        : await act(state, mind, world.context.turns, () => clock.now());
  if (move.state.at === "think") life.expect(move.state.asked);
  return move;
}

/** The next thing that was not tried yet. What is the loop's own it does; the rest is the runtime's. [STUCK-5] */
function recover(state: LoopState, stuck: Stuck, { context, ports }: LoopWorld): LoopMove {
  const { reason, detail } = stuck;
  const done = state.recovered.map(({ action }) => action);
  const action = nextRecovery(reason, done);
  const recovery: Recovered = { reason, action, detail };
  const output = note(`${reason}: ${detail}; ${action.replace("_", " ")}`);
  // What was judged is not judged again.
  const next = { ...state, recent: [], moved_at: ports.clock.now(), recovered: [...state.recovered, recovery] };
  if (action === "decompose" || action === "ask_person")
    return { kind: "stuck", reason, next: action, detail, state: next, turns: [], recovery, output };
  const cut = action === "reduce_context" ? reduced(context.turns, `${reason}: ${detail}`) : null;
  // While a call is under way, its result is what must come next.
  const told = state.at === "think" ? [{ kind: "told", text: nudge(stuck) } as const] : [];
  const turns: Turn[] = [...(cut === null ? [] : [cut]), ...told];
  return { kind: "on", wait_ms: 0, state: next, turns, recovery, output };
}
function nudge({ detail }: Stuck): string {
  return `Notice of the runtime: this does not get on (${detail}). Do not repeat it. Say to yourself what is known and what is missing, then take the smallest step that is different; if there is none, end with what you have.`;
}

/** The role does not take its answer: the model is told why, as that call's failed result. To be committed instead. */
export function sendBack(
  move: Extract<LoopMove, { kind: "answered" }>,
  text: string,
  now: number,
): { readonly state: LoopState; readonly turns: readonly Turn[] } {
  const { call_id, tool, state } = move;
  const call = { call_id, tool, arguments: JSON.stringify(move.value ?? null) };
  const told = withResult({ ...state, asked: state.asked - 1, pending: [call] }, { text, is_error: true }, now);
  return { state: told.state, turns: [...told.turns, ...move.turns] };
}

/** The first pending call has its result from elsewhere: a person's no, or a card that nobody answered in time. */
export function answerPending(
  state: LoopState,
  text: string,
  is_error: boolean,
  now: number,
): { readonly state: LoopState; readonly turns: readonly Turn[] } {
  return withResult(state, { text, is_error }, now);
}
