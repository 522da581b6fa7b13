/**
 * About how many tokens a text is, for a provider that never said: four ASCII characters to a token, every other
 * character one. Rather too many than too few, except for text that is one long run of digits or marks. [MODEL-*]
 */
import { limits } from "../limits.ts";

export function estimatedTokens(text: string): number {
  return Math.ceil(quarterTokens(text) / 4);
}

/** Null for what cannot be a count of one call's tokens, whoever says it: less than none, a part of one, or far too many. */
export function believedTokens(said: unknown): number | null {
  return typeof said === "number" && Number.isSafeInteger(said) && said >= 0 && said <= limits.call_tokens
    ? said
    : null;
}

/** The same in quarters of a token, which add up: two texts together have as many as one after the other. */
export function quarterTokens(text: string): number {
  let ascii = 0;
  let others = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) ascii++;
    // The second half of a pair belongs to the first.
    else if (unit < 0xdc00 || unit > 0xdfff) others++;
  }
  return ascii + 4 * others;
}
