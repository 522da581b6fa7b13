/**
 * The runner `steps`: the item's fenced blocks, in order, each one `shell_execute` call in its own process.
 * Each is authorized before it starts and settled after it ends. [STEP-*]
 */
import { z } from "zod";
import { canonicalJson } from "../../domain/canonical.ts";
import type { ErrorCode } from "../../domain/message.ts";
import type { ExecutionOrder } from "../../domain/result.ts";
import type { AttemptRef, Entry } from "../bus.ts";
import type { Ports } from "../step.ts";
import { toolsFor } from "../tools/chain.ts";
import { saidBy } from "../tools/results.ts";
import { call, note, poll, whyFailed } from "../workspace.ts";

export const runnerState = z.strictObject({ step: z.number().int(), call: call.nullable() });
export type RunnerState = z.infer<typeof runnerState>;

export type Moved =
  | { readonly kind: "working"; readonly runner: RunnerState; readonly output: Uint8Array }
  | { readonly kind: "next"; readonly runner: RunnerState; readonly output: Uint8Array | null }
  | { readonly kind: "asks" }
  | { readonly kind: "done" }
  | { readonly kind: "stopped"; readonly entry: Exclude<Entry, { answer: "go" }> }
  | {
      readonly kind: "failed";
      readonly error_code: ErrorCode;
      readonly retryable: boolean;
      readonly detail: string;
      readonly exit_code: number | null;
    }
  | { readonly kind: "lost"; readonly detail: string };

/** The call that a step makes: its id is the same however often it is asked, so it runs at most once an entry. */
export function callOfStep(order: ExecutionOrder, step: number): { call_id: string; tool: string; arguments: string } {
  return {
    call_id: `step-${step + 1}`,
    tool: "shell_execute",
    arguments: canonicalJson({ command: order.steps[step] ?? "" }),
  };
}

export async function nextStep(
  runner: RunnerState,
  order: ExecutionOrder,
  world: { ref: AttemptRef; sandbox: string; tree: string | null; ports: Pick<Ports, "bus" | "sandboxes"> },
): Promise<Moved> {
  if (runner.step >= order.steps.length) return { kind: "done" };
  const { bus, sandboxes } = world.ports;
  const tools = toolsFor(order, "execution", bus, world.ref);
  const asked = callOfStep(order, runner.step);
  const spec = tools.spec(asked);

  if (runner.call === null || spec === null) {
    const answer = await tools.authorize({ ...asked, step: runner.step, tree: world.tree });
    if (answer.answer === "wait") return { kind: "asks" };
    if (answer.answer !== "run") return { kind: "stopped", entry: answer };
    const output = note(`step ${runner.step + 1} of ${order.steps.length}`);
    return { kind: "next", runner: { ...runner, call: { call_id: asked.call_id, offset: 0 } }, output };
  }

  const seen = await poll(sandboxes, world.sandbox, runner.call, spec);
  if (seen.ended === null) return { kind: "working", runner: { ...runner, call: seen.call }, output: seen.output };
  const said = await saidBy(sandboxes, world.sandbox, asked.call_id, runner.call.offset);
  await tools.settle(asked.call_id, seen.ended, said);
  if (seen.ended.state === "unknown")
    return { kind: "lost", detail: `what became of step ${runner.step + 1} is not known` };
  const failed = whyFailed(`step ${runner.step + 1}`, seen.ended);
  if (failed === null) return { kind: "next", runner: { step: runner.step + 1, call: null }, output: null };
  return {
    kind: "failed",
    error_code: seen.ended.state === "timed_out" ? "timeout" : "tool_failure",
    retryable: true,
    detail: failed,
    exit_code: seen.ended.state === "exited" ? seen.ended.exit_code : null,
  };
}
