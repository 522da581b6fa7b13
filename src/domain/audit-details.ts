/**
 * What an audit event may keep of what it is about: no secret, JSON only, at most 8 KB. [AUD-7] [AUD-8] [AUD-9]
 */
import { byteLength, canonicalJson } from "./canonical.ts";
import type { JsonValue } from "./message.ts";

const detailsBytes = 8 * 1024;
const reasonChars = 2_000;

export function capReason(reason: string | null): string | null {
  return reason === null ? null : cut(maskText(reason), reasonChars);
}

/**
 * Details as they may be kept: no secret, JSON only, at most 8 KB. What is longer is replaced by its first
 * part and a marker, because losing the end of a detail is better than losing the event.
 */
export function capDetails(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return cappedDetails(details).details;
}

/** The same, and their canonical JSON. */
export function cappedDetails(given: Readonly<Record<string, unknown>>): {
  readonly details: Record<string, unknown>;
  readonly text: string;
} {
  const details = mask(given, 0) as Record<string, JsonValue>; // `mask` of an object is an object
  const text = canonicalJson(details);
  // A letter is at most three bytes: what is short enough needs no exact count.
  if (text.length * 3 <= detailsBytes) return { details, text };
  const bytes = byteLength(text);
  if (bytes <= detailsBytes) return { details, text };
  for (let keep = detailsBytes; ; keep = Math.floor(keep * 0.8)) {
    const capped = { truncated: true, original_bytes: bytes, head: cut(text, keep) };
    const short = canonicalJson(capped);
    if (byteLength(short) <= detailsBytes) return { details: capped, text: short };
  }
}

const secretKeys =
  /^(secret|password|passphrase|authorization|cookie|api_?key|private_?key|(access|approval|api)?_?token)$/i;
const secretTexts = [/\b(cs[st]?)_[a-z0-9]{26}_[A-Za-z0-9_-]{8,}/g, /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi];
/** What any of the below changes holds one of these: most texts hold none, and stay as they are. */
const suspect = /[^ -\ud7ff\ue000-\uffff]|cs[st]?_|bearer\s|basic\s/i;
const maxDepth = 8;

function maskText(text: string): string {
  if (!suspect.test(text)) return text;
  // SQLite ends a text at a NUL, and half a surrogate pair has no canonical form: neither could be verified again.
  const clean = text.toWellFormed().replaceAll("\0", "");
  return secretTexts.reduce((masked, pattern) => masked.replace(pattern, "$1 [masked]"), clean);
}
function mask(value: unknown, depth: number): JsonValue {
  if (typeof value === "string") return maskText(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "boolean" || value === null) return value;
  if (typeof value !== "object") return String(value);
  if (depth >= maxDepth) return "[too deep]";
  if (Array.isArray(value)) return value.map((item) => mask(item, depth + 1));
  const kept: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(value))
    if (item !== undefined)
      kept[key.toWellFormed()] = secretKeys.test(key) && item !== null ? "[masked]" : mask(item, depth + 1);
  return kept;
}
function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars).toWellFormed()} [truncated]`;
}
