/**
 * One attempt at one work item: a fresh sandbox at the baseline, the environment's set-up, the runner's work,
 * and a patch. Stateless: it knows its order and nothing else. Every step is committed before the next. [EXE-*]
 */
import { whyNotRun } from "../domain/plan-runners.ts";
import { executionOrder, sandboxId } from "../domain/result.ts";
import { type How, resultOf } from "./attempt-end.ts";
import {
  close,
  type ExecutorState,
  executorState,
  go,
  look,
  type Scene,
  type Stepped,
  stop,
  store,
  underWay,
} from "./attempt-scene.ts";
import type { AttemptRef } from "./bus.ts";
import { bracketed, type Left, lookUp, outcomeOf } from "./effects.ts";
import { onlyReads, openCallOf, putAway, restored, summaryOf, thinkOn } from "./runners/loop.ts";
import { callOfStep, nextStep } from "./runners/steps.ts";
import type { Role, Step } from "./step.ts";
import { afterFailure, bytesInMessage, note, poll, setupCall, tail, whyFailed } from "./workspace.ts";

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
      mind: null,
      asked: null,
      finished: null,
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
    const leaving = (next: Step<ExecutorState>, left: Left): Step<ExecutorState> =>
      bracketed(underWay(state, order, scene.sandbox), underWay(next.state, order, scene.sandbox), next, left);
    if (context.cancelled && !closing)
      return leaving(close(scene, { end: "cancelled", detail: "called off by the runtime" }), "unknown");
    if (!closing && ports.clock.now() - context.opened_at_ms > order.minutes * 60_000) {
      const detail = `the attempt took longer than ${order.minutes} minutes`;
      return leaving(close(scene, { end: "finished", error_code: "timeout", retryable: true, detail }), "unknown");
    }
    try {
      const next = await steps[state.at](scene);
      const left = next.state.at === "close" && state.at !== "close" ? "failed" : "done";
      const calm = state.failures === 0 ? next : { ...next, state: { ...next.state, failures: 0 } };
      return leaving(next.kind === "end" ? next : calm, left);
    } catch (error) {
      const after = afterFailure(error, state.failures);
      if (after.again)
        return { kind: "wait", wait_ms: after.wait_ms, state: { ...state, failures: state.failures + 1 } };
      const { failure } = after;
      const left = failure.retryable ? "unknown" : "failed";
      if (closing) return leaving({ kind: "continue", state: { ...state, at: "answer" } }, left);
      const lost = failure.code === "no_such_sandbox" || failure.code === "no_such_call" || failure.retryable;
      const detail = failure.message;
      const how = lost
        ? ({ end: "crashed", detail } as const)
        : ({ end: "finished", error_code: "tool_failure", detail } as const);
      return leaving(close(scene, how), left);
    }
  },
};

