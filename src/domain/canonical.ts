/**
 * One byte form for one value: RFC 8785 JSON, and SHA-256 of it in lower-case hex.
 * Everything a person approves, a chain links or a queue compares goes through here. [ID-1] [ID-2]
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import canonicalize from "canonicalize";
import { plainJson } from "./plain-json.ts";

/** Throws on what JSON cannot say (NaN, a cycle, half a surrogate pair, `undefined`): such a value is a bug of ours. */
export function canonicalJson(value: unknown): string {
  const text = plainJson(value) ?? canonicalize(value);
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

/** Bytes of the text as UTF-8. Half a surrogate pair counts as what stands in its place: three. */
export function byteLength(text: string): number {
  let bytes = 0;
  for (let from = 0; from < text.length; ) {
    const { read, written } = encoder.encodeInto(from === 0 ? text : text.slice(from), scratch);
    from += read;
    bytes += written;
  }
  return bytes;
}
const encoder = new TextEncoder();
/** Only written to, never read. */
const scratch = new Uint8Array(16 * 1024);
