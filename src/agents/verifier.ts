/**
 * Verification the agent cannot touch: another sandbox, a clean checkout plus the patch, the checks the
 * approved plan names. The verifier also builds the commit that is merged if they pass, and publishes what
 * was merged. No model. [VER-*]
 */
import { z } from "zod";
import { matchesAny } from "../domain/glob.ts";
import { sandboxId, type VerificationOrder, type VerificationResult, verificationOrder } from "../domain/result.ts";
import { checkView, verdicts } from "../domain/view.ts";
import { limits } from "../limits.ts";
import { SandboxFailure } from "./ports.ts";
import type { Committed, Outgoing, Ports, Role, RunContext, Step } from "./step.ts";
import {
  afterFailure,
  bytesInMessage,
  call,
  counted,
  firstOf,
  lastOf,
  note,
  poll,
  setupCall,
  tail,
  whyFailed,
} from "./workspace.ts";

const verifierState = z.strictObject({
  at: z.enum(["create", "checkout", "merge", "setup", "restore", "checks", "publish", "close", "answer"]),
  index: z.number().int(),
  call: call.nullable(),
  output: z.string(),
  checks: z.array(checkView),
  commit: z.string().nullable(),
  bundle_key: z.string().nullable(),
  patch_key: z.string().nullable(),
  conflicts: z.array(z.string()),
  verdict: z.enum(verdicts).nullable(),
  detail: z.string(),
  retryable: z.boolean(),
  failures: z.number().int(),
});
type VerifierState = z.infer<typeof verifierState>;
type VerifyOrder = Extract<VerificationOrder, { stage: "verify" }>;
type PublishOrder = Extract<VerificationOrder, { stage: "publish" }>;

interface Scene<O> {
  readonly state: VerifierState;
  readonly context: RunContext;
  readonly ports: Ports;
  readonly order: O;
  readonly sandbox: string;
}

export const verifier: Role<VerifierState> = {
  open(context) {
    const order = verificationOrder.parse(context.message.payload);
    return {
      at: order.stage === "publish" ? "publish" : "create",
      index: 0,
      call: null,
      output: "",
      checks: [],
      commit: null,
      bundle_key: null,
      patch_key: null,
      conflicts: [],
      verdict: null,
      detail: "",
      retryable: true,
      failures: 0,
    };
  },
  parse: (stored) => verifierState.parse(stored),
  async step(state, context, ports) {
    const order = verificationOrder.parse(context.message.payload);
    const closing = state.at === "close" || state.at === "answer";
    const sandbox = sandboxId(context.scope_id, order.verification_id, 0);
    const end = (verdict: VerifierState["verdict"], detail: string, retryable = true): Step<VerifierState> => ({
      kind: "continue",
      state: { ...state, at: order.stage === "publish" ? "answer" : "close", verdict, detail, retryable },
    });
    if (context.cancelled && !closing) return end("infra_error", "called off by the runtime");
    try {
      const next =
        order.stage === "publish"
          ? await publish({ state, context, ports, order, sandbox })
          : await steps[state.at === "publish" ? "answer" : state.at]({ state, context, ports, order, sandbox });
      return state.failures === 0 || next.kind === "end" ? next : { ...next, state: { ...next.state, failures: 0 } };
    } catch (error) {
      const after = afterFailure(error, state.failures);
      if (after.again)
        return { kind: "wait", wait_ms: after.wait_ms, state: { ...state, failures: state.failures + 1 } };
      if (closing) return { kind: "continue", state: { ...state, at: "answer" } };
      return end("infra_error", after.failure.message, after.failure.retryable);
    }
  },
};

async function publish(scene: Scene<PublishOrder>): Promise<Step<VerifierState>> {
  const { state, order, ports } = scene;
  const details = { branch: order.branch, commit: order.commit };
  if (state.at === "answer") return { kind: "end", state, out: [answer(scene)] };
  if (state.index === 0)
    return {
      kind: "continue",
      state: { ...state, index: 1 },
      effects: [{ decision: "intent", reason: "publish", details }],
    };
  const bundle = await ports.artifacts.get(order.bundle_key);
  if (bundle === null) throw new SandboxFailure("internal", "the branch's bundle is missing from the store");
  await ports.sandboxes.publish({ source: order.repo, branch: order.branch, commit: order.commit, bundle });
  const done: VerifierState = {
    ...state,
    at: "answer",
    verdict: "pass",
    detail: `${order.branch} is at ${order.commit.slice(0, 12)}`,
  };
  return { kind: "continue", state: done, effects: [{ decision: "outcome", reason: "publish", details }] };
}

