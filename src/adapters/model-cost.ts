/** What one call of a model has cost: by its provider's count, or by our own from the texts, and then it says so. [MODEL-*] */
import type { ModelMessage } from "ai";
import type { ModelRequest, Usage } from "../agents/models.ts";
import { believedTokens, estimatedTokens } from "../domain/token-count.ts";
import type { Hearing } from "./model-hearing.ts";
import { usdOf } from "./prices.ts";

/** What the provider says it counted; what it does not say, or what cannot be, is counted from the texts. */
export function costOf(
  model: string,
  request: ModelRequest,
  messages: readonly ModelMessage[],
  hearing: Hearing,
): { readonly usage: Usage; readonly usd: number | null } {
  const said = hearing.usage;
  const details = said?.inputTokenDetails;
  const heard = hearing.heard;
  const told = believedTokens(said?.inputTokens ?? 0) ?? 0;
  const spoken = believedTokens(said?.outputTokens ?? 0);
  const input = told > 0 ? told : estimatedTokens(JSON.stringify([request.instructions, messages, request.tools]));
  const output = spoken !== null && (spoken > 0 || heard === "") ? spoken : estimatedTokens(heard);
  // What cannot be believed of the cache is nothing cached: the whole input is paid.
  const cached = Math.min(input, believedTokens(details?.cacheReadTokens ?? 0) ?? 0);
  const written = believedTokens(details?.cacheWriteTokens ?? 0) ?? 0;
  return {
    usage: {
      input_tokens: input,
      output_tokens: output,
      cached_tokens: cached,
      estimated: input !== told || output !== spoken,
    },
    usd: usdOf(model, { input, cached, written, output }),
  };
}

/** All the words of a request, for whoever must see to it that none are repeated. */
export function sentText({ instructions, turns }: ModelRequest): string {
  const texts = turns.flatMap((turn) => {
    if (turn.kind === "cut") return [];
    return turn.kind === "said" ? [turn.text, ...turn.calls.map((call) => call.arguments)] : [turn.text];
  });
  return [instructions, ...texts].join("\n");
}
