/**
 * One attempt at one work item: a fresh sandbox at the baseline, the environment's set-up, the runner's work,
 * and a patch. Stateless: it knows its order and nothing else. Every step is committed before the next. [EXE-*]
 */
import { z } from "zod";
import { runners } from "../domain/plan-runners.ts";
import { type ExecutionOrder, executionOrder, sandboxId } from "../domain/result.ts";
import { ending, endingOf, type How, resultOf } from "./attempt-end.ts";
import type { AttemptRef, Entry } from "./bus.ts";
import { callOfStep, nextStep, runnerState } from "./runners/steps.ts";
import type { Committed, Ports, Role, RunContext, Step } from "./step.ts";
import { afterFailure, bytesInMessage, call, counted, note, poll, setupCall, tail, whyFailed } from "./workspace.ts";

const executorState = z.strictObject({
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
});
export type ExecutorState = z.infer<typeof executorState>;
type Stepped = Promise<Step<ExecutorState>>;

interface Scene {
  readonly state: ExecutorState;
  readonly context: RunContext;
  readonly ports: Ports;
  readonly order: ExecutionOrder;
  readonly sandbox: string;
  readonly ref: AttemptRef;
}

export const executor: Role<ExecutorState> = {
  open(context) {
    const order = executionOrder.parse(context.message.payload);
    return {
      at: "begin",
      index: 0,
      call: null,
      runner: { step: order.resume?.step ?? 0, call: null },
      tree: null,
      tail: "",
      failures: 0,
      ending: null,
    };
  },
  parse: (stored) => executorState.parse(stored),
  async step(state, context, ports) {
    const order = executionOrder.parse(context.message.payload);
    if (context.lease === null) throw new Error("an attempt runs under a lease");
    const ref: AttemptRef = {
      attempt_id: order.attempt_id,
      entry: order.entry,
      lease_id: context.lease.lease_id,
      epoch: context.lease.epoch,
      agent: context.agent,
    };
    const scene: Scene = {
      state,
      context,
      ports,
      order,
      ref,
      sandbox: sandboxId(context.scope_id, order.attempt_id, order.entry),
    };
    const closing = state.at === "close" || state.at === "answer";
    if (context.cancelled && !closing) return close(scene, { end: "cancelled", detail: "called off by the runtime" });
    if (!closing && ports.clock.now() - context.opened_at_ms > order.minutes * 60_000)
      return close(scene, {
        end: "finished",
        error_code: "timeout",
        retryable: true,
        detail: `the attempt took longer than ${order.minutes} minutes`,
      });
    try {
      const next = await steps[state.at](scene);
      return state.failures === 0 || next.kind === "end" ? next : { ...next, state: { ...next.state, failures: 0 } };
    } catch (error) {
      const after = afterFailure(error, state.failures);
      if (after.again)
        return { kind: "wait", wait_ms: after.wait_ms, state: { ...state, failures: state.failures + 1 } };
      if (closing) return { kind: "continue", state: { ...state, at: "answer" } };
      const { failure } = after;
      const lost = failure.code === "no_such_sandbox" || failure.code === "no_such_call" || failure.retryable;
      return close(
        scene,
        lost
          ? { end: "crashed", detail: failure.message }
          : { end: "finished", error_code: "tool_failure", detail: failure.message },
      );
    }
  },
};

