/**
 * One try of one delivery: what the courier is told, what it says came of it, and what follows from that. No secret is
 * part of either message. [WBH-*]
 */
import { z } from "zod";
import { limits } from "../limits.ts";

/** Payload of `webhook_order`. Whoever carries it out derives the secrets of these versions. */
export const webhookOrder = z.strictObject({
  delivery_id: z.string(),
  webhook_id: z.string(),
  /** Which try it is, of all. */
  try: z.number().int().positive(),
  url: z.string().max(limits.webhook_url_chars),
  secret_versions: z.array(z.number().int().positive()).min(1).max(2),
  /** The event, as it is sent. */
  body: z.string().max(64 * 1024),
});
/** What came of one POST. `retry_after_ms`: the receiver asked not to be tried before. */
export const postAnswer = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("answered"),
    status: z.number().int(),
    retry_after_ms: z.number().nonnegative().nullable(),
    text: z.string(),
  }),
  z.strictObject({ kind: z.literal("failed"), why: z.string() }),
]);
export type PostAnswer = z.infer<typeof postAnswer>;
/** Payload of `webhook_result`. */
export const webhookResult = z.strictObject({
  delivery_id: z.string(),
  try: z.number().int().positive(),
  at: z.string(),
  ms: z.number().int().nonnegative(),
  answer: postAnswer,
});

/** What follows from a try. `next_ms`: when it is tried again; null when it is over. `gone`: the receiver wants no more. */
export interface AfterTry {
  readonly state: "done" | "open" | "dead";
  readonly next_ms: number | null;
  readonly gone: boolean;
}
/** `tried`: tries since it was made, or since it was ordered again, with this one. */
export function afterTry(answer: PostAnswer, tried: number, now_ms: number): AfterTry {
  const status = answer.kind === "answered" ? answer.status : 0;
  if (status >= 200 && status < 300) return { state: "done", next_ms: null, gone: false };
  if (status === 410) return { state: "dead", next_ms: null, gone: true };
  const wait = limits.webhook_retry_ms[tried - 1];
  if (wait === undefined) return { state: "dead", next_ms: null, gone: false };
  const asked = answer.kind === "answered" ? (answer.retry_after_ms ?? 0) : 0;
  return {
    state: "open",
    next_ms: now_ms + Math.max(wait, Math.min(asked, limits.webhook_retry_after_max_ms)),
    gone: false,
  };
}

/** Seconds, or a date of HTTP, as milliseconds from now; null for anything else. */
export function retryAfterMs(header: string | null, now_ms: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = /GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now_ms);
}
