/**
 * The runner `loop`: a model works at the item by the tools of its chain, each call authorized as every call is, until it
 * says that it is done. What it is told is its order and nothing else; what waits for a person is put away whole. [MIND-*]
 */
import { z } from "zod";
import { insightKinds } from "../../domain/insight.ts";
import { modelCallTool } from "../../domain/result.ts";
import { visible } from "../../domain/visible.ts";
import { limits } from "../../limits.ts";
import { close, type ExecutorState, go, type Scene, type Stepped, stop, store } from "../attempt-scene.ts";
import type { AttemptRef, Bus, ToolCall } from "../bus.ts";
import { endingTool } from "../ending-tool.ts";
import { answerPending, openLoop, stepLoop } from "../loop.ts";
import type { LoopMove, LoopState, Mind } from "../mind.ts";
import { promptOf } from "../prompts/registry.ts";
import type { Committed, Step } from "../step.ts";
import { ownTools } from "../tools/chain.ts";
import { readsOf } from "../tools/fenced.ts";
import { attemptGuard } from "../tools/guard.ts";
import { toolbox } from "../tools/toolbox.ts";
import { counted, firstOf, note, tail } from "../workspace.ts";
import { briefOf } from "./brief.ts";
import { keepTranscript, readTranscript } from "./transcript.ts";

const finishing = z.strictObject({
  summary: z.string().min(1).max(limits.summary_chars),
  insights: z
    .array(z.strictObject({ kind: z.enum(insightKinds), text: z.string().min(1).max(limits.insight_chars) }))
    .max(limits.insights_told)
    .optional(),
});
const givingUp = z.strictObject({ reason: z.string().min(1).max(limits.summary_chars) });
const endings = [
  endingTool(
    "finish",
    "The work is done and stands in the workspace. Ends the attempt; the workspace is checked and published from there.",
    finishing,
  ),
  endingTool("give_up", "The work cannot be done this way. Ends the attempt; say what stands in the way.", givingUp),
];

const tailMax = 4_000;

export async function thinkOn(scene: Scene): Stepped {
  const { state, context, ports } = scene;
  if (state.mind === null) return begin(scene);
  const asked: { call: ToolCall | null } = { call: null };
  const mind = mindOf(scene, asked);
  const moved = await stepLoop(state.mind, mind, { context, ports });
  return carriedOut(scene, moved, asked.call);
}

/** Assembled once: what it was told stands in its conversation from then on, whatever changes. */
async function begin(scene: Scene): Stepped {
  const { order, ports } = scene;
  if (order.mind === undefined) throw new Error("a loop has an order of its own");
  const brief = await briefOf(scene, order.mind);
  const left = brief.left_out.map(({ kind, title, tokens, why }) => `${kind} ${title}: ${tokens} tokens (${why})`);
  const told = left.length === 0 ? {} : { output: note(`left out of the context: ${left.join("; ")}`) };
  const turns = [{ kind: "told", text: brief.text }] as const;
  return go(scene, { mind: openLoop(ports.clock.now()) }, { turns, ...told });
}

/** A fresh sandbox, the conversation as it was; what a person did not allow is that call's result. */
export async function restored(scene: Scene, tree: string): Stepped {
  const { order, ports } = scene;
  const { resume } = order;
  const kept = await readTranscript(scene, resume?.transcript_key);
  if (typeof kept === "string") return close(scene, { end: "crashed", detail: kept });
  const { turns } = kept;
  const state = { ...kept.state, progress: null };
  const output = note("workspace and conversation restored; processes and ignored files were not kept");
  const refused = notAllowed(resume);
  const answered = refused === null ? { state, turns: [] } : answerPending(state, refused, true, ports.clock.now());
  const more = { turns: [...turns, ...answered.turns], output };
  return go(scene, { at: "work", tree, mind: answered.state }, more);
}
function notAllowed(resume: Scene["order"]["resume"]): string | null {
  if (resume?.denied !== undefined)
    return `A person refused this call; it was not run. What they said, word for word: ${visible(JSON.stringify(resume.denied))}. Do not try to reach the same by another way; go on without it, or give up and say why.`;
  if (resume?.unanswered !== undefined)
    return `The request for approval expired, nobody decided: ${visible(resume.unanswered)}. The call was not run. Go on without it, or give up and say why.`;
  return null;
}

function mindOf(scene: Scene, asked: { call: ToolCall | null }): Mind {
  const { order, context, ports, ref, sandbox, state } = scene;
  const task_id = context.message.task_id ?? "";
  const { preset = "DEFAULT", skills = [] } = order.mind ?? {};
  const step = state.mind?.steps ?? 0;
  // Only the call that was put before a person is asked in the workspace they saw.
  const guard = attemptGuard(listened(ports.bus, asked), ref, { step, tree: state.tree });
  const { sandboxes, minds, search, clock } = ports;
  const asker = { task_id, agent: context.agent, others_only: true } as const;
  const box = toolbox({ minutes: order.minutes, preset, skills }, guard, {
    sandboxes,
    sandbox,
    minds,
    search,
    clock,
    asker,
    reads: readsOf({ taint: context.message.taint, allow: order.mind?.allow ?? null }),
  });
  const tools = [...box.tools, ...endings];
  const names = tools.map(({ offer }) => offer.name);
  const prompt = promptOf("executor", "work", { tools: names, max_steps: limits.executor_steps });
  return {
    role: "executor",
    prompt: prompt.name,
    instructions: prompt.instructions,
    simpler: prompt.simpler,
    tools,
    payer: { kind: "attempt", task_id, attempt_id: order.attempt_id, entry: order.entry },
    max_output_tokens: limits.executor_output_tokens,
    temperature: null,
    max_steps: limits.executor_steps,
    run: box.run,
  };
}
/** A card shows the very arguments that were asked for, under the name they were asked by. */
function listened(bus: Bus, asked: { call: ToolCall | null }): Bus {
  return {
    begin: (ref) => bus.begin(ref),
    authorize(ref: AttemptRef, call: ToolCall) {
      asked.call = call;
      return bus.authorize(ref, call);
    },
    settle: (ref, call_id, outcome, said) => bus.settle(ref, call_id, outcome, said),
    lookedUp: (ref, about, outcome) => bus.lookedUp(ref, about, outcome),
    mayPublish: (task_id, verification_id) => bus.mayPublish(task_id, verification_id),
    heartbeat: (ref) => bus.heartbeat(ref),
  };
}

