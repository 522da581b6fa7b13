/** A loop under test: a mind whose tools a test chooses, and a caller that commits each step and keeps nothing else. */
import { z } from "zod";
import { openLoop, stepLoop } from "../../src/agents/loop.ts";
import {
  type LoopMove,
  type LoopState,
  loopState,
  type Mind,
  type MindTool,
  type ToolMove,
} from "../../src/agents/mind.ts";
import type { ModelAnswer, ModelRequest, Turn } from "../../src/agents/models.ts";
import { turn } from "../../src/agents/models.ts";
import { canonicalJson } from "../../src/domain/canonical.ts";
import { TameMinds, TameModels } from "./world.ts";

export function tool(name: string, shape: z.ZodObject, ends = false): MindTool {
  return {
    offer: { name, description: `what ${name} does`, parameters: z.toJSONSchema(shape) as Record<string, unknown> },
    ends,
    read(args) {
      const read = shape.safeParse(args);
      if (read.success) return { ok: true, value: read.data };
      return {
        ok: false,
        why: read.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; "),
      };
    },
  };
}
export const shell = tool("shell_execute", z.strictObject({ command: z.string() }));
export const reader = tool("file_read", z.strictObject({ path: z.string(), start_line: z.number().optional() }));
export const finish = tool("finish", z.strictObject({ summary: z.string() }), true);

let numbered = 0;
/** As a provider answers: its call ids are its own, the same each time. */
export function says(calls: readonly [string, unknown][], fields: Partial<ModelAnswer> = {}): ModelAnswer {
  return {
    model: "test/tame",
    text: "",
    calls: calls.map(([name, args], at) => ({
      call_id: `call_${at}`,
      tool: name,
      arguments: typeof args === "string" ? args : JSON.stringify(args),
    })),
    finish: calls.length > 0 ? "calls" : "stop",
    usage: { input_tokens: 100, output_tokens: 10, cached_tokens: 0, estimated: false },
    usd: 0.001,
    ...fields,
  };
}
export const ends = says([["finish", { summary: "done" }]]);

export interface LoopParts {
  readonly tools?: readonly MindTool[];
  readonly run?: (
    call: { call_id: string; tool: string; value: unknown },
    progress: unknown,
  ) => ToolMove | Promise<ToolMove>;
  readonly max_steps?: number;
  readonly script?: (request: ModelRequest, index: number) => ModelAnswer | ReturnType<TameModels["script"]>;
}

export function loopWorld(parts: LoopParts = {}) {
  const minds = new TameMinds();
  const models = new TameModels();
  const clock = { at: 1_000_000, now: () => clock.at };
  if (parts.script !== undefined) models.script = parts.script;
  const ran: { call_id: string; tool: string; value: unknown }[] = [];
  const mind: Mind = {
    role: "executor",
    prompt: "executor/work@1",
    instructions: "do the work",
    simpler: "work",
    tools: parts.tools ?? [shell, reader, finish],
    payer: { kind: "attempt", task_id: "task-1", attempt_id: "p1.fix.1", entry: 0 },
    max_output_tokens: 1_000,
    temperature: null,
    max_steps: parts.max_steps ?? 40,
    async run(call, progress) {
      ran.push(structuredClone(call));
      return parts.run?.(call, progress) ?? { kind: "result", text: `ran ${call.call_id}`, is_error: false };
    },
  };
  const row = { state: openLoop(clock.at), turns: [{ kind: "told", text: "the order" }] as Turn[] };
  const run_id = `run-${numbered++}`;
  const life = { models };
  /** One step from what is stored. Nothing of it is stored before `commit`. */
  const take = (): Promise<LoopMove> => {
    const stored = loopState.parse(JSON.parse(canonicalJson(row.state)));
    const turns = row.turns.map((one) => turn.parse(JSON.parse(JSON.stringify(one))));
    return stepLoop(stored, mind, {
      context: { run_id, agent: "crew-1", turns },
      ports: { models: life.models, minds, clock },
    });
  };
  const commit = (next: { state: LoopState; turns: readonly Turn[] }): void => {
    row.state = next.state;
    row.turns = [...row.turns, ...next.turns];
  };
  /** As after a restart of the process: the same world, and nothing in memory. */
  const restart = (): void => {
    life.models = Object.assign(new TameModels(), models, { requests: models.requests });
  };
  /** Steps until something else than `on` comes. `dies`: each step is taken twice, the first is never stored. */
  const toTheEnd = async (how: { dies?: "step" | "process" } = {}): Promise<LoopMove> => {
    for (let steps = 0; steps < 400; steps++) {
      if (how.dies !== undefined) await take();
      if (how.dies === "process") restart();
      const move = await take();
      commit(move);
      if (move.kind !== "on") return move;
      clock.at += move.wait_ms;
    }
    throw new Error(`the loop does not end; it stands at ${canonicalJson(row.state)}`);
  };
  const results = () => row.turns.flatMap((one) => (one.kind === "result" ? [one] : []));
  return { mind, minds, models, clock, ran, row, run_id, take, commit, restart, toTheEnd, results };
}
