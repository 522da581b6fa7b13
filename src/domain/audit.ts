/**
 * The audit chain of one object: each link's hash covers its own fields and the hash before it, so a row
 * that is altered, missing, out of place or cut off is found and named. Works on rows alone, offline. [AUD-*]
 */
import { byteLength, canonicalJson, hashOf } from "./canonical.ts";
import { type JsonValue, type Message, partyOf } from "./message.ts";
import type { AuditView } from "./view.ts";

/** What is recorded, before the chain numbers and links it. */
export type AuditEvent = Omit<AuditView, "seq" | "prev_hash" | "hash">;
export interface ChainHead {
  readonly object: string;
  readonly seq: number;
  readonly hash: string;
}
export type Verification =
  | { readonly ok: true; readonly heads: readonly ChainHead[] }
  | {
      readonly ok: false;
      readonly fault: "altered" | "missing" | "reordered" | "truncated";
      readonly object: string;
      readonly seq: number;
      readonly detail: string;
    };

/** `prev_hash` of a chain's first link. */
export const genesis = "0".repeat(64);
const detailsBytes = 8 * 1024;
const reasonChars = 2_000;

export function append(prev: ChainHead | null, event: AuditEvent): AuditView {
  const body = {
    ...event,
    reason: event.reason === null ? null : cut(maskText(event.reason), reasonChars),
    details: capDetails(event.details),
    seq: (prev?.seq ?? 0) + 1,
    prev_hash: prev?.hash ?? genesis,
  };
  return { ...body, hash: hashOf(body) };
}

/** Who an object's name is in the audit's words. */
export function actorOf(sender: string): AuditView["actor"] {
  const party = partyOf(sender);
  return party === "verifier" ? "verification_runner" : party;
}

/** The ids an audit event copies from the message it is about. */
export function about(message: Pick<Message, "message_id" | "trace_id" | "scope_id">) {
  return { message_id: message.message_id, trace_id: message.trace_id, scope_id: message.scope_id };
}

/**
 * Details as they may be kept: no secret, JSON only, at most 8 KB. What is longer is replaced by its first
 * part and a marker, because losing the end of a detail is better than losing the event.
 */
export function capDetails(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const masked = mask(details, 0) as Record<string, JsonValue>; // `mask` of an object is an object
  const text = canonicalJson(masked);
  const bytes = byteLength(text);
  if (bytes <= detailsBytes) return masked;
  for (let keep = detailsBytes; ; keep = Math.floor(keep * 0.8)) {
    const capped = { truncated: true, original_bytes: bytes, head: cut(text, keep) };
    if (byteLength(canonicalJson(capped)) <= detailsBytes) return capped;
  }
}

const secretKeys =
  /^(secret|password|passphrase|authorization|cookie|api_?key|private_?key|(access|approval|api)?_?token)$/i;
const secretTexts = [/\b(cs[st]?)_[a-z0-9]{26}_[A-Za-z0-9_-]{8,}/g, /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi];
const maxDepth = 8;

function maskText(text: string): string {
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

/**
 * Verifies the chains of any number of objects, each in the order given. With `heads`, each of those chains
 * must also reach its head and hold it: without them a cut-off end or a rewritten last row cannot be seen.
 */
export function verifyChain(links: readonly AuditView[], heads: readonly ChainHead[] = []): Verification {
  const chains = new Map<string, AuditView[]>();
  for (const head of heads) chains.set(head.object, []);
  for (const link of links) {
    const chain = chains.get(link.object);
    if (chain === undefined) chains.set(link.object, [link]);
    else chain.push(link);
  }
  const reached: ChainHead[] = [];
  for (const [object, chain] of chains) {
    const fault = faultOf(object, chain) ?? missedHead(object, chain, heads);
    if (fault !== null) return fault;
    const last = chain.at(-1);
    if (last !== undefined) reached.push({ object, seq: last.seq, hash: last.hash });
  }
  return { ok: true, heads: reached };
}

type Fault = Extract<Verification, { ok: false }>;

function faultOf(object: string, chain: readonly AuditView[]): Fault | null {
  const present = new Set(chain.map((link) => link.seq));
  let before: AuditView | null = null;
  for (const [at, link] of chain.entries()) {
    const seq = at + 1;
    if (link.seq !== seq)
      return present.has(seq)
        ? { ok: false, fault: "reordered", object, seq, detail: `row ${link.seq} stands where row ${seq} belongs` }
        : { ok: false, fault: "missing", object, seq, detail: `row ${seq} is not there` };
    const { hash, ...body } = link;
    if (hashOrNull(body) !== hash)
      return { ok: false, fault: "altered", object, seq, detail: `row ${seq} does not match its own hash` };
    if (link.prev_hash !== (before?.hash ?? genesis)) {
      const named = before?.seq ?? seq;
      return {
        ok: false,
        fault: "altered",
        object,
        seq: named,
        detail: `row ${named} is not the row its successor recorded`,
      };
    }
    before = link;
  }
  return null;
}

/** Null for a row that has no canonical form: nothing we wrote lacks one. */
function hashOrNull(body: unknown): string | null {
  try {
    return hashOf(body);
  } catch {
    return null;
  }
}

function missedHead(object: string, chain: readonly AuditView[], heads: readonly ChainHead[]): Fault | null {
  for (const head of heads) {
    if (head.object !== object || head.seq === 0) continue;
    const link = chain[head.seq - 1];
    const seq = chain.length + 1;
    if (link === undefined)
      return {
        ok: false,
        fault: "truncated",
        object,
        seq,
        detail: `the chain ends before row ${head.seq}, which was signed`,
      };
    if (link.hash !== head.hash)
      return {
        ok: false,
        fault: "altered",
        object,
        seq: head.seq,
        detail: `row ${head.seq} is not the row that was signed`,
      };
  }
  return null;
}
