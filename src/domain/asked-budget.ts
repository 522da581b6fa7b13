/**
 * What a task was given to spend, in words, and beside it what a plan asks for and what is gone already. A plan may ask
 * for more: whoever approves it is told so, and its planner was. [MNB-11] [PLR-20]
 */
import { z } from "zod";
import { limits } from "../limits.ts";
import type { Plan } from "./plan-shape.ts";
import { budget } from "./view.ts";

/** Null, or empty: whoever asked stated none. */
export type Given = z.infer<typeof budget> | null;

/** What a whole task has spent, all its plans and its planning; what calls under way may cost counts as spent. */
export const spending = z.strictObject({ tokens: z.number().nonnegative(), usd: z.number().nonnegative() });
export type Spending = z.infer<typeof spending>;

/** Dollars are sums of small prices: less than a millionth more is none. */
export function isMore(amount: number, than: number): boolean {
  return amount - than > 1e-6;
}
/** By unit, what was stated or what a task has without it; minutes are of an attempt. */
export function haveIn(given: Given): { readonly tokens: number; readonly usd: number; readonly minutes: number } {
  const { tokens = limits.task_tokens, usd = limits.task_usd, minutes = limits.attempt_minutes } = given ?? {};
  return { tokens, usd, minutes };
}
/** Beside a plan: what is gone of it and what is left; null while nothing is. */
export function spentWords(given: Given, spent: Spending, unknown_price: boolean): string | null {
  if (spent.tokens === 0 && spent.usd === 0) return null;
  const { tokens, usd } = haveIn(given);
  const gone = `${spent.tokens.toLocaleString("en")} of ${tokensIn(tokens)} and ${dollars(spent.usd)} of $${usd}`;
  const left = `${tokensIn(Math.max(0, tokens - spent.tokens))} and ${dollars(Math.max(0, usd - spent.usd))}`;
  const more = unknown_price ? " (more in truth: the price of a model is unknown)" : "";
  return `Spent on this task already: ${gone}${more}; left: ${left}. What this plan asks for comes on top of what is spent.`;
}
export function dollars(usd: number): string {
  return `$${Math.round(usd * 10_000) / 10_000}`;
}

/** As it travels in a message; what is none is as if none had been stated. */
export function givenIn(stated: unknown): Given {
  return budget
    .nullable()
    .catch(null)
    .parse(stated ?? null);
}
export function tokensIn(tokens: number): string {
  return `${tokens.toLocaleString("en")} tokens`;
}
/** Null when nothing was stated. */
export function givenWords(given: Given): string | null {
  if (given === null) return null;
  const parts = [
    ...(given.tokens === undefined ? [] : [tokensIn(given.tokens)]),
    ...(given.usd === undefined ? [] : [`$${given.usd}`]),
    ...(given.minutes === undefined ? [] : [`${given.minutes} minutes`]),
  ];
  return parts.length === 0 ? null : listed(parts);
}
/** In a plan `usd: 0` is no limit; without tokens of its own the plan is paid from what the task was given. */
export function besideAsked(
  given: Given,
  asked: Plan["budget"],
): { readonly words: string; readonly over: boolean } | null {
  const gave = givenWords(given);
  if (given === null || gave === null) return null;
  const { tokens, usd, minutes } = asked;
  const longer = given.minutes !== undefined && (minutes ?? limits.attempt_minutes) > given.minutes;
  const dearer = given.usd !== undefined && (usd === 0 || usd > given.usd);
  const over = longer || (tokens > 0 && (dearer || (given.tokens !== undefined && tokens > given.tokens)));
  const more = over ? ": more than was given" : "";
  const words = askedWords(asked, given.minutes !== undefined);
  return { words: `gave this task ${gave}; this plan asks for ${words}${more}.`, over };
}
/** Beside a plan's own budget where nobody stated one: what the task had without it. */
export function besideDefault(given: Given, asked: Plan["budget"]): string | null {
  if (givenWords(given) !== null || asked.tokens === 0) return null;
  const has = `${tokensIn(limits.task_tokens)} and $${limits.task_usd}`;
  return `stated no budget, and a task has ${has} by default; this plan asks for ${askedWords(asked, false)}.`;
}
function askedWords({ tokens, usd, minutes }: Plan["budget"], byTheMinute: boolean): string {
  const unsaid = byTheMinute ? [`${limits.attempt_minutes} minutes an attempt, which it leaves as they are`] : [];
  return listed([
    ...(tokens === 0 ? ["no tokens of its own"] : [tokensIn(tokens), usd === 0 ? "no limit in dollars" : `$${usd}`]),
    ...(minutes === null ? unsaid : [`${minutes} minutes`]),
  ]);
}
function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
