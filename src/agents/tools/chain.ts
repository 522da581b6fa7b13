/**
 * The chain that every tool call passes, always in this order: the tools a skill brings, prepared for the order,
 * filtered by what the agent may do at all, and last the approval that each call needs. What runs is made from the
 * very arguments that were authorized. [CHAIN-*]
 */
import { z } from "zod";
import type { ExecutionOrder } from "../../domain/result.ts";
import { limits } from "../../limits.ts";
import type { AttemptRef, Authorization, Bus, ToolCall } from "../bus.ts";
import type { CallOutcome, ExecSpec } from "../ports.ts";

export interface Tool {
  readonly name: string;
  /** A tool that only reads may be used in research too. */
  readonly reads_only: boolean;
  /** What the sandbox runs for these arguments; null when they are not the tool's. */
  spec(args: unknown): ExecSpec | null;
}
export type Tools = ReadonlyMap<string, Tool>;
/** `research` is read-only by construction: tools that change anything are not there. */
export type Mode = "execution" | "research";

const shellArguments = z.strictObject({ command: z.string() });
const shellExecute: Tool = {
  name: "shell_execute",
  reads_only: false,
  spec(args) {
    const read = shellArguments.safeParse(args);
    if (!read.success) return null;
    return { argv: ["bash", "-euo", "pipefail", "-c", read.data.command], timeout_ms: limits.step_timeout_ms };
  },
};

export function skillTools(): Tools {
  return new Map([shellExecute].map((tool) => [tool.name, tool]));
}

/** No call outlasts its attempt. */
export function prepared(tools: Tools, order: Pick<ExecutionOrder, "minutes">): Tools {
  const bound = (tool: Tool): Tool => ({
    ...tool,
    spec(args) {
      const spec = tool.spec(args);
      return spec === null ? null : { ...spec, timeout_ms: Math.min(spec.timeout_ms, order.minutes * 60_000) };
    },
  });
  return new Map([...tools].map(([name, tool]) => [name, bound(tool)]));
}

export function filtered(tools: Tools, mode: Mode): Tools {
  return new Map([...tools].filter(([, tool]) => mode === "execution" || tool.reads_only));
}

/** Tools as an agent holds them: nothing can be started without having been asked for. */
export interface GuardedTools {
  /** Asks the runtime. A tool that is not in the chain, and arguments that are not its own, are refused here. */
  authorize(call: ToolCall): Promise<Authorization>;
  /** What an authorized call runs. */
  spec(call: Pick<ToolCall, "tool" | "arguments">): ExecSpec | null;
  settle(call_id: string, outcome: CallOutcome): Promise<void>;
}

export function approvalRequired(tools: Tools, bus: Bus, ref: AttemptRef): GuardedTools {
  const spec: GuardedTools["spec"] = (call) => tools.get(call.tool)?.spec(JSON.parse(call.arguments)) ?? null;
  return {
    async authorize(call) {
      if (spec(call) !== null) return bus.authorize(ref, call);
      const reason = tools.has(call.tool)
        ? `these are not arguments of ${call.tool}`
        : `${call.tool} is not one of the tools at hand`;
      return { answer: "refused", error_code: "gate_blocked", reason };
    },
    spec,
    settle: (call_id, outcome) => bus.settle(ref, call_id, outcome),
  };
}

export function toolsFor(order: Pick<ExecutionOrder, "minutes">, mode: Mode, bus: Bus, ref: AttemptRef): GuardedTools {
  return approvalRequired(filtered(prepared(skillTools(), order), mode), bus, ref);
}
