/**
 * One call of the model: asked of the runtime, made, charged, and read. What it said and what it cost are one commit
 * with the calls that follow from it. A failure is an outcome like any other: waited out, passed on, or the end.
 * [LOOP-2] [LOOP-3] [LOOP-5]
 */
import { byteLength } from "../domain/canonical.ts";
import type { ErrorCode } from "../domain/message.ts";
import { toolUseErrors } from "../domain/tool-names.ts";
import { limits } from "../limits.ts";
import { resultOf } from "./loop-act.ts";
import { halved, inputTokens, roomFor } from "./loop-context.ts";
import type { Life } from "./loop-life.ts";
import { offered, readCall } from "./loop-read.ts";
import type { LoopMove, LoopState, Mind } from "./mind.ts";
import type { MindBus, Thought } from "./mind-bus.ts";
import { type ModelAnswer, type ModelCall, ModelFailure, type ModelRequest, type Turn, type Usage } from "./models.ts";
import type { Ports, RunContext } from "./step.ts";
import { counted, firstOf, note } from "./workspace.ts";

export interface LoopWorld {
  readonly context: Pick<RunContext, "run_id" | "turns" | "agent" | "signal">;
  readonly ports: Pick<Ports, "models" | "minds" | "clock">;
}
const nothing: Usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, estimated: false };

export async function think(state: LoopState, mind: Mind, world: LoopWorld, life: Life): Promise<LoopMove> {
  const { context, ports } = world;
  if (!life.expects(state.asked)) return numbered(state);
  const request = requestOf(state, mind, context);
  const cut = roomFor(request);
  const told = cut === null ? request : { ...request, turns: [...request.turns, cut] };
  const before = cut === null ? [] : [cut];

  const thought_id = life.thoughtId(state.asked);
  const input = inputTokens(told);
  const may = await ports.minds.mayThink({
    ...{ thought_id, run_id: context.run_id, agent: context.agent, role: mind.role, payer: mind.payer },
    reserve_tokens: input + mind.max_output_tokens,
    reserve_usd: ports.models.mostUsd?.(mind.role, input, mind.max_output_tokens) ?? null,
    prompt: mind.prompt,
  });
  if (may.answer === "stale") return { kind: "stopped", entry: may, state, turns: [] };
  if (may.answer === "refused") return failed(state, [], may.reason, { error_code: may.error_code });
  if (may.answer === "wait") {
    return { kind: "on", wait_ms: limits.budget_look_ms, waits_for: "budget", state, turns: [] };
  }

  life.makes(state.asked);
  const charge = (done: Omit<Thought, "thought_id">) =>
    charged(ports.minds, mind.payer.task_id, { ...done, thought_id });
  let answer: ModelAnswer;
  try {
    answer = await ports.models.call(told);
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    const { usage, usd } = error.spent ?? { usage: nothing, usd: 0 };
    await charge({ model: error.model, usage, usd, failure: `${error.code}: ${firstOf(error.message, 300)}` });
    return afterFailure(state, error, { told, before, models: ports.models.configured(mind.role).length });
  }
  await charge({ model: answer.model, usage: answer.usage, usd: answer.usd, failure: null });
  return taken(state, answer, { mind, before, now: ports.clock.now() });
}

/**
 * Nobody can say whether a former life of the object made the call of this number: it is left behind, charged as
 * estimated by the runtime when the next is asked for. That many in a row, and the call itself is what ends the object.
 */
function numbered(state: LoopState): LoopMove {
  const lost = state.asked === 0 ? 0 : state.lost + 1;
  const next = { ...state, asked: state.asked + 1, lost };
  if (lost <= limits.model_calls_lost) return { kind: "on", wait_ms: 0, state: next, turns: [] };
  const detail = `${lost} times in a row the service stopped before a model's answer was stored`;
  return failed(next, [], detail, { retryable: true });
}

function requestOf(state: LoopState, mind: Mind, { turns, signal }: LoopWorld["context"]): ModelRequest {
  const simpler = state.recovered.some(({ action }) => action === "simplify_prompt");
  return {
    role: mind.role,
    attempt: state.failures,
    instructions: simpler ? mind.simpler : mind.instructions,
    turns,
    tools: mind.tools.map(({ offer }) => offer),
    must_call: true,
    max_output_tokens: mind.max_output_tokens,
    temperature: mind.temperature,
    ...(signal === undefined ? {} : { signal }),
  };
}

/** A runtime that does not answer once must not cost a second call; one that never does ends the step. */
async function charged(minds: MindBus, task_id: string, done: Thought): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await minds.thought(task_id, done);
    } catch (error) {
      if (tries >= limits.thought_tries) throw error;
    }
  }
}

/** What the same model will say again, whatever another may say. */
const refusing: ReadonlySet<string> = new Set(["not_configured", "unauthorized", "too_long", "rejected"]);

