/**
 * The calls of an answer, one a step, in order: read, had run by the role, and told to the model. A call that was given
 * a result is never run again; one that was begun goes on with what was stored of it. [LOOP-6] [FALL-1]
 */
import { unfenced } from "../domain/context.ts";
import { comparable, digestOf } from "../domain/stuck-digest.ts";
import { toolUseErrors } from "../domain/tool-names.ts";
import { limits } from "../limits.ts";
import { bounded, readCall } from "./loop-read.ts";
import type { LoopMove, LoopState, Mind } from "./mind.ts";
import type { ModelCall, Turn } from "./models.ts";
import { counted } from "./workspace.ts";

export interface Outcome {
  readonly text: string;
  readonly is_error: boolean;
}

export async function act(state: LoopState, mind: Mind, turns: readonly Turn[], now: () => number): Promise<LoopMove> {
  const call = firstPending(state);
  const read = readCall(call, mind.tools);
  if (read.kind !== "good") return on(withResult(state, { text: read.why, is_error: true }, now()));
  const { tool, value } = read;
  if (tool.ends) return end(state, call, { tool: tool.offer.name, value, turns, now: now() });
  const moved = await mind.run({ call_id: call.call_id, tool: tool.offer.name, value }, state.progress ?? null);
  const output = "output" in moved && moved.output !== undefined ? { output: moved.output } : {};
  switch (moved.kind) {
    case "working": {
      const said = moved.output !== undefined && moved.output.byteLength > 0;
      const next = { ...state, progress: moved.progress ?? null, moved_at: said ? now() : state.moved_at };
      const effects = moved.effects === undefined ? {} : { effects: moved.effects };
      return { kind: "on", wait_ms: moved.wait_ms, state: next, turns: [], ...output, ...effects };
    }
    case "result": {
      const text = read.notice === null ? moved.text : `${read.notice}\n${moved.text}`;
      return { ...on(withResult(state, { text, is_error: moved.is_error }, now())), ...output };
    }
    case "asks":
      return { kind: "asks", state, turns: [] };
    case "stopped":
      return { kind: "stopped", entry: moved.entry, state, turns: [] };
    case "lost":
      return { kind: "lost", detail: moved.detail, state, turns: [] };
  }
}

/** The answer counts only when nothing failed that was called with it: the model has not seen that yet. */
function end(
  state: LoopState,
  call: ModelCall,
  about: { tool: string; value: unknown; turns: readonly Turn[]; now: number },
): LoopMove {
  const { tool, value, turns, now } = about;
  const asked = turns.findLastIndex(({ kind }) => kind === "said");
  const failed = turns.slice(asked + 1).filter((turn) => turn.kind === "result" && turn.is_error).length;
  if (failed > 0) {
    const text = `${tool} was not taken: ${counted(failed, "call")} made together with it failed. Look at that first, then call it again.`;
    return on(withResult(state, { text, is_error: true }, now));
  }
  const after = state.pending
    .slice(1)
    .map((late) => resultOf(late, { text: `not run: ${tool} came before it`, is_error: true }));
  const next = { ...state, at: "think" as const, asked: state.asked + 1, pending: [], progress: null, moved_at: now };
  return { kind: "answered", call_id: call.call_id, tool, value, state: next, turns: after };
}

/** The first pending call has its result. */
export function withResult(
  state: LoopState,
  outcome: Outcome,
  now: number,
): { readonly state: LoopState; readonly turns: readonly Turn[] } {
  const [call, ...rest] = state.pending;
  if (call === undefined) throw new Error("no call waits for a result");
  const result = resultOf(call, outcome);
  // The fence is ours, and the same around everything: what it holds is what the call brought.
  const { data } = unfenced(result.text);
  const brought = { text: data.length === 0 ? result.text : data.join("\n"), is_error: result.is_error };
  const digest = digestOf({ tool: call.tool, arguments: comparable(call.arguments) }, brought);
  const done = rest.length === 0;
  return {
    turns: [result],
    state: {
      ...state,
      at: done ? "think" : "act",
      asked: done ? state.asked + 1 : state.asked,
      pending: rest,
      progress: null,
      tool_errors: state.tool_errors + (result.is_error ? 1 : 0),
      recent: [...state.recent, digest].slice(-limits.calls_remembered),
      moved_at: now,
    },
  };
}
export function resultOf({ call_id, tool }: ModelCall, { text, is_error }: Outcome) {
  const said = bounded(text);
  // Data that was read may hold the tag, as any file may: it says nothing of this call.
  const failed = is_error || toolUseErrors(unfenced(said).beside).length > 0;
  return { kind: "result" as const, call_id, tool, text: said, is_error: failed };
}
function firstPending(state: LoopState): ModelCall {
  const [call] = state.pending;
  if (call === undefined) throw new Error("a loop acts on a call");
  return call;
}
function on(moved: { readonly state: LoopState; readonly turns: readonly Turn[] }): LoopMove {
  return { kind: "on", wait_ms: 0, ...moved };
}
