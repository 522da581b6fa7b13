/**
 * The planner at work with a model: one step of its loop, the answers to its questions as they come, and the end of its
 * time. Everything that stands between two steps is in its state and its turns. [PLR-*] [RSC-*]
 */
import { z } from "zod";
import { besideAsked } from "../domain/asked-budget.ts";
import { sha256Hex } from "../domain/canonical.ts";
import type { Plan } from "../domain/plan.ts";
import { nextDue, noResearch, stepResearch } from "../domain/research.ts";
import { limits } from "../limits.ts";
import { lookUp } from "./lookups.ts";
import { openLoop, stepLoop } from "./loop.ts";
import type { LoopMove, Mind, ToolMove } from "./mind.ts";
import { refusedCall, told } from "./own-tools.ts";
import { planBrief } from "./planner-brief.ts";
import { hear, request } from "./planner-research.ts";
import type { Hand, PlanMind, PlannerEnd, PlannerOrder } from "./planner-state.ts";
import { judgePlan, plannerTools } from "./planner-tools.ts";
import { promptOf } from "./prompts/registry.ts";
import type { Ports, RunContext, Step } from "./step.ts";

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

export async function beginPlanning(
  order: PlannerOrder,
  base_commit: string,
  context: RunContext,
  ports: Ports,
): Promise<Step<PlanMind>> {
  const brief = await planBrief(order.phase, context.message, { agent: context.agent, base_commit }, ports);
  const state: PlanMind = {
    ...{ loop: openLoop(ports.clock.now()), research: noResearch, base_commit },
    ...{ bad_plans: 0, over_told: false, heard: [], untold: [], ends_by: null },
  };
  return { kind: "continue", state, turns: [{ kind: "told", text: brief.text }], output: utf8(brief.log) };
}

export async function stepPlanning(
  order: PlannerOrder,
  stored: PlanMind,
  context: RunContext,
  ports: Ports,
): Promise<Step<PlanMind>> {
  const now = ports.clock.now();
  const hand: Hand = { state: hear(stored, context, now), send: [], ended: null };
  const { ends_by, loop, untold } = hand.state;
  const over = (ended: PlannerEnd): Step<PlanMind> => ({ kind: "end", state: hand.state, out: order.end(ended) });
  if (ends_by !== null && loop.steps >= ends_by)
    return over({ kind: "failed", error_code: "timeout", detail: "The time for planning is over and no plan came." });
  if (loop.at === "think" && untold.length > 0)
    return {
      kind: "continue",
      state: { ...hand.state, untold: [] },
      turns: [{ kind: "told", text: untold.join("\n\n") }],
    };
  const move = await stepLoop(loop, mindOf(order, hand, context, ports), { context, ports });
  const state: PlanMind = { ...hand.state, loop: move.state };
  const committed = {
    ...{ state, turns: move.turns, effects: move.effects ?? [], send: hand.send },
    ...(move.output === undefined ? {} : { output: move.output }),
  };
  const ended = hand.ended ?? endOf(move);
  if (ended !== null) {
    const { state: research } = stepResearch(state.research, { kind: "finalize" });
    return { ...committed, state: { ...state, research }, kind: "end", out: order.end(ended) };
  }
  const wait_ms = move.kind === "on" ? move.wait_ms : 0;
  return wait_ms > 0 ? { ...committed, kind: "wait", wait_ms, for_notes: true } : { ...committed, kind: "continue" };
}

function mindOf(order: PlannerOrder, hand: Hand, context: RunContext, ports: Ports): Mind {
  const { phase } = order;
  const tools = plannerTools(phase, hand.state.ends_by !== null);
  const names = tools.map(({ offer }) => offer.name);
  const bounds = { max_in_flight: limits.research_in_flight, max_rounds: limits.research_rounds };
  const prompt =
    phase === "consult"
      ? promptOf("planner", "consult", { tools: names })
      : phase === "replan"
        ? promptOf("planner", "replan", { tools: names, mode: order.mode, ...bounds })
        : promptOf("planner", phase, { tools: names, ...bounds });
  const why = phase === "consult" ? "consult" : phase === "replan" ? "replan" : "plan";
  return {
    role: "planner",
    prompt: prompt.name,
    instructions: prompt.instructions,
    simpler: prompt.simpler,
    tools,
    payer: { kind: "task", task_id: order.task_id, why },
    max_output_tokens: limits.planner_output_tokens,
    temperature: null,
    max_steps: phase === "consult" ? limits.consult_steps : limits.planner_steps,
    run: (call) => runTool(order, hand, call, context, ports),
  };
}