const steps: Record<ExecutorState["at"], (scene: Scene) => Stepped> = {
  async begin(scene) {
    const entry = await scene.ports.bus.begin(scene.ref);
    if (entry.answer !== "go") return stop(scene, entry);
    const { runner } = scene.order;
    if (!runners.includes(runner))
      return close(scene, {
        end: "finished",
        error_code: "tool_failure",
        retryable: false,
        detail: `the runner ${runner} is not part of this version`,
      });
    return go(
      scene,
      { at: "clear" },
      { output: note(`attempt ${scene.order.attempt_id} on ${scene.order.baseline.slice(0, 12)}`) },
    );
  },

  async clear(scene) {
    for (const old of scene.order.clear) await scene.ports.sandboxes.destroy(old);
    return go(
      scene,
      { at: "create" },
      { effects: [{ decision: "intent", reason: "sandbox_create", details: { sandbox: scene.sandbox } }] },
    );
  },

  async create(scene) {
    const { order, context, ports } = scene;
    await ports.sandboxes.create(scene.sandbox, {
      scope_id: context.scope_id,
      owner: order.attempt_id,
      worktree: order.worktree,
      ...order.limits,
    });
    return go(
      scene,
      { at: "checkout" },
      { effects: [{ decision: "outcome", reason: "sandbox_create", details: { sandbox: scene.sandbox } }] },
    );
  },

  async checkout(scene) {
    const { order, ports } = scene;
    const bundle = order.bundle_key === null ? null : await ports.artifacts.get(order.bundle_key);
    if (order.bundle_key !== null && bundle === null)
      return close(scene, {
        end: "crashed",
        detail: `the branch's bundle ${order.bundle_key} is missing from the store`,
      });
    await ports.sandboxes.checkout(scene.sandbox, order.repo, order.baseline, bundle ?? undefined);
    return go(scene, { at: "setup" });
  },

  async setup(scene) {
    const { state, order, ports } = scene;
    const due = setupCall(order.environment, state.index);
    if (due === null) return go(scene, { at: order.resume === null ? "work" : "restore", index: 0, call: null });
    if (state.call === null)
      return go(
        scene,
        { call: { call_id: due.call_id, offset: 0 } },
        { output: note(`set-up: ${due.spec.argv.join(" ")}`) },
      );
    const seen = await poll(ports.sandboxes, scene.sandbox, state.call, due.spec);
    if (seen.ended === null)
      return look(scene, { call: seen.call, tail: tail(state.tail, seen.output, tailMax) }, seen.output);
    if (seen.ended.state === "unknown") return close(scene, { end: "crashed", detail: "the sandbox lost the set-up" });
    const failed = whyFailed(`set-up ${state.index + 1}`, seen.ended);
    if (failed !== null) return close(scene, { end: "finished", error_code: "tool_failure", detail: failed });
    return go(scene, { index: state.index + 1, call: null });
  },

  async restore(scene) {
    const { order, ports } = scene;
    if (order.resume === null) return go(scene, { at: "work" });
    const patch = await ports.artifacts.get(order.resume.patch_key);
    if (patch === null) return close(scene, { end: "crashed", detail: "the stored workspace is missing" });
    await ports.sandboxes.restore(scene.sandbox, patch);
    const rebuilt = await ports.sandboxes.snapshot(scene.sandbox);
    return go(
      scene,
      { at: "work", tree: rebuilt.tree },
      { output: note("workspace restored; processes and ignored files were not kept") },
    );
  },

  async work(scene) {
    const { state, order, ports, ref } = scene;
    const moved = await nextStep(state.runner, order, { ref, sandbox: scene.sandbox, tree: state.tree, ports });
    switch (moved.kind) {
      case "working":
        return look(scene, { runner: moved.runner, tail: tail(state.tail, moved.output, tailMax) }, moved.output);
      case "next":
        return go(scene, { runner: moved.runner, tree: null }, moved.output === null ? {} : { output: moved.output });
      case "asks":
        return go(scene, { at: "suspend" }, { output: note("waiting for a person to allow the next call") });
      case "done":
        return go(scene, { at: "snapshot" });
      case "stopped":
        return stop(scene, moved.entry);
      case "failed":
        return close(scene, {
          end: "finished",
          error_code: moved.error_code,
          retryable: moved.retryable,
          detail: moved.detail,
          exit_code: moved.exit_code,
        });
      case "lost":
        return close(scene, { end: "crashed", detail: moved.detail });
    }
  },

  async snapshot(scene) {
    const patch = await store(scene, "result");
    if (bytesInMessage(patch.files) > fileListBytes)
      return close(scene, {
        end: "finished",
        error_code: "tool_failure",
        detail: `the result changes ${patch.files.length} files, more than a person could be shown`,
      });
    return close(scene, {
      end: "finished",
      patch,
      exit_code: 0,
      detail: `${counted(patch.files.length, "file")} changed`,
    });
  },

  async suspend(scene) {
    const { state, order } = scene;
    const asked = callOfStep(order, state.runner.step);
    const kept = await store(scene, asked.call_id);
    return close(scene, {
      end: "suspended",
      detail: "waiting for a person",
      suspension: { ...asked, step: state.runner.step, patch_key: kept.key, tree: kept.tree },
    });
  },

  async close(scene) {
    await scene.ports.sandboxes.destroy(scene.sandbox);
    return go(
      scene,
      { at: "answer" },
      { effects: [{ decision: "outcome", reason: "sandbox_destroy", details: { sandbox: scene.sandbox } }] },
    );
  },

  async answer(scene) {
    const { ending } = scene.state;
    if (ending === null) throw new Error("an attempt answers after it ended");
    return { kind: "end", state: scene.state, out: ending.silent ? [] : [resultOf(scene, ending)] };
  },
};

const tailMax = 4_000;
/** The names of the changed files travel in the result, which is one message. */
const fileListBytes = 48 * 1024;

async function store(scene: Scene, name: string) {
  const { ports, context, order, sandbox } = scene;
  const taken = await ports.sandboxes.snapshot(sandbox);
  const key = `${context.scope_id}/attempts/${order.attempt_id}/${order.entry}-${name}.patch`;
  await ports.artifacts.put(key, taken.patch);
  return { key, bytes: taken.patch.byteLength, tree: taken.tree, files: [...taken.files] };
}

function go(
  scene: Scene,
  change: Partial<ExecutorState>,
  more: Omit<Committed<ExecutorState>, "state"> = {},
): Step<ExecutorState> {
  return { kind: "continue", state: { ...scene.state, ...change }, ...more };
}
/** A short pause after output keeps a chatty process from costing a commit a line. */
function look(scene: Scene, change: Partial<ExecutorState>, output: Uint8Array): Step<ExecutorState> {
  return { kind: "wait", wait_ms: output.byteLength > 0 ? 150 : 0, state: { ...scene.state, ...change }, output };
}

function stop(scene: Scene, entry: Exclude<Entry, { answer: "go" }>): Step<ExecutorState> {
  return entry.answer === "stale"
    ? close(scene, { end: "cancelled", detail: entry.reason, silent: true })
    : close(scene, { end: "finished", error_code: entry.error_code, retryable: false, detail: entry.reason });
}

function close(scene: Scene, how: How): Step<ExecutorState> {
  const ended = endingOf(how);
  return go(scene, { at: "close", call: null, ending: ended }, { output: note(`${ended.end}: ${ended.detail}`) });
}
