/**
 * The chain that every tool call passes, always in this order: the tools a skill brings, prepared for the order,
 * filtered by what the agent may do at all, and last the approval that each call needs. What runs is made from the
 * very arguments that were authorized. [CHAIN-*]
 */
import type { Preset } from "../../domain/presets.ts";
import type { ExecutionOrder } from "../../domain/result.ts";
import { offeredUnder } from "../../domain/under-preset.ts";
import { limits } from "../../limits.ts";
import type { AttemptRef, Authorization, Bus, ToolCall } from "../bus.ts";
import type { CallOutcome, ExecSpec } from "../ports.ts";
import { pythonExecute, shellExecute, skillExecute } from "./commands.ts";
import { commandEnvironment } from "./environment.ts";
import { fileRead, listDirectory } from "./files.ts";
import { gitAdd, gitBlame, gitCommit, gitDiff, gitLog, gitStatus } from "./git.ts";
import { attemptGuard, type Guard, type Mode } from "./guard.ts";
import { memorySearch, webSearch } from "./lookups.ts";
import { searchFiles } from "./search.ts";
import type { Tool, Tools } from "./tool.ts";
import { fileEdit, fileWrite } from "./writing.ts";

/** All that research may ever use. */
export const researchTools: readonly string[] = [
  "web_search",
  "file_read",
  "search_files",
  "list_directory",
  "memory_search",
];

/** What every agent that thinks has, before anything is asked. */
export function ownTools(parts: { readonly searches_web: boolean }): Tools {
  const files = [fileRead, fileWrite, fileEdit, listDirectory, searchFiles];
  const commands = [shellExecute(limits.tool_timeout_ms), pythonExecute];
  const git = [gitStatus, gitDiff, gitLog, gitBlame, gitAdd, gitCommit];
  return named([...files, ...commands, ...git, memorySearch, ...(parts.searches_web ? [webSearch] : [])]);
}
/** The blocks of a plan need nothing else. */
export function stepTools(): Tools {
  return named([shellExecute(limits.step_timeout_ms)]);
}
function named(tools: readonly Tool[]): Tools {
  return new Map(tools.map((tool) => [tool.name, tool]));
}

/** Brings what the skills that the order names may run. */
export function skillTools(tools: Tools, skills: readonly string[]): Tools {
  const brought = skillExecute(skills);
  return brought === null ? tools : new Map([...tools, [brought.name, brought]]);
}

/** No call outlasts its attempt, and each runs with the settings of `commandEnvironment`. */
export function prepared(tools: Tools, order: Pick<ExecutionOrder, "minutes">): Tools {
  const within = (spec: ExecSpec): ExecSpec => ({
    ...spec,
    env: { ...commandEnvironment, ...spec.env },
    timeout_ms: Math.min(spec.timeout_ms, order.minutes * 60_000),
  });
  const bound = (tool: Tool): Tool => {
    const spec = (args: unknown) => {
      const made = tool.spec(args);
      return made === null ? null : within(made);
    };
    if (tool.does !== "prepared") return { ...tool, spec };
    return {
      ...tool,
      spec,
      async prepare(args, hands) {
        const made = await tool.prepare(args, hands);
        return "spec" in made ? { spec: within(made.spec) } : made;
      },
    };
  };
  return new Map([...tools].map(([name, tool]) => [name, bound(tool)]));
}

export interface Allowed {
  readonly mode: Mode;
  readonly preset: Preset;
  /** Of research: which of its tools the planner lets it use; null for all. */
  readonly only: readonly string[] | null;
}
export function filtered(tools: Tools, { mode, preset, only }: Allowed): Tools {
  const there = (tool: Tool): boolean => {
    if (!offeredUnder(preset, tool.name)) return false;
    if (mode === "execution") return true;
    return tool.reads_only && researchTools.includes(tool.name) && (only === null || only.includes(tool.name));
  };
  return new Map([...tools].filter(([, tool]) => there(tool)));
}

/** Tools as an agent holds them: nothing can be started without having been asked for. */
export interface GuardedTools {
  /** Asks the runtime. A tool that is not in the chain, and arguments that are not its own, are refused here. */
  authorize(call: ToolCall): Promise<Authorization>;
  /** What an authorized call runs. */
  spec(call: Pick<ToolCall, "tool" | "arguments">): ExecSpec | null;
  settle(call_id: string, outcome: CallOutcome, said?: string): Promise<void>;
}

export function approvalRequired(tools: Tools, guard: Guard): GuardedTools {
  return {
    async authorize(call) {
      const tool = tools.get(call.tool);
      if (tool?.read(JSON.parse(call.arguments)).ok === true) return guard.authorize(call);
      const reason =
        tool === undefined ? `${call.tool} is not one of the tools at hand` : `these are not arguments of ${call.tool}`;
      return { answer: "refused", error_code: "gate_blocked", reason, scope: "call" };
    },
    spec: (call) => tools.get(call.tool)?.spec(JSON.parse(call.arguments)) ?? null,
    settle: guard.settle,
  };
}

/** Of the runner `steps`: its blocks, and nothing besides. */
export function toolsFor(order: Pick<ExecutionOrder, "minutes">, mode: Mode, bus: Bus, ref: AttemptRef): GuardedTools {
  const there = filtered(prepared(stepTools(), order), { mode, preset: "DEFAULT", only: null });
  return approvalRequired(there, attemptGuard(bus, ref));
}
