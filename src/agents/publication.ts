/**
 * The push of the commit that was merged. Its intent is committed first; before each try the runtime is asked whether it
 * is still wanted; and when nobody knows whether it was made, the source is asked what stands on the branch. [VER-*] [EFF-9]
 */
import type { VerificationOrder } from "../domain/result.ts";
import type { UnderWay } from "./effects.ts";
import { SandboxFailure, type Source } from "./ports.ts";
import type { Ports, RunContext, Step } from "./step.ts";
import type { VerifierState } from "./verifier.ts";
import { afterFailure } from "./workspace.ts";

export type PublishOrder = Extract<VerificationOrder, { stage: "publish" }>;
interface Scene {
  readonly state: VerifierState;
  readonly context: RunContext;
  readonly ports: Ports;
  readonly order: PublishOrder;
}
type Pushing = Step<VerifierState>;

/** Where a publication stands, as its state's `index`. */
const asked = 0;
const pushing = 1;
const looking = 2;

export function pushUnderWay(state: VerifierState, { branch, commit }: PublishOrder): UnderWay[] {
  if (state.at !== "publish" || state.index === asked) return [];
  return [{ kind: "publish", id: `${branch}@${commit}`, details: { branch, commit } }];
}

export async function publication(scene: Scene): Promise<Pushing> {
  const { state, context } = scene;
  if (context.cancelled && state.index !== looking) return calledOff(scene);
  try {
    return await (state.index === looking ? look(scene) : push(scene));
  } catch (error) {
    const after = afterFailure(error, state.failures);
    if (after.again) return { kind: "wait", wait_ms: after.wait_ms, state: { ...state, failures: state.failures + 1 } };
    const { message, retryable } = after.failure;
    if (state.index === looking)
      return over(scene, { detail: `${state.detail}; and what stands on the branch: ${message}`, unknown: true });
    // Whatever refused it for good made nothing; what did not answer may have made all of it.
    if (!retryable) return over(scene, { detail: message, retryable });
    return { kind: "continue", state: { ...state, index: looking, detail: message } };
  }
}

async function push(scene: Scene): Promise<Pushing> {
  const { state, order, ports, context } = scene;
  if (!(await ports.bus.mayPublish(context.message.task_id ?? "", order.verification_id))) return calledOff(scene);
  if (state.index === asked) return { kind: "continue", state: { ...state, index: pushing } };
  const bundle = await ports.artifacts.get(order.bundle_key);
  if (bundle === null) throw new SandboxFailure("internal", "the branch's bundle is missing from the store");
  await ports.sandboxes.publish({ source: sourceOf(scene), branch: order.branch, commit: order.commit, bundle });
  return published(scene);
}
/** Once its intent stands, an earlier life of this run may have pushed: so the branch is looked at. */
function calledOff(scene: Scene): Pushing {
  const { state } = scene;
  const detail = "called off by the runtime";
  return state.index === asked
    ? over(scene, { detail })
    : { kind: "continue", state: { ...state, index: looking, detail } };
}

async function look(scene: Scene): Promise<Pushing> {
  const { state, order, ports } = scene;
  const stands = await ports.sandboxes.resolve(sourceOf(scene), order.branch).catch((error: unknown) => {
    if (error instanceof SandboxFailure && error.code === "ref_not_found") return null;
    throw error;
  });
  return stands?.commit === order.commit ? published(scene) : over(scene, { detail: state.detail });
}

function sourceOf({ context, order }: Scene): Source {
  return { scope_id: context.scope_id, url: order.repo };
}
function published(scene: Scene): Pushing {
  const { state, order } = scene;
  const detail = `${order.branch} is at ${order.commit.slice(0, 12)}`;
  return { kind: "continue", state: { ...state, at: "answer", verdict: "pass", detail } };
}
function over({ state }: Scene, how: Pick<VerifierState, "detail"> & Partial<VerifierState>): Pushing {
  return { kind: "continue", state: { ...state, at: "answer", verdict: "infra_error", retryable: true, ...how } };
}
