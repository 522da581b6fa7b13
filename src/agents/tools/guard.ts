/**
 * Who is asked before a tool runs: the runtime, under an attempt's token, or for research, which has none, use by use.
 * [CHAIN-3] [CHAIN-6]
 */
import type { AttemptRef, Authorization, Bus, ToolCall } from "../bus.ts";
import type { MindBus } from "../mind-bus.ts";
import type { CallOutcome } from "../ports.ts";

/** `research` is read-only by construction: tools that change anything are not there. */
export type Mode = "execution" | "research";

/** Who is asked before a call, and told after it. */
export interface Guard {
  readonly mode: Mode;
  /** Of research: which of its tools it may use; null for all. */
  readonly only: readonly string[] | null;
  authorize(call: ToolCall): Promise<Authorization>;
  settle(call_id: string, outcome: CallOutcome, said?: string): Promise<void>;
}
/** An attempt's calls are resolved under its token, and each is settled. `at` says where in it they are made. */
export function attemptGuard(bus: Bus, ref: AttemptRef, at: Partial<Pick<ToolCall, "step" | "tree">> = {}): Guard {
  return {
    mode: "execution",
    only: null,
    authorize: (call) => bus.authorize(ref, { ...call, ...at }),
    settle: (call_id, outcome, said) => bus.settle(ref, call_id, outcome, said),
  };
}
export interface Research {
  readonly task_id: string;
  readonly run_id: string;
  readonly agent: string;
  readonly tools_allowed: readonly string[] | null;
}
/** Research has no attempt: its calls only read, so each is a use, on record when it is allowed. */
export function useGuard(minds: Pick<MindBus, "mayUse">, { tools_allowed, ...run }: Research): Guard {
  return {
    mode: "research",
    only: tools_allowed,
    async authorize({ call_id, tool, arguments: args }) {
      const may = await minds.mayUse({ ...run, call_id, tool, arguments: args });
      if (may.answer === "run") return may;
      return { answer: "refused", error_code: "gate_blocked", reason: `${may.rule}: ${may.reason}`, scope: "call" };
    },
    settle: async () => undefined,
  };
}
