/**
 * The text of a secret: `cs_<scope><mac>_<secret>` for API tokens, `css_` for sessions, `cst_` for tickets.
 * The mac lets a door tell a real scope from an invented one before it touches any object. [WHO-1] [WHO-2]
 */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { sha256Hex } from "./canonical.ts";

export const credentialPrefixes = ["cs", "css", "cst"] as const;
/** API token, session cookie, one-use ticket. */
export type CredentialPrefix = (typeof credentialPrefixes)[number];
export interface Credential {
  readonly scope: string;
  readonly mac: string;
  readonly secret: string;
}

const shape = /^([a-z0-9]{16})([0-9a-f]{10})_([A-Za-z0-9_-]{32,128})$/;

export function formatToken(scope: string, mac: string, secret: string, prefix: CredentialPrefix = "cs"): string {
  return `${prefix}_${scope}${mac}_${secret}`;
}

/** Null for anything that is not exactly one credential of that prefix. Says nothing about whether it is live. */
export function parseToken(text: string, prefix: CredentialPrefix = "cs"): Credential | null {
  if (text.length > 200 || !text.startsWith(`${prefix}_`)) return null;
  const [, scope, mac, secret] = shape.exec(text.slice(prefix.length + 1)) ?? [];
  return scope === undefined || mac === undefined || secret === undefined ? null : { scope, mac, secret };
}

export function scopeMac(key: Uint8Array, scope: string): string {
  return bytesToHex(hmac(sha256, key, utf8ToBytes(scope))).slice(0, 10);
}

/** What is stored and looked up instead of the credential: SHA-256 of its whole text. */
export function secretHash(text: string): string {
  return sha256Hex(text);
}

/** Equality that takes the same time wherever the texts differ. */
export function sameText(a: string, b: string): boolean {
  const length = Math.max(a.length, b.length);
  let difference = a.length ^ b.length;
  for (let at = 0; at < length; at++) difference |= (a.charCodeAt(at) || 0) ^ (b.charCodeAt(at) || 0);
  return difference === 0;
}