function afterFailure(
  state: LoopState,
  failure: ModelFailure,
  about: { readonly told: ModelRequest; readonly before: readonly Turn[]; readonly models: number },
): LoopMove {
  const { told, before } = about;
  const said = `${failure.model}: ${firstOf(failure.message, 300)}`;
  const cut = failure.code === "too_long" ? halved(told) : null;
  if (cut !== null) {
    const turns = [...before, cut];
    return {
      kind: "on",
      wait_ms: 0,
      state: { ...state, asked: state.asked + 1 },
      turns,
      output: note(`${said}; it is shortened`),
    };
  }
  const failures = state.failures + 1;
  const refusals = failure.retryable && !refusing.has(failure.code) ? 0 : state.refusals + 1;
  const next = { ...state, failures, refusals, asked: state.asked + 1 };
  const models = Math.max(1, about.models);
  if (failure.code === "not_configured" || refusals >= models)
    return failed(next, before, `no model could be asked (${said}). ${mend(failure, told.role)}`);
  if (failures >= limits.model_failures)
    return failed(next, before, `the model failed ${failures} times in a row, at last ${said}`, { retryable: true });
  const another = failures % models !== 0;
  const wait_ms = another ? 0 : pauseMs(failure, Math.floor((failures - 1) / models));
  const waits = wait_ms === 0 ? "another model is asked" : `again in ${Math.ceil(wait_ms / 1_000)} s`;
  return { kind: "on", wait_ms, state: next, turns: before, output: note(`${said}; ${waits}`) };
}
/** The provider's own word, or doubling with each time that all models were asked. */
function pauseMs(failure: ModelFailure, round: number): number {
  const { model_wait_first_ms: first, model_wait_max_ms: most, model_wait_asked_ms: longest } = limits;
  if (failure.wait_ms === null) return Math.min(first * 2 ** round, most);
  return Math.min(Math.max(failure.wait_ms, first), longest);
}
function mend(failure: ModelFailure, role: string): string {
  const setting = `MODEL_${role.toUpperCase()}`;
  switch (failure.code) {
    case "not_configured":
      return `Set ${setting} to a list of provider/model.`;
    case "unauthorized":
      return `Set a key that its provider takes (ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_API_KEY or MODEL_API_KEY), or another model in ${setting}.`;
    case "too_long":
      return `Set a model with a longer context in ${setting}, or make the work smaller.`;
    default:
      return `See whether ${setting} names models that exist and take tools.`;
  }
}

function taken(
  state: LoopState,
  answer: ModelAnswer,
  about: { readonly mind: Mind; readonly before: readonly Turn[]; readonly now: number },
): LoopMove {
  const { mind, before, now } = about;
  const steps = state.steps + 1;
  const calls = named(answer.calls, steps);
  const text = answer.text.slice(0, limits.answer_chars).toWellFormed();
  const said: Turn = { kind: "said", text, calls, model: answer.model };
  const output = note(lines(text, calls));
  const bad = calls.length === 0 || calls.some((call) => readCall(call, mind.tools).kind === "malformed");
  const errors = toolUseErrors(text).length;
  const settled = { failures: 0, refusals: 0, lost: 0, tool_errors: state.tool_errors + errors };
  const next = { ...state, ...settled, steps, moved_at: now, repairs: bad ? state.repairs + 1 : 0 };
  if (next.repairs > limits.model_repairs) {
    const what =
      calls.length === 0 ? "answered without calling a tool" : "called a tool with arguments it does not take";
    const ended = { ...next, asked: state.asked + 1 };
    const detail = `the model ${what}, again after it was told how`;
    return { ...failed(ended, [...before, said], detail, { retryable: true }), output };
  }
  if (calls.length === 0) {
    const turns: Turn[] = [...before, said, { kind: "told", text: repair(answer, mind) }];
    return { kind: "on", wait_ms: 0, state: { ...next, asked: state.asked + 1 }, turns, output };
  }
  const run = calls.slice(0, limits.answer_calls);
  const over = calls.slice(limits.answer_calls);
  const late = `not run: at most ${counted(limits.answer_calls, "call")} of one answer are`;
  const turns: Turn[] = [...before, said, ...over.map((call) => resultOf(call, { text: late, is_error: true }))];
  return { kind: "on", wait_ms: 0, state: { ...next, at: "act", pending: run, progress: null }, turns, output };
}

/** Providers name calls as they like, some the same each time; here a name stands for one call of the run. */
function named(calls: readonly ModelCall[], step: number): ModelCall[] {
  let room = limits.answer_argument_bytes;
  return calls.map((call, index) => {
    const bytes = byteLength(call.arguments);
    room -= bytes;
    const args = room < 0 ? `${bytes} bytes that were too many` : call.arguments.toWellFormed();
    const tool = call.tool.slice(0, limits.call_name_chars).toWellFormed();
    return { ...call, call_id: `${step}-${index + 1}`, tool, arguments: args };
  });
}
function repair(answer: ModelAnswer, { tools, max_output_tokens }: Mind): string {
  const names = tools.map(({ offer }) => offer.name);
  const [error] = toolUseErrors(answer.text, names);
  if (error !== undefined) {
    const call = { call_id: "", tool: error.tool ?? "", arguments: "{}" };
    const read = error.tool === null ? null : readCall(call, tools);
    const hint = read === null || read.kind === "good" ? offered(tools) : read.why;
    return `You wrote of a tool that failed, but no tool was called. ${hint}`;
  }
  const cut =
    answer.finish === "length" ? ` It was cut off after ${max_output_tokens} tokens: write less at once.` : "";
  return `Your answer called no tool, so nothing was done.${cut} ${offered(tools)}`;
}
function lines(text: string, calls: readonly ModelCall[]): string {
  const called = calls.slice(0, limits.answer_calls).map((call) => `${call.tool} ${call.arguments}`);
  return [text.trim(), ...called]
    .filter((line) => line !== "")
    .map((line) => firstOf(line, limits.loop_line_chars))
    .join("\n");
}

function failed(
  state: LoopState,
  turns: readonly Turn[],
  detail: string,
  how: { readonly error_code?: ErrorCode; readonly retryable?: boolean } = {},
): LoopMove {
  const { error_code = "tool_failure", retryable = false } = how;
  return { kind: "failed", error_code, retryable, detail, state, turns };
}
