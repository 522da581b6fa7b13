/**
 * What well-known models cost, in US dollars per million tokens, as published on the day below. A model that is not in
 * the table has no price: that is said as null, never as zero. Pure. [MODEL-*]
 */

/** The day the whole table was last held against the open price data of `@pydantic/genai-prices` (there 0.1.8). */
export const pricesTakenOn = "2026-09-23";

export interface PricedTokens {
  /** All of the input, what the provider read from and wrote to its cache included. */
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly output: number;
}

interface Price {
  readonly input: number;
  readonly cached: number;
  /** Input that the provider put into its cache. */
  readonly written: number;
  readonly output: number;
  /** A call whose input is longer costs so many times as much. */
  readonly long?: { readonly past: number; readonly input: number; readonly output: number };
}

const openaiLong = { past: 272_000, input: 2, output: 1.5 };
const googleLong = { past: 200_000, input: 2, output: 1.5 };
/** Who takes nothing extra for writing to its cache takes the price of the input. */
const price = (input: number, cached: number, output: number, more: Partial<Price> = {}): Price => ({
  input,
  cached,
  written: input,
  output,
  ...more,
});
const claude = (input: number, cached: number, output: number): Price =>
  price(input, cached, output, { written: input * 1.25 });

const table: Readonly<Record<string, Price>> = {
  "anthropic/claude-fable-5": claude(10, 1, 50),
  "anthropic/claude-fable-5-1": claude(10, 0.25, 50),
  "anthropic/claude-haiku-4-5": claude(1, 0.1, 5),
  "anthropic/claude-opus-4-1": claude(15, 1.5, 75),
  "anthropic/claude-opus-4-5": claude(5, 0.5, 25),
  "anthropic/claude-opus-4-6": claude(5, 0.5, 25),
  "anthropic/claude-opus-4-7": claude(5, 0.5, 25),
  "anthropic/claude-opus-4-8": claude(5, 0.5, 25),
  "anthropic/claude-opus-5": claude(5, 0.5, 25),
  "anthropic/claude-opus-5-5": claude(4, 0.2, 20),
  "anthropic/claude-sonnet-4-5": price(3, 0.3, 15, { written: 3.75, long: googleLong }),
  "anthropic/claude-sonnet-4-6": claude(3, 0.3, 15),
  "anthropic/claude-sonnet-5": claude(2, 0.2, 10),

  "google/gemini-2.5-flash": price(0.3, 0.03, 2.5),
  "google/gemini-2.5-flash-lite": price(0.1, 0.01, 0.4),
  "google/gemini-2.5-pro": price(1.25, 0.125, 10, { long: googleLong }),
  "google/gemini-3-flash": price(0.5, 0.05, 3),
  "google/gemini-3-pro": price(2, 0.2, 12, { long: googleLong }),
  "google/gemini-3.1-pro": price(2, 0.2, 12, { long: googleLong }),
  "google/gemini-3.5-flash": price(1.5, 0.15, 9),
  "google/gemini-3.6-flash": price(0.75, 0.075, 3.75),
  "google/gemini-3.8-flash": price(0.75, 0.075, 3.75),

  "openai/gpt-4.1": price(2, 0.5, 8),
  "openai/gpt-4.1-mini": price(0.4, 0.1, 1.6),
  "openai/gpt-4o": price(2.5, 1.25, 10),
  "openai/gpt-4o-mini": price(0.15, 0.075, 0.6),
  "openai/gpt-5": price(1.25, 0.125, 10),
  "openai/gpt-5-mini": price(0.25, 0.025, 2),
  "openai/gpt-5-nano": price(0.05, 0.005, 0.4),
  "openai/gpt-5.1": price(1.25, 0.125, 10),
  "openai/gpt-5.2": price(1.75, 0.175, 14),
  "openai/gpt-5.3-codex": price(1.75, 0.175, 14),
  "openai/gpt-5.4": price(2.5, 0.25, 15, { long: openaiLong }),
  "openai/gpt-5.4-mini": price(0.75, 0.075, 4.5),
  "openai/gpt-5.4-nano": price(0.2, 0.02, 1.25),
  "openai/gpt-5.5": price(5, 0.5, 30, { long: openaiLong }),
  "openai/gpt-5.6": price(4, 0.4, 20, { written: 5, long: openaiLong }),
  "openai/gpt-5.6-luna": price(0.2, 0.02, 1.2, { written: 0.25, long: openaiLong }),
  "openai/gpt-5.6-sol": price(4, 0.4, 20, { written: 5, long: openaiLong }),
  "openai/gpt-5.6-terra": price(2, 0.2, 12, { written: 2.5, long: openaiLong }),
  "openai/o4-mini": price(1.1, 0.275, 4.4),

  "workers-ai/@cf/meta/llama-3.3-70b-instruct-fp8-fast": price(0.293, 0.293, 2.253),
  "workers-ai/@cf/moonshotai/kimi-k2.5": price(0.6, 0.1, 3),
  "workers-ai/@cf/openai/gpt-oss-120b": price(0.35, 0.35, 0.75),
  "workers-ai/@cf/zai-org/glm-4.7-flash": price(0.06, 0.06, 0.4),
};

/**
 * What may stand behind a known name: a date, a build, or the word that names the newest. Anything else is another
 * model with a price of its own, as `gpt-5.4-pro` beside `gpt-5.4`.
 */
const sameModel = /^(?:-latest|-preview|-\d{3,8}|-\d{2}-\d{4}|-\d{4}-\d{2}-\d{2})*$/;

function priceOf(model: string): Price | null {
  for (const [name, found] of Object.entries(table))
    if (model.startsWith(name) && sameModel.test(model.slice(name.length))) return found;
  return null;
}

/** In US dollars; null when the model has no price here. `model` is `provider/model`. */
export function usdOf(model: string, tokens: PricedTokens): number | null {
  const found = priceOf(model);
  if (found === null) return null;
  const long = found.long !== undefined && tokens.input > found.long.past ? found.long : { input: 1, output: 1 };
  // Never below zero: nobody is paid for thinking.
  const within = (count: number, most: number) => Math.min(Math.max(0, count), most);
  const input = Math.max(0, tokens.input);
  const cached = within(tokens.cached, input);
  const written = within(tokens.written, input - cached);
  const plain = input - cached - written;
  const read = plain * found.input + cached * found.cached + written * found.written;
  return (read * long.input + Math.max(0, tokens.output) * found.output * long.output) / 1_000_000;
}

/** What a call with that much input and answer may cost at most: with its input written to the cache, or not. */
export function mostUsd(model: string, input: number, output: number): number | null {
  const plain = usdOf(model, { input, cached: 0, written: 0, output });
  const kept = usdOf(model, { input, cached: 0, written: input, output });
  return plain === null || kept === null ? null : Math.max(plain, kept);
}
