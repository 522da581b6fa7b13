/**
 * Verification the agent cannot touch: another sandbox, a clean checkout plus the patch, the checks the
 * approved plan names. The verifier also builds the commit that is merged if they pass, and publishes what
 * was merged. No model. [VER-*]
 */
import { z } from "zod";
import type { EffectKind } from "../domain/effect.ts";
import { checkView, verdicts } from "../domain/evidence.ts";
import { matchesAny } from "../domain/glob.ts";
import { sandboxId, type VerificationOrder, verificationOrder } from "../domain/result.ts";
import { limits } from "../limits.ts";
import { bracketed, type Left, outcomeOf, type UnderWay } from "./effects.ts";
import { publication, pushUnderWay } from "./publication.ts";
import type { Committed, Ports, Role, RunContext, Step } from "./step.ts";
import { answer, fitted } from "./verdict.ts";
import { afterFailure, call, counted, note, poll, setupCall, tail, whyFailed } from "./workspace.ts";

const verifierState = z.strictObject({
  at: z.enum(["begin", "create", "checkout", "merge", "setup", "restore", "checks", "publish", "close", "answer"]),
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
  unknown: z.boolean().default(false),
});
export type VerifierState = z.infer<typeof verifierState>;
type VerifyOrder = Extract<VerificationOrder, { stage: "verify" }>;

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
      at: order.stage === "publish" ? "publish" : "begin",
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
      unknown: false,
    };
  },
  parse: (stored) => verifierState.parse(stored),
  async step(state, context, ports) {
    const order = verificationOrder.parse(context.message.payload);
    const sandbox = sandboxId(context.scope_id, order.verification_id, 0);
    const scene = { state, context, ports, sandbox };
    const leaving = (next: Step<VerifierState>, left: Left): Step<VerifierState> =>
      bracketed(underWay(state, order, sandbox), underWay(next.state, order, sandbox), next, left);
    const calm = (next: Step<VerifierState>): Step<VerifierState> =>
      state.failures === 0 || next.kind === "end" || next.state.failures > state.failures
        ? next
        : { ...next, state: { ...next.state, failures: 0 } };
    if (state.at === "answer") return { kind: "end", state, out: [answer({ ...scene, order })] };
    if (order.stage === "publish") {
      const next = await publication({ ...scene, order });
      const { unknown, verdict } = next.state;
      return leaving(calm(next), unknown ? "unknown" : verdict === "infra_error" ? "failed" : "done");
    }
    const closing = state.at === "close";
    const end = (detail: string, retryable = true): Step<VerifierState> =>
      go({ ...scene, order }, { at: "close", verdict: "infra_error", detail, retryable });
    if (context.cancelled && !closing) return leaving(end("called off by the runtime"), "unknown");
    try {
      const next = await steps[state.at === "publish" ? "close" : state.at]({ ...scene, order });
      return leaving(calm(next), next.state.at === "close" && next.state.verdict === "infra_error" ? "failed" : "done");
    } catch (error) {
      const after = afterFailure(error, state.failures);
      if (after.again)
        return { kind: "wait", wait_ms: after.wait_ms, state: { ...state, failures: state.failures + 1 } };
      const { message, retryable } = after.failure;
      const left = retryable ? "unknown" : "failed";
      if (closing) return leaving({ kind: "continue", state: { ...state, at: "answer" } }, left);
      return leaving(end(message, retryable), left);
    }
  },
};

/** Each effect the order's run stands before, or within. */
function underWay(state: VerifierState, order: VerificationOrder, sandbox: string): UnderWay[] {
  if (order.stage === "publish") return pushUnderWay(state, order);
  const kind = effectAt[state.at];
  if (kind === undefined) return [];
  const command = kind === "setup_command" || kind === "check_command";
  if (command && state.call === null) return [];
  return [{ kind, id: command ? `${sandbox}/${state.call?.call_id}` : sandbox, details: { sandbox } }];
}
const effectAt: Partial<Record<VerifierState["at"], EffectKind>> = {
  create: "sandbox_create",
  checkout: "sandbox_checkout",
  merge: "sandbox_merge",
  setup: "setup_command",
  restore: "sandbox_restore",
  checks: "check_command",
  close: "sandbox_destroy",
};

const steps: Record<
  Exclude<VerifierState["at"], "publish" | "answer">,
  (scene: Scene<VerifyOrder>) => Promise<Step<VerifierState>>
> = {
  async begin(scene) {
    return go(scene, { at: "create" });
  },

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
    const { order, context, ports } = scene;
    const bundle = order.bundle_key === null ? null : await ports.artifacts.get(order.bundle_key);
    const source = { scope_id: context.scope_id, url: order.repo };
    await ports.sandboxes.checkout(scene.sandbox, source, order.parent, bundle ?? undefined);
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
    const { ended } = seen;
    if (ended === null) return look(scene, { call: seen.call }, seen.output);
    const effects = underWay(state, order, scene.sandbox).map((each) => outcomeOf(each, ended));
    const failed = whyFailed(`set-up ${state.index + 1}`, ended);
    if (failed !== null) return { ...over(scene, "infra_error", failed), effects };
    return go(scene, { index: state.index + 1, call: null }, { effects });
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
    const { ended } = seen;
    if (ended === null) return look(scene, { call: seen.call, output }, seen.output);
    const effects = underWay(state, order, scene.sandbox).map((each) => outcomeOf(each, ended));
    if (ended.state === "unknown") return { ...over(scene, "infra_error", "the sandbox lost the check"), effects };
    const ran: z.infer<typeof checkView> = {
      argv: check.run,
      exit_code: ended.state === "exited" ? ended.exit_code : null,
      timed_out: ended.state === "timed_out",
      duration_ms: ended.state === "never_started" ? 0 : ended.duration_ms,
      output: fitted(output, order.checks),
    };
    const checks = [...state.checks, ran];
    const failed = whyFailed(check.run.join(" "), ended);
    if (failed === null) return go(scene, { index: state.index + 1, call: null, checks }, { effects });
    return go(scene, { at: "close", call: null, checks, verdict: "fail", detail: failed }, { effects });
  },

  async close(scene) {
    await scene.ports.sandboxes.destroy(scene.sandbox);
    return go(
      scene,
      { at: "answer" },
      { output: note(`${scene.state.verdict ?? "infra_error"}: ${scene.state.detail}`) },
    );
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