const steps: Record<ExecutorState["at"], (scene: Scene) => Stepped> = {
  async begin(scene) {
    const entry = await scene.ports.bus.begin(scene.ref);
    if (entry.answer !== "go") return stop(scene, entry);
    const { order, ports } = scene;
    const detail = whyNotRun(order.runner, ports.models.configured("executor").length > 0);
    if (detail !== null) return close(scene, { end: "finished", error_code: "tool_failure", retryable: false, detail });
    return go(
      scene,
      { at: "clear" },
      { output: note(`attempt ${scene.order.attempt_id} on ${scene.order.baseline.slice(0, 12)}`) },
    );
  },

  /** What an earlier attempt left open is asked of its sandbox before that is gone: nobody could say afterwards. */
  async clear(scene) {
    const { order, ports, ref } = scene;
    for (const { sandbox, attempt_id, call_id } of order.look_up ?? [])
      await ports.bus.lookedUp(ref, { attempt_id, call_id }, await lookUp(ports.sandboxes, sandbox, call_id));
    for (const old of order.clear) await ports.sandboxes.destroy(old);
    return go(scene, { at: "create" });
  },

  async create(scene) {
    const { order, context, ports } = scene;
    await ports.sandboxes.create(scene.sandbox, {
      scope_id: context.scope_id,
      owner: order.attempt_id,
      worktree: order.worktree,
      ...order.limits,
    });
    return go(scene, { at: "checkout" });
  },

  async checkout(scene) {
    const { order, context, ports } = scene;
    const bundle = order.bundle_key === null ? null : await ports.artifacts.get(order.bundle_key);
    if (order.bundle_key !== null && bundle === null)
      return close(scene, {
        end: "crashed",
        detail: `the branch's bundle ${order.bundle_key} is missing from the store`,
      });
    const source = { scope_id: context.scope_id, url: order.repo };
    await ports.sandboxes.checkout(scene.sandbox, source, order.baseline, bundle ?? undefined);
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
    const { ended } = seen;
    if (ended === null)
      return look(scene, { call: seen.call, tail: tail(state.tail, seen.output, tailMax) }, seen.output);
    const effects = underWay(state, order, scene.sandbox).map((each) => outcomeOf(each, ended));
    const failed = whyFailed(`set-up ${state.index + 1}`, ended);
    if (failed === null) return go(scene, { index: state.index + 1, call: null }, { effects });
    const how: How =
      ended.state === "unknown"
        ? { end: "crashed", detail: "the sandbox lost the set-up" }
        : { end: "finished", error_code: "tool_failure", detail: failed };
    return { ...close(scene, how), effects };
  },

  async restore(scene) {
    const { order, ports } = scene;
    if (order.resume === null) return go(scene, { at: "work" });
    const patch = await ports.artifacts.get(order.resume.patch_key);
    if (patch === null) return close(scene, { end: "crashed", detail: "the stored workspace is missing" });
    await ports.sandboxes.restore(scene.sandbox, patch);
    const rebuilt = await ports.sandboxes.snapshot(scene.sandbox);
    if (order.runner === "loop") return restored(scene, rebuilt.tree);
    return go(
      scene,
      { at: "work", tree: rebuilt.tree },
      { output: note("workspace restored; processes and ignored files were not kept") },
    );
  },

  async work(scene) {
    const { state, order, ports, ref } = scene;
    if (order.runner === "loop") return thinkOn(scene);
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
        return close(settled(scene), {
          end: "finished",
          error_code: moved.error_code,
          retryable: moved.retryable,
          detail: moved.detail,
          exit_code: moved.exit_code,
        });
      case "lost":
        return close(settled(scene), { end: "crashed", detail: moved.detail });
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
      detail: summaryOf(patch.files.length, scene.state),
    });
  },

  async suspend(scene) {
    const { state, order } = scene;
    if (state.mind !== null) return putAway(scene, state.mind);
    const asked = callOfStep(order, state.runner.step);
    const kept = await store(scene, asked.call_id);
    return close(scene, {
      end: "suspended",
      detail: "waiting for a person",
      suspension: { ...asked, step: state.runner.step, patch_key: kept.key, tree: kept.tree },
    });
  },

  /** A call that is still open is asked of the sandbox for the last time: its outcome goes with the sandbox. */
  async close(scene) {
    const { state, order, ports, ref, sandbox } = scene;
    const call_id = openCallOf(state);
    if (call_id !== null && onlyReads(state))
      await ports.bus.settle(ref, call_id, { state: "never_started", reason: "the attempt ended first" });
    else if (call_id !== null) {
      const seen = await lookUp(ports.sandboxes, sandbox, call_id);
      await ports.bus.lookedUp(ref, { attempt_id: order.attempt_id, call_id }, seen);
    }
    await ports.sandboxes.destroy(sandbox);
    return go(scene, { at: "answer" });
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

/** The runner has told the runtime how its call ended. */
function settled(scene: Scene): Scene {
  return { ...scene, state: { ...scene.state, runner: { ...scene.state.runner, call: null } } };
}