const steps: Record<
  Exclude<VerifierState["at"], "publish">,
  (scene: Scene<VerifyOrder>) => Promise<Step<VerifierState>>
> = {
  async create(scene) {
    const { order, context, ports } = scene;
    await ports.sandboxes.create(scene.sandbox, {
      scope_id: context.scope_id,
      owner: order.verification_id,
      worktree: order.worktree,
      ...order.limits,
    });
    const output = note(`verifying ${order.attempt_id} on ${order.parent.slice(0, 12)}`);
    return go(scene, { at: "checkout" }, { output });
  },

  async checkout(scene) {
    const { order, ports } = scene;
    const bundle = order.bundle_key === null ? null : await ports.artifacts.get(order.bundle_key);
    await ports.sandboxes.checkout(scene.sandbox, order.repo, order.parent, bundle ?? undefined);
    return go(scene, { at: "merge" });
  },

  /** The candidate is built before any of the repository's code has run in this sandbox. */
  async merge(scene) {
    const { order, ports, context } = scene;
    const patch = await ports.artifacts.get(order.patch_key);
    if (patch === null) return over(scene, "infra_error", "the patch is missing from the store");
    const { baseline, parent, title, at_s } = order;
    const built = await ports.sandboxes.merge(scene.sandbox, { baseline, parent, patch, at_s, message: title });
    if (!built.ok) {
      const detail = `does not merge onto the branch: ${built.conflicts.join(", ")}`;
      return go(scene, { at: "close", verdict: "fail", detail, conflicts: [...built.conflicts] });
    }
    const touched = built.files.filter((file) => matchesAny(order.protect, file.path)).map((file) => file.path);
    if (touched.length > 0)
      return over(scene, "integrity_violation", `the patch touches protected paths: ${touched.join(", ")}`);
    const bundle_key = `${context.scope_id}/branches/${order.verification_id}-${built.commit}.bundle`;
    const patch_key = `${context.scope_id}/branches/${order.verification_id}-${built.commit}.patch`;
    await ports.artifacts.put(bundle_key, built.bundle);
    await ports.artifacts.put(patch_key, built.patch);
    return go(scene, { at: "setup", commit: built.commit, bundle_key, patch_key });
  },

  async setup(scene) {
    const { state, order, ports } = scene;
    const due = setupCall(order.environment, state.index);
    if (due === null) return go(scene, { at: "restore", index: 0, call: null });
    if (state.call === null)
      return go(
        scene,
        { call: { call_id: due.call_id, offset: 0 } },
        { output: note(`set-up: ${due.spec.argv.join(" ")}`) },
      );
    const seen = await poll(ports.sandboxes, scene.sandbox, state.call, due.spec);
    if (seen.ended === null) return look(scene, { call: seen.call }, seen.output);
    const failed = whyFailed(`set-up ${state.index + 1}`, seen.ended);
    if (failed !== null) return over(scene, "infra_error", failed);
    return go(scene, { index: state.index + 1, call: null });
  },

  async restore(scene) {
    const { state, ports } = scene;
    const patch = state.patch_key === null ? null : await ports.artifacts.get(state.patch_key);
    if (patch === null) return over(scene, "infra_error", "the candidate's patch is missing from the store");
    // Whatever the set-up left behind: no check may ever run without the patch.
    await ports.sandboxes.restore(scene.sandbox, patch);
    return go(scene, { at: "checks" });
  },

  async checks(scene) {
    const { state, order, ports } = scene;
    const check = order.checks[state.index];
    if (check === undefined) return over(scene, "pass", `${counted(order.checks.length, "check")} passed`);
    if (state.call === null) {
      const output = note(`check: ${check.run.join(" ")}`);
      return go(scene, { call: { call_id: `check-${state.index + 1}`, offset: 0 }, output: "" }, { output });
    }
    const spec = { argv: check.run, timeout_ms: check.timeout_s * 1000 };
    const seen = await poll(ports.sandboxes, scene.sandbox, state.call, spec);
    const output = tail(state.output, seen.output, limits.check_output_bytes);
    if (seen.ended === null) return look(scene, { call: seen.call, output }, seen.output);
    if (seen.ended.state === "unknown") return over(scene, "infra_error", "the sandbox lost the check");
    const ran: z.infer<typeof checkView> = {
      argv: check.run,
      exit_code: seen.ended.state === "exited" ? seen.ended.exit_code : null,
      timed_out: seen.ended.state === "timed_out",
      duration_ms: seen.ended.state === "never_started" ? 0 : seen.ended.duration_ms,
      output: fitted(output, order.checks),
    };
    const checks = [...state.checks, ran];
    const failed = whyFailed(check.run.join(" "), seen.ended);
    if (failed !== null) return go(scene, { at: "close", call: null, checks, verdict: "fail", detail: failed });
    return go(scene, { index: state.index + 1, call: null, checks });
  },

  async close(scene) {
    await scene.ports.sandboxes.destroy(scene.sandbox);
    return go(
      scene,
      { at: "answer" },
      { output: note(`${scene.state.verdict ?? "infra_error"}: ${scene.state.detail}`) },
    );
  },

  async answer(scene) {
    return { kind: "end", state: scene.state, out: [answer(scene)] };
  },
};

