/**
 * What travels on the queue `agent-messages`: a message, or for a big one a reference to its body. A reference
 * names no key of its own: where the body lies follows from what it says, so it can point into no other scope. [OUT-9]
 */
import { z } from "zod";
import { limits } from "../limits.ts";
import { type Message, scopeId } from "./message.ts";

/** The message, and the object whose outbox row it is. */
export interface Posted {
  readonly from: string;
  readonly message: Message;
}
const reference = z.strictObject({
  from: z.string().max(120),
  scope_id: scopeId,
  message_id: z.string().min(8).max(64),
  key: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.number().int().positive().max(limits.message_bytes),
});
export type Referred = z.infer<typeof reference>;
export type Sent = Posted | Referred;

export function blobKeyOf({
  scope_id,
  message_id,
  sha256,
}: Pick<Referred, "scope_id" | "message_id" | "sha256">): string {
  return `${scope_id}/messages/${message_id}-${sha256}`;
}

const inline = z.strictObject({ from: z.string().max(120), message: z.unknown() });

/** What came off the queue. Throws on what none of our outboxes sends. The message inside is not parsed here. */
export function readSent(body: unknown): z.infer<typeof inline> | Referred {
  const given = inline.safeParse(body);
  if (given.success) return given.data;
  const known = reference.parse(body);
  if (known.key !== blobKeyOf(known)) throw new Error(`${known.message_id}: its body does not lie where it belongs`);
  return known;
}

/** A sender speaks for its own scope only. */
export function sendsFor(from: string, scope_id: string): boolean {
  return from.startsWith(`${scope_id}/`);
}
