/**
 * Outgoing webhooks: what one is, which events it is sent, and which addresses it may have.
 * No secret is part of any shape here. [WBH-*]
 */
import { z } from "zod";
import { limits } from "../limits.ts";
import { whyNear } from "./hosts.ts";
import { type EventView, eventTypes } from "./record-view.ts";
import { ok, type Result, refuse } from "./refusal.ts";
import { isPrivate } from "./repo.ts";

/** An event's type, `phase_start` or `phase_complete` with a phase behind a colon too; or `*`. */
export const eventPattern = z
  .string()
  .max(60)
  .refine((text) => text === "*" || isType(text), {
    error: "name an event type such as task_complete, phase_start or phase_start:coding, or use *",
  });
function isType(text: string): boolean {
  const [kind = "", phase, more] = text.split(":");
  if (!(eventTypes as readonly string[]).includes(kind) || more !== undefined) return false;
  return phase === undefined || (/^phase_(start|complete)$/.test(kind) && /^[a-z_]{1,40}$/.test(phase));
}

/** Body of POST /api/webhooks. */
export const webhookInput = z.strictObject({
  url: z.string().min(1).max(limits.webhook_url_chars),
  events: z.array(eventPattern).min(1).max(limits.webhook_event_types),
  description: z.string().max(500).default(""),
});
export type WebhookInput = z.infer<typeof webhookInput>;

export const webhookView = z.strictObject({
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  description: z.string(),
  status: z.enum(["active", "disabled"]),
  /** Why it is disabled; null while it is active. */
  why: z.string().nullable(),
  /** Since when every try failed; null when the last one did not. */
  failing_since: z.string().nullable(),
  /** Deliveries that are still to be made. */
  open: z.number().int(),
  secret_version: z.number().int(),
  /** Until then the secret before signs as well. */
  old_secret_until: z.string().nullable(),
  created_by: z.string(),
  created_at: z.string(),
});
export type WebhookView = z.infer<typeof webhookView>;
/** The answer that shows the secret, once. */
export const webhookMade = webhookView.extend({ secret: z.string() });

/** How one try ended. `words`: the beginning of the answer's body, or why there is none; shown escaped. */
export const lastTry = z.strictObject({
  at: z.string(),
  ms: z.number().int(),
  status: z.number().int().nullable(),
  words: z.string(),
});
/** `held`: its webhook was disabled; it goes on once that is enabled. `dead`: given up. Both can be delivered again. */
export const deliveryStates = ["open", "done", "dead", "held"] as const;
export const deliveryView = z.strictObject({
  /** Also its `webhook-id`: the same at every try. */
  id: z.string(),
  webhook_id: z.string(),
  event_seq: z.number().int(),
  event_type: z.string(),
  state: z.enum(deliveryStates),
  tries: z.number().int(),
  /** When it is tried next; null while it is under way, and when it is not tried any more. */
  next_at: z.string().nullable(),
  last: lastTry.nullable(),
  created_at: z.string(),
  ended_at: z.string().nullable(),
});
export type DeliveryView = z.infer<typeof deliveryView>;

/**
 * Whether a webhook with these events is sent that one. `*` leaves out an attempt's output, which must be named. What
 * the courier itself does is never sent: each delivery would make the next.
 */
export function wants(events: readonly string[], event: EventView): boolean {
  if (isEcho(event)) return false;
  const kind = event.type.split(":")[0] ?? event.type;
  return events.some((one) => (one === "*" ? kind !== "agent_output" : one === event.type || one === kind));
}
function isEcho(event: EventView): boolean {
  return event.type === "webhook_test" || [event.actor, event.agent, event.recipient].includes("courier");
}

/** An address that may be posted to, as it is stored. `loopback`: plain http to this machine too, for tests. */
export function webhookUrl(text: string, loopback: boolean): Result<string> {
  const no = (why: string) => refuse("bad_request", `${why} Use https://host/path on port 443 or from 1024 up.`);
  if ([...text].some((letter) => letter <= " " || letter === "\\" || letter === "\u007f"))
    return no("The webhook's address holds a space, a backslash or a control character.");
  const url = URL.parse(text);
  if (url === null || !/^[a-z]+:\/\//i.test(text) || text.length > limits.webhook_url_chars)
    return no("The webhook's address is not a URL.");
  if (url.username !== "" || url.password !== "" || /^[^/]*\/\/[^/?#]*@/.test(text))
    return no("The webhook's address holds a user name or password.");
  if (url.hash !== "" || text.includes("#")) return no("The webhook's address has a fragment.");
  if (loopback && url.protocol === "http:" && isThisMachine(url.hostname)) return ok(url.href);
  if (url.protocol !== "https:") return no(`The protocol ${url.protocol.slice(0, -1)} is not allowed.`);
  const host = url.hostname.replace(/\.$/, "");
  const near = whyNear(host);
  if (near !== null || isPrivate(host)) return no(`${host} is ${near ?? "an address inside a private network"}.`);
  if (url.port !== "" && Number(url.port) < 1_024) return no(`Port ${url.port} is not allowed.`);
  return ok(url.href);
}
function isThisMachine(hostname: string): boolean {
  return ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
}