async function runTool(
  order: PlannerOrder,
  hand: Hand,
  call: { readonly call_id: string; readonly tool: string; readonly value: unknown },
  context: RunContext,
  ports: Ports,
): Promise<ToolMove> {
  const now = ports.clock.now();
  switch (call.tool) {
    case "request_research":
      return request(order, hand, call.value, context.run_id, now);
    case "await_research": {
      const due = nextDue(hand.state.research);
      // The same words each time would look like standing still.
      if (hand.state.untold.length > 0) return told(`There is news; it follows. ${standing(hand.state)}`);
      if (due === null) return told(`No question is under way. ${standing(hand.state)}`);
      // One past the moment it is given up, so that the next look sees that.
      return { kind: "working", progress: { waits: true }, wait_ms: Math.max(1, due + 1 - now) };
    }
    case "validate_plan": {
      const judged = judge(order, call.value, ports);
      if (!judged.ok) return told(judged.words);
      return told(["The plan is valid.", ...overOnce(order, hand, judged.plan)].join(" "));
    }
    case "submit_plan":
      return submit(order, hand, call.value, ports);
    default: {
      const { task_id } = order;
      const by = { task_id, run_id: context.run_id, agent: context.agent };
      const use = { use_id: call.call_id, tool: call.tool, value: call.value };
      return (await lookUp(by, use, ports)) ?? refusedCall(`There is no tool ${call.tool}.`);
    }
  }
}

function standing({ research, loop }: PlanMind): string {
  const counts = research.questions.map(({ id, state }) => `${id} ${state.replace("_", " ")}`);
  return `Step ${loop.steps}: ${counts.length === 0 ? "nothing was asked" : counts.join(", ")}.`;
}

/** As the runtime will judge it; and not the plan again that is to be replaced. */
function judge(order: PlannerOrder, value: unknown, ports: Ports) {
  const { plan_markdown } = z.strictObject({ plan_markdown: z.string() }).parse(value);
  const judged = judgePlan(plan_markdown, ports.models.configured("executor").length > 0);
  const again = order.not_again !== null && sha256Hex(plan_markdown.trim()) === sha256Hex(order.not_again.trim());
  return again
    ? { ok: false as const, words: "This is the plan that failed, unchanged. Propose a different one.", plan_markdown }
    : { ...judged, plan_markdown };
}
/** Said once: a person sees the same on the card, and may approve it. */
function overOnce({ given }: PlannerOrder, hand: Hand, plan: Plan): string[] {
  const beside = besideAsked(given, plan.budget);
  if (beside?.over !== true || hand.state.over_told) return [];
  hand.state = { ...hand.state, over_told: true };
  return [
    `Whoever asked ${beside.words} Stay within it. If the work cannot be done for that, hand the plan in as it is: a person will see both.`,
  ];
}
function submit(order: PlannerOrder, hand: Hand, value: unknown, ports: Ports): ToolMove {
  const judged = judge(order, value, ports);
  const over = judged.ok ? overOnce(order, hand, judged.plan) : [];
  if (over.length > 0) return refusedCall(`It was not handed in yet. ${over.join(" ")}`);
  if (judged.ok) {
    const { base_commit } = hand.state;
    hand.ended = { kind: "plan", markdown: judged.plan_markdown, title: judged.plan.title, base_commit };
    return told("Handed in.");
  }
  const bad_plans = hand.state.bad_plans + 1;
  hand.state = { ...hand.state, bad_plans };
  if (bad_plans >= limits.max_plan_errors) {
    const detail = `The planner handed in ${bad_plans} plans with problems. The last: ${judged.words}`;
    hand.ended = { kind: "failed", error_code: "tool_failure", detail };
  }
  return refusedCall(`${judged.words}\nCorrect it and hand it in again.`);
}

function endOf(move: LoopMove): PlannerEnd | null {
  switch (move.kind) {
    case "on":
      return null;
    case "answered":
      return answered(move.tool, move.value);
    case "stopped":
      return move.entry.answer === "stale"
        ? { kind: "dropped" }
        : { kind: "failed", error_code: move.entry.error_code, detail: move.entry.reason };
    case "stuck":
      return { kind: "failed", error_code: "tool_failure", detail: `The planner does not get on: ${move.detail}` };
    case "failed":
      return { kind: "failed", error_code: move.error_code, detail: move.detail };
    case "lost":
      return { kind: "failed", error_code: "tool_failure", detail: move.detail };
    // No tool of a planner's asks a person.
    case "asks":
      return { kind: "failed", error_code: "gate_blocked", detail: "a call of the planner's would need a person" };
  }
}
function answered(tool: string, value: unknown): PlannerEnd {
  if (tool === "answer") return { kind: "answer", text: z.strictObject({ text: z.string() }).parse(value).text };
  if (tool === "guide")
    return { kind: "guidance", text: z.strictObject({ guidance: z.string() }).parse(value).guidance };
  const { reason } = z.strictObject({ reason: z.string() }).parse(value);
  return { kind: "failed", error_code: "verification_failed", detail: `The planner sees no way: ${reason}` };
}
