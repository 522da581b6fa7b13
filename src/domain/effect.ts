/**
 * What is done to the outside: the intent is committed, then the call is made under an id the other side knows, then
 * the outcome is committed. One table says what may follow what. An outcome that nobody committed is asked of the other
 * side; one that nobody can say is `unknown` for good, and is never taken for leave to do it again. [EFF-1] [EFF-2]
 */

export const effectStates = ["intent", "known", "asking", "unknown"] as const;
export type EffectState = (typeof effectStates)[number];
/**
 * `outcome`: whoever made the call says how it ended. `abandon`: whoever made it is gone. `found`: the other side says
 * how it ended. `lost`: the other side, or nobody at all, can say.
 */
export const effectEvents = ["outcome", "abandon", "found", "lost"] as const;
export type EffectEvent = (typeof effectEvents)[number];

/** An empty pair is a refusal: what is known, or unknown for good, stays so. */
export const effectMoves: Readonly<Record<EffectState, Readonly<Partial<Record<EffectEvent, EffectState>>>>> = {
  intent: { outcome: "known", abandon: "asking", lost: "unknown" },
  asking: { found: "known", lost: "unknown" },
  known: {},
  unknown: {},
};
/** Null when this cannot follow. */
export function stepEffect(state: EffectState, event: EffectEvent): EffectState | null {
  return effectMoves[state][event] ?? null;
}

/**
 * Whether the same thing may be done again while nobody knows whether it was done. `by_id`: the other side knows it by
 * its id and does nothing more. `looked_up`: the other side is asked first what stands there. `never`: what is done
 * instead is something new, with a sandbox and an id of its own.
 */
export const repeats = {
  sandbox_create: "by_id",
  sandbox_checkout: "by_id",
  sandbox_restore: "by_id",
  sandbox_merge: "by_id",
  sandbox_destroy: "by_id",
  setup_command: "by_id",
  check_command: "by_id",
  publish: "looked_up",
  webhook_post: "by_id",
  github_comment: "looked_up",
  github_check: "looked_up",
  github_pull: "looked_up",
  tool_call: "never",
  model_call: "never",
} as const satisfies Readonly<Record<string, "by_id" | "looked_up" | "never">>;
export type EffectKind = keyof typeof repeats;
