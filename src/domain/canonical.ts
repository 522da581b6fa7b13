/**
 * One byte form for one value: RFC 8785 JSON, and SHA-256 of it in lower-case hex.
 * Everything a person approves, a chain links or a queue compares goes through here. [ID-1] [ID-2]
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import canonicalize from "canonicalize";

/** Throws on what JSON cannot say (NaN, a cycle, half a surrogate pair, `undefined`): such a value is a bug of ours. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("a value without a JSON form has no canonical form");
  return text;
}

export function sha256Hex(input: string | Uint8Array): string {
  return bytesToHex(sha256(typeof input === "string" ? utf8ToBytes(input) : input));
}

/** SHA-256 of the value's canonical form. */
export function hashOf(value: unknown): string {
  return sha256Hex(canonicalJson(value));
}

export function byteLength(text: string): number {
  return utf8ToBytes(text).length;
}
