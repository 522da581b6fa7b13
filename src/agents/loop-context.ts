/** How long a conversation is as a model is given it, and which results are left out when it grows too long. [LOOP-10] */
import { estimatedTokens } from "../domain/token-count.ts";
import { limits } from "../limits.ts";
import type { ToolOffer, Turn } from "./models.ts";

export interface Told {
  readonly instructions: string;
  readonly tools: readonly ToolOffer[];
  readonly turns: readonly Turn[];
}
/** What the notice in the place of a result that was left out takes, at most. */
const noticeTokens = 24;
/** What a provider's form adds to each turn. */
const formTokens = 8;

/** Counted from the texts: rather too many than too few. */
export function inputTokens({ instructions, tools, turns }: Told): number {
  return estimatedTokens(instructions) + estimatedTokens(JSON.stringify(tools)) + turnTokens(turns, leftOut(turns));
}
function turnTokens(turns: readonly Turn[], before: number): number {
  return turns.reduce((sum, turn, at) => sum + tokensOf(turn, at < before), 0);
}
/** A turn never changes, and is counted at every step of its loop. */
const counted = new WeakMap<Turn, number>();
function tokensOf(turn: Turn, blank: boolean): number {
  if (blank && turn.kind === "result") return formTokens + noticeTokens;
  const known = counted.get(turn) ?? count(turn);
  counted.set(turn, known);
  return known;
}
function count(turn: Turn): number {
  switch (turn.kind) {
    case "told":
      return formTokens + estimatedTokens(turn.text);
    case "said":
      return turn.calls.reduce(
        (sum, call) => sum + formTokens + estimatedTokens(call.tool) + estimatedTokens(call.arguments),
        formTokens + estimatedTokens(turn.text),
      );
    case "result":
      return formTokens + estimatedTokens(turn.text);
    case "cut":
      return 0;
  }
}
/** Results of turns before this one are left out already. */
function leftOut(turns: readonly Turn[]): number {
  return turns.reduce((most, turn) => (turn.kind === "cut" ? Math.max(most, turn.before) : most), 0);
}

type Cut = Extract<Turn, { kind: "cut" }>;

/** What makes room when it is over the limit: the oldest results, as many as it takes. Null when it is not, or none are left. */
export function roomFor(told: Told): Cut | null {
  const tokens = inputTokens(told);
  if (tokens <= limits.loop_context_tokens) return null;
  const why = `the conversation grew over ${limits.loop_context_tokens} tokens`;
  return cutDown(told.turns, tokens - limits.loop_context_after_cut_tokens, limits.loop_results_kept, why);
}
/** Half of it, for a model that takes less than was thought. Even the last result goes when nothing else is left. */
export function halved(told: Told): Cut | null {
  return cutDown(told.turns, inputTokens(told) / 2, 0, "the conversation is longer than the model takes");
}
/** All but the latest results. */
export function reduced(turns: readonly Turn[], why: string): Cut | null {
  return cutDown(turns, Number.POSITIVE_INFINITY, limits.loop_results_kept, why);
}

function cutDown(turns: readonly Turn[], spare_tokens: number, keep: number, why: string): Cut | null {
  const from = leftOut(turns);
  const results = turns.flatMap((turn, at) => (turn.kind === "result" ? [at] : []));
  const candidates = results.slice(0, results.length - keep).filter((at) => at >= from);
  let before = 0;
  let spared = 0;
  for (const at of candidates) {
    if (spared >= spare_tokens) break;
    const turn = turns[at];
    spared += turn === undefined ? 0 : Math.max(0, tokensOf(turn, false) - tokensOf(turn, true));
    before = at + 1;
  }
  return before === 0 ? null : { kind: "cut", before, why };
}