function go<O>(
  scene: Scene<O>,
  change: Partial<VerifierState>,
  more: Omit<Committed<VerifierState>, "state"> = {},
): Step<VerifierState> {
  return { kind: "continue", state: { ...scene.state, ...change }, ...more };
}
function look<O>(scene: Scene<O>, change: Partial<VerifierState>, output: Uint8Array): Step<VerifierState> {
  return { kind: "wait", wait_ms: output.byteLength > 0 ? 150 : 0, state: { ...scene.state, ...change }, output };
}
function over<O>(scene: Scene<O>, verdict: NonNullable<VerifierState["verdict"]>, detail: string): Step<VerifierState> {
  return go(scene, { at: "close", call: null, verdict, detail });
}

const detailMax = 1_000;
const conflictsMax = 20;
/** Kept free in the message for everything but the checks, and in each check for everything but its output. */
const otherBytes = 32 * 1024;
const bareCheckBytes = 100;

/** All checks travel in one message and wait in one row: they share what fits, and each keeps the end of its output. */
function fitted(output: string, checks: VerifyOrder["checks"]): string {
  const room = (limits.message_inline_bytes - otherBytes - bytesInMessage(checks)) / checks.length - bareCheckBytes;
  let kept = output;
  // Halved until it fits: a character takes one to six bytes in a message.
  while (kept.length > 0 && bytesInMessage(kept) > room) kept = lastOf(kept, Math.floor(kept.length / 2));
  return kept;
}

function answer(scene: Scene<VerificationOrder>): Outgoing {
  const { order } = scene;
  const state = { ...scene.state, detail: firstOf(scene.state.detail, detailMax) };
  const passed = state.verdict === "pass";
  const payload: VerificationResult =
    order.stage === "publish"
      ? {
          stage: "publish",
          verification_id: order.verification_id,
          ok: passed,
          detail: state.detail,
          retryable: state.retryable,
        }
      : {
          stage: "verify",
          verification_id: order.verification_id,
          attempt_id: order.attempt_id,
          verdict: state.verdict ?? "infra_error",
          detail: state.detail,
          checks: state.checks,
          parent: order.parent,
          commit: passed ? state.commit : null,
          bundle_key: passed ? state.bundle_key : null,
          conflicts: state.conflicts.slice(0, conflictsMax).map((path) => firstOf(path, 120)),
        };
  return {
    message_kind: "verification_result",
    recipient: "runtime_queue",
    content: state.detail,
    payload: { ...payload },
    error_code: passed ? null : state.verdict === "infra_error" ? "tool_failure" : "verification_failed",
    retryable: passed ? null : state.retryable,
  };
}
