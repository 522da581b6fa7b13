/**
 * One attempt as its steps see it: what is stored between two steps, what is at hand in one, and which effect on the
 * outside it stands before. [EXE-*] [EFF-3]
 */
import { z } from "zod";
import { insightKinds } from "../domain/insight.ts";
import type { ExecutionOrder } from "../domain/result.ts";
import { ending, endingOf, type How } from "./attempt-end.ts";
import type { AttemptRef, Entry } from "./bus.ts";
import type { UnderWay } from "./effects.ts";
import { loopState } from "./mind.ts";
import { runnerState } from "./runners/steps.ts";
import type { Committed, Ports, RunContext, Step } from "./step.ts";
import { call, note } from "./workspace.ts";

export const executorState = z.strictObject({
  at: z.enum([
    "begin",
    "clear",
    "create",
    "checkout",
    "setup",
    "restore",
    "work",
    "snapshot",
    "suspend",
    "close",
    "answer",
  ]),
  index: z.number().int(),
  call: call.nullable(),
  runner: runnerState,
  tree: z.string().nullable(),
  tail: z.string(),
  failures: z.number().int(),
  ending: ending.nullable(),
  /** Of the runner `loop`: how far it is, the call it is put away with, and what it said when it was done. */
  mind: loopState.nullable().default(null),
  asked: z
    .strictObject({
      call_id: z.string(),
      tool: z.string(),
      arguments: z.string(),
      step: z.number().int(),
      words: z.string(),
    })
    .nullable()
    .default(null),
  finished: z
    .strictObject({
      summary: z.string(),
      insights: z.array(z.strictObject({ kind: z.enum(insightKinds), text: z.string() })),
    })
    .nullable()
    .default(null),
});
export type ExecutorState = z.infer<typeof executorState>;
export type Stepped = Promise<Step<ExecutorState>>;

export interface Scene {
  readonly state: ExecutorState;
  readonly context: RunContext;
  readonly ports: Ports;
  readonly order: ExecutionOrder;
  readonly sandbox: string;
  readonly ref: AttemptRef;
}

/** Commands and sandbox life; tool calls are bracketed by the runtime. */
export function underWay(state: ExecutorState, order: ExecutionOrder, sandbox: string): UnderWay[] {
  const of = (kind: UnderWay["kind"], id = sandbox, details: UnderWay["details"] = {}): UnderWay[] => [
    { kind, id, details: { sandbox, ...details } },
  ];
  switch (state.at) {
    case "clear":
      return order.clear.map((old) => ({ kind: "sandbox_destroy", id: old, details: { sandbox: old } }));
    case "create":
      return of("sandbox_create");
    case "checkout":
      return of("sandbox_checkout", sandbox, { commit: order.baseline });
    case "setup":
      return state.call === null ? [] : of("setup_command", `${sandbox}/${state.call.call_id}`);
    case "restore":
      return order.resume === null ? [] : of("sandbox_restore");
    case "close":
      return of("sandbox_destroy");
    default:
      return [];
  }
}

export async function store(scene: Scene, name: string) {
  const { ports, context, order, sandbox } = scene;
  const taken = await ports.sandboxes.snapshot(sandbox);
  const key = `${context.scope_id}/attempts/${order.attempt_id}/${order.entry}-${name}.patch`;
  await ports.artifacts.put(key, taken.patch);
  return { key, bytes: taken.patch.byteLength, tree: taken.tree, files: [...taken.files] };
}

export function go(
  scene: Scene,
  change: Partial<ExecutorState>,
  more: Omit<Committed<ExecutorState>, "state"> = {},
): Step<ExecutorState> {
  return { kind: "continue", state: { ...scene.state, ...change }, ...more };
}
/** A short pause after output keeps a chatty process from costing a commit a line. */
export function look(scene: Scene, change: Partial<ExecutorState>, output: Uint8Array): Step<ExecutorState> {
  return { kind: "wait", wait_ms: output.byteLength > 0 ? 150 : 0, state: { ...scene.state, ...change }, output };
}

export function stop(scene: Scene, entry: Exclude<Entry, { answer: "go" }>): Step<ExecutorState> {
  return entry.answer === "stale"
    ? close(scene, { end: "cancelled", detail: entry.reason, silent: true })
    : close(scene, { end: "finished", error_code: entry.error_code, retryable: false, detail: entry.reason });
}

export function close(scene: Scene, how: How): Step<ExecutorState> {
  const ended = endingOf(how);
  return go(scene, { at: "close", call: null, ending: ended }, { output: note(`${ended.end}: ${ended.detail}`) });
}