function carriedOut(scene: Scene, moved: LoopMove, asked: ToolCall | null): Step<ExecutorState> {
  const { state } = scene;
  const { output = new Uint8Array() } = moved;
  const more: Omit<Committed<ExecutorState>, "state"> = {
    turns: moved.turns,
    output,
    ...(moved.effects === undefined ? {} : { effects: moved.effects }),
  };
  // A call that went on in the workspace a person saw is asked there once.
  const over = moved.state.pending[0]?.call_id !== state.mind?.pending[0]?.call_id;
  const change = { mind: moved.state, tail: tail(state.tail, output, tailMax), ...(over ? { tree: null } : {}) };
  const after: Scene = { ...scene, state: { ...state, ...change } };
  const ended = (how: Parameters<typeof close>[1]) => alsoSaid(close(after, how), more);
  switch (moved.kind) {
    case "on":
      if (moved.waits_for === "budget") return go(after, { at: "suspend", asked: forBudget(moved.state) }, more);
      return moved.wait_ms === 0
        ? go(after, {}, more)
        : { kind: "wait", wait_ms: moved.wait_ms, state: after.state, ...more };
    case "asks": {
      if (asked === null) throw new Error("a call waits that was never asked");
      const { call_id, tool, arguments: args } = asked;
      const waits = { call_id, tool, arguments: args, step: moved.state.steps, words: wordsBefore(scene) };
      return alsoSaid(
        go(after, { at: "suspend", asked: waits }, { output: note("waiting for a person to allow the next call") }),
        more,
      );
    }
    case "answered": {
      if (moved.tool !== "finish") {
        const { reason } = givingUp.parse(moved.value);
        return ended({ end: "finished", error_code: "tool_failure", retryable: true, detail: `it gave up: ${reason}` });
      }
      const { summary, insights = [] } = finishing.parse(moved.value);
      return go(after, { at: "snapshot", finished: { summary, insights } }, more);
    }
    case "stuck": {
      const { reason, next, detail } = moved;
      const stuck = { reason, next, detail };
      return ended({ end: "finished", error_code: "tool_failure", retryable: true, detail: `stuck: ${detail}`, stuck });
    }
    case "failed":
      return ended({
        end: "finished",
        error_code: moved.error_code,
        retryable: moved.retryable,
        detail: moved.detail,
      });
    case "stopped":
      return alsoSaid(stop(after, moved.entry), more);
    case "lost":
      return ended({ end: "crashed", detail: moved.detail });
  }
}
/** The step's own turns and output are part of its commit, also when the attempt ends with it. */
function alsoSaid(step: Step<ExecutorState>, more: Omit<Committed<ExecutorState>, "state">): Step<ExecutorState> {
  const output = joined(more.output ?? new Uint8Array(), step.output ?? new Uint8Array());
  return { ...step, ...more, output };
}
function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.byteLength + second.byteLength);
  whole.set(first);
  whole.set(second, first.byteLength);
  return whole;
}

/** The workspace and the conversation, for the next entry of the attempt. */
export async function putAway(scene: Scene, mind: LoopState): Stepped {
  const { asked } = scene.state;
  if (asked === null) throw new Error("a loop is put away with a call");
  const { words, ...call } = asked;
  const transcript_key = await keepTranscript(scene, call.call_id, mind);
  const kept = await store(scene, call.call_id);
  const waits = call.tool === modelCallTool ? "the budget is used up" : "waiting for a person";
  return close(scene, {
    end: "suspended",
    // A gate on what agents say sees these words too before they stand on a card.
    detail: words === "" ? waits : `${waits}: ${words}`,
    suspension: { ...call, patch_key: kept.key, tree: kept.tree, transcript_key, ...(words === "" ? {} : { words }) },
  });
}
/** The call whose outcome may still be open when the attempt ends, if there is one. */
export function openCallOf({ runner, mind, ending }: ExecutorState): string | null {
  if (mind === null) return runner.call?.call_id ?? null;
  return ending?.end === "suspended" || mind.at !== "act" ? null : (mind.pending[0]?.call_id ?? null);
}

/** Such a call begins nothing in the sandbox, so that nothing of it can be open. */
export function onlyReads({ mind }: ExecutorState): boolean {
  return ownTools({ searches_web: true }).get(mind?.pending[0]?.tool ?? "")?.does === "look";
}

/** Not a call of a tool: the budget's own card decides when it may think on. */
function forBudget(state: LoopState): NonNullable<ExecutorState["asked"]> {
  return { call_id: `model-${state.asked}`, tool: modelCallTool, arguments: "{}", step: state.steps, words: "" };
}
function wordsBefore({ context }: Scene): string {
  const said = context.turns.findLast((turn) => turn.kind === "said");
  return said?.kind === "said" ? firstOf(said.text.trim(), limits.card_words_chars) : "";
}

/** What the person who watches reads first. */
export function summaryOf(files: number, { finished }: ExecutorState): string {
  const changed = `${counted(files, "file")} changed`;
  return finished === null ? changed : `${changed}: ${finished.summary}`;
}
