/** How an attempt ended, and the message that says so to the runtime. [EXE-*] */
import { z } from "zod";
import { errorCode } from "../domain/message.ts";
import { type ExecutionOrder, type ExecutionResult, executionResult, patchRef, suspension } from "../domain/result.ts";
import { limits } from "../limits.ts";
import type { ExecutorState } from "./attempt-scene.ts";
import type { AttemptRef } from "./bus.ts";
import type { Turn } from "./models.ts";
import type { Outgoing, Ports, RunContext } from "./step.ts";
import { firstOf, lastOf } from "./workspace.ts";

export const ending = z.strictObject({
  end: z.enum(["finished", "suspended", "crashed", "cancelled"]),
  error_code: errorCode.nullable(),
  retryable: z.boolean(),
  detail: z.string(),
  exit_code: z.number().int().nullable(),
  patch: patchRef.nullable(),
  suspension: suspension.nullable(),
  stuck: executionResult.shape.stuck.unwrap().nullable().default(null),
  /** Nobody waits for the answer: the runtime has gone on. */
  silent: z.boolean(),
});
export type Ending = z.infer<typeof ending>;
export type How = Pick<Ending, "end" | "detail"> & Partial<Ending>;

const detailMax = 1_000;

export function endingOf(how: How): Ending {
  return {
    error_code: how.end === "crashed" ? "tool_failure" : null,
    retryable: true,
    exit_code: null,
    patch: null,
    suspension: null,
    stuck: null,
    silent: false,
    ...how,
    detail: firstOf(how.detail, detailMax),
  };
}

interface Ended {
  readonly order: ExecutionOrder;
  readonly context: RunContext;
  readonly ref: AttemptRef;
  readonly ports: Pick<Ports, "clock">;
  readonly state: Pick<ExecutorState, "tail" | "mind" | "finished">;
}

export function resultOf({ order, context, ref, ports, state }: Ended, ended: Ending): Outgoing {
  const success = ended.end === "finished" && ended.error_code === null;
  const failed = ended.end === "finished" && !success;
  const recoveries = state.mind?.recovered ?? [];
  const insights = success ? (state.finished?.insights ?? []) : [];
  const payload: ExecutionResult = {
    task_id: context.message.task_id ?? "",
    attempt_id: order.attempt_id,
    entry: order.entry,
    lease_id: ref.lease_id,
    epoch: ref.epoch,
    end: ended.end,
    success,
    output: state.tail,
    events: [],
    tool_errors: [
      ...failedCalls(context.turns),
      ...(failed
        ? [
            {
              tool_name: state.mind === null ? "shell_execute" : "loop",
              error_message: ended.detail,
              raw: lastOf(state.tail, 1_000),
            },
          ]
        : []),
    ],
    duration_ms: ports.clock.now() - context.opened_at_ms,
    exit_code: ended.exit_code,
    patch: ended.patch,
    suspension: ended.suspension,
    ...(ended.stuck === null ? {} : { stuck: ended.stuck }),
    ...(recoveries.length === 0 ? {} : { recoveries }),
    ...(insights.length === 0 ? {} : { insights }),
  };
  return {
    message_kind: "execution_result",
    recipient: "runtime_queue",
    content: ended.detail,
    work_item_id: order.work_item_id,
    payload: { ...payload },
    error_code: ended.error_code,
    retryable: ended.error_code === null ? null : ended.retryable,
  };
}

/** Calls of a loop that brought a failure, whether it got over them or not: the latest, oldest first. */
function failedCalls(turns: readonly Turn[]): ExecutionResult["tool_errors"] {
  const failed = turns.flatMap((turn) => (turn.kind === "result" && turn.is_error ? [turn] : []));
  return failed.slice(-limits.tool_errors_told).map(({ tool, text }) => ({
    tool_name: firstOf(tool, limits.tool_error_chars),
    error_message: firstOf(firstLine(text), limits.tool_error_chars),
    raw: firstOf(text, limits.tool_error_raw_chars),
  }));
}
/** The fence around what a call brought back says nothing of the failure. */
function firstLine(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.find((line) => !/^<\/?data-[0-9a-f]+[ >]/.test(line)) ?? "";
}
