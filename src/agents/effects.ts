/**
 * The brackets around what a run does to the outside: when a step's commit moves it to or from an effect, the intent of
 * the one it goes to and the outcome of the one it leaves are part of that commit. [EFF-3]
 */
import type { EffectKind } from "../domain/effect.ts";
import { limits } from "../limits.ts";
import type { CallOutcome, Sandboxes } from "./ports.ts";
import { SandboxFailure } from "./ports.ts";
import type { Effect, Step } from "./step.ts";

/** An effect that a state stands before or within. `id` is the one the other side knows it by. */
export interface UnderWay {
  readonly kind: EffectKind;
  readonly id: string;
  readonly details: Effect["details"];
}

/** How an effect was left: done, refused by the other side, or without anybody knowing. */
export type Left = "done" | "failed" | "unknown";

export function bracketed<S>(
  before: readonly UnderWay[],
  after: readonly UnderWay[],
  step: Step<S>,
  left: Left,
): Step<S> {
  const said = step.effects ?? [];
  const ended = before.filter(({ kind, id }) => !after.some((next) => next.kind === kind && next.id === id));
  const begun = after.filter(({ kind, id }) => !before.some((last) => last.kind === kind && last.id === id));
  const outcomes = ended
    .filter(({ kind, id }) => !said.some((effect) => effect.reason === kind && effect.details.id === id))
    .map((each) => effect(left === "unknown" ? "unknown" : "outcome", each, left === "failed" ? { ok: false } : {}));
  const intents = begun.map((each) => effect("intent", each, {}));
  const effects = [...said, ...outcomes, ...intents];
  return effects.length === 0 ? step : { ...step, effects };
}
/** How a command ended, for the record. */
export function outcomeOf({ kind, id, details }: UnderWay, ended: CallOutcome): Effect {
  const exit_code = ended.state === "exited" ? ended.exit_code : null;
  const decision = ended.state === "unknown" ? "unknown" : "outcome";
  return { decision, reason: kind, details: { id, ...details, ended: ended.state, exit_code } };
}
function effect(decision: Effect["decision"], { kind, id, details }: UnderWay, more: Effect["details"]): Effect {
  return { decision, reason: kind, details: { id, ...details, ...more } };
}

/** The same of whichever of these sandboxes knows the call: an attempt that was resumed had one an entry. */
export async function lookUpAnywhere(
  sandboxes: Sandboxes,
  standing: readonly { readonly id: string }[],
  call_id: string,
): Promise<CallOutcome> {
  for (const { id } of standing) {
    const found = await lookUp(sandboxes, id, call_id);
    if (found.state !== "unknown") return found;
  }
  return { state: "unknown" };
}

/**
 * What became of a call, as its sandbox says. One that still runs is ended first: whoever asks is about to destroy the
 * sandbox. `unknown`: the sandbox is gone, or never heard of the call, or is silent each time it is asked; then it is
 * destroyed here, lest it stands because nobody can ask it. Any other failure is tried again by whoever asks.
 */
export async function lookUp(sandboxes: Sandboxes, sandbox: string, call_id: string): Promise<CallOutcome> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await endOf(sandboxes, sandbox, call_id);
    } catch (error) {
      if (!(error instanceof SandboxFailure)) throw error;
      if (error.code === "no_such_sandbox" || error.code === "no_such_call") return { state: "unknown" };
      if (error.code !== "silent") throw error;
      if (tries < limits.look_up_tries) continue;
      await sandboxes.destroy(sandbox);
      return { state: "unknown" };
    }
  }
}
async function endOf(sandboxes: Sandboxes, sandbox: string, call_id: string): Promise<CallOutcome> {
  const seen = await sandboxes.outcome(sandbox, call_id);
  if (seen.state !== "running") return seen;
  await sandboxes.kill(sandbox, call_id);
  const ended = await sandboxes.outcome(sandbox, call_id);
  return ended.state === "running" ? { state: "unknown" } : ended;
}
