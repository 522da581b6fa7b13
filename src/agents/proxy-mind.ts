/**
 * The proxy at work with a model: where a person's words go, and what happened, said in words. It reads, it speaks, it
 * decides a route; it starts nothing. Whatever goes wrong with its model, nothing that was said is lost. [PRX-*]
 */
import { z } from "zod";
import { assemble, type Piece } from "../domain/context.ts";
import type { Message } from "../domain/message.ts";
import { limits } from "../limits.ts";
import { contextInspect, lookUp, memorySearch, taintOf, taskLines, webSearch } from "./lookups.ts";
import { openLoop, stepLoop } from "./loop.ts";
import { memoryPieces } from "./memory-pieces.ts";
import { type LoopMove, loopState, type Mind, type MindTool, type ToolMove } from "./mind.ts";
import { ownTool, refusedCall, told } from "./own-tools.ts";
import { promptOf } from "./prompts/registry.ts";
import type { Outgoing, Ports, RunContext, Step } from "./step.ts";

export const proxyMind = z.strictObject({ loop: loopState });
export type ProxyMind = z.infer<typeof proxyMind>;

const message = z.string().trim().min(1).max(8_000);
const direct = z.strictObject({ route: z.literal("direct"), message });
const toPlanner = z.strictObject({ route: z.enum(["planner", "plan"]), message: message.optional() });
/** Where the words go. `plan` is another word for `planner`: only a person brings a plan. */
export const routeDecision = z.discriminatedUnion("route", [direct, toPlanner]);
export type RouteDecision = z.infer<typeof routeDecision>;

const telling = z.strictObject({ message: z.string().trim().min(1).max(limits.interim_chars) });
const tellUser = ownTool("tell_user", "Shows the person a word in between, at once.", telling);

/** One flat object, as models know it: which routes there are, and that an answer has its words, is read from it. */
function routeTool(routes: readonly [string, ...string[]]): MindTool {
  const { offer } = ownTool(
    "route",
    "Decides where the words go and ends the work. A direct answer is the message.",
    z.strictObject({ route: z.enum(routes), message: message.optional() }),
  );
  return {
    offer,
    ends: true,
    read: (args) => {
      const record = typeof args === "object" && args !== null ? args : {};
      const given = Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null && value !== ""));
      const read = routeDecision.safeParse(given);
      if (!read.success) return { ok: false, why: z.prettifyError(read.error).slice(0, 500) };
      return routes.includes(read.data.route)
        ? { ok: true, value: read.data }
        : { ok: false, why: `route must be ${routes.join(" or ")}` };
    },
  };
}

export interface ProxyOrder {
  readonly phase: "route" | "status";
  readonly task_id: string;
  /** Whether the words may go to the planner. */
  readonly may_plan: boolean;
  /** The report to put into words; null where a person's own words are the matter. */
  readonly report: string | null;
  /** By when it must have ended; null for as long as it takes. */
  readonly until_ms: number | null;
  decided(decision: RouteDecision): readonly Outgoing[];
  /** Its model gave no decision: what is said then. */
  without(why: string): readonly Outgoing[];
  /** The runtime has gone on without it. */
  dropped(): readonly Outgoing[];
}

export async function beginProxy(order: ProxyOrder, context: RunContext, ports: Ports): Promise<Step<ProxyMind>> {
  const asker = { task_id: order.task_id, agent: context.agent };
  const pieces = [matter(order, context.message)];
  if (order.phase === "route") {
    const past = await ports.minds.history(asker);
    if (past.length > 0)
      pieces.push({
        kind: "history",
        title: "",
        text: taskLines(past),
        taint: taintOf(past),
        source: "recent tasks",
      });
    const found = await ports.minds.recall(
      { ...asker, unasked: true },
      context.message.content.slice(0, 500),
      limits.recalled,
    );
    pieces.push(...memoryPieces(found));
  }
  const { text } = assemble(pieces, limits.proxy_context_tokens);
  const state: ProxyMind = { loop: openLoop(ports.clock.now()) };
  return { kind: "continue", state, turns: [{ kind: "told", text }] };
}
function matter({ report }: ProxyOrder, { content, taint }: Message): Piece {
  return report === null
    ? { kind: "item", title: "What the person says", text: content, taint, source: "task" }
    : // Its details are words of agents and of what they ran.
      { kind: "item", title: "What the runtime reports", text: report, taint, source: "runtime", data: true };
}

export async function stepProxy(
  order: ProxyOrder,
  stored: ProxyMind,
  context: RunContext,
  ports: Ports,
): Promise<Step<ProxyMind>> {
  const now = ports.clock.now();
  const late = order.until_ms !== null && now >= order.until_ms;
  if (late) return { kind: "end", state: stored, out: order.without("it took too long") };
  const move = await stepLoop(stored.loop, mindOf(order, context, ports), { context, ports });
  const state: ProxyMind = { loop: move.state };
  const committed = { state, turns: move.turns, effects: move.effects ?? [] };
  if (move.kind === "on") {
    const wait_ms = order.until_ms === null ? move.wait_ms : Math.min(move.wait_ms, order.until_ms - now);
    // Nobody leaves it a note: what waits for money, or for a provider, holds no place that another wish could have.
    return wait_ms > 0 ? { ...committed, kind: "wait", wait_ms, for_notes: true } : { ...committed, kind: "continue" };
  }
  return { ...committed, kind: "end", out: endOf(order, move) };
}

function endOf(order: ProxyOrder, move: Exclude<LoopMove, { kind: "on" }>): readonly Outgoing[] {
  switch (move.kind) {
    case "answered":
      return order.decided(routeDecision.parse(move.value));
    case "stopped":
      return move.entry.answer === "stale" ? order.dropped() : order.without(move.entry.reason);
    case "asks":
      return order.without("a call would need a person");
    default:
      return order.without(move.detail);
  }
}

function mindOf(order: ProxyOrder, context: RunContext, ports: Ports): Mind {
  const { task_id, phase, may_plan } = order;
  const route = routeTool(may_plan ? ["direct", "planner", "plan"] : ["direct"]);
  const reading = [memorySearch, contextInspect, ...(ports.search === null ? [] : [webSearch]), tellUser];
  const tools = phase === "status" ? [route] : [...reading, route];
  const names = tools.map(({ offer }) => offer.name);
  const prompt =
    phase === "status"
      ? promptOf("proxy", "status", { tools: names })
      : promptOf("proxy", "route", { tools: names, has_planner: may_plan });
  return {
    role: "proxy",
    prompt: prompt.name,
    instructions: prompt.instructions,
    simpler: prompt.simpler,
    tools,
    payer: { kind: "task", task_id, why: "proxy" },
    max_output_tokens: limits.proxy_output_tokens,
    temperature: null,
    max_steps: phase === "status" ? limits.proxy_status_steps : limits.proxy_steps,
    run: (call) => runTool(order, call, context, ports),
  };
}

async function runTool(
  { task_id }: ProxyOrder,
  call: { readonly call_id: string; readonly tool: string; readonly value: unknown },
  { run_id, agent }: RunContext,
  ports: Ports,
): Promise<ToolMove> {
  if (call.tool === tellUser.offer.name) {
    await ports.minds.say(task_id, `${run_id}/${call.call_id}`, telling.parse(call.value).message);
    return told("Told.");
  }
  const use = { use_id: call.call_id, tool: call.tool, value: call.value };
  return (await lookUp({ task_id, run_id, agent }, use, ports)) ?? refusedCall(`There is no tool ${call.tool}.`);
}
