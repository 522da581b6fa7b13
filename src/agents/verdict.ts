/** What the verifier answers: one message that fits, with every check's end in it. [VER-*] */
import type { VerificationOrder, VerificationResult } from "../domain/result.ts";
import { limits } from "../limits.ts";
import type { Outgoing } from "./step.ts";
import type { VerifierState } from "./verifier.ts";
import { bytesInMessage, firstOf, lastOf } from "./workspace.ts";

const detailMax = 1_000;
const conflictsMax = 20;
/** Kept free in the message for everything but the checks, and in each check for everything but its output. */
const otherBytes = 32 * 1024;
const bareCheckBytes = 100;

/** All checks travel in one message and wait in one row: they share what fits, and each keeps the end of its output. */
export function fitted(output: string, checks: readonly unknown[]): string {
  const room = (limits.message_inline_bytes - otherBytes - bytesInMessage(checks)) / checks.length - bareCheckBytes;
  let kept = output;
  // Halved until it fits: a character takes one to six bytes in a message.
  while (kept.length > 0 && bytesInMessage(kept) > room) kept = lastOf(kept, Math.floor(kept.length / 2));
  return kept;
}

export function answer(scene: { readonly state: VerifierState; readonly order: VerificationOrder }): Outgoing {
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
          ...(state.unknown ? { unknown: true } : {}),
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
